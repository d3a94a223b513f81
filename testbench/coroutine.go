package testbench

import (
	"fmt"
	"iter"

	"github.com/stafflink/lmmc/verilator"
)

// Task is a coroutine of a Bench. Its methods that wait may be called by itself only.
type Task struct {
	b    *Bench
	name string

	wake   uint64      // when to look at it
	until  func() bool // unless nil: go on only if this holds then
	poll   *Clock      // and look again at each rising edge of this clock,
	expiry uint64      // up to this time
	hints  []verilator.Until
	limit  uint64 // when the innermost Within gives up
	cut    bool   // wake or expiry is the limit
	asked  bool   // it is resumed to say where it is, not to go on
	done   bool

	what  string // what it waits for, and of what
	which string

	joins      *Task   // whose end it waits for, without a limit
	any        []armed // of First
	listens    bool    // it waits for what tasks, observers or the test do
	background bool
	ended      line    // that wait for this one to end
	answer     Waiting // once asked for

	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
}

// unwound ends a coroutine that was waiting when its bench was closed, or that failed.
type unwound struct{}

// Go starts a coroutine: at the beginning of the next Run, or, called by a coroutine, at the edge that it is called
// at. Run ends when all coroutines started with Go have returned.
func (b *Bench) Go(name string, body func(c *Task)) *Task { return b.start(name, body, false) }

// Background starts a coroutine that Run does not wait for.
func (b *Bench) Background(name string, body func(c *Task)) *Task { return b.start(name, body, true) }

func (b *Bench) start(name string, body func(*Task), background bool) *Task {
	c := &Task{b: b, name: name, background: background, wake: b.now, limit: never}
	c.resume, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		c.yield = yield
		defer c.leave()
		body(c)
	})
	b.coroutines = append(b.coroutines, c)
	if !background {
		b.live++
	}
	return c
}

// leave is deferred around the body.
func (c *Task) leave() {
	switch p := recover().(type) {
	case nil, unwound:
	default:
		c.b.fail(&Failure{Coroutine: c.name, Cycle: c.b.Cycle(), Err: fmt.Errorf("panic: %v", p), Stack: stack()})
	}
	c.end()
}

func (c *Task) end() {
	c.done, c.wake, c.hints = true, never, nil
	c.b.ended = true
	if !c.background {
		c.b.live--
	}
	c.ended.all()
}

// pause gives control back until the scheduler sees that it is time. What the coroutine waits for is set before.
func (c *Task) pause() {
	if c.b.running != c {
		panic(fmt.Sprintf("testbench: coroutine %s made to wait by another", c.name))
	}
	if c.limit != never {
		c.curb()
	}
	for c.yield(struct{}{}) {
		switch {
		case c.asked:
			c.answer, c.asked = c.waiting(), false
		case c.cut:
			c.cut, c.until, c.hints = false, nil, nil
			panic(expired{c.waiting()})
		default:
			return
		}
	}
	panic(unwound{})
}

// Name returns the name given to Go.
func (c *Task) Name() string { return c.name }

// Bench returns the bench of the coroutine.
func (c *Task) Bench() *Bench { return c.b }

// Done reports whether the coroutine has ended.
func (c *Task) Done() bool { return c.done }

// Stop ends the coroutine where it waits; what it has deferred runs. A coroutine that stops itself does not return.
func (c *Task) Stop() {
	running := c.b.running
	switch {
	case c.done:
		return
	case c == running:
		panic(unwound{})
	}
	c.b.running = c
	c.stop()
	c.b.running = running
	if !c.done { // it had not begun
		c.end()
	}
}

// Rising waits for the next rising edge of a clock.
func (c *Task) Rising(k *Clock) {
	c.wake, c.what, c.which = k.next, "a rising edge of", k.name
	c.pause()
}

// Falling waits for the next falling edge of a clock.
func (c *Task) Falling(k *Clock) {
	c.wake, c.what, c.which = k.fall(c.b.now), "a falling edge of", k.name
	c.pause()
}

// Cycles waits until the main clock has risen n times.
func (c *Task) Cycles(n uint64) {
	if n > 0 {
		k := c.b.mainClock()
		c.wake, c.what, c.which = k.after(n), "cycles of", k.name
		c.pause()
	}
}

// Time waits until time has passed, in the unit of Config.Period. The coroutine goes on when what the clocks do at that time is done.
// On a bench with several instances the main clock must rise then.
func (c *Task) Time(d uint64) {
	if d > 0 {
		c.wake, c.what, c.which = c.later(d), "time", ""
		c.pause()
	}
}

// Until waits until a condition holds just after a rising edge of the main clock, or at once if it holds now. If it
// has not come true after max cycles the bench fails; 0 means that only Run sets a limit.
func (c *Task) Until(condition func() bool, max uint64) {
	c.UntilAt(c.b.mainClock(), condition, max)
}

// TryUntil is Until with false for an answer, instead of a failure, when max cycles have passed.
func (c *Task) TryUntil(condition func() bool, max uint64) bool {
	return c.TryUntilAt(c.b.mainClock(), condition, max)
}

// UntilAt is Until with a condition that is looked at just after the rising edges of a clock, whose cycles max counts.
func (c *Task) UntilAt(k *Clock, condition func() bool, max uint64) {
	if !c.TryUntilAt(k, condition, max) {
		c.Fatalf("waited %d cycles of %s in vain", max, k.name)
	}
}

// TryUntilAt is UntilAt with false for an answer, instead of a failure, when max cycles have passed.
func (c *Task) TryUntilAt(k *Clock, condition func() bool, max uint64) bool {
	what, which := "a condition", ""
	if k != c.b.main {
		what, which = "a condition at edges of", k.name
	}
	return c.tryAt(k, condition, max, what, which)
}

// Await is Until, without a limit, of a condition that becomes true only where a condition of the engine does, so that the engine runs many cycles at once.
// What says in a TimeoutError what the coroutine waits for. It looks at the condition where another one of the engine's holds, too.
func (c *Task) Await(what string, engine verilator.Until, condition func() bool, others ...verilator.Until) {
	c.try(condition, 0, what, "", append(others, engine)...)
}

// Join waits until all the others have ended.
func (c *Task) Join(others ...*Task) {
	for _, other := range others {
		for !other.done {
			c.joinOne(other)
		}
	}
}

func (c *Task) joinOne(other *Task) {
	other.ended.join(c)
	defer other.ended.leave(c)
	c.wake, c.what, c.which = never, "the end of coroutine", other.name
	if c.limit == never {
		c.joins = other
		c.b.joined = c.b.joined || other.joins != nil || other == c
		defer func() { c.joins = nil }()
	}
	c.pause()
}

// try waits for a condition. Hints are conditions for the runtime, one of which holds when it does, so that cycles need not be looked at singly.
func (c *Task) try(condition func() bool, max uint64, what, which string, hints ...verilator.Until) bool {
	return c.tryAt(c.b.mainClock(), condition, max, what, which, hints...)
}

func (c *Task) tryAt(k *Clock, condition func() bool, max uint64, what, which string, hints ...verilator.Until) bool {
	if condition() {
		return true
	}
	c.until, c.poll, c.hints, c.wake, c.expiry = condition, k, hints, k.next, never
	if max > 0 {
		c.expiry = k.after(max)
	}
	c.what, c.which = what, which
	c.pause()
	held := c.until == nil
	c.until, c.hints = nil, nil
	return held
}

// due reports whether a coroutine that waits for a condition goes on now.
func (c *Task) due(now uint64) bool {
	// A limit may come between two edges of the clock at which the condition counts.
	if (now < c.expiry || c.poll == nil || now == c.poll.next-c.poll.period) && c.until() {
		c.until, c.cut = nil, false
		return true
	}
	if now >= c.expiry {
		return true
	}
	if c.poll != nil {
		c.wake = min(c.poll.next, c.expiry)
	} else {
		c.wake = min(c.soonest(), c.expiry)
	}
	return false
}
