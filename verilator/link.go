package verilator

// #include "runtime/call.h"
import "C"

import (
	"fmt"
	"math"
	"unsafe"
)

// LinkConfig says what a link joins.
type LinkConfig struct {
	// From and To are the clocks of the sending and the receiving side; they name the models too. From.port drives
	// To.port; both may be of one model.
	From, To *Clock
	// Output and Input are fields of equal width, "port", "port[bit]" or "port[high:low]", up to 64 bits.
	Output, Input string
	// Latency in cycles of From, at least 1: a link of latency n is a chain of n registers. Larger is faster to
	// simulate on several threads. Between clocks that differ in period or phase it must be at least 2, and the
	// receiver at each of its edges gets the newest sample that is old enough.
	Latency int
	// Idle is what the receiver gets before the first sample arrives, and for a Drop.
	Idle uint64
	// BitErrorRate is the probability, 0 to 1, that a bit is flipped.
	BitErrorRate float64
	// Seed decides which bits these are.
	Seed uint64
}

// Link carries an output of one model to an input of another, cycle by cycle.
type Link struct {
	c        *C.lm_link
	from, to *Model
	width    int
}

// Connect makes a link. Models that are linked to others run in a Network only.
func Connect(c LinkConfig) (*Link, error) {
	if c.From == nil || c.To == nil {
		return nil, fmt.Errorf("verilator: link %s -> %s: From and To must be clocks", c.Output, c.Input)
	}
	a, b := c.From.m, c.To.m
	for _, m := range []*Model{a, b} {
		if err := m.usable(); err != nil {
			return nil, err
		}
	}
	var spec C.lm_link_config
	from, err := a.channelField(c.Output, false, 64, &spec.from)
	if err != nil {
		return nil, err
	}
	to, err := b.channelField(c.Input, true, 64, &spec.to)
	if err != nil {
		return nil, err
	}
	switch {
	case from.width != to.width:
		return nil, fmt.Errorf("%w: link from %s (%d bits) to %s (%d bits)", ErrPort, c.Output, from.width, c.Input, to.width)
	case c.Latency < 1 || c.Latency > 1<<20:
		return nil, fmt.Errorf("verilator: link %s -> %s: latency %d: want 1 to 2^20 cycles", c.Output, c.Input, c.Latency)
	case a.lib.engine != b.lib.engine:
		return nil, fmt.Errorf("verilator: %s and %s were built for different engines", a.name, b.name)
	}
	spec.from_clock, spec.to_clock = C.int32_t(c.From.index), C.int32_t(c.To.index)
	spec.latency, spec.idle, spec.seed = C.uint64_t(c.Latency), C.uint64_t(c.Idle), C.uint64_t(c.Seed)
	l := &Link{C.lm_link_add(a.lib.engine, a.c, b.c, &spec), a, b, from.width}
	if a != b {
		a.peers = append(a.peers, b)
		b.peers = append(b.peers, a)
	}
	l.SetBitErrorRate(c.BitErrorRate)
	return l, nil
}

func (l *Link) usable() error {
	if err := l.from.usable(); err != nil {
		return err
	}
	return l.to.usable()
}

// SetBitErrorRate changes LinkConfig.BitErrorRate.
func (l *Link) SetBitErrorRate(rate float64) error {
	if err := l.usable(); err != nil {
		return err
	}
	if math.IsNaN(rate) || rate < 0 || rate > 1 {
		return fmt.Errorf("verilator: bit error rate %v: want 0 to 1", rate)
	}
	C.lm_link_rate(l.from.lib.engine, l.c, C.double(rate))
	return nil
}

// FaultKind is what a Fault does to samples.
type FaultKind int

const (
	// Flip inverts the bits set in Value.
	Flip FaultKind = iota
	// Drop puts the link's Idle in place of the sample.
	Drop
	// Stuck puts Value in place of the sample.
	Stuck
	// Cut is Stuck, counted as a link that is unplugged.
	Cut
	// Repeat puts what arrived before it in place of the sample.
	Repeat
)

// Fault is a planned fault.
type Fault struct {
	// Kind of the fault.
	Kind FaultKind
	// At is the first sample hit, counted from 0 since the link was made; a link takes one sample a cycle. Stats
	// tells how many there were.
	At uint64
	// Cycles is how many samples are hit; 0 means 1.
	Cycles uint64
	// Value is the mask or the value; Drop and Repeat have none.
	Value uint64
}

// Inject plans faults; those whose samples have passed do nothing. Several that hit one sample act in order of At.
func (l *Link) Inject(faults ...Fault) error {
	if err := l.usable(); err != nil {
		return err
	}
	for _, f := range faults {
		if f.Kind < Flip || f.Kind > Repeat {
			return fmt.Errorf("verilator: no fault kind %d", f.Kind)
		}
		spec := C.lm_fault{at: C.uint64_t(f.At), count: C.uint64_t(max(f.Cycles, 1)), value: C.uint64_t(f.Value), kind: C.int32_t(f.Kind)}
		C.lm_link_fault(l.from.lib.engine, l.c, &spec)
	}
	return nil
}

// Unplug makes the receiver see value from the next sample on, until Plug.
func (l *Link) Unplug(value uint64) error { return l.plug(0, value) }

// Plug undoes Unplug.
func (l *Link) Plug() error { return l.plug(1, 0) }

func (l *Link) plug(plugged C.int, value uint64) error {
	if err := l.usable(); err != nil {
		return err
	}
	C.lm_link_plug(l.from.lib.engine, l.c, plugged, C.uint64_t(value))
	return nil
}

// LinkStats counts what a link has done. All but BitErrors are samples.
type LinkStats struct {
	// Samples that arrived; the index of the next one to arrive.
	Samples uint64
	// BitErrors is the number of bits flipped at random.
	BitErrors uint64
	// Flipped, Dropped, Stuck, Unplugged and Repeated count what faults of each kind have hit.
	Flipped, Dropped, Stuck, Unplugged, Repeated uint64
}

// Stats returns the counts so far; zero once a model is closed.
func (l *Link) Stats() LinkStats {
	if l.usable() != nil {
		return LinkStats{}
	}
	var s C.lm_link_stats
	C.lm_link_count(l.from.lib.engine, l.c, &s)
	return *(*LinkStats)(unsafe.Pointer(&s))
}
