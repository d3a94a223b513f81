package engine

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// ringNI carries out what a context asks of the NI, and completes what it is told to.
type ringNI struct {
	core        *Core
	memory      []byte
	completions uint16
	holds       bool // the answer to a read of RegScratch, which is for an empty message
}

func newRingNI(t *testing.T) (*ringNI, *Rings) {
	c := check.Must(New(Config{Epoch: 1}))(t)
	c.id, c.events = Identity{Links: 1, Frames: 16, PageBytes: 64}, struct{ Handler }{} // nothing is for it
	c.Offloading(8, 4, make([]uint32, 2), 1)
	ni := &ringNI{core: c, memory: make([]byte, c.id.BufferBytes())}
	r := check.Must(c.NewRings(0, 16, 4))(t)
	ni.answer()
	return ni, r
}

// answer answers all requests that wait.
func (ni *ringNI) answer() {
	for len(ni.core.backlog) > 0 && (!ni.holds || ni.core.backlog[0].Packet.Reg != linkproto.RegScratch) {
		call := ni.core.backlog[0]
		ni.core.backlog = ni.core.backlog[1:]
		p, a := call.Packet, linkproto.Packet{Type: linkproto.TypeDone}
		switch p.Type {
		case linkproto.TypeBufWrite:
			copy(ni.memory[p.Addr:], p.Data)
		case linkproto.TypeBufRead:
			a.Data = ni.memory[p.Addr:][:p.Count]
		case linkproto.TypeRegRead:
			if p.Reg == linkproto.ContextRegCompletions.Reg(0) {
				a.Value = uint32(ni.completions)
			}
		}
		call.Done(a, nil)
	}
}

// completes completes a receive of an empty message by a virtual link, and does not say so.
func (ni *ringNI) completes(r *Rings, vl int) {
	posted := r.base() + linkproto.RingReceives*linkproto.RingEntry*r.entries() + int(ni.completions)%r.entries()*linkproto.RingEntry
	d := linkproto.Completion{VL: uint16(vl), Receive: true, Cookie: linkproto.DecodePosted(ni.memory[posted:]).Cookie}
	at := r.base() + linkproto.RingCompletions*linkproto.RingEntry*r.entries() + int(ni.completions)%(2*r.entries())*linkproto.RingEntry
	copy(ni.memory[at:], d.Append(nil))
	ni.completions++
}

// receives is completes, and says so.
func (ni *ringNI) receives(r *Rings, vl int) {
	ni.completes(r, vl)
	r.count(ni.completions)
	ni.answer()
}

// ringReader takes messages, and counts them, unless it is full.
type ringReader struct {
	taken int
	full  bool
}

func (p *ringReader) Take(linkproto.Packet) bool {
	if !p.full {
		p.taken++
	}
	return !p.full
}
func (p *ringReader) Dropped(bool) {}
func (p *ringReader) Broken()      {}
func (p *ringReader) Lost(uint64)  {}
func (p *ringReader) Turn()        {}

// TestQuietRingLink: a link gets its first message however many others have got before, and none that was completed before it was there.
func TestQuietRingLink(t *testing.T) {
	for _, others := range []int{0, 1, 1<<15 - 1, 1 << 15, 40_000, 1<<16 - 1, 1 << 16, 100_000} {
		ni, r := newRingNI(t)
		var readers [2]ringReader
		for i := range readers {
			l := check.Must(r.NewLink(VirtualConfig{Via: 1, Node: 1, Peer: uint16(2 + i), NewLife: func() linkproto.Life { return 1 }}, &readers[i]))(t)
			ni.completes(r, l.Number()) // of one that had the number before
			l.opening()
			ni.answer()
		}
		for range others {
			ni.receives(r, r.links[0].Number())
		}
		ni.receives(r, r.links[1].Number())
		check.Fatal(t, ni.core.err)
		check.Equal(t, "messages taken", []int{readers[0].taken, readers[1].taken}, []int{others, 1})
	}
}

// TestRingLinkClosedWhileReading: a message that is being read when its link is closed is the Taker's as soon as that has room, and the link says nothing any more.
func TestRingLinkClosedWhileReading(t *testing.T) {
	ni, r := newRingNI(t)
	reader := &ringReader{full: true}
	l := check.Must(r.NewLink(VirtualConfig{Via: 1, Node: 1, Peer: 2, NewLife: func() linkproto.Life { return 1 }}, reader))(t)
	l.opening()
	ni.answer()
	ni.holds = true
	ni.receives(r, l.Number())
	l.Close()
	ni.holds = false
	ni.answer()
	ni.core.now += 1 << 20
	reader.full = false
	posted := r.tails[1]
	l.Touch()
	check.Equal(t, "messages taken, and slots posted again", []int{reader.taken, int(r.tails[1] - posted)}, []int{1, 1})
	if len(ni.core.offloads.ready) > 0 || l.timer.place > 0 {
		t.Error("the link that is closed is to say INIT")
	}
}
