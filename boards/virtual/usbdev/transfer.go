package usbdev

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Status is how a transfer ended.
type Status int

// Ends of a transfer.
const (
	OK       Status = iota
	Stalled         // refused: by the function, or because the endpoint is halted
	Overflow        // a packet was longer than the room that was left
	Absent          // there is no such endpoint
	Gone            // the plug was pulled
)

func (s Status) String() string {
	names := [...]string{"ok", "stalled", "overflow", "no such endpoint", "gone"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("status %d", int(s))
	}
	return names[s]
}

// Transfer is a transfer that a host submits and must not touch until Done is called, or Unlink has returned true.
type Transfer struct {
	Endpoint byte   // with In for one to the host
	Setup    Setup  // of a control transfer
	Data     []byte // to the device
	Room     int    // for bytes to the host
	Zero     bool   // to the device: end with an empty packet if the last one is full

	// Done is called once, unless Unlink returns true, and in the order in which an endpoint's transfers end. It must neither wait nor
	// call the device.
	Done func(*Transfer)

	Status Status // set, as what follows, when the transfer ends
	Actual int    // bytes that were carried
	// Data of a transfer to the host is what came.

	packets []int // lengths of those that came
	due     time.Time
}

// Submit gives the device a transfer.
func (h *Host) Submit(t *Transfer) {
	d := h.device
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts.Transfers++
	if d.host != h {
		d.end(t, Gone)
		return
	}
	e := d.endpoint(t.Endpoint)
	if e == nil {
		d.end(t, Absent)
		return
	}
	if d.delay > 0 {
		t.due = time.Now().Add(d.delay)
	}
	e.queue = append(e.queue, t)
	if len(e.queue) == 1 {
		d.serve(e)
	}
}

// Unlink cancels a transfer. False means that it has ended, and Done was called. Data that it had received already comes with the endpoint's next
// transfer, since the caller may be unable to read a cancelled one.
func (h *Host) Unlink(t *Transfer) bool {
	d := h.device
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.endpoint(t.Endpoint)
	if d.host != h || e == nil {
		return false
	}
	i := slices.Index(e.queue, t)
	if i < 0 {
		return false
	}
	d.counts.Unlinked++
	e.queue = slices.Delete(e.queue, i, i+1)
	if t.Endpoint&In != 0 {
		rest := t.Data
		for _, n := range t.packets {
			e.back = append(e.back, rest[:n])
			rest = rest[n:]
		}
	}
	if i == 0 {
		d.serve(e)
	}
	return true
}

func (d *Device) end(t *Transfer, s Status) {
	t.Status = s
	if s == Stalled {
		d.counts.Stalls++
	}
	if t.Endpoint&^In != 0 {
		if t.Endpoint&In != 0 {
			d.counts.ToHost += uint64(t.Actual)
		} else {
			d.counts.FromHost += uint64(t.Actual)
		}
	}
	if d.observer != nil {
		d.observer(t)
	}
	t.Done(t)
}

// serve carries out transfers of an endpoint until one has to wait.
func (d *Device) serve(e *endpoint) {
	for len(e.queue) > 0 {
		t := e.queue[0]
		if wait := e.wait(t); wait > 0 {
			d.later(e, wait)
			return
		}
		status, ended := d.step(e, t)
		if !ended {
			d.counts.NAKs++
			return
		}
		e.queue = slices.Delete(e.queue, 0, 1)
		d.end(t, status)
	}
}

// wait is how long a fault keeps the first transfer waiting.
func (e *endpoint) wait(t *Transfer) time.Duration {
	if t.due.IsZero() && e.quiet.IsZero() {
		return 0
	}
	now := time.Now()
	if !e.quiet.After(now) {
		e.quiet = time.Time{}
	}
	return max(t.due.Sub(now), e.quiet.Sub(now), 0)
}

// later serves an endpoint again after a while.
func (d *Device) later(e *endpoint, wait time.Duration) {
	if e.again != nil {
		e.again.Reset(wait)
		return
	}
	e.again = time.AfterFunc(wait, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.serve(e)
	})
}

// step advances an endpoint's first transfer as far as possible.
func (d *Device) step(e *endpoint, t *Transfer) (_ Status, ended bool) {
	switch {
	case e.address == 0:
		return d.request(t), true
	case e.halted:
		return Stalled, true
	case e.address&In != 0:
		return d.fetch(e, t)
	}
	return d.deliver(e, t)
}

// fetch brings packets until one is short or there is no more room.
func (d *Device) fetch(e *endpoint, t *Transfer) (Status, bool) {
	for {
		var packet []byte
		if len(e.back) > 0 {
			packet, e.back = e.back[0], e.back[1:]
		} else {
			var ok bool
			if packet, ok = d.function.Packet(e.address, e.size); !ok {
				return OK, false
			}
		}
		fits := min(len(packet), t.Room-t.Actual)
		t.Data = append(t.Data, packet[:fits]...)
		t.packets = append(t.packets, fits)
		t.Actual += fits
		switch {
		case fits < len(packet):
			return Overflow, true
		case len(packet) < e.size || t.Actual == t.Room:
			return OK, true
		}
	}
}

// deliver passes packets to the function until the transfer is complete.
func (d *Device) deliver(e *endpoint, t *Transfer) (Status, bool) {
	for {
		n := min(len(t.Data)-t.Actual, e.size)
		if !d.function.Take(e.address, t.Data[t.Actual:t.Actual+n]) {
			return OK, false
		}
		t.Actual += n
		if t.Actual == len(t.Data) && (n < e.size || !t.Zero) {
			return OK, true
		}
	}
}

// Bus is how a host reaches a device: a Host, or the far end of a connection that carries USB.
type Bus interface {
	Submit(*Transfer)
	Unlink(*Transfer) bool
	Gone() <-chan struct{}
	Close()
}

// Carry submits a transfer and waits until it has ended; when ctx ends it cancels the transfer and returns the context's error.
func Carry(ctx context.Context, b Bus, t *Transfer) error {
	ended := make(chan struct{})
	t.Done = func(*Transfer) { close(ended) }
	b.Submit(t)
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	if b.Unlink(t) {
		return ctx.Err()
	}
	<-ended
	return nil
}
