package net_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

const barrierLinks = 4

// netBarrier is module net_barrier beside the reference, which takes the same.
type netBarrier struct {
	Alive, SValid, STake, RegAddr         *uint8  `port:"*"`
	SWord                                 *uint16 `port:"*"`
	RegWdata, RegValue                    *uint32 `port:"*"`
	Heard                                 *uint64 `port:"*"`
	RegEn, RegWrite, RegDone, RegOk, Tick *bool   `port:"*"`

	*testing.T
	bench *testbench.Bench
	ref   *flowctl.Barriers
	want  []flowctl.BarrierWord // that the reference has said
	said  []flowctl.BarrierWord
	deaf  uint8 // links that take nothing
}

func openBarrier(t *testing.T, again int) *netBarrier {
	s := &netBarrier{T: t}
	s.bench = moduletest.Open(t, "net_barrier", params{"PORTS": barrierLinks, "AGAIN": again}, s)
	s.ref = flowctl.NewBarriers(barrierLinks, again, func(w flowctl.BarrierWord) { s.want = append(s.want, w) })
	*s.Alive = 1<<barrierLinks - 1
	return s
}

// step runs for so many clocks and takes what is said.
func (s *netBarrier) step(clocks int) {
	for range clocks {
		*s.STake = *s.SValid &^ s.deaf
		for p := range barrierLinks {
			if *s.STake>>p&1 != 0 {
				s.said = append(s.said, flowctl.BarrierWord{Port: 1 + p, Group: uint8(*s.SWord >> 8), Value: uint8(*s.SWord)})
			}
		}
		s.bench.Step(1)
		*s.Heard = 0
	}
}

// hear has words come, by each of some links one.
func (s *netBarrier) hear(words ...flowctl.BarrierWord) {
	for _, w := range words {
		*s.Heard |= (1<<13 | uint64(w.Group)<<8 | uint64(w.Value)) << (14 * (w.Port - 1))
		s.ref.Hear(w)
	}
	s.step(1)
}

// ask reads or writes a register.
func (s *netBarrier) ask(r linkproto.BarrierReg, group int, write bool, value uint32) (read uint32, ok bool) {
	s.Helper()
	*s.RegAddr, *s.RegWrite, *s.RegWdata, *s.RegEn = uint8(group)<<2|uint8(r), write, value, true
	for range 60 { // it is cleared first
		if s.step(1); *s.RegDone {
			read, ok = *s.RegValue, *s.RegOk
			*s.RegEn = false
			s.step(1)
			return read, ok
		}
	}
	s.Fatalf("no answer of register %d of group %d", r, group)
	return 0, false
}

func (s *netBarrier) write(r linkproto.BarrierReg, group int, value uint32) {
	s.Helper()
	_, ok := s.ask(r, group, true, value)
	check.Equal(s, fmt.Sprint("write of register ", r), ok, s.ref.WriteRegister(r, group, value))
}

// compare compares all registers of some groups with the reference's.
func (s *netBarrier) compare(what string, groups ...int) {
	s.Helper()
	for _, group := range groups {
		for r := range linkproto.BarrierReg(linkproto.BarrierStride) {
			have, ok := s.ask(r, group, false, 0)
			want, there := s.ref.ReadRegister(r, group)
			check.Equal(s, fmt.Sprintf("%s: register %d of group %d exists", what, r, group), ok, there)
			if there && have != want {
				s.Fatalf("%s: register %d of group %d is %#x, want %#x", what, r, group, have, want)
			}
		}
	}
}

// TestBarrier: whatever words come and whatever is written, alone or by all links at once, the registers are those of the reference. What is said for one word is
// what the reference says.
func TestBarrier(t *testing.T) {
	s := openBarrier(t, 1<<20)
	r := s.bench.Rand("words")
	all := []int{0, 1, 7, 30, 31}
	s.compare("after reset", 0, 1, 2, 3, 30, 31)
	completed := 0
	value := func(group int) uint8 {
		now, _ := s.ref.ReadRegister(linkproto.BarrierRegPhase, group)
		generation, phase := uint8(now>>linkproto.BarrierBits), uint8(now)&15
		switch {
		case r.Chance(0.1):
			return uint8(r.IntN(256))
		case r.Chance(0.1):
			return linkproto.BarrierValue(generation, phase)
		}
		return linkproto.BarrierValue(generation, phase+1)
	}
	for round := range 4000 {
		group := all[r.IntN(len(all))]
		before, _ := s.ref.ReadRegister(linkproto.BarrierRegPhase, group)
		s.said, s.want = nil, nil
		switch k := r.IntN(20); {
		case k == 0:
			ports := uint32(r.IntN(1 << 17))
			if r.Chance(0.5) {
				ports = 1<<(barrierLinks+1) - 1
			}
			if r.Chance(0.8) { // else it is refused, unless there is none
				old, _ := s.ref.ReadRegister(linkproto.BarrierRegMembers, group)
				s.write(linkproto.BarrierRegMembers, group, old&^linkproto.BarrierPorts.In(1<<17-1))
				s.step(12)
			}
			if r.Chance(0.1) {
				ports = 0
			}
			s.write(linkproto.BarrierRegMembers, group, linkproto.BarrierPorts.In(ports)|linkproto.BarrierGeneration.In(uint32(r.IntN(16))))
		case k == 1:
			same, _ := s.ref.ReadRegister(linkproto.BarrierRegMembers, group)
			s.write(linkproto.BarrierRegMembers, group, same)
			s.step(12)
			s.write(linkproto.BarrierRegMembers, group, linkproto.BarrierGeneration.In(linkproto.BarrierGeneration.Of(same)+1)) // another generation does not give it up
		case k == 2:
			s.write(linkproto.BarrierRegEntered+linkproto.BarrierReg(r.IntN(2)), group, 31)
		case k < 7:
			s.write(linkproto.BarrierRegPhase, group, uint32(value(group)))
		case k < 10: // a request overtakes a word for the same group
			port := 1 + r.IntN(barrierLinks)
			next := linkproto.BarrierValue(uint8(before>>linkproto.BarrierBits), uint8(before)+1)
			s.hear(flowctl.BarrierWord{Port: port, Group: uint8(group), Value: next})
			s.write(linkproto.BarrierRegPhase, group, uint32(next))
			s.step(12)
			s.want, s.said = nil, nil
		case k < 14:
			port := 1 + r.IntN(barrierLinks)
			s.hear(flowctl.BarrierWord{Port: port, Group: uint8(group), Value: value(group)})
		default:
			var words []flowctl.BarrierWord
			for port := 1; port <= barrierLinks; port++ {
				if g := all[r.IntN(len(all))]; r.Chance(0.3) {
					group = g
				}
				words = append(words, flowctl.BarrierWord{Port: port, Group: uint8(group), Value: value(group)})
			}
			s.hear(words...)
			s.step(4*barrierLinks + 10)
			s.want, s.said = nil, nil
		}
		s.step(12)
		s.compare(fmt.Sprint("round ", round), group)
		if !slices.Equal(s.said, s.want) {
			t.Fatalf("round %d: said %v, want %v", round, s.said, s.want)
		}
		if after, _ := s.ref.ReadRegister(linkproto.BarrierRegPhase, group); after != before {
			completed++
		}
	}
	s.compare("in the end", all...)
	if completed < 200 {
		t.Errorf("only %d phases", completed)
	}
}

// TestBarrierAgain: each AGAIN symbol times one group is said again, in turn, its phase by all links and every other time the next one by the link that is missing. A
// link that is down is not waited for. What is to be said while a link still has something to say is said as soon as that has been.
func TestBarrierAgain(t *testing.T) {
	const again = 200
	s := openBarrier(t, again)
	for _, group := range []int{3, 20} {
		s.write(linkproto.BarrierRegMembers, group, linkproto.BarrierGeneration.In(9)|linkproto.BarrierPorts.In(0b10111))
	}
	for _, port := range []int{1, 2} {
		s.hear(flowctl.BarrierWord{Port: port, Group: 20, Value: 0x91})
	}
	s.write(linkproto.BarrierRegPhase, 20, 0x91)
	s.said = nil
	*s.Tick = true
	s.step(again * 16)
	counts := map[flowctl.BarrierWord]int{}
	for _, w := range s.said {
		counts[w]++
	}
	for word, least := range map[flowctl.BarrierWord]int{{Port: 1, Group: 3, Value: 0x90}: 3, {Port: 2, Group: 3, Value: 0x90}: 3, {Port: 4, Group: 3, Value: 0x90}: 3,
		{Port: 1, Group: 20, Value: 0x90}: 2, {Port: 2, Group: 20, Value: 0x90}: 2, {Port: 4, Group: 20, Value: 0x90}: 2, {Port: 4, Group: 20, Value: 0x91}: 2} {
		if counts[word] < least || counts[word] > 8 {
			t.Errorf("%v was said %d times in %d clocks, want %d to 8", word, counts[word], 16*again, least)
		}
		delete(counts, word)
	}
	if len(counts) > 0 {
		t.Errorf("also said: %v", counts)
	}
	*s.Tick = false
	s.step(2 * again)
	s.deaf = 1 << 1 // link 2
	s.write(linkproto.BarrierRegPhase, 3, 0x91)
	for _, port := range []int{1, 2} {
		s.hear(flowctl.BarrierWord{Port: port, Group: 3, Value: 0x91})
		s.step(12)
	}
	s.said = nil
	s.hear(flowctl.BarrierWord{Port: 4, Group: 3, Value: 0x91}) // link 2 does not take it
	s.step(12)
	s.hear(flowctl.BarrierWord{Port: 4, Group: 20, Value: 0x91})
	s.step(12)
	check.Equal(t, "said while a link does not take it", slices.ContainsFunc(s.said, func(w flowctl.BarrierWord) bool { return w.Group == 20 }), false)
	s.deaf = 0
	s.step(4)
	for _, word := range []flowctl.BarrierWord{{Port: 2, Group: 3, Value: 0x91}, {Port: 1, Group: 20, Value: 0x91}, {Port: 4, Group: 20, Value: 0x91}} {
		if !slices.Contains(s.said, word) {
			t.Errorf("%v was not said in %d clocks: %v", word, 4, s.said)
		}
	}
	s.compare("in the end", 3, 20)
	s.deaf = 1 << 1
	for _, phase := range []uint8{0x92, 0x93} {
		s.said = nil
		*s.Alive &^= uint8(phase) & 1 << 1 // it goes down when something is to be said by it
		s.write(linkproto.BarrierRegPhase, 3, uint32(phase))
		for _, port := range []int{1, 2, 4} {
			s.hear(flowctl.BarrierWord{Port: port, Group: 3, Value: phase})
			s.step(12)
		}
		if !slices.Contains(s.said, flowctl.BarrierWord{Port: 4, Group: 3, Value: phase}) {
			t.Errorf("phase %#x is held up by a link that is down: %v", phase, s.said)
		}
	}
}
