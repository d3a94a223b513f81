package switches

import (
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// Groups of barriers that are played with, and how long a router takes to say all of them again, each in both ways.
var barrierGroups = []int{0, 17, 31}

const barrierTurns = 6*linkproto.DefaultBarrierAgain + 300

// Saying is what the end of a port says of a group, or the node itself enters: the group's generation and phase at the round's beginning, and so much more.
type Saying struct {
	Port, Group       int
	Generation, Phase uint8
}

// barriers draws what is said in a round, and writes of MEMBERS.
func (d *drawer) barriers(r *Round, first bool) {
	for _, group := range barrierGroups {
		if first || d.Chance(0.15) {
			members := linkproto.BarrierGeneration.In(d.Uint32() & 3)
			if first || d.Chance(0.3) { // a claim, of a number that may be taken; else it is to end a group
				members |= linkproto.BarrierPorts.In(d.Uint32() | d.Uint32())
			}
			r.Writes = append(r.Writes, Write{linkproto.BarrierRegMembers.Reg(group), members})
		}
		most := testbench.Pick(d.Rand, d.Ports+1, d.Ports+1, d.Between(0, d.Ports))
		for port := range d.Ports + 1 {
			if port >= most || d.cut>>port&1 != 0 {
				continue
			}
			r.Sayings = append(r.Sayings, Saying{port, group, uint8(testbench.Pick(d.Rand, 0, 0, 0, 0, 0, 0, 0, 1)), uint8(testbench.Pick(d.Rand, 1, 1, 1, 1, 1, 1, 1, 1, 0, 8, 15))})
		}
	}
}

// restarts draws links that start again in a round.
func (d *drawer) restarts(r *Round) {
	if d.Bool() {
		r.Restart = d.Uint32() & (1<<(d.Ports+1) - 1) &^ 3 &^ d.cut
	}
}

// restart has links start again while all is said once more: words may be lost, and those of the life before come to an end that has begun another one.
func (a *player) restart(r Round) {
	for port := 2; port <= a.Params.Ports; port++ {
		if r.Restart>>port&1 != 0 {
			a.ports[port].Link.Restart()
		}
	}
	if r.Restart != 0 {
		a.say(r.Sayings, a.began)
		a.cable(r.Cut)
	}
}

// phases are the registers PHASE of all groups.
func (a *player) phases() map[int]uint32 {
	now := map[int]uint32{}
	for _, group := range barrierGroups {
		now[group] = a.register(linkproto.BarrierRegPhase.Reg(group))
	}
	return now
}

// say has it all said once more, and waits until it has come. What is said beside the next phase changes nothing, also when it is said again behind that.
func (a *player) say(all []Saying, began map[int]uint32) {
	if len(all) == 0 {
		return
	}
	for _, s := range all {
		now := began[s.Group]
		value := linkproto.BarrierValue(uint8(now>>linkproto.BarrierBits)+s.Generation, uint8(now)+s.Phase)
		if s.Port == 0 {
			a.ask(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.BarrierRegPhase.Reg(s.Group), Value: uint32(value)})
		} else {
			a.ports[s.Port].Link.Say(uint8(s.Group), value)
		}
	}
	a.wait(200)
}

// listen begins to keep what is said by ports.
func (a *player) listen() {
	a.heard = make([]map[string]bool, a.Params.Ports+1)
	for port := range a.heard {
		a.heard[port] = map[string]bool{}
	}
}

// hear takes what is said by ports.
func (a *player) hear() {
	for port := 1; port <= a.Params.Ports; port++ {
		for group, value, ok := a.ports[port].Link.Heard(); ok; group, value, ok = a.ports[port].Link.Heard() {
			if a.heard != nil {
				a.heard[port][fmt.Sprintf("group %02d: %#02x", group, value)] = true
			}
		}
	}
}

// barrierRegisters writes down where all groups are, and what has been said by each port since listen.
func (a *player) barrierRegisters() {
	for _, group := range barrierGroups {
		for r := range linkproto.BarrierReg(linkproto.BarrierStride - 1) {
			a.line(fmt.Sprintf("barrier group %d", group), "%v %#x", r, a.register(r.Reg(group)))
		}
	}
	for port, words := range a.heard {
		var lines []string
		for w := range words {
			lines = append(lines, w)
		}
		slices.Sort(lines)
		for _, l := range lines {
			a.line(fmt.Sprintf("barriers by port %d", port), "%s", l)
		}
	}
	a.heard, a.left = nil, a.phases()
}

// barriers names what has become of groups.
func (j *judge) barriers(r Round) {
	const point = "barrier"
	for _, s := range r.Sayings {
		j.hitIf(s.Generation != 0, point, "a word of another generation")
		j.hitIf(s.Phase != 1, point, "a word of another phase")
		j.hitIf(s.Port == 0, point, "entered by the node itself")
	}
	for _, w := range r.Writes {
		j.hitIf(w.Reg >= linkproto.RegBarrier && w.Reg < linkproto.RegGroupTable, point, "MEMBERS written")
	}
	for group, now := range j.left {
		if now != j.began[group] {
			j.hit(point, "a phase that all have entered")
			j.hitIf(r.Noise > 0, point, "the same amid noise")
			j.hitIf(r.Restart != 0, point, "the same while links start again")
		}
	}
}
