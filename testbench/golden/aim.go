package golden

import (
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// aimer shifts what is on its way to the network interface, so that two things that two lines bring come at the same clock, or some clocks apart.
// For each pair of things the distance sweeps from -reach to reach.
type aimer struct {
	rng   *testbench.Rand
	tries map[[2]target]int
}

// target is something that can be aimed at.
type target struct {
	line line
	what happening
}

// reach is how many clocks apart two things may be aimed: a short frame's length, and the time that the network interface takes from one line to another.
const reach = 24

func newAimer(rng *testbench.Rand) *aimer { return &aimer{rng, map[[2]target]int{}} }

// queue is what is on its way on a cable to the network interface.
type queue struct {
	waits   bool // for the aimer; else all goes through
	symbols []linkproto.Symbol
	sure    int // how many of them wait no longer
	reader  lineReader
	brings  []place // what they bring, but for those that are sure
	out     []linkproto.Symbol
}

// place is where in a queue something comes.
type place struct {
	at   int
	what happening
}

// pass takes what is to be sent and returns what is sent now.
func (q *queue) pass(line []linkproto.Symbol) []linkproto.Symbol {
	if !q.waits {
		q.out = append(append(q.out[:0], q.symbols...), line...)
		q.symbols, q.sure, q.brings = q.symbols[:0], 0, q.brings[:0]
		return q.out
	}
	n := min(q.sure, look)
	q.out = append(q.out[:0], q.symbols[:n]...)
	q.symbols = slices.Delete(q.symbols, 0, n)
	q.sure -= n
	for _, s := range line {
		at := len(q.symbols)
		q.reader.next(s, func(what happening) { q.brings = append(q.brings, place{at, what}) })
		q.symbols = append(q.symbols, s)
	}
	return q.out
}

// shift makes what is not sure wait for n clocks more.
func (q *queue) shift(n int) {
	for range n {
		q.symbols = slices.Insert(q.symbols, q.sure, linkproto.SymIdle)
	}
}

// release makes all sure.
func (q *queue) release() {
	q.sure, q.brings = len(q.symbols), q.brings[:0]
}

// aimAll makes what is sent to the network interface wait for the aimer, or no longer.
func (p *Player) aimAll(on bool) {
	for port, c := range p.cables {
		c.queue.waits = on
		if !on {
			if c.spoils != nil {
				c.spoils, c.frames = nil, whole
			}
			continue
		}
		c.chats, c.hushes = p.split(fmt.Sprint("chats ", port)), true
		switch p.round.Kind {
		case stimulus.Noisy:
			c.spoils = p.split(fmt.Sprint("spoils ", port))
			fallthrough
		case stimulus.PeerRestart, stimulus.HostRestart: // the network interface sends again what got lost once GO has stood for RETRY
			c.hushes = false
		}
	}
}

// aim chooses two things that are on their way to different ports, and releases all.
func (a *aimer) aim(cables []*cable) {
	type choice struct {
		pair   [2]target
		first  place
		second place
	}
	var best choice
	least := -1
	from := a.rng.IntN(len(cables))
	for i := range cables {
		for k := range i {
			x, y := (from+i)%len(cables), (from+k)%len(cables)
			if x > y {
				x, y = y, x
			}
			if max(len(cables[x].queue.symbols), len(cables[y].queue.symbols)) > 3*look {
				continue
			}
			for _, first := range cables[x].queue.brings {
				for _, second := range cables[y].queue.brings {
					pair := [2]target{{line{x, true}, first.what}, {line{y, true}, second.what}}
					if n := a.tries[pair]; least < 0 || n < least {
						best, least = choice{pair, first, second}, n
					}
				}
			}
		}
	}
	if least >= 0 {
		a.tries[best.pair]++
		apart := (7*least)%(2*reach+1) - reach
		x, y := cables[best.pair[0].line.port], cables[best.pair[1].line.port]
		if later := apart - (best.second.at - best.first.at); later > 0 {
			y.queue.shift(later)
		} else {
			x.queue.shift(-later)
		}
	}
	for _, c := range cables {
		c.queue.release()
	}
}
