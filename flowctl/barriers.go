package flowctl

import (
	"math/bits"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// Barriers is what a router does for barriers: by which ports the next phase of each group has been said, and what it says by them. It is a pure
// state machine, as Endpoint is. Make it with NewBarriers.
type Barriers struct {
	groups [linkproto.BarrierGroups]barrierGroup
	all    uint32 // ports that there are, a bit each
	again  int    // ticks after which a group is said again
	waited int    // since one was
	turn   int    // group that is said again next
	say    func(BarrierWord)
}

// BarrierWord is a BARRIER as it comes, or is to go, by a port.
type BarrierWord struct {
	Port  int
	Group uint8
	Value uint8 // generation and phase, as of linkproto.BarrierValue
}

// barrierGroup is a group of a router.
type barrierGroup struct {
	ports      uint32 // a bit each
	entered    uint32 // of these, those by which the next phase has been said
	generation uint8
	phase      uint8
	ahead      bool // when it is said again, the next phase is, where it has to be
}

// NewBarriers returns the barriers of a router with so many links, as after reset. What it has to say goes to say. again is the time after which
// one of the groups is said again; 0: linkproto.DefaultBarrierAgain.
func NewBarriers(links, again int, say func(BarrierWord)) *Barriers {
	setDefault(&again, linkproto.DefaultBarrierAgain)
	return &Barriers{all: 1<<(links+1) - 1, again: again, say: say}
}

const phases = 1 << linkproto.BarrierBits

// Hear takes a word that has come by a port, or what the node itself enters, by port 0. It counts or changes nothing.
func (b *Barriers) Hear(w BarrierWord) {
	g := &b.groups[w.Group%linkproto.BarrierGroups]
	if bit := uint32(1) << w.Port; g.ports&bit == 0 || g.entered&bit != 0 || w.Value != linkproto.BarrierValue(g.generation, g.phase+1) {
		return
	}
	g.entered |= 1 << w.Port
	switch missing := g.ports &^ g.entered; {
	case missing == 0:
		g.phase, g.entered = (g.phase+1)%phases, 0
		b.tell(w.Group, g.ports, g.phase)
	case bits.OnesCount32(missing) == 1:
		b.tell(w.Group, missing, g.phase+1)
	}
}

// tell says a phase of a group by some ports, as far as they are links.
func (b *Barriers) tell(group uint8, ports uint32, phase uint8) {
	for left := ports &^ 1; left != 0; left &= left - 1 {
		b.say(BarrierWord{bits.TrailingZeros32(left), group, linkproto.BarrierValue(b.groups[group].generation, phase)})
	}
}

// Tick says that n ticks have passed.
func (b *Barriers) Tick(n int) {
	if b.idle() {
		return
	}
	for b.waited += n; b.waited >= b.again; b.waited -= b.again {
		for b.groups[b.turn].ports == 0 {
			b.turn = (b.turn + 1) % len(b.groups)
		}
		g := &b.groups[b.turn]
		missing := g.ports &^ g.entered
		if g.ahead && bits.OnesCount32(missing) == 1 {
			b.tell(uint8(b.turn), missing, g.phase+1)
		} else {
			b.tell(uint8(b.turn), g.ports, g.phase)
		}
		g.ahead = !g.ahead
		b.turn = (b.turn + 1) % len(b.groups)
	}
}

// idle reports whether there are no groups.
func (b *Barriers) idle() bool {
	for i := range b.groups {
		if b.groups[i].ports != 0 {
			return false
		}
	}
	return true
}

// IdleFor returns for how many ticks nothing will be said if nothing is heard meanwhile, at most limit.
func (b *Barriers) IdleFor(limit int) int {
	if b.idle() {
		return limit
	}
	return min(limit, b.again-b.waited)
}

// ReadRegister returns a register of a group; ok is false if there is none of that number.
func (b *Barriers) ReadRegister(r linkproto.BarrierReg, group int) (value uint32, ok bool) {
	switch g := &b.groups[group]; r {
	case linkproto.BarrierRegMembers:
		return linkproto.BarrierPorts.In(g.ports) | linkproto.BarrierGeneration.In(uint32(g.generation)), true
	case linkproto.BarrierRegPhase:
		return uint32(linkproto.BarrierValue(g.generation, g.phase)), true
	case linkproto.BarrierRegEntered:
		return g.entered, true
	}
	return 0, false
}

// WriteRegister sets a register of a group, and reports false if there is none that can be written. Ports that do not exist are left out. MEMBERS of a group that has ports stays as it is, unless
// the same generation gives it up.
func (b *Barriers) WriteRegister(r linkproto.BarrierReg, group int, value uint32) bool {
	g := &b.groups[group]
	switch ports, generation := linkproto.BarrierPorts.Of(value)&b.all, uint8(linkproto.BarrierGeneration.Of(value)); {
	case r == linkproto.BarrierRegPhase:
		b.Hear(BarrierWord{0, uint8(group), uint8(value)})
	case r != linkproto.BarrierRegMembers:
		return false
	case g.ports == 0 || ports == 0 && generation == g.generation: // else another group has the number, or this one has begun
		*g = barrierGroup{ports: ports, generation: generation}
	}
	return true
}

// barrierWords are BARRIERs on their way through an end of a link.
type barrierWords struct {
	out, in []linkproto.Word
}

// Say has a BARRIER sent as soon as may be, behind those that wait: one phase does not take the place of another, which the peer would only hear when it is said again.
func (b *barrierWords) Say(group, value uint8) {
	if w := (linkproto.Word{Kind: linkproto.KindBarrier, Group: group, Value: value}); !slices.Contains(b.out, w) {
		b.out = append(b.out, w)
	}
}

// Heard returns the next BARRIER that has come; ok is false if there is none.
func (b *barrierWords) Heard() (group, value uint8, ok bool) {
	if len(b.in) == 0 {
		return 0, 0, false
	}
	w := b.in[0]
	b.in = b.in[1:]
	return w.Group, w.Value, true
}

// next is the oldest that waits to be sent.
func (b *barrierWords) next() (w linkproto.Word) {
	w, b.out = b.out[0], b.out[1:]
	return w
}
