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
	hint   *verilator.Until

	what  string // what it waits for, and of what
	which string

	background bool
	done       bool
	ended      []*Task // that wait for this one to end
	at         string  // file:line of the wait, once asked for

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
	c := &Task{b: b, name: name, background: background, wake: b.now}
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
	c.done = true
	if !c.background {
		c.b.live--
	}
	for _, waiting := range c.ended {
		waiting.wake = c.b.now
	}
}

// pause gives control back until the scheduler sees that it is time. What the coroutine waits for is set before.
func (c *Task) pause() {
	if c.b.running != c {
		panic(fmt.Sprintf("testbench: coroutine %s made to wait by another", c.name))
	}
	for c.yield(struct{}{}) {
		if !c.b.asking {
			return
		}
		c.at = where()
	}
	panic(unwound{})
}

// Name returns the name given to Go.
func (c *Task) Name() string { return c.name }

// Bench returns the bench of the coroutine.
func (c *Task) Bench() *Bench { return c.b }

// Done reports whether the coroutine has ended.
func (c *Task) Done() bool { return c.done }

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

// Until waits until a condition holds just after a rising edge of the main clock, or at once if it holds now. If it
// has not come true after max cycles the bench fails; 0 means that only Run sets a limit.
func (c *Task) Until(condition func() bool, max uint64) {
	if !c.try(condition, max, "a condition", "", nil) {
		c.Fatalf("waited %d cycles in vain", max)
	}
}

// TryUntil is Until with false for an answer, instead of a failure, when max cycles have passed.
func (c *Task) TryUntil(condition func() bool, max uint64) bool {
	return c.try(condition, max, "a condition", "", nil)
}

// Join waits until all the others have ended.
func (c *Task) Join(others ...*Task) {
	for _, other := range others {
		for !other.done {
			other.ended = append(other.ended, c)
			c.wake, c.what, c.which = never, "the end of coroutine", other.name
			c.pause()
		}
	}
}

// try waits for a condition. A hint is the same condition for the runtime, so that cycles need not be looked at singly.
func (c *Task) try(condition func() bool, max uint64, what, which string, hint *verilator.Until) bool {
	if condition() {
		return true
	}
	k := c.b.mainClock()
	c.until, c.poll, c.hint, c.wake, c.expiry = condition, k, hint, k.next, never
	if max > 0 {
		c.expiry = k.after(max)
	}
	c.what, c.which = what, which
	c.pause()
	held := c.until == nil
	c.until, c.hint = nil, nil
	return held
}

// due reports whether the coroutine goes on now.
func (c *Task) due(now uint64) bool {
	if c.wake > now || c.done {
		return false
	}
	if c.until == nil {
		return true
	}
	if c.until() {
		c.until = nil
		return true
	}
	if now >= c.expiry {
		return true
	}
	c.wake = c.poll.next
	return false
}
