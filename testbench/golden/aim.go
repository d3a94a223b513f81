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
	first int // where the sweeps begin
	tries map[[2]target]int
}

// target is something that can be aimed at.
type target struct {
	line line
	what happening
}

const (
	reach    = 24 // clocks apart that two things may be aimed: a short frame's length, and the time from one line to another
	beside   = 4  // clocks apart that they are aimed every second time
	patience = 2  // looks that something rare waits for another to come beside
)

func newAimer(rng *testbench.Rand) *aimer { return &aimer{rng.IntN(1000), map[[2]target]int{}} }

// queue is what is on its way on a cable to the network interface.
type queue struct {
	waits   bool // for the aimer; else all goes through
	symbols []linkproto.Symbol
	sure    int // how many of them wait no longer
	waited  int // looks that the others have waited for
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
	for i := range q.brings {
		q.brings[i].at -= n
	}
	for _, s := range line {
		at := len(q.symbols)
		q.reader.next(s, func(what happening) { q.brings = append(q.brings, place{at, what}) })
		q.symbols = append(q.symbols, s)
	}
	return q.out
}

// shift makes what is not sure wait for n clocks more, if that is more than 0.
func (q *queue) shift(n int) {
	for range n {
		q.symbols = slices.Insert(q.symbols, q.sure, linkproto.SymIdle)
	}
}

// release makes all sure.
func (q *queue) release() { q.sure, q.waited, q.brings = len(q.symbols), 0, q.brings[:0] }

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
		c.repeats, c.mayStop = p.split(fmt.Sprint("repeats ", port)), true
		switch p.round.Kind {
		case stimulus.Noisy:
			c.spoils = p.split(fmt.Sprint("spoils ", port))
			fallthrough
		case stimulus.PeerRestart, stimulus.HostRestart: // the network interface sends again what got lost once GO has stood for RETRY
			c.mayStop = false
		}
	}
}

// aim shifts one of two queues, so that something that each brings comes as far apart as it is the turn of. Then all goes on but what is worth
// waiting for a partner.
func (a *aimer) aim(cables []*cable) {
	x, y, ok := a.choose(cables)
	if ok {
		pair := [2]target{x.target, y.target}
		later := distance(a.first+a.tries[pair], x.what, y.what) - (y.at - x.at)
		a.tries[pair]++
		cables[x.line.port].queue.shift(-later)
		cables[y.line.port].queue.shift(later)
	}
	for port, c := range cables {
		q := &c.queue
		chosen := ok && (port == x.line.port || port == y.line.port)
		if q.waited++; chosen || q.waited > patience || !slices.ContainsFunc(q.brings, func(p place) bool { return p.what > ack }) {
			q.release()
		}
	}
}

// aimed is a target, and where in its queue it is.
type aimed struct {
	target
	at int
}

// choose takes the two that have been aimed at least.
func (a *aimer) choose(cables []*cable) (x, y aimed, ok bool) {
	least := 0
	for first := range cables {
		for second := first + 1; second < len(cables); second++ {
			p, q := &cables[first].queue, &cables[second].queue
			if max(len(p.symbols), len(q.symbols)) > 3*look {
				continue
			}
			for _, one := range p.brings {
				for _, other := range q.brings {
					s, t := target{line{first, true}, one.what}, target{line{second, true}, other.what}
					if n := a.tries[[2]target{s, t}]; !ok || n < least {
						x, y, ok, least = aimed{s, one.at}, aimed{t, other.at}, true, n
					}
				}
			}
		}
	}
	return x, y, ok
}

// distance is how many clocks apart two things are aimed the n-th time: few if both are rare, else every second time, unless the second is an INIT,
// which matters later.
func distance(n int, first, second happening) int {
	sweep := reach
	if second != initial && (n%2 == 0 || first > ack && second > ack) {
		sweep = beside
	}
	return 5*n/2%(2*sweep+1) - sweep
}
