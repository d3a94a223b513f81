package replay

import (
	"math"
	"slices"
	"sort"

	"github.com/stafflink/lmmc/linkproto"
)

// races are the remote writes of the host that the recorded NI had not carried out for certain when the host asked for something.
type races struct {
	script *script
	next   int // step that has not been looked at
	writes []write
	held   []held // of all links, in the order in which they were told
	base   shadow // what the receive buffer held before writes
}

type write struct {
	step *step
	// contested: its frame was given to another while it was on its way, so whether it was carried out is never known.
	contested bool
}

// held is a time, in ticks of the recording, in which a trap waited. to is the end of it or of any before, whatever is later.
type held struct{ from, to uint64 }

func newRaces(c *script) races {
	r := races{script: c, base: shadow{}}
	var resumed [linkproto.MaxLinks][]*step
	for i := range c.steps {
		if s := &c.steps[i]; s.packet.Type == linkproto.TypeResume && s.answer != nil {
			resumed[s.packet.Via] = append(resumed[s.packet.Via], s)
		}
	}
	for link, traps := range c.traps {
		for _, t := range traps {
			h := held{t.from, math.MaxUint64}
			for len(resumed[link]) > 0 && resumed[link][0].End < t.at {
				resumed[link] = resumed[link][1:]
			}
			if len(resumed[link]) > 0 {
				h.to = resumed[link][0].answer.at
			}
			r.held = append(r.held, h)
		}
	}
	slices.SortFunc(r.held, func(a, b held) int { return int(a.from) - int(b.from) })
	for i := 1; i < len(r.held); i++ {
		r.held[i].to = max(r.held[i].to, r.held[i-1].to)
	}
	return r
}

// trapped reports whether a trap waited at the end.
func (r *races) trapped() bool {
	return len(r.held) > 0 && r.held[len(r.held)-1].to == math.MaxUint64
}

// writeTicks is how long an NI takes for a write of so many bytes after the peer's acknowledgement or the RESUME of a trap.
func writeTicks(bytes int) uint64 { return uint64(bytes) + 64 }

// settled reports whether a write had been carried out at a tick, by what the host knew at a later one.
func (r *races) settled(w *step, at, later uint64) bool {
	needs := writeTicks(len(w.packet.Data))
	told := sort.Search(len(r.held), func(i int) bool { return r.held[i].from > later })
	if told > 0 && r.held[told-1].to > at-min(at, needs) {
		return false
	}
	return w.freed > 0 && at >= w.freed+needs
}

// until looks at the steps before a request.
func (r *races) until(request int) {
	c := r.script
	for ; r.next < request; r.next++ {
		s := &c.steps[r.next]
		switch p := &s.packet; {
		case p.Type == linkproto.TypeWrite && p.Via > 0:
			r.writes = append(r.writes, write{step: s})
		case p.Type == linkproto.TypeRegWrite && p.Reg >= linkproto.RegFrameTable:
			r.drop(s)
			for i := range r.writes {
				w := &r.writes[i]
				w.contested = w.contested || c.page == 0 || int(w.step.packet.Addr)/c.page == int(p.Reg-linkproto.RegFrameTable)
			}
		case p.Type == linkproto.TypeBufWrite && s.answer != nil && s.answer.packet.Status == linkproto.StatusOK:
			for i, b := range p.Data {
				r.base.set(p.Addr+uint32(i), b)
			}
		}
	}
	if s := &c.steps[request]; s.packet.Type == linkproto.TypeBufRead {
		r.drop(s)
	}
}

// drop forgets the writes that had been carried out when a request was sent.
func (r *races) drop(request *step) {
	later := request.End
	if request.answer != nil {
		later = request.answer.at
	}
	r.writes = slices.DeleteFunc(r.writes, func(w write) bool {
		over := !w.contested && r.settled(w.step, request.Start, later)
		if over { // carried out or denied
			r.base.forget(w.step.packet.Addr, len(w.step.packet.Data))
		}
		return over
	})
}

// excuse reports whether a byte of the receive buffer may be a in one place and b in the other: each is what was there before, or what
// a write puts there that was on its way.
func (r *races) excuse(addr uint32, a, b byte) bool {
	before, known := r.base.get(addr)
	isA, isB := known && a == before, known && b == before
	covered := false
	for _, w := range r.writes {
		p := &w.step.packet
		if offset := addr - p.Addr; offset < uint32(len(p.Data)) {
			covered = true
			isA, isB = isA || p.Data[offset] == a, isB || p.Data[offset] == b
		}
	}
	return covered && (isA && isB || !known && (isA || isB))
}

// agreed takes a byte that is the same in both.
func (r *races) agreed(addr uint32, b byte) {
	for _, w := range r.writes {
		if addr-w.step.packet.Addr < uint32(len(w.step.packet.Data)) {
			return // it may still change
		}
	}
	r.base.set(addr, b)
}

// shadow holds bytes by address, where they are known.
type shadow map[uint32]*[256]uint16

const isKnown = 0x100

func (s shadow) set(addr uint32, b byte) {
	block := s[addr/256]
	if block == nil {
		block = new([256]uint16)
		s[addr/256] = block
	}
	block[addr%256] = isKnown | uint16(b)
}

func (s shadow) get(addr uint32) (b byte, known bool) {
	if block := s[addr/256]; block != nil {
		return byte(block[addr%256]), block[addr%256] >= isKnown
	}
	return 0, false
}

func (s shadow) forget(addr uint32, bytes int) {
	for i := range uint32(bytes) {
		if block := s[(addr+i)/256]; block != nil {
			block[(addr+i)%256] = 0
		}
	}
}
