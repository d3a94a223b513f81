package testbench

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/verilator"
)

// observer is a function that sees what the registers of a clock will see at its next rising edge.
type observer struct {
	clock *Clock
	look  func()
	mute  bool // it wakes no coroutine
}

// Observe calls a function before every rising edge of a clock, when coroutines have done their part and everything is
// settled: it sees what the registers are about to see, so an item of a stream moves at that edge if valid and ready
// are both 1. It must not set inputs.
func (b *Bench) Observe(k *Clock, look func()) {
	b.observers = append(b.observers, observer{clock: k, look: look})
}

// Run moves time until all coroutines started with Go have ended. It is an error, a *TimeoutError, when max cycles of
// the main clock were not enough, and one when they wait for each other for ever. A failure of a coroutine, an observer
// or the design ends it at the edge where it happens. On a bench made with New an error ends the test.
func (b *Bench) Run(max uint64) error {
	if err := b.move(max, true); err != nil {
		b.mark.Helper()
		return b.check(err)
	}
	return nil
}

// Step moves time by n cycles of the main clock; coroutines go on meanwhile. Errors are those of Run.
func (b *Bench) Step(n uint64) error {
	if err := b.move(n, false); err != nil {
		b.mark.Helper() // which costs as much as a clock
		return b.check(err)
	}
	return nil
}

// mainClock returns the clock that limits are counted in.
func (b *Bench) mainClock() *Clock {
	if b.main == nil {
		panic("testbench: the bench has no clock: see Config.Clock and Bench.Clock")
	}
	return b.main
}

func (b *Bench) move(cycles uint64, untilEnded bool) error {
	err := b.usable()
	if err == nil {
		err = b.loop(cycles, untilEnded)
	}
	if err != nil {
		b.remember(err)
		b.reported = len(b.failures)
	}
	return err
}

func (b *Bench) usable() error {
	switch {
	case b.closed:
		return fmt.Errorf("testbench: bench %s: %w", b.config.Name, verilator.ErrClosed)
	case b.inRun:
		panic("testbench: Run or Step called while they run: a coroutine waits with methods of Task")
	case b.main == nil:
		return errors.New("testbench: the bench has no clock: see Config.Clock and Bench.Clock")
	}
	return b.Err()
}

func (b *Bench) loop(cycles uint64, untilEnded bool) (err error) {
	b.inRun = true
	b.watchdog.moves.Add(1)
	defer b.leaveRun(&err)
	if err := b.begin(); err != nil {
		return err
	}
	deadline := b.main.after(cycles)
	b.moved = b.now
	for {
		b.round()
		switch {
		case len(b.failures) > 0:
			return b.Err()
		case untilEnded && b.live == 0:
			return nil
		case b.now >= deadline:
			if untilEnded {
				return b.timeout(cycles, false)
			}
			return nil
		}
		target, hints, stuck := b.plan(deadline)
		if untilEnded && (stuck || b.joined && b.circular()) {
			return b.timeout(cycles, true)
		}
		if untilEnded && (b.now-b.moved)/b.main.period >= b.config.Idle && b.idle() {
			return b.timeout(cycles, true)
		}
		if err := b.advance(target, hints); err != nil {
			return err
		}
	}
}

// begin runs the design's initial blocks, so that coroutines find their results at time 0.
func (b *Bench) begin() error {
	if b.begun {
		return nil
	}
	b.begun = true
	return b.settle()
}

// leaveRun is deferred around the loop. It catches panics of conditions and observers, and notes who ended the test's
// goroutine from within a coroutine, by t.FailNow for example.
func (b *Bench) leaveRun(err *error) {
	c := b.running
	b.inRun, b.running = false, nil
	b.watchdog.moves.Add(1)
	switch p := recover().(type) {
	case nil:
		if c != nil && b.t != nil && b.t.Failed() {
			b.t.Logf("testbench: coroutine %s ended the test", c.name)
		}
		return
	case unwound:
	default:
		b.fail(&Failure{Coroutine: nameOf(c), Cycle: b.Cycle(), Err: fmt.Errorf("panic: %v", p), Stack: stack()})
	}
	*err = b.Err()
}

// mostTurns is how often coroutines may wake each other at one edge.
const mostTurns = 100_000

// round lets every coroutine that is due go on, those that are started or woken meanwhile too.
func (b *Bench) round() {
	for turn := 1; ; turn++ {
		b.roused = false
		if b.config.Shuffle {
			b.order.Shuffle(len(b.coroutines), func(i, k int) {
				b.coroutines[i], b.coroutines[k] = b.coroutines[k], b.coroutines[i]
			})
		}
		for i := 0; i < len(b.coroutines); i++ {
			c := b.coroutines[i]
			if c.wake > b.now {
				continue
			}
			b.running = c
			if c.until == nil || c.due(b.now) {
				if !c.background {
					b.moved = b.now
				}
				c.resume()
			}
		}
		b.running = nil
		if b.ended {
			b.ended = false
			b.coroutines = slices.DeleteFunc(b.coroutines, (*Task).Done)
		}
		if !b.roused || !slices.ContainsFunc(b.coroutines, func(c *Task) bool { return c.wake <= b.now }) {
			return
		}
		if turn == mostTurns {
			b.fail(b.restless())
			return
		}
	}
}

// restless says who keeps waking whom.
func (b *Bench) restless() error {
	var names []string
	for _, c := range b.coroutines {
		if c.wake <= b.now {
			names = append(names, c.name)
		}
	}
	return &Failure{Cycle: b.Cycle(), Err: fmt.Errorf("coroutines wake each other without end while no time passes (%d times): "+
		"%s and what they wake; let one of them wait for a clock edge", mostTurns, strings.Join(names, ", "))}
}

// heard reports whether an observer or what reads a watch may yet wake a coroutine.
func (b *Bench) heard() bool {
	loud := len(b.watches) > 0 || slices.ContainsFunc(b.observers, func(o observer) bool { return !o.mute })
	return loud && slices.ContainsFunc(b.coroutines, func(c *Task) bool { return c.listens })
}

// idle reports whether all coroutines that Run waits for wait for others to wake them.
func (b *Bench) idle() bool {
	return !slices.ContainsFunc(b.coroutines, func(c *Task) bool { return !c.background && c.wake != never })
}

// circular reports whether coroutines wait for each other's end in a circle, which nothing else can break.
func (b *Bench) circular() bool {
	for _, c := range b.coroutines {
		if c.background {
			continue
		}
		slow, fast := c.joins, c.joins
		for fast != nil && fast.joins != nil {
			slow, fast = slow.joins, fast.joins.joins
			if slow == fast && slow != nil {
				return true
			}
		}
	}
	return false
}

// plan returns the time to move to, and the conditions that the runtime may stop for earlier. Coroutines are stuck when
// nothing but the deadline would end the run.
func (b *Bench) plan(deadline uint64) (target uint64, hints []verilator.Until, stuck bool) {
	target = deadline
	stuck = true
	b.hints = b.hints[:0]
	for _, c := range b.coroutines {
		at := c.wake
		if len(c.hints) > 0 {
			at = c.expiry
			b.hints = append(b.hints, c.hints...)
		}
		if at <= target {
			target = at
			stuck = false
		}
	}
	if stuck {
		stuck = len(b.hints) == 0 && !b.heard()
	}
	if len(b.watches) > 0 {
		target = min(target, b.main.after(watchCycles))
	}
	switch {
	case len(b.observers) > 0:
		for _, k := range b.clocks {
			target = min(target, k.next)
		}
		return target, nil, stuck
	case len(b.hints) > 0 && (len(b.instances) > 1 || !b.main.risesAt(target)):
		return min(target, b.main.next), nil, stuck
	}
	return target, b.hints, stuck
}
