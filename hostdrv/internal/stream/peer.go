package stream

import "syscall"

// peer is another node, or the own one, and what is known of the streams between the two.
type peer struct {
	mux         *Mux
	node        uint16
	life        uint32 // the own one towards it
	theirs      uint32 // 0: not known
	streams     map[uint32]*Stream
	speakers    []*Stream // that have something to say, in turn
	resets      []uint32  // streams of which the peer is to hear that they are no more
	answers     []uint32  // streams that it has asked for, or spoken of, and that there are not
	hello       bool
	datagrams   [][]byte // to be sent
	groups      member
	parts       []byte // of a datagram that has not come whole
	outstanding int    // messages that are not acknowledged, as far as is known
	loud        int    // of them are not quiet
	quiet       int    // sent since the last one that was not
	queued      bool   // among those that have something to say
}

// mostAnswers is how many answers wait for a peer at most, which may ask without end: it hears of more streams when it speaks of them again. A peer for which as many resets wait, of streams that were
// accepted and dropped, opens none.
const mostAnswers = 1024

// say puts a stream that has something to say among those that do.
func (p *peer) say(s *Stream) {
	if !s.queued && s.speaks() {
		s.queued = true
		p.speakers = append(p.speakers, s)
	}
	p.speak()
}

func (p *peer) speak() {
	if !p.queued && p.outstanding < p.mux.o.PerPeer && p.speaks() {
		p.queued = true
		p.mux.speakers = append(p.mux.speakers, p)
	}
}

func (p *peer) speaks() bool {
	return p.hello || p.groups.say || len(p.resets)+len(p.answers)+len(p.datagrams)+len(p.speakers) > 0
}

// reset has the peer hear that a stream between the two is no more.
func (p *peer) reset(key uint32) {
	p.resets = append(p.resets, key)
	p.speak()
}

// refuse has the peer hear that there is no such stream.
func (p *peer) refuse(key uint32) {
	if len(p.answers) < mostAnswers {
		p.answers = append(p.answers, key)
	}
	p.speak()
}

func (p *peer) remove(s *Stream) {
	if p.streams[s.key] == s {
		delete(p.streams, s.key)
		p.mux.freePort(s)
	}
}

// mayBeQuiet says whether a message that was just counted is: what comes next tells of it as well. One of some is not, so that there is room again before there is none, and none
// is at the end, which waits for them. Ask asks where all are.
func (p *peer) mayBeQuiet() bool {
	if p.quiet++; !p.mux.closing && p.quiet < p.mux.o.PerPeer/2 && p.mux.outstanding < p.mux.o.Most/2 {
		return true
	}
	p.quiet = 0
	p.loud++
	return false
}

// next returns what is to be sent next, or nil.
func (p *peer) next() []byte {
	pool := &p.mux.pool
	g := Segment{Life: p.theirs}
	for _, list := range []*[]uint32{&p.resets, &p.answers} {
		if keys := *list; len(keys) > 0 {
			g.Kind, g.Stream, *list = Reset, keys[0]^Ours, keys[1:]
			return g.Append(pool.get(0))
		}
	}
	switch {
	case p.hello:
		p.hello, g.Kind = false, Hello
		return g.Append(pool.get(0))
	case p.groups.say:
		g = p.nextGroups()
		return g.Append(pool.get(len(g.Data)))
	case len(p.datagrams) > 0:
		b := p.datagrams[0]
		p.datagrams[0] = nil
		p.datagrams = p.datagrams[1:]
		p.mux.ports.writable()
		return b
	}
	for len(p.speakers) > 0 {
		s := p.speakers[0]
		p.speakers[0] = nil
		p.speakers = p.speakers[1:]
		s.queued = false
		if !s.speaks() {
			continue
		}
		b := s.next()
		if s.speaks() {
			s.queued = true
			p.speakers = append(p.speakers, s)
		}
		return b
	}
	return nil
}

// input takes a segment, and reports whether it keeps buf, which holds it.
func (p *peer) input(life uint32, g *Segment, buf []byte) (kept bool) {
	if p.theirs != life {
		if p.theirs != 0 {
			p.startedAnew()
		}
		p.theirs, p.parts = life, nil
	}
	switch g.Kind {
	case Datagram:
		return p.datagram(g, buf)
	case Groups:
		p.joined(g)
		return false
	}
	if g.Kind != Syn && g.Life != p.life { // it means streams that the own end has lost
		p.hello = true
		p.speak()
		return false
	}
	s := p.streams[g.Stream]
	switch {
	case g.Kind == Hello:
	case g.Kind == Syn && s != nil: // said twice
		s.answer = s.state == open
		p.say(s)
	case g.Kind == Syn:
		p.mux.accept(p, g)
	case s != nil:
		return s.input(g, buf)
	case g.Kind != Reset:
		p.refuse(g.Stream)
	}
	return false
}

// startedAnew ends the streams that the peer has lost. It is asked again for those that it has not accepted yet.
func (p *peer) startedAnew() {
	p.resets, p.answers = nil, nil
	p.forgetGroups()
	p.tellGroups()
	for _, s := range p.streams {
		if s.state == opening {
			s.synSent = false
			p.say(s)
			continue
		}
		s.end(syscall.ECONNRESET)
	}
}

// lost ends all streams: the peer is out of reach, has, with ECONNREFUSED, no streams at all, or, with ECONNRESET, was so for a while or has started again. Then it is asked again for those that it has not accepted yet.
func (p *peer) lost(why syscall.Errno) {
	for _, b := range p.datagrams {
		p.refused(b, why)
	}
	p.resets, p.answers, p.datagrams, p.parts, p.hello = nil, nil, nil, nil, false
	p.life, p.theirs = p.mux.newLife(), 0
	p.forgetGroups()
	p.mux.ports.writable()
	for _, s := range p.streams {
		switch {
		case s.state != opening && why == syscall.ECONNRESET:
			s.end(syscall.ETIMEDOUT)
		case s.state != opening && why == syscall.ECONNREFUSED:
			s.end(syscall.ECONNRESET)
		case s.state != opening || why == syscall.ECONNREFUSED:
			s.end(why)
		case why == syscall.ECONNRESET:
			s.synSent = false
			p.say(s)
		default:
			s.end(syscall.EHOSTUNREACH)
		}
	}
}
