package stream

import (
	"syscall"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// TestMemory: however many streams there are whose peers do not read, what waits for them stays within Options.Memory and leastWindow for each, and is given back.
func TestMemory(t *testing.T) {
	const streams, memory = 200, 1 << 20
	a, b := newMux(1), newMux(2)
	a.o.Memory, b.o.Memory = memory, memory
	var near, far []*Stream
	for range streams {
		s, other := connected(t, a, b)
		near, far = append(near, s), append(far, other)
	}
	for range 3 {
		for _, s := range near {
			for {
				if _, err := s.Write(make([]byte, 1<<20)); err != nil {
					check.Equal(t, "write", err, error(syscall.EAGAIN))
					break
				}
			}
		}
		carry(a, b)
	}
	in, out := 0, 0
	for i := range near {
		in, out = in+far[i].in.size, out+near[i].out.size
		if far[i].in.size < leastWindow {
			t.Errorf("stream %d: %d bytes came, want %d at least", i, far[i].in.size, leastWindow)
		}
	}
	if most := memory + streams*leastWindow; in > most || out > most || in < memory/2 || out < memory/2 {
		t.Errorf("%d bytes wait to be read and %d to be sent, with %d streams and %d bytes of memory", in, out, streams, memory)
	}
	if n, err := far[0].Read(make([]byte, 10)); n != 10 {
		t.Errorf("read %d bytes, %v", n, err)
	}
	for i := range near {
		far[i].Close()
		near[i].Close()
	}
	carry(a, b)
	check.Equal(t, "memory in use", [4]int{a.windows, a.unsent, b.windows, b.unsent}, [4]int{})
}

// TestBacklog: a stream too many is refused, and those that nobody has accepted are reset with their listener.
func TestBacklog(t *testing.T) {
	a, b := newMux(1), newMux(2)
	l := check.Must(b.Listen(80, 2))(t)
	var all []*Stream
	for range 3 {
		all = append(all, check.Must(a.Dial(2, 80, 0))(t))
	}
	carry(a, b)
	check.Equal(t, "opened", [3]error{all[0].Opened(), all[1].Opened(), all[2].Opened()}, [3]error{nil, nil, syscall.ECONNREFUSED})
	l.Close()
	carry(a, b)
	for _, s := range all[:2] {
		if _, err := s.Read(make([]byte, 1)); err != syscall.ECONNRESET {
			t.Errorf("a stream whose listener was closed: %v", err)
		}
	}
}

// TestAbandoned: a stream that its end has given up while it opened is reset at the other one.
func TestAbandoned(t *testing.T) {
	a, b := newMux(1), newMux(2)
	l := check.Must(b.Listen(80, 2))(t)
	s := check.Must(a.Dial(2, 80, 0))(t)
	msg, ok := a.Next() // SYN is underway
	if !ok {
		t.Fatal("nothing is sent")
	}
	s.Abort()
	b.Input(Message{Node: 1, Life: msg.Life, Data: append(b.Buffer()[:0], msg.Data...)})
	a.Sent(msg, 0)
	far := l.Accept()
	carry(a, b)
	if _, err := far.Read(make([]byte, 1)); err != syscall.ECONNRESET {
		t.Errorf("read %v, want ECONNRESET", err)
	}
	check.Equal(t, "streams", len(a.peers[2].streams)+len(b.peers[1].streams), 0)
}

// TestAbortMany: the other end hears of each stream that is aborted, however many are at once and however many it has asked for that there are not.
func TestAbortMany(t *testing.T) {
	const streams = mostAnswers + 100
	a, b := newMux(1), newMux(2)
	var all []*Stream
	for range streams {
		_, far := connected(t, a, b)
		all = append(all, far)
	}
	for key := range uint32(2 * mostAnswers) {
		b.Input(Message{Node: 1, Life: a.peer(2).life, Data: (&Segment{Kind: Syn, Stream: a.number + 1 + key, Port: 81, Data: []byte{1, 2}}).Append(nil)})
	}
	for _, s := range all {
		s.Abort()
	}
	check.Equal(t, "answers that wait", len(b.peer(1).answers), mostAnswers)
	check.Equal(t, "flushed", b.Flushed(), false)
	carry(a, b)
	check.Equal(t, "streams left", len(a.peer(2).streams), 0)
	check.Equal(t, "flushed when all is sent", b.Flushed(), true)
}

// TestWriteNothing: no byte can be written also where more wait than there is room for now.
func TestWriteNothing(t *testing.T) {
	a, b := newMux(1), newMux(2)
	a.o.Memory = 2 * firstWindow
	first, _ := connected(t, a, b)
	second, _ := connected(t, a, b)
	check.Must(first.Write(make([]byte, 10*leastWindow)))(t)
	check.Must(second.Write(make([]byte, firstWindow)))(t)
	check.Equal(t, "bytes", check.Must(first.Write(nil))(t), 0)
	check.Fails(t, "a byte", check.Err(first.Write([]byte{1})), syscall.EAGAIN)
}

// TestDropMany: a peer that acknowledges nothing, and whose streams are accepted and dropped without end, takes no memory without end, and is served again when it hears of them.
func TestDropMany(t *testing.T) {
	a, b := newMux(1), newMux(2)
	l := check.Must(b.Listen(80, 4))(t)
	var unheard []Message
	for key := range uint32(3 * mostAnswers) {
		b.Input(Message{Node: 1, Life: a.peer(2).life, Data: (&Segment{Kind: Syn, Stream: a.number + 1 + key, Port: 80, Data: []byte{1, 2}}).Append(nil)})
		if s := l.Accept(); s != nil {
			s.Abort()
		}
		for msg, ok := b.Next(); ok; msg, ok = b.Next() {
			unheard = append(unheard, msg)
		}
	}
	if n := len(b.peer(1).resets); n > mostAnswers {
		t.Errorf("%d resets wait for a peer that acknowledges nothing, want %d at most", n, mostAnswers)
	}
	for _, msg := range unheard {
		b.Sent(msg, 0)
	}
	carry(a, b)
	l.Close()
	connected(t, a, b)
}
