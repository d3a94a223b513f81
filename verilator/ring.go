package verilator

// #include "runtime/call.h"
import "C"

import (
	"math"
	"unsafe"
)

// Beat is one datum of a channel.
type Beat struct {
	// Data is the value on the data port.
	Data uint64
	// Last is the last port's bit; false where there is none.
	Last bool
	// Cycle is the rising edge of the channel's clock at which a Sink got it, counted from 1. A Source ignores it.
	Cycle uint64
}

// ring is memory that Go and the engine share: one writes head and the items, the other tail.
type ring struct {
	m     *Model
	c     *C.lm_ring // an empty one without room once the model is closed
	items []C.lm_item
	words []uint64 // what travels with items, each words at a time
	each  int
	width int
}

func newRing(m *Model, c *C.lm_ring, width int) *ring {
	depth := int(c.mask) + 1
	each := int(c.per_item)
	r := &ring{m, c, unsafe.Slice(c.items, depth), unsafe.Slice((*uint64)(unsafe.Pointer(c.words)), depth*each), each, width}
	m.rings = append(m.rings, r)
	return r
}

// detach lets go of memory that the engine is about to free.
func (r *ring) detach() { r.c, r.items, r.words, r.each = new(C.lm_ring), nil, nil, 0 }

func (r *ring) len() int { return int(r.c.head - r.c.tail) }

func (r *ring) put(v uint64, last bool) bool {
	if r.len() == len(r.items) {
		return false
	}
	item := &r.items[r.c.head&r.c.mask]
	item.data = C.uint64_t(v)
	item.tag = 0
	if last {
		item.tag = 1
	}
	r.c.head++
	return true
}

// at returns the i-th item not yet read; i must be less than len.
func (r *ring) at(i int) Beat {
	item := &r.items[(r.c.tail+C.uint64_t(i))&r.c.mask]
	return Beat{uint64(item.data), item.tag&1 != 0, uint64(item.tag >> 1)}
}

// wordsAt returns what travels with the i-th item not yet read.
func (r *ring) wordsAt(i int) []uint64 {
	at := int((r.c.tail+C.uint64_t(i))&r.c.mask) * r.each
	return r.words[at : at+r.each]
}

// setWords sets what travels with the item to be put next.
func (r *ring) setWords(words []uint64) {
	at := int(r.c.head&r.c.mask) * r.each
	clear(r.words[at+copy(r.words[at:at+r.each], words) : at+r.each])
}

func (r *ring) setThrottle(share float64) {
	r.c.throttle = C.uint64_t(math.Min(math.Max(share, 0), 1) * (1 << 32))
}

func (r *ring) frames() uint64 { return uint64(r.c.frames) }
func (r *ring) stalls() uint64 { return uint64(r.c.stalls) }
