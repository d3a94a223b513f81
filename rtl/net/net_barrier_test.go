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

const (
	barrierLinks = 4
	looked       = 3 * (barrierLinks + 2) // clocks until a word has been looked at
	apart        = 64                     // clocks between words that are not the same
	settled      = looked + apart + 20    // clocks until all that follows has been said
)

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

// hear has words come, by each of some links one: all that is of them in the same clock, as of a link of several lanes.
func (s *netBarrier) hear(words ...flowctl.BarrierWord) {
	for _, w := range words {
		*s.Heard |= (3<<13 | uint64(w.Group)<<8 | uint64(w.Value)) << (15 * (w.Port - 1))
		s.ref.Hear(w)
	}
	s.step(1)
}

// hearSlowly has the same come as a link of one lane does: the group first, then the value. Before them each link has the beginning of a word that proves bad.
func (s *netBarrier) hearSlowly(words ...flowctl.BarrierWord) {
	for _, bad := range []uint64{17, 0} {
		for _, w := range words {
			*s.Heard |= (1<<14 | (uint64(w.Group)^bad)<<8 | uint64(^w.Value)) << (15 * (w.Port - 1))
		}
		s.step(4)
	}
	for _, w := range words {
		*s.Heard |= (1<<13 | uint64(w.Group^9)<<8 | uint64(w.Value)) << (15 * (w.Port - 1))
		s.ref.Hear(w)
	}
	s.step(1)
}

// ask reads or writes a register.
func (s *netBarrier) ask(r linkproto.BarrierReg, group int, write bool, value uint32) (read uint32, ok bool) {
	s.Helper()
	*s.RegAddr, *s.RegWrite, *s.RegWdata, *s.RegEn = uint8(group)<<2|uint8(r), write, value, true
	for range 160 { // it is cleared first
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
		s.step(r.IntN(8)) // at any place of a turn
		switch k := r.IntN(20); {
		case k == 0:
			ports := uint32(r.IntN(1 << 17))
			if r.Chance(0.5) {
				ports = 1<<(barrierLinks+1) - 1
			}
			if r.Chance(0.8) { // else it is refused, unless there is none
				old, _ := s.ref.ReadRegister(linkproto.BarrierRegMembers, group)
				s.write(linkproto.BarrierRegMembers, group, old&^linkproto.BarrierPorts.In(1<<17-1))
				s.step(settled)
			}
			if r.Chance(0.1) {
				ports = 0
			}
			s.write(linkproto.BarrierRegMembers, group, linkproto.BarrierPorts.In(ports)|linkproto.BarrierGeneration.In(uint32(r.IntN(16))))
		case k == 1:
			same, _ := s.ref.ReadRegister(linkproto.BarrierRegMembers, group)
			s.write(linkproto.BarrierRegMembers, group, same)
			s.step(settled)
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
			s.step(settled)
			s.want, s.said = nil, nil
		case k < 14:
			port := 1 + r.IntN(barrierLinks)
			s.hearSlowly(flowctl.BarrierWord{Port: port, Group: uint8(group), Value: value(group)})
		default:
			var words []flowctl.BarrierWord
			for port := 1; port <= barrierLinks; port++ {
				if g := all[r.IntN(len(all))]; r.Chance(0.3) {
					group = g
				}
				words = append(words, flowctl.BarrierWord{Port: port, Group: uint8(group), Value: value(group)})
			}
			if r.Chance(0.5) {
				s.hear(words...)
			} else {
				s.hearSlowly(words...)
			}
			s.step(2 * settled)
			s.want, s.said = nil, nil
		}
		s.step(settled)
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
		s.step(settled)
	}
	s.said = nil
	s.hear(flowctl.BarrierWord{Port: 4, Group: 3, Value: 0x91}) // link 2 does not take it
	s.step(looked)
	s.hear(flowctl.BarrierWord{Port: 4, Group: 20, Value: 0x91})
	s.step(settled)
	check.Equal(t, "said while a link does not take it", slices.ContainsFunc(s.said, func(w flowctl.BarrierWord) bool { return w.Group == 20 }), false)
	s.deaf = 0
	s.step(settled)
	for _, word := range []flowctl.BarrierWord{{Port: 2, Group: 3, Value: 0x91}, {Port: 1, Group: 20, Value: 0x91}, {Port: 4, Group: 20, Value: 0x91}} {
		if !slices.Contains(s.said, word) {
			t.Errorf("%v was not said in %d clocks: %v", word, settled, s.said)
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
			s.step(settled)
		}
		if !slices.Contains(s.said, flowctl.BarrierWord{Port: 4, Group: 3, Value: phase}) {
			t.Errorf("phase %#x is held up by a link that is down: %v", phase, s.said)
		}
	}
}

// members makes a group of all ports, or of those links only.
func (s *netBarrier) members(group int, ports uint32) {
	s.Helper()
	s.write(linkproto.BarrierRegMembers, group, linkproto.BarrierGeneration.In(9)|linkproto.BarrierPorts.In(ports))
}

// until runs until a word has been said, and returns the clocks.
func (s *netBarrier) until(most int, word flowctl.BarrierWord) int {
	s.Helper()
	for clocks := range most {
		if slices.Contains(s.said, word) {
			return clocks
		}
		s.step(1)
	}
	s.Fatalf("%v was not said in %d clocks: %v", word, most, s.said)
	return 0
}

// TestBarrierApart: a word stands alone for 64 clocks behind the last link that took it, but for one that is the same, and one that is only said again. What is owed is said as
// soon as it may be.
func TestBarrierApart(t *testing.T) {
	const again = 1500
	s := openBarrier(t, again)
	for _, group := range []int{3, 20, 30} {
		s.members(group, 0b11110)
	}
	word := func(port, group int) flowctl.BarrierWord {
		return flowctl.BarrierWord{Port: port, Group: uint8(group), Value: 0x91}
	}
	for _, group := range []int{3, 20, 30} {
		for port := 1; port <= 2; port++ {
			s.hear(word(port, group))
			s.step(looked)
		}
	}
	s.step(settled)
	check.Equal(t, "said with two missing", s.said, nil)
	s.hear(word(3, 3))
	s.until(looked, word(4, 3))
	s.said = nil
	s.hear(word(4, 3)) // the same is said to all at once
	s.until(looked, word(1, 3))
	s.hear(word(3, 20))
	if n := s.until(settled, word(4, 20)); n < apart-looked {
		t.Errorf("another group's was said %d clocks behind the last, want %d", n+1, apart)
	}
	s.step(settled)

	// Group 3 says its phase again; another group's next one need not wait for that.
	s.said = nil
	*s.Tick = true
	s.until(33*again, flowctl.BarrierWord{Port: 1, Group: 3, Value: 0x91})
	*s.Tick = false
	s.said = nil
	s.hear(word(3, 30))
	if n := s.until(settled, word(4, 30)); n > looked+8 {
		t.Errorf("said %d clocks behind what was only said again, want %d", n, looked)
	}
}

// TestBarrierManyGroups: all groups are entered by all links at about the same time, by words that come as close to each other as they may: none is lost, and each group's end is said to all links
// without being said again. Words that differ are as far apart as they have to be.
func TestBarrierManyGroups(t *testing.T) {
	s := openBarrier(t, 1<<20)
	const all = linkproto.BarrierGroups
	for group := range all {
		s.members(group, 0b11110)
	}
	r := s.bench.Rand("orders")
	for phase := uint8(0x91); phase < 0x95; phase++ {
		var orders [barrierLinks][]int
		for p := range orders {
			orders[p] = r.Perm(all)
		}
		var next [barrierLinks]int
		s.said = nil
		last, count := 0, 0
		clocks := 0
		for ; clocks < all*3*settled; clocks++ {
			for p, order := range orders {
				if clocks >= next[p] && len(order) > 0 {
					*s.Heard |= (3<<13 | uint64(order[0])<<8 | uint64(phase)) << (15 * p)
					s.ref.Hear(flowctl.BarrierWord{Port: 1 + p, Group: uint8(order[0]), Value: phase})
					orders[p], next[p] = order[1:], clocks+looked-2+r.IntN(3)
				}
			}
			s.step(1)
			for ; count < len(s.said); count++ {
				if w := s.said[count]; count > 0 && w.Group != s.said[count-1].Group && clocks-last < apart {
					t.Fatalf("%v is said %d clocks behind another group's, want %d", w, clocks-last, apart)
				}
				last = clocks
			}
		}
		ends := map[flowctl.BarrierWord]bool{}
		for _, w := range s.said {
			ends[w] = true
		}
		check.Equal(t, "words that were said, each counted once", len(ends), all*barrierLinks)
		for group := range all {
			s.compare(fmt.Sprintf("phase %#x", phase), group)
		}
	}
}
