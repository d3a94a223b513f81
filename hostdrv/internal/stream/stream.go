package stream

import "syscall"

// state of a stream.
type state uint8

const (
	opening state = iota // Syn is to be sent, or was, and Accept has not come
	open
	over // nothing comes and goes any more; what has come can be read
)

// Stream is one end of a connection. Its methods do what system calls on a socket that does not block do, and fail with their error numbers: EAGAIN says that the
// call would wait, until Readable or Writable is called.
type Stream struct {
	Port, PeerPort uint16
	Readable       func() // there may be something to read, or an end of it; nil: nobody waits
	Writable       func() // the same of writing, and of opening

	peer  *peer
	key   uint32 // number, and Ours if the own end has opened it
	state state
	err   syscall.Errno // what ended it, until a call has told
	age   int           // ticks that it may live on, once the program is through with it or while it opens

	queued  bool // among those of the peer that have something to say
	synSent bool
	answer  bool // Accept is to be sent
	tell    bool // Limit is to be sent

	out     queue  // to be sent
	sent    uint64 // bytes
	limit   uint64 // that may be sent in all
	finAsk  bool   // nothing will be written any more
	finSent bool

	in      queue  // to be read
	got     uint64 // bytes
	granted uint64 // that the peer may send in all
	window  int    // by how much granted is to be ahead of what was read
	finGot  bool
	deaf    bool // nothing will be read any more
	closed  bool // the program has no handle any more
}

// Node is the other end's node.
func (s *Stream) Node() uint16 { return s.peer.node }

// Opened returns nil once the stream is open, EAGAIN while it opens, or why it is not.
func (s *Stream) Opened() error {
	switch {
	case s.state == opening:
		return syscall.EAGAIN
	case s.state == over && s.err != 0:
		return s.takeErr()
	}
	return nil
}

// Over returns EAGAIN while something may come or go, nil once both ends have said all, or what ended the stream. The next call is told that as well.
func (s *Stream) Over() error {
	switch {
	case s.state != over:
		return syscall.EAGAIN
	case s.err != 0:
		return s.err
	}
	return nil
}

func (s *Stream) takeErr() error {
	err := s.err
	s.err = 0
	return err
}

// Read takes what has come; 0 and nil say that there will be no more.
func (s *Stream) Read(b []byte) (int, error) {
	n := s.in.read(&s.peer.mux.pool, b)
	s.settle()
	switch {
	case n > 0:
		s.grant()
		return n, nil
	case len(b) == 0 || s.deaf || s.finGot:
		return 0, nil
	case s.err != 0:
		return 0, s.takeErr()
	case s.state == over:
		return 0, nil
	}
	return 0, syscall.EAGAIN
}

// grant lets the peer send more when half of what it may send has been read. When it has used up all, and all was read, it could have been faster with more: the window grows.
func (s *Stream) grant() {
	m := s.peer.mux
	if more := min(s.window, m.o.Window-s.window); s.in.size == 0 && s.got == s.granted && m.windows+more <= m.o.Memory {
		s.window += more
		m.windows += more
	}
	if limit := s.got - uint64(s.in.size) + uint64(s.window); limit >= s.granted+uint64(s.window)/2 && s.state == open && !s.finGot {
		s.granted, s.tell = limit, true
		s.peer.say(s)
	}
}

// Write takes bytes to be sent, as many as there is room for.
func (s *Stream) Write(b []byte) (int, error) {
	switch {
	case s.err != 0:
		return 0, s.takeErr()
	case s.state == over || s.finAsk:
		return 0, syscall.EPIPE
	}
	m := s.peer.mux
	most := max(firstWindow, int(min(s.limit-s.sent, uint64(m.o.Window))))
	if m.unsent+most > m.o.Memory {
		most = leastWindow
	}
	n := max(0, min(len(b), most-s.out.size))
	if n == 0 && len(b) > 0 {
		return 0, syscall.EAGAIN
	}
	m.unsent += n
	s.out.append(&m.pool, b[:n])
	s.peer.say(s)
	return n, nil
}

// CloseWrite ends what is written: the peer reads it, and then the end.
func (s *Stream) CloseWrite() error {
	if s.state == over && !s.finSent {
		return syscall.ENOTCONN
	}
	s.finAsk = true
	s.peer.say(s)
	return nil
}

// CloseRead drops what has come and will come.
func (s *Stream) CloseRead() error {
	if s.state == over && !s.finGot {
		return syscall.ENOTCONN
	}
	s.deaf = true
	s.in.clear(&s.peer.mux.pool)
	s.grant()
	s.wake()
	return nil
}

// Close gives the stream up. What was written is sent still. The peer hears of it when bytes have come that nobody has read, or do so yet, as with TCP.
func (s *Stream) Close() {
	if s.closed {
		return
	}
	s.closed = true
	switch {
	case s.state == over:
	case s.state == opening, s.in.size > 0:
		s.Abort()
	default:
		s.age = s.peer.mux.o.Linger
		s.CloseWrite()
	}
	s.in.clear(&s.peer.mux.pool)
	s.settle()
}

// Abort ends the stream: what is to be sent still is dropped, and the peer told.
func (s *Stream) Abort() {
	if s.state != over && (s.state == open || s.synSent) {
		s.peer.reset(s.key)
	}
	s.in.clear(&s.peer.mux.pool)
	s.end(0)
}

// Flushed reports whether all that was written is sent, or never will be.
func (s *Stream) Flushed() bool { return s.state == over || s.finSent || !s.finAsk && s.out.size == 0 }

// end takes the stream from its peer.
func (s *Stream) end(err syscall.Errno) {
	if s.state == over {
		return
	}
	s.state, s.err = over, err
	s.peer.mux.unsent -= s.out.size
	s.out.clear(&s.peer.mux.pool)
	s.peer.remove(s)
	s.settle()
	s.wake()
}

// settle gives its part of Options.Memory back once it needs none.
func (s *Stream) settle() {
	if s.state == over && s.in.size == 0 {
		s.peer.mux.windows -= s.window
		s.window = 0
	}
}

func (s *Stream) wake() {
	if s.Readable != nil {
		s.Readable()
	}
	if s.Writable != nil {
		s.Writable()
	}
}

// speaks reports whether there is something to send.
func (s *Stream) speaks() bool {
	switch s.state {
	case opening:
		return !s.synSent
	case open:
		return s.answer || s.tell || s.out.size > 0 && s.limit > s.sent || s.finAsk && !s.finSent && s.out.size == 0
	}
	return false
}

// next returns what is to be sent next.
func (s *Stream) next() []byte {
	g := Segment{Life: s.peer.theirs, Stream: s.key ^ Ours, Limit: s.granted}
	pool := &s.peer.mux.pool
	switch {
	case s.state == opening:
		s.synSent = true
		g.Kind, g.Port, g.Data = Syn, s.PeerPort, []byte{byte(s.Port), byte(s.Port >> 8)}
		return g.Append(pool.get(2))
	case s.answer:
		s.answer, s.tell = false, false
		g.Kind = Accept
		return g.Append(pool.get(0))
	}
	g.Kind, s.tell = Data, false
	var b []byte
	room := s.limit - s.sent
	switch c := s.firstOut(); {
	case len(c) == 0 || room == 0:
		b = pool.get(0)[:HeaderBytes]
	case uint64(len(c)) <= room:
		first := s.out.pop()
		b = first.buf[first.off-HeaderBytes:]
	default:
		b = pool.get(int(room))[:HeaderBytes+int(room)]
		s.out.read(pool, b[HeaderBytes:])
	}
	s.sent += uint64(len(b) - HeaderBytes)
	s.peer.mux.unsent -= len(b) - HeaderBytes
	s.age = s.peer.mux.o.Linger
	if s.finAsk && s.out.size == 0 {
		g.Fin, s.finSent = true, true
	}
	g.put(b)
	if (len(b) > HeaderBytes || g.Fin) && s.Writable != nil {
		s.Writable()
	}
	s.finish()
	return b
}

func (s *Stream) firstOut() []byte {
	if len(s.out.chunks) == 0 {
		return nil
	}
	return s.out.chunks[0].bytes()
}

// finish ends a stream of which both ends have said all.
func (s *Stream) finish() {
	if s.finSent && s.finGot {
		s.end(0)
	}
}

// input takes a segment for the stream, whose bytes begin at HeaderBytes of buf, and reports whether it keeps buf.
func (s *Stream) input(g *Segment, buf []byte) (kept bool) {
	if g.Kind == Reset {
		err := syscall.ECONNRESET
		switch {
		case s.state == opening:
			err = syscall.ECONNREFUSED
		case s.finGot:
			err = syscall.EPIPE
		}
		s.end(err)
		return false
	}
	n := uint64(len(g.Data))
	switch {
	case s.state == opening && g.Kind == Accept:
		s.state = open
		s.limit = g.Limit
		s.wake()
		s.peer.say(s)
		return false
	case s.state == opening, g.Kind == Data && (s.got+n > s.granted || s.finGot && (n > 0 || !g.Fin)):
		s.peer.mux.stats.Violations++
		s.peer.reset(s.key)
		s.end(syscall.ECONNRESET)
		return false
	case s.closed && n > 0: // nobody will read it
		s.peer.reset(s.key)
		s.end(0)
		return false
	}
	if g.Limit > s.limit {
		s.limit = g.Limit
		s.peer.say(s)
		if s.Writable != nil {
			s.Writable()
		}
	}
	s.got += n
	switch {
	case s.deaf:
		s.grant()
	case n >= SegmentBytes/4:
		s.in.keep(buf, HeaderBytes)
		kept = true
	case n > 0:
		s.in.append(&s.peer.mux.pool, g.Data)
	}
	s.finGot = s.finGot || g.Fin
	if (n > 0 || g.Fin) && s.Readable != nil {
		s.Readable()
	}
	s.finish()
	return kept
}
