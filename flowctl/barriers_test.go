package flowctl_test

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// barrierWorld is a tree of routers, each with a node that may be a member of a group, and cables that lose, double and delay words.
type barrierWorld struct {
	units   []*flowctl.Barriers
	ends    [][][2]int // by unit and port, from 1 on: the unit and the port at the other end
	flying  [][][]flight
	rng     *rand.Rand
	lose    int // chances, in 100
	double  int
	delay   int // ticks, at most
	now     int
	masks   []uint32
	entered []int // by unit: phases since the group was made
}

// flight is a word on its way to a port.
type flight struct {
	at   int
	word flowctl.BarrierWord
}

const barrierAgain = 40

func newBarrierWorld(t *rapid.T) *barrierWorld {
	w := &barrierWorld{
		rng: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3)), lose: rapid.IntRange(0, 60).Draw(t, "lose"),
		double: rapid.IntRange(0, 60).Draw(t, "double"), delay: rapid.IntRange(1, 30).Draw(t, "delay"),
	}
	n := rapid.IntRange(2, 7).Draw(t, "routers")
	w.ends = make([][][2]int, n)
	for i := range w.ends {
		w.ends[i] = [][2]int{{}}
	}
	for i := 1; i < n; i++ { // each is cabled to one before it
		j := w.rng.IntN(i)
		w.ends[i], w.ends[j] = append(w.ends[i], [2]int{j, len(w.ends[j])}), append(w.ends[j], [2]int{i, len(w.ends[i])})
	}
	w.flying = make([][][]flight, n)
	for i := range n {
		w.flying[i] = make([][]flight, len(w.ends[i]))
		w.units = append(w.units, flowctl.NewBarriers(len(w.ends[i])-1, barrierAgain, func(word flowctl.BarrierWord) {
			to := w.ends[i][word.Port]
			word.Port = to[1]
			queue := &w.flying[to[0]][to[1]]
			for copies := 1 + w.hit(w.double); copies > 0 && w.hit(w.lose) == 0; copies-- {
				at := w.now + 1 + w.rng.IntN(w.delay)
				if k := len(*queue); k > 0 {
					at = max(at, (*queue)[k-1].at) // a lane keeps the order
				}
				*queue = append(*queue, flight{at, word})
			}
		}))
	}
	return w
}

func (w *barrierWorld) hit(chance int) int {
	if w.rng.IntN(100) < chance {
		return 1
	}
	return 0
}

// make makes the group, of all routers that lead to members, and sets them one after the other.
func (w *barrierWorld) make(group, generation int) {
	n := len(w.units)
	w.masks, w.entered = make([]uint32, n), make([]int, n)
	for i := range n {
		if w.masks[i] = uint32(w.rng.IntN(2)); i == 0 || n == 2 {
			w.masks[i] = 1
		}
		for p := range w.ends[i][1:] {
			w.masks[i] |= 2 << p
		}
	}
	for pruned := true; pruned; { // routers at the edge that are no members
		pruned = false
		for i, m := range w.masks {
			if m&1 == 0 && bits.OnesCount32(m) == 1 {
				to := w.ends[i][bits.TrailingZeros32(m)]
				w.masks[i], pruned = 0, true
				w.masks[to[0]] &^= 1 << to[1]
			}
		}
	}
	for _, i := range w.rng.Perm(n) {
		before, _ := w.units[i].ReadRegister(linkproto.BarrierRegMembers, group)
		w.units[i].WriteRegister(linkproto.BarrierRegMembers, group, linkproto.BarrierGeneration.In(linkproto.BarrierGeneration.Of(before)))
		w.units[i].WriteRegister(linkproto.BarrierRegMembers, group, linkproto.BarrierPorts.In(w.masks[i])|linkproto.BarrierGeneration.In(uint32(generation)))
		w.step()
	}
}

func (w *barrierWorld) step() {
	w.now++
	for i, u := range w.units {
		for p := range w.flying[i] {
			for queue := &w.flying[i][p]; len(*queue) > 0 && (*queue)[0].at <= w.now; {
				word := (*queue)[0].word
				*queue = (*queue)[1:]
				u.Hear(word)
			}
		}
		u.Tick(1)
	}
}

// phase is the phase of a router, counted since the group was made, by the phases that its neighbourhood may have.
func (w *barrierWorld) phase(i, group int) int {
	value, _ := w.units[i].ReadRegister(linkproto.BarrierRegPhase, group)
	return w.entered[i] - int(uint8(w.entered[i])-uint8(linkproto.BarrierPhase.Of(value)))&15
}

// allLeft reports whether all members have left the phase that they entered last.
func (w *barrierWorld) allLeft(group int) bool {
	for i, m := range w.masks {
		if m&1 != 0 && w.phase(i, group) != w.entered[i] {
			return false
		}
	}
	return true
}

// TestBarriers: over cables that lose, double and delay words no member leaves a phase that another has not entered, and all leave each phase that all
// have entered. What is said of an earlier group of the same number changes nothing.
func TestBarriers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newBarrierWorld(t)
		group := rapid.IntRange(0, linkproto.BarrierGroups-1).Draw(t, "group")
		for generation := 1; generation <= 3; generation++ {
			w.make(group, generation)
			rounds, since := rapid.IntRange(1, 40).Draw(t, "rounds"), w.now
			for done := false; !done; {
				w.step()
				least := 1 << 30
				for i, m := range w.masks {
					if m&1 != 0 {
						least = min(least, w.entered[i])
					}
				}
				done = least == rounds || generation < 3 && w.rng.IntN(400) == 0
				for i, m := range w.masks {
					if m&1 == 0 {
						continue
					}
					left := w.phase(i, group)
					if left > least || left < w.entered[i]-1 {
						t.Fatalf("generation %d, clock %d: router %d has left phase %d, and entered %d; another member has only entered %d", generation, w.now, i, left, w.entered[i], least)
					}
					if left == w.entered[i] && w.entered[i] < rounds && w.rng.IntN(20) == 0 {
						w.entered[i]++
						value := linkproto.BarrierValue(uint8(generation), uint8(w.entered[i]))
						for range 1 + w.rng.IntN(2) { // twice does no harm
							w.units[i].WriteRegister(linkproto.BarrierRegPhase, group, uint32(value))
						}
					}
				}
				if w.now-since > 200_000 {
					t.Fatalf("generation %d: after %d rounds of %d nobody goes on: masks %b, entered %v", generation, least, rounds, w.masks, w.entered)
				}
			}
		}
		for range 100_000 {
			w.step()
			if w.allLeft(group) {
				return
			}
		}
		t.Fatalf("all have entered phase %v, and not all have left it", w.entered)
	})
}

// TestBarrierRegisters: what is written of ports that do not exist is left out, the same again changes nothing, who is no member enters nothing, and what cannot
// be written is refused.
func TestBarrierRegisters(t *testing.T) {
	var said []flowctl.BarrierWord
	b := flowctl.NewBarriers(2, 0, func(w flowctl.BarrierWord) { said = append(said, w) })
	read := func(r linkproto.BarrierReg) uint32 {
		value, ok := b.ReadRegister(r, 7)
		check.Equal(t, "there is the register", ok, true)
		return value
	}
	members := linkproto.BarrierGeneration.In(5)
	write := func(ports uint32) {
		b.WriteRegister(linkproto.BarrierRegMembers, 7, members|linkproto.BarrierPorts.In(ports))
	}
	enter := func(phase uint8) {
		b.WriteRegister(linkproto.BarrierRegPhase, 7, uint32(linkproto.BarrierValue(5, phase)))
	}
	write(0x1FFFF)
	check.Equal(t, "MEMBERS", read(linkproto.BarrierRegMembers), members|7)
	enter(2)
	check.Equal(t, "entered", read(linkproto.BarrierRegEntered), 0)
	enter(1)
	write(7)
	check.Equal(t, "entered", read(linkproto.BarrierRegEntered), 1)
	b.Hear(flowctl.BarrierWord{Port: 2, Group: 7, Value: linkproto.BarrierValue(4, 1)})
	check.Equal(t, "entered, with another generation", read(linkproto.BarrierRegEntered), 1)
	b.Hear(flowctl.BarrierWord{Port: 2, Group: 7, Value: linkproto.BarrierValue(5, 1)})
	check.Equal(t, "said", said, []flowctl.BarrierWord{{Port: 1, Group: 7, Value: 0x51}})
	b.Hear(flowctl.BarrierWord{Port: 1, Group: 7, Value: linkproto.BarrierValue(5, 1)})
	check.Equal(t, "PHASE", read(linkproto.BarrierRegPhase), 0x51)
	check.Equal(t, "said", said[1:], []flowctl.BarrierWord{{Port: 1, Group: 7, Value: 0x51}, {Port: 2, Group: 7, Value: 0x51}})
	write(6)
	check.Equal(t, "MEMBERS, claimed by another", read(linkproto.BarrierRegMembers), members|7)
	b.WriteRegister(linkproto.BarrierRegMembers, 7, linkproto.BarrierGeneration.In(4))
	check.Equal(t, "MEMBERS, given up by another generation", read(linkproto.BarrierRegMembers), members|7)
	write(0)
	write(6)
	check.Equal(t, "MEMBERS, given up and claimed", read(linkproto.BarrierRegMembers), members|6)
	enter(1)
	check.Equal(t, "entered by no member", read(linkproto.BarrierRegEntered), 0)
	check.Equal(t, "ENTERED can be written", b.WriteRegister(linkproto.BarrierRegEntered, 7, 1), false)
	_, ok := b.ReadRegister(linkproto.NumBarrierRegs, 7)
	check.Equal(t, "there is a register more", ok, false)
	check.Equal(t, "idle", b.IdleFor(100_000), linkproto.DefaultBarrierAgain)
}

// TestBarrierWordsWait: all words that are to be said before the link can send one are, in their order; what waits already is said once.
func TestBarrierWordsWait(t *testing.T) {
	a, b := check.Must(flowctl.New(flowctl.Config{Barriers: true}))(t), check.Must(flowctl.New(flowctl.Config{Barriers: true, Epoch: 77}))(t)
	var line [64]linkproto.Symbol
	exchange := func() {
		b.Feed(line[:a.Emit(line[:])])
		a.Feed(line[:b.Emit(line[:])])
		a.Tick(len(line))
		b.Tick(len(line))
	}
	for !a.Status().Up || !b.Status().Up {
		exchange()
	}
	type word struct{ Group, Value uint8 }
	want := []word{{3, 0x15}, {3, 0x16}, {9, 0x21}}
	for _, w := range append(want, want[0]) { // the last one is the phase, said again
		a.Say(w.Group, w.Value)
	}
	exchange()
	var have []word
	for group, value, ok := b.Heard(); ok; group, value, ok = b.Heard() {
		have = append(have, word{group, value})
	}
	check.Equal(t, "heard", have, want)
}
