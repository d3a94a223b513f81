package testbench

import "github.com/stafflink/lmmc/verilator"

// Handshake is a ready/valid stream seen as wires, for coroutines that set them one by one, and for monitors. An item
// moves at a rising edge of Clock before which valid and ready were both 1.
type Handshake struct {
	// Clock is the stream's clock.
	Clock *Clock
	// Data is the item.
	Data *Signal
	// Valid and Ready are nil when the stream has none, which is as if they were 1.
	Valid, Ready *Signal
	// Last is nil when items are not grouped into frames.
	Last *Signal

	watched bool // the rest is set before each edge
	moved   bool
	data    uint64
	last    bool
}

// Handshake finds the wires of a channel, of which Clock, Idle, Depth and the throttle are not used. A nil clock means
// the instance's main clock.
func (i *Instance) Handshake(k *Clock, ch verilator.Channel) (*Handshake, error) {
	b := i.bench
	b.mark.Helper()
	if k == nil {
		k = i.main
	}
	ch = ch.On(i.model.Library())
	h := &Handshake{Clock: k}
	for _, wire := range []struct {
		name string
		to   **Signal
	}{{ch.Data, &h.Data}, {ch.Valid, &h.Valid}, {ch.Ready, &h.Ready}, {ch.Last, &h.Last}} {
		if wire.name == "" {
			continue
		}
		s, err := i.signal(wire.name)
		if err != nil {
			return nil, b.check(err)
		}
		*wire.to = s
	}
	return h, nil
}

// Offer puts an item on the wires and waits until the design has taken it. The coroutine goes on just after that edge,
// with valid at 0.
func (h *Handshake) Offer(c *Task, v uint64, last bool) {
	h.Data.Set(v)
	if h.Last != nil {
		h.Last.Set(truth(last))
	}
	h.Valid.Set(1)
	h.move(c)
	h.Valid.Set(0)
}

// Take sets ready and waits for an item. The coroutine goes on just after the edge at which it moved, with ready at 0.
func (h *Handshake) Take(c *Task) (v uint64, last bool) {
	if h.Ready != nil {
		h.Ready.Set(1)
	}
	h.move(c)
	if h.Ready != nil {
		h.Ready.Set(0)
	}
	return h.data, h.last
}

// move waits until an item has moved. What the wires are is seen when all coroutines have done their part: one side's ready may follow from the
// other's at once.
func (h *Handshake) move(c *Task) {
	if !h.watched {
		h.watched = true
		c.b.observers = append(c.b.observers, observer{h.Clock, func() {
			h.moved = (h.Valid == nil || h.Valid.Is()) && (h.Ready == nil || h.Ready.Is())
			h.data, h.last = h.Data.Get(), h.Last != nil && h.Last.Is()
		}, true})
	}
	for c.Rising(h.Clock); !h.moved; {
		c.Rising(h.Clock)
	}
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
