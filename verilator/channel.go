package verilator

// #include "runtime/call.h"
import "C"

import (
	"cmp"
	"fmt"
	"math/bits"
	"unsafe"
)

// Channel says which ports carry data, an item a clock, and how. Each is spelled "port", "port[bit]" or
// "port[high:low]"; "" means that the design has no such port. It serves streams (Stream fills in the names) and plain
// symbols: a port that carries one at every clock, or whenever a qualifier says so.
//
// An item moves at the rising edge before which valid and ready were both 1. A Source keeps an item on the port until
// it has moved. What a channel drives changes just after the rising edge.
type Channel struct {
	// Clock is the clock of the channel; nil means the model's first.
	Clock *Clock
	// Data is the item, up to 64 bits.
	Data string
	// Valid says that there is an item. Without it there is one at every clock.
	Valid string
	// Ready says that the other side takes the item. Without it every item is taken.
	Ready string
	// Last marks the end of a frame.
	Last string
	// Parts are further fields of an item, a word each: PutParts and GetParts move them. What is wider than 64 bits is several parts.
	Parts []string
	// Reset is an input: while it acts, at 1 or with ResetLow at 0, a Source has valid at 0 and nothing moves.
	Reset    string
	ResetLow bool
	// Idle, unless nil, is a value that is no item: a Sink drops it, and a Source that has nothing sends it, with
	// valid at 1. Go 1.26 makes it with new(uint64(0x1BC)).
	Idle *uint64
	// Depth is how many items fit between Go and the model, rounded up to a power of two; 0 means 8192.
	Depth int
	// Throttle is the share of clocks, 0 to 1, in which a Source offers no new item though it has one, or a Sink is
	// not ready though it has room.
	Throttle float64
	// Seed decides which clocks these are.
	Seed uint64

	perhaps string // the Last that need not be there
}

// Stream returns the channel of the ports prefix_data, prefix_valid and prefix_ready, and of prefix_last if the design has such a port.
func Stream(prefix string) Channel {
	last := prefix + "_last"
	return Channel{Data: prefix + "_data", Valid: prefix + "_valid", Ready: prefix + "_ready", Last: last, perhaps: last}
}

// On returns the channel as a design has it: without the port for Last of Stream when the design has none.
func (c Channel) On(l *Library) Channel {
	if _, ok := l.byName[c.Last]; !ok && c.Last == c.perhaps {
		c.Last = ""
	}
	return c
}

const (
	defaultDepth = 8192
	maxDepth     = 1 << 26
)

// attach makes the engine serve a channel.
func (m *Model) attach(c Channel, spec C.lm_channel) (*ring, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	c = c.On(m.lib)
	if c.Clock == nil {
		if len(m.clocks) == 0 {
			return nil, errNoClock
		}
		c.Clock = m.clocks[0]
	}
	if c.Clock.m != m {
		return nil, fmt.Errorf("verilator: channel %s: its clock belongs to another model", c.Data)
	}
	c.Depth = cmp.Or(c.Depth, defaultDepth)
	if c.Depth < 1 || c.Depth > maxDepth {
		return nil, fmt.Errorf("verilator: channel %s: depth %d: want 1 to %d", c.Data, c.Depth, maxDepth)
	}
	spec.clock, spec.seed, spec.depth = C.int32_t(c.Clock.index), C.uint64_t(c.Seed), 1<<bits.Len(uint(c.Depth-1))
	if c.ResetLow {
		spec.reset_low = 1
	}
	if c.Idle != nil {
		spec.has_idle, spec.idle = 1, C.uint64_t(*c.Idle)
	}
	data, err := m.channelField(c.Data, drives(spec.kind, C.LM_SOURCE), 64, &spec.data)
	if err != nil {
		return nil, err
	}
	for _, part := range []struct {
		port   string
		driven driven
		at     *C.lm_field
	}{{c.Valid, drives(spec.kind, C.LM_SOURCE), &spec.valid}, {c.Ready, drives(spec.kind, C.LM_SINK), &spec.ready},
		{c.Last, drives(spec.kind, C.LM_SOURCE), &spec.last}, {c.Reset, either, &spec.reset}} {
		if part.port == "" {
			part.at.port = -1
		} else if _, err := m.channelField(part.port, part.driven, 1, part.at); err != nil {
			return nil, err
		}
	}
	parts := C.calloc(C.size_t(len(c.Parts)+1), C.sizeof_lm_field)
	defer C.free(parts)
	spec.parts, spec.n_parts = (*C.lm_field)(parts), C.uint32_t(len(c.Parts))
	for i, at := range unsafe.Slice(spec.parts, len(c.Parts)) {
		if _, err := m.channelField(c.Parts[i], drives(spec.kind, C.LM_SOURCE), 64, &at); err != nil {
			return nil, err
		}
		unsafe.Slice(spec.parts, len(c.Parts))[i] = at
	}
	r := newRing(m, C.lm_channel_add(m.lib.engine, m.c, &spec), data.width)
	r.setThrottle(c.Throttle)
	return r, nil
}

// driven says who sets a field.
type driven int

const (
	either  driven = iota
	byModel        // it must be an output
	byBench        // it must not
)

// drives returns who sets a field that channels of kind driver set.
func drives(kind, driver C.int32_t) driven {
	switch kind {
	case driver:
		return byBench
	case C.LM_WATCH:
		return either
	}
	return byModel
}

func (m *Model) channelField(port string, by driven, most int, at *C.lm_field) (field, error) {
	f, err := m.lib.field(port)
	if err != nil {
		return f, err
	}
	if f.width > most {
		return f, fmt.Errorf("%w: %s has %d bits, this part of a channel takes %d", ErrPort, port, f.width, most)
	}
	if by != either && (by == byBench) != (f.Direction == In) {
		return f, fmt.Errorf("%w: %s has the wrong direction for this end of a channel", ErrPort, f.Port)
	}
	*at = f.c()
	return f, nil
}

// Source feeds a design.
type Source struct{ ring *ring }

// Source drives data, valid and last of a channel and obeys ready.
func (m *Model) Source(c Channel) (*Source, error) {
	r, err := m.attach(c, C.lm_channel{kind: C.LM_SOURCE})
	if err != nil {
		return nil, err
	}
	return &Source{r}, nil
}

// Put queues one item; false means that there is no room (or the model is closed). Bits beyond the port's width are
// dropped.
func (s *Source) Put(v uint64, last bool) bool { return s.ring.put(v, last) }

// PutParts is Put of an item with the words of Channel.Parts; missing ones are 0.
func (s *Source) PutParts(v uint64, last bool, parts []uint64) bool {
	if s.Room() == 0 {
		return false
	}
	s.ring.setWords(parts)
	return s.ring.put(v, last)
}

// Write queues beats and returns how many had room.
func (s *Source) Write(beats []Beat) int {
	for i, b := range beats {
		if !s.ring.put(b.Data, b.Last) {
			return i
		}
	}
	return len(beats)
}

// Send queues one frame, an item a byte, with last at the end; false means that it does not fit and nothing was
// queued.
func (s *Source) Send(frame []byte) bool {
	if s.Room() < len(frame) {
		return false
	}
	for i, b := range frame {
		s.ring.put(uint64(b), i == len(frame)-1)
	}
	return true
}

// Room is how many items can be queued now.
func (s *Source) Room() int { return len(s.ring.items) - s.ring.len() }

// Pending is how many items the design has not taken yet, the one on its port included.
func (s *Source) Pending() int { return s.ring.len() }

// Discard drops the first n items that the design has not taken. It is for a reset that acts at an edge of the clock, behind which no item stands on the port.
func (s *Source) Discard(n int) { s.ring.c.tail += C.uint64_t(min(n, s.ring.len())) }

// HasRoom holds while at least n items can be queued.
func (s *Source) HasRoom(n int) Until { return Until{op: C.LM_ROOM, ring: s.ring, value: uint64(n)} }

// Drained holds when the design has taken everything.
func (s *Source) Drained() Until { return Until{op: C.LM_DRAINED, ring: s.ring} }

// SetThrottle changes Channel.Throttle.
func (s *Source) SetThrottle(share float64) { s.ring.setThrottle(share) }

// Frames is how many items with last the design has taken.
func (s *Source) Frames() uint64 { return s.ring.frames() }

// Stalls is how many clocks the design has made an item wait.
func (s *Source) Stalls() uint64 { return s.ring.stalls() }

// Sink collects what a design sends.
type Sink struct {
	ring *ring
	seen int // items at the front of the ring that are known to hold no last
}

// Sink drives ready of a channel and collects data and last.
func (m *Model) Sink(c Channel) (*Sink, error) {
	r, err := m.attach(c, C.lm_channel{kind: C.LM_SINK})
	if err != nil {
		return nil, err
	}
	return &Sink{ring: r}, nil
}

// Len is how many items wait to be read.
func (s *Sink) Len() int { return s.ring.len() }

// Depth is how many items can wait to be read: Channel.Depth, rounded up.
func (s *Sink) Depth() int { return len(s.ring.items) }

// Get returns the next item; false means that there is none.
func (s *Sink) Get() (Beat, bool) {
	if s.ring.len() == 0 {
		return Beat{}, false
	}
	b := s.ring.at(0)
	s.take(1)
	return b, true
}

// GetParts is Get, and copies the words of Channel.Parts to parts.
func (s *Sink) GetParts(parts []uint64) (Beat, bool) {
	if s.ring.len() > 0 {
		copy(parts, s.ring.wordsAt(0))
	}
	return s.Get()
}

// Read moves waiting items to beats and returns how many.
func (s *Sink) Read(beats []Beat) int {
	n := min(len(beats), s.ring.len())
	for i := range n {
		beats[i] = s.ring.at(i)
	}
	s.take(n)
	return n
}

// Frame appends the low bytes of the next whole frame to buf; false means that none has arrived completely.
func (s *Sink) Frame(buf []byte) ([]byte, bool) {
	n := s.ring.len()
	for ; s.seen < n; s.seen++ {
		if !s.ring.at(s.seen).Last {
			continue
		}
		length := s.seen + 1
		for i := range length {
			buf = append(buf, byte(s.ring.at(i).Data))
		}
		s.take(length)
		return buf, true
	}
	return buf, false
}

// Discard drops what waits to be read and returns how much; after a reset, for example, when the design's outputs
// were not yet meaningful.
func (s *Sink) Discard() int {
	n := s.ring.len()
	s.take(n)
	return n
}

func (s *Sink) take(n int) {
	s.ring.c.tail += C.uint64_t(n)
	s.seen = max(s.seen-n, 0)
}

// Has holds while at least n items wait to be read.
func (s *Sink) Has(n int) Until { return Until{op: C.LM_ITEMS, ring: s.ring, value: uint64(n)} }

// Ended holds once the sink has seen n items with last since it was made.
func (s *Sink) Ended(n uint64) Until { return Until{op: C.LM_FRAMES, ring: s.ring, value: n} }

// SetThrottle changes Channel.Throttle.
func (s *Sink) SetThrottle(share float64) { s.ring.setThrottle(share) }

// Frames is how many items with last have arrived.
func (s *Sink) Frames() uint64 { return s.ring.frames() }

// Stalls is how many clocks an item has waited because the sink was not ready.
func (s *Sink) Stalls() uint64 { return s.ring.stalls() }
