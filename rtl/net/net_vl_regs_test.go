package net_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// regsOf is what net_vl_regs keeps of a virtual link.
type regsOf struct {
	earlier, given, returned, class uint8
	peer, number, replays, dropped  uint16
	key                             uint32
}

// words is the entry in the table, its low 64 bits first.
func (r *regsOf) words() (low, high uint64) {
	low = uint64(r.dropped) | uint64(r.replays)<<16 | uint64(r.key)<<32
	return low, uint64(r.number) | uint64(r.class)<<16 | uint64(r.peer)<<18 | uint64(r.returned)<<34 | uint64(r.given)<<42 | uint64(r.earlier)<<50
}

// TestVLRegs: the registers of a virtual link go back to the table as they came, or as they were written; each says what it holds; what is counted ends at the
// highest value; a life begins with nothing counted; the key of a ROUTE is that of the numbers that its low bits mean.
func TestVLRegs(t *testing.T) {
	var p struct {
		Load, WrEn, Opens, Gets, Returns, Replay, Drop, RPacket                 *bool   `port:"*"`
		NumberOf, Count, OfContext, Life, RSeq, RNext, Freed, WithHost, ClassOf *uint8  `port:"*"`
		Status, Peer, Number                                                    *uint16 `port:"*"`
		Wdata, Base, ExpectNext, Key, OwnKey, Value                             *uint32 `port:"*"`
	}
	b := moduletest.New(t, "net_vl_regs", params{"CW": 8}, &p)
	r := b.Rand("a link")
	var m regsOf
	counts := func() uint16 { return testbench.Pick(r, 0xFFFF, 0xFFFE, 0, uint16(r.Uint32())) }
	var ends, others int // counters that were at their end; numbers beside those whose low bits were said
	for now := range 50_000 {
		*p.Load = now == 0 || r.Chance(0.1)
		next := regsOf{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.IntN(4)), uint16(r.Uint32()), uint16(r.Uint32()), counts(), counts(), r.Uint32()}
		low, high := next.words()
		check.Fatal(t, b.Model().Poke("was[63:0]", low))
		check.Fatal(t, b.Model().Poke("was[121:64]", high))
		*p.WrEn, *p.Opens, *p.Gets, *p.Returns, *p.Replay, *p.Drop = false, false, false, false, false, false
		for _, pulse := range []*bool{p.WrEn, p.Opens, p.Gets, p.Returns, p.Replay, p.Drop} {
			*pulse = !*p.Load && r.Chance(0.1)
			if *p.Opens {
				break // an event of its own
			}
		}
		*p.NumberOf, *p.Count, *p.OfContext, *p.Life = uint8(r.IntN(8)), uint8(r.IntN(128)), uint8(r.Uint32()), uint8(r.IntN(16))
		*p.RPacket, *p.RSeq, *p.RNext = r.Bool(), uint8(r.Uint32()), uint8(r.Uint32())
		*p.Status, *p.Wdata, *p.Base, *p.ExpectNext = uint16(r.Uint32()), r.Uint32(), r.Uint32()&engineLimit, r.Uint32()&engineLimit
		check.Fatal(t, b.Model().Eval())
		if now > 0 {
			low, high := m.words()
			check.Equal(t, "regs", [2]uint64{check.Must(b.Model().Peek("regs[63:0]"))(t), check.Must(b.Model().Peek("regs[121:64]"))(t)}, [2]uint64{low, high})
			check.Equal(t, "peer, class, number, key", []uint32{uint32(*p.Peer), uint32(*p.ClassOf), uint32(*p.Number), *p.OwnKey},
				[]uint32{uint32(m.peer), uint32(m.class), uint32(m.number), m.key})
			check.Equal(t, "freed, with the host", []uint8{*p.Freed, *p.WithHost}, []uint8{m.earlier + uint8(*p.Base), m.given - m.returned})
			has := map[int]uint32{
				vlPeer: uint32(m.class)<<16 | uint32(m.peer), vlNumber: uint32(m.number), vlKey: m.key,
				vlStatus: uint32(*p.Freed)<<24 | uint32(*p.Status), vlExpect: *p.ExpectNext, vlCounts: uint32(m.dropped)<<16 | uint32(m.replays),
				int(linkproto.VLRegContext): uint32(*p.OfContext),
				7:                           uint32(*p.Life)<<18 | uint32(*p.OfContext)<<10 | uint32(*p.Count)<<3 | uint32(*p.Status>>1&1)<<2 | uint32(*p.Status&1)<<1 | uint32(*p.Status>>7&1),
			}
			check.Equal(t, "register", *p.Value, has[int(*p.NumberOf)])
			number := uint32(0)
			if *p.RPacket {
				number = nearest(*p.ExpectNext, *p.RSeq)
				others += b2i(number>>8&0xFFFF != *p.ExpectNext>>8)
			}
			check.Equal(t, "key", *p.Key, uint32(uint16(m.key)^uint16(number>>8))<<16|uint32(uint16(m.key>>16)^uint16(nearest(*p.Base, *p.RNext)>>8)))
		}
		b.Step(1)
		if *p.Load {
			m = next
		}
		if *p.WrEn {
			switch int(*p.NumberOf) {
			case vlPeer:
				m.class, m.peer = uint8(*p.Wdata>>16&3), uint16(*p.Wdata)
			case vlNumber:
				m.number = uint16(*p.Wdata)
			case vlKey:
				m.key = *p.Wdata
			}
		}
		m.given += uint8(b2i(*p.Gets))
		if *p.Returns {
			m.returned = uint8(*p.Wdata)
		}
		for pulse, count := range map[*bool]*uint16{p.Replay: &m.replays, p.Drop: &m.dropped} {
			if *pulse && *count < 0xFFFF {
				*count++
			} else {
				ends += b2i(*pulse)
			}
		}
		if *p.Opens {
			m.earlier, m.given, m.returned, m.replays, m.dropped = m.earlier+uint8(*p.Base), 0, 0, 0, 0
		}
	}
	if min(ends, others) < 100 {
		t.Errorf("%d counters were at their end, %d numbers beside: too few", ends, others)
	}
}
