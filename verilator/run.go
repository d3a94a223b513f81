package verilator

// #include "runtime/call.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// Clock is a clock input of a model that the engine drives.
type Clock struct {
	m      *Model
	index  int
	port   string
	period uint64
}

// Clock makes the engine drive a one-bit input with the given period, in units of time that are the caller's choice,
// at least 2. It rises at phase + period, phase + 2 period, … counted from now, and falls half a period (rounded
// down) after. The first clock declared is the one that Step, Run and RunUntil count.
func (m *Model) Clock(port string, period, phase uint64) (*Clock, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	p, err := m.lib.port(port)
	if err != nil {
		return nil, err
	}
	if p.Width != 1 || p.Elems != 1 || p.Direction != In {
		return nil, fmt.Errorf("%w: %s is not a one-bit input and cannot be a clock", ErrPort, p)
	}
	if period < 2 || period > 1<<40 || phase > 1<<40 {
		return nil, fmt.Errorf("verilator: clock %s: period %d, phase %d: want a period from 2 to 2^40", port, period, phase)
	}
	for _, c := range m.clocks {
		if c.port == port {
			return nil, fmt.Errorf("verilator: clock %s was declared before", port)
		}
	}
	if len(m.clocks) == 32 {
		return nil, errors.New("verilator: more than 32 clocks")
	}
	c := &Clock{m, len(m.clocks), port, period}
	C.lm_clock_add(m.lib.engine, m.c, C.int(p.index), C.uint64_t(period), C.uint64_t(phase))
	m.clocks = append(m.clocks, c)
	return c, nil
}

// Model is the model that the clock belongs to.
func (c *Clock) Model() *Model { return c.m }

// Cycles returns how often the clock has risen; 0 once the model is closed.
func (c *Clock) Cycles() uint64 {
	if c.m.c == nil {
		return 0
	}
	return *c.m.cycles(c.index)
}

// cycles returns the engine's counter of a clock.
func (m *Model) cycles(clock int) *uint64 {
	return &unsafe.Slice((*uint64)(unsafe.Pointer(m.c.cycles)), len(m.clocks))[clock]
}

// Reason says why a run ended.
type Reason int

const (
	// Limit: the cycles asked for have passed.
	Limit Reason = iota
	// Condition: one of the conditions came true.
	Condition
	// SinkFull: a sink without a ready port has no room left; read from it and run on. Nothing was lost.
	SinkFull
	// Noted: a Watch has seen a breach; read from it and run on.
	Noted
	// Halted: the design ended the run; the error says how.
	Halted

	flushed
)

func (r Reason) String() string {
	return [...]string{"limit", "condition", "sink full", "watch", "halted", "output"}[r]
}

// Stop says how a run ended.
type Stop struct {
	// Reason is why.
	Reason Reason
	// Index is the condition that came true, the first if there are several; -1 when none did.
	Index int
	// Ran is how many cycles have passed.
	Ran uint64
}

var errNoClock = errors.New("verilator: the model has no clock: declare one with Model.Clock")

// Step runs one cycle of the first clock, to just after its next rising edge.
func (m *Model) Step() error {
	if m.c == nil || m.dead != nil || len(m.clocks) == 0 || len(m.peers) > 0 {
		return m.unclocked()
	}
	if why := C.lm_step(m.c); why != 0 {
		return m.stepped(int(why))
	}
	if m.c.news != 0 {
		return m.flush()
	}
	return nil
}

func (m *Model) unclocked() error {
	if err := m.usable(); err != nil {
		return err
	}
	if len(m.peers) > 0 {
		return errLinked
	}
	return errNoClock
}

var errLinked = errors.New("verilator: the model is linked to another one: run them with a Network")

func (m *Model) stepped(why int) error { return full(m.ended(why)) }

// full makes a full sink an error.
func full(why Reason, err error) error {
	if err == nil && why == SinkFull {
		return errSinkFull
	}
	return err
}

var errSinkFull = errors.New("verilator: a sink without a ready port is full: read from it before running on")

// Run runs n cycles of the first clock. It returns early only with an error.
func (m *Model) Run(n uint64) error {
	if len(m.clocks) == 0 {
		return m.unclocked()
	}
	return m.clocks[0].Run(n)
}

// RunTo runs all edges up to a time, rising and falling ones, and ends just after the last of them; or with
// Design.Timing, where no clock is needed, at that time. It returns early only with an error.
func (m *Model) RunTo(time uint64) error { return m.runTo(time, m.lib.design.Timing) }

func (m *Model) runTo(time uint64, wait bool) error {
	if m.c == nil || m.dead != nil || len(m.peers) > 0 || len(m.clocks) == 0 && !m.lib.design.Timing {
		return m.unclocked()
	}
	waits := C.int(0)
	if wait {
		waits = 1
	}
	for {
		if reason, err := m.ended(int(C.lm_run_to(m.lib.engine, m.c, C.uint64_t(time), waits))); err != nil || reason != flushed {
			return full(reason, err)
		}
	}
}

// RunUntil runs until a condition is true just after a rising edge of the first clock, at most max cycles.
func (m *Model) RunUntil(max uint64, conditions ...Until) (Stop, error) {
	if len(m.clocks) == 0 {
		return Stop{Index: -1}, m.unclocked()
	}
	return m.clocks[0].RunUntil(max, conditions...)
}

// Run is Model.Run for this clock.
func (c *Clock) Run(n uint64) error {
	for {
		stop, err := c.RunUntil(n)
		if n -= stop.Ran; stop.Reason != Noted || err != nil {
			return full(stop.Reason, err)
		}
	}
}

// RunUntil is Model.RunUntil for this clock.
func (c *Clock) RunUntil(max uint64, conditions ...Until) (Stop, error) {
	m := c.m
	stop := Stop{Index: -1}
	if err := m.usable(); err != nil {
		return stop, err
	}
	if len(m.peers) > 0 {
		return stop, errLinked
	}
	list, err := m.conditions(conditions)
	if err != nil {
		return stop, err
	}
	var first *C.lm_condition
	if len(list) > 0 {
		first = &list[0]
	}
	counter := m.cycles(c.index)
	start := *counter
	for {
		why := C.lm_run(m.lib.engine, m.c, C.int(c.index), C.uint64_t(max-stop.Ran), first, C.int(len(list)))
		stop.Reason, err = m.ended(int(why))
		stop.Ran = *counter - start
		if err == nil && stop.Reason == flushed {
			if !m.noted() {
				continue
			}
			stop.Reason = Noted
		}
		if stop.Reason == Condition {
			stop.Index = int(m.c.hit)
		}
		return stop, err
	}
}
