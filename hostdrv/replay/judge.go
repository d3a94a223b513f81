package replay

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// judge compares what a target says with a script.
type judge struct {
	script *script
	seen   marks // of the script's marks, those that the target has reached
	space  [linkproto.MaxLinks]account
	links  [linkproto.MaxLinks]outgoing
	stood  [linkproto.MaxLinks]stand
	done   uint64           // tick of the target at its last SPACE or DONE
	sent   int              // requests
	heard  int              // answers
	hulls  map[uint16]*hull // of the frames, what NOTIFY told
	races  races

	waiting    [linkproto.MaxLinks][][]byte // packets for links that have no room
	compared   int
	unsure     int
	divergence *Divergence
}

// hull is a range of bytes of a frame.
type hull struct{ first, last uint16 }

// outgoing are the packets for a link.
type outgoing struct {
	sizes []int // of those sent
	first int   // of them: the first that is still in the target's queue
	bytes int   // of those from it on
}

// hasRoom reports whether the target's queue of a link has room for a packet of so many bytes, as a driver decides it.
func (j *judge) hasRoom(via, size int) bool {
	l := &j.links[via]
	for ; l.first < int(j.space[via].freed); l.first++ {
		l.bytes -= l.sizes[l.first]
	}
	c := j.script
	return (c.queue == 0 || l.bytes+size <= c.queue) && (c.window == 0 || len(l.sizes)-l.first < c.window)
}

// all are the marks of the whole script.
func (j *judge) all() (m marks) {
	c := j.script
	for i, at := range c.requests {
		if c.steps[at].answer != nil {
			m.answers = i + 1
		}
	}
	m.refusals, m.notes = len(c.refusals), len(c.notes)
	for link := range m.traps {
		m.traps[link] = len(c.traps[link])
	}
	if j.races.trapped() { // packets behind a trap may have been taken off the queue, or not
		return m
	}
	for i := range c.steps {
		if via, ok := forward(c.steps[i].Raw); ok && c.steps[i].freed > 0 {
			m.freed[via]++
		}
	}
	return m
}

// has reports whether the target has said what m counts, except SPACE, and told again what it was asked to.
func (j *judge) has(m *marks) bool {
	for link := range j.stood {
		if j.stood[link].owed {
			return false
		}
	}
	for j.seen.notes < m.notes && j.covered(&j.script.notes[j.seen.notes].packet) {
		j.seen.notes++
	}
	for link := range m.traps {
		if j.seen.traps[link] < m.traps[link] {
			return false
		}
	}
	return j.heard >= m.answers && j.seen.refusals >= m.refusals && j.seen.notes >= m.notes
}

// freed reports whether the target's links have got rid of as much as m says.
func (j *judge) freed(m *marks) bool {
	for link := range m.freed {
		if j.space[link].freed < m.freed[link] {
			return false
		}
	}
	return true
}

func (j *judge) covered(p *linkproto.Packet) bool {
	h := j.hulls[p.Frame]
	return h != nil && h.first <= p.First && h.last >= p.Last
}

// diverge keeps the first divergence.
func (j *judge) diverge(d Divergence) {
	if j.divergence == nil {
		d.Request, d.Recorded, d.Target = bytes.Clone(d.Request), bytes.Clone(d.Recorded), bytes.Clone(d.Target)
		j.divergence = &d
	}
}

// missing says what of m the target has not said.
func (j *judge) missing(m *marks, step int, at uint64) {
	c := j.script
	d := Divergence{Step: step, Tick: at}
	say := func(t *told, what string) {
		d.What, d.Recorded = what, t.raw
		d.Tick = t.at
	}
	stuck := slices.IndexFunc(j.waiting[:], func(w [][]byte) bool { return len(w) > 0 })
	silent := slices.IndexFunc(j.stood[:], func(s stand) bool { return s.owed })
	switch {
	case silent >= 0:
		d.What = fmt.Sprintf("link %d of the target does not tell its trap again", silent)
	case stuck >= 0:
		d.What = fmt.Sprintf("link %d of the target has got rid of %d packets of %d, and takes no more", stuck, j.space[stuck].freed, len(j.links[stuck].sizes))
	case j.heard < m.answers:
		i := j.heard
		for i < m.answers-1 && c.steps[c.requests[i]].answer == nil {
			i++
		}
		s := &c.steps[c.requests[i]]
		d.Request = s.Raw
		say(s.answer, "the target does not answer")
	case j.seen.refusals < m.refusals:
		say(&c.refusals[j.seen.refusals], "the target does not refuse a packet")
	default:
		for link := range m.traps {
			switch {
			case j.seen.traps[link] < m.traps[link]:
				say(&c.traps[link][j.seen.traps[link]], fmt.Sprintf("link %d of the target does not trap", link))
			case j.space[link].freed < m.freed[link]:
				d.What = fmt.Sprintf("link %d of the target has got rid of %d packets, and the recorded one of %d", link, j.space[link].freed, m.freed[link])
			default:
				continue
			}
			j.diverge(d)
			return
		}
		n := &c.notes[j.seen.notes]
		say(n, fmt.Sprintf("the target does not tell that frame %d has changed", n.packet.Frame))
	}
	j.diverge(d)
}

// hear takes a packet of the target, which has got so many steps, at a tick.
func (j *judge) hear(raw []byte, steps int, now uint64) {
	var p linkproto.Packet
	if err := p.Decode(raw); err != nil {
		j.diverge(Divergence{Step: steps, What: fmt.Sprintf("the target sent no packet: %v", err), Target: raw})
		return
	}
	switch p.Type {
	case linkproto.TypeRegData, linkproto.TypeBufData, linkproto.TypeDone:
		if p.Type == linkproto.TypeDone {
			j.done = now
		}
		j.answer(&p, raw, steps)
	case linkproto.TypeTrap:
		j.trap(&p, raw, steps)
	case linkproto.TypeSpace:
		j.done = now
		j.space[p.Via].take(&p, uint64(len(j.links[p.Via].sizes)))
	case linkproto.TypeRoute: // of another node, or of this one, as its links are cabled
	case linkproto.TypeNotify:
		if h := j.hulls[p.Frame]; h != nil {
			h.first, h.last = min(h.first, p.First), max(h.last, p.Last)
		} else {
			j.hulls[p.Frame] = &hull{p.First, p.Last}
		}
	default:
		j.diverge(Divergence{Step: steps, What: fmt.Sprintf("the target sent a %v, as no network interface may", p.Type), Target: raw})
	}
}

func (j *judge) answer(p *linkproto.Packet, raw []byte, steps int) {
	c := j.script
	if p.Tag == linkproto.TagNone {
		n := j.seen.refusals
		j.seen.refusals++
		switch {
		case n >= len(c.refusals):
			j.diverge(Divergence{Step: steps, What: fmt.Sprintf("the target refused a packet with %v, and the recorded one did not", p.Status), Target: raw})
		case c.refusals[n].packet.Status != p.Status:
			j.diverge(Divergence{Step: steps, Tick: c.refusals[n].at, What: "a packet was refused for another reason", Recorded: c.refusals[n].raw, Target: raw})
		}
		return
	}
	if j.heard >= j.sent {
		j.diverge(Divergence{Step: steps, What: "the target answered what nobody asked", Target: raw})
		return
	}
	at := c.requests[j.heard]
	j.heard++
	s := &c.steps[at]
	j.races.until(at)
	if s.answer == nil {
		if s.packet.Tag != p.Tag {
			j.diverge(Divergence{Step: at + 1, Tick: s.Start, What: "the target answered another request", Request: s.Raw, Target: raw})
		}
		return
	}
	j.compared++
	what, unsure := j.differs(s, p)
	if unsure {
		j.unsure++
	}
	if what != "" {
		j.diverge(Divergence{Step: at + 1, Tick: s.answer.at, What: what, Request: s.Raw, Recorded: s.answer.raw, Target: raw})
	}
}

// differs says how the answers to a request differ, "" if they agree. unsure: bytes differ that a remote write was changing.
func (j *judge) differs(s *step, have *linkproto.Packet) (what string, unsure bool) {
	want := &s.answer.packet
	switch {
	case want.Type != have.Type:
		return fmt.Sprintf("the answer was %v, and is %v", want.Type, have.Type), false
	case want.Tag != have.Tag:
		return fmt.Sprintf("the tag of the answer was %d, and is %d", want.Tag, have.Tag), false
	}
	switch want.Type {
	case linkproto.TypeDone:
		if want.Status != have.Status {
			return fmt.Sprintf("the status of the answer was %v, and is %v", want.Status, have.Status), false
		}
	case linkproto.TypeRegData:
		switch {
		case want.Reg != have.Reg:
			return fmt.Sprintf("the answer was about register %v, and is about %v", want.Reg, have.Reg), false
		case !sameValue(want.Reg, want.Value, have.Value):
			return fmt.Sprintf("register %s was %#x, and is %#x", want.Reg, want.Value, have.Value), false
		}
	case linkproto.TypeBufData:
		switch {
		case want.Addr != have.Addr:
			return fmt.Sprintf("the answer was about address %#x, and is about %#x", want.Addr, have.Addr), false
		case len(want.Data) != len(have.Data):
			return fmt.Sprintf("the answer had %d bytes, and has %d", len(want.Data), len(have.Data)), false
		}
		for i := range want.Data {
			addr, w, h := want.Addr+uint32(i), want.Data[i], have.Data[i]
			if w == h {
				j.races.agreed(addr, w)
			} else {
				if !j.races.excuse(addr, w, h) {
					return fmt.Sprintf("byte %#x of the receive buffer was %#02x, and is %#02x", addr, w, h), unsure
				}
				unsure = true
			}
		}
	}
	return "", unsure
}

// sameValue compares the values of a register as far as they can be compared.
func sameValue(r linkproto.Reg, want, have uint32) bool {
	row := r.Info()
	if row == nil {
		return want == have
	}
	switch row.Reg {
	case linkproto.RegHashLo, linkproto.RegHashHi, linkproto.RegFeatures, linkproto.RegRxBytes, linkproto.RegLinkStatus, linkproto.RegPeer, linkproto.RegCounters,
		linkproto.RegTrace, linkproto.RegTraceRing, linkproto.RegInject:
		return true
	case linkproto.RegReplayBytes, linkproto.RegWindow:
		return have >= want
	}
	return want == have
}
