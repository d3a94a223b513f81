package verilator

// #include "runtime/call.h"
import "C"

import (
	"cmp"
	"fmt"
	"math"
	"unsafe"
)

// LinkConfig says what a link joins.
type LinkConfig struct {
	// From and To are the clocks of the sending and the receiving side; they name the models too. From.port drives
	// To.port; both may be of one model. One of them may be nil: that end is outside, in another process maybe; see Put
	// and Take.
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
	from, to *Model // nil: outside
	width    int
	limit    uint64 // from outside: the cycle of `clock` for which nothing has come yet
	clock    *Clock
}

// Connect makes a link. Models that are linked to others run in a Network only.
func Connect(c LinkConfig) (*Link, error) {
	if c.From == nil && c.To == nil {
		return nil, fmt.Errorf("verilator: link %s -> %s: From or To must be a clock", c.Output, c.Input)
	}
	l := &Link{}
	var spec C.lm_link_config
	var sender, receiver *C.lm_model
	widths := [2]int{}
	for i, end := range []struct {
		clock *Clock
		port  string
		model **Model
		c     **C.lm_model
		field *C.lm_field
		index *C.int32_t
	}{{c.From, c.Output, &l.from, &sender, &spec.from, &spec.from_clock}, {c.To, c.Input, &l.to, &receiver, &spec.to, &spec.to_clock}} {
		if end.clock == nil {
			continue
		}
		m := end.clock.m
		if err := m.usable(); err != nil {
			return nil, err
		}
		f, err := m.channelField(end.port, [...]driven{byModel, byBench}[i], 64, end.field)
		if err != nil {
			return nil, err
		}
		*end.model, *end.c, *end.index = m, m.c, C.int32_t(end.clock.index)
		widths[i], l.width = f.width, f.width
	}
	a, b := l.from, l.to
	switch {
	case a != nil && b != nil && widths[0] != widths[1]:
		return nil, fmt.Errorf("%w: link from %s (%d bits) to %s (%d bits)", ErrPort, c.Output, widths[0], c.Input, widths[1])
	case c.Latency < 1 || c.Latency > 1<<20:
		return nil, fmt.Errorf("verilator: link %s -> %s: latency %d: want 1 to 2^20 cycles", c.Output, c.Input, c.Latency)
	case a != nil && b != nil && a.lib.engine != b.lib.engine:
		return nil, fmt.Errorf("verilator: %s and %s were built for different engines", a.name, b.name)
	}
	if a == nil { // its samples have the receiver's width
		spec.from = spec.to
		l.clock, l.limit = c.To, c.To.Cycles()+uint64(c.Latency)-1
		b.inlets = append(b.inlets, l)
	}
	spec.latency, spec.idle, spec.seed = C.uint64_t(c.Latency), C.uint64_t(c.Idle), C.uint64_t(c.Seed)
	l.c = C.lm_link_add(l.engine(), sender, receiver, &spec)
	if a != b { // one that is linked to the outside runs in a Network too
		for i, m := range []*Model{a, b} {
			if m != nil {
				m.peers = append(m.peers, cmp.Or([]*Model{b, a}[i], m))
			}
		}
	}
	l.SetBitErrorRate(c.BitErrorRate)
	return l, nil
}

func (l *Link) engine() *C.lm_engine {
	if l.from != nil {
		return l.from.lib.engine
	}
	return l.to.lib.engine
}

// Put brings what the sender of a link that has it outside has sent, a sample for each of its next cycles, and returns for how many there was
// room: some Latency more than the receiver has taken. With n samples altogether the receiver can run n + Latency - 1 cycles: what runs further
// gets an error and does not run. Sender and receiver have clocks of the same period.
func (l *Link) Put(samples []uint64) int {
	if l.from != nil || len(samples) == 0 || l.usable() != nil {
		return 0
	}
	n := int(C.lm_link_put(l.engine(), l.c, (*C.uint64_t)(&samples[0]), C.uint64_t(len(samples))))
	l.limit += uint64(n)
	return n
}

// Take moves what has been sent to a receiver outside to samples, one for each cycle, and returns how many. The link holds some of Latency at
// least; what is not taken then is lost.
func (l *Link) Take(samples []uint64) int {
	if l.to != nil || len(samples) == 0 || l.usable() != nil {
		return 0
	}
	return int(C.lm_link_take(l.engine(), l.c, (*C.uint64_t)(&samples[0]), C.uint64_t(len(samples))))
}

// starved says that a model would run further than what comes to it from outside.
func (m *Model) starved(cycles uint64) error {
	for _, l := range m.inlets {
		if l.clock.Cycles()+cycles > l.limit {
			return fmt.Errorf("verilator: model %s cannot run %d cycles: a link from outside has samples for %d: Put more", m.name, cycles,
				max(l.limit, l.clock.Cycles())-l.clock.Cycles())
		}
	}
	return nil
}

func (l *Link) usable() error {
	for _, m := range []*Model{l.from, l.to} {
		if m != nil {
			if err := m.usable(); err != nil {
				return err
			}
		}
	}
	return nil
}

// SetBitErrorRate changes LinkConfig.BitErrorRate.
func (l *Link) SetBitErrorRate(rate float64) error {
	if err := l.usable(); err != nil {
		return err
	}
	if math.IsNaN(rate) || rate < 0 || rate > 1 {
		return fmt.Errorf("verilator: bit error rate %v: want 0 to 1", rate)
	}
	C.lm_link_rate(l.engine(), l.c, C.double(rate))
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
		C.lm_link_fault(l.engine(), l.c, &spec)
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
	C.lm_link_plug(l.engine(), l.c, plugged, C.uint64_t(value))
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
	C.lm_link_count(l.engine(), l.c, &s)
	return *(*LinkStats)(unsafe.Pointer(&s))
}
