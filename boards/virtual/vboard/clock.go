package vboard

import (
	"math"
	"sync"
	"time"

	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/hostdrv"
)

// clock makes the target's time that of the simulation in the FPGA: it advances while the driver waits, for as long as the driver wants
// to wait at most. It stands still otherwise, while bytes are in flight between the two, and while the FPGA is being configured.
type clock struct {
	held func() int // bytes between the two that have a place there

	mu      sync.Mutex
	fpga    *kept          // nil while it is being configured
	timing  hostdrv.Timing // of what was there last
	err     error          // of fail
	left    int            // ticks that may pass
	passed  int            // of which the driver has not heard
	sending int            // transfers to the board
	wake    func()         // the driver; nil before there is one
}

// again is how long after it has found bytes between the two the clock looks again, if it does not hear of it: they may be lost.
const again = 5 * time.Millisecond

// kept is the target in the FPGA, whose time the clock takes.
type kept struct {
	hostdrv.Transport
	clock *clock
	alarm *time.Timer
}

// keep makes a target the one in the FPGA.
func (c *clock) keep(t hostdrv.Transport) hostdrv.Transport {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := &kept{t, c, time.AfterFunc(again, t.Wake)}
	c.fpga, c.timing = k, t.Timing()
	return k
}

// fail ends the target: the FPGA will not be configured again.
func (c *clock) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	c.wakeDriver()
}

// Waits implements pipe.Bridge.
func (k *kept) Waits() bool {
	k.clock.mu.Lock()
	defer k.clock.mu.Unlock()
	return k.clock.left > 0
}

// Exchange advances the time by no more than the driver asks for.
func (k *kept) Exchange(x *hostdrv.Exchange) error {
	c, inner := k.clock, *x
	c.mu.Lock()
	left, sending := c.left, c.sending
	c.mu.Unlock()
	inner.Wait, inner.Idle = max(1, min(x.Wait, left)), x.Idle || left <= 0
	if !inner.Idle && len(x.Out) == 0 && sending+c.held() > 0 {
		inner.Idle = true
		k.alarm.Reset(again)
	}
	err := k.Transport.Exchange(&inner)
	x.Taken, x.In, x.Ticks = inner.Taken, inner.In, inner.Ticks
	c.mu.Lock()
	defer c.mu.Unlock()
	ended := 0 < c.left && c.left <= x.Ticks
	c.passed += x.Ticks
	c.left -= x.Ticks
	if ended {
		c.wakeDriver()
	}
	return err
}

// Reset implements hostdrv.Resetter.
func (k *kept) Reset() error {
	if r, can := k.Transport.(hostdrv.Resetter); can {
		return r.Reset()
	}
	return virtual.ErrNoReset
}

// Close empties the FPGA, unless another target has replaced this one.
func (k *kept) Close() error {
	c := k.clock
	c.mu.Lock()
	if c.fpga == k {
		c.fpga = nil
	}
	c.mu.Unlock()
	k.alarm.Stop()
	return k.Transport.Close()
}

func (c *clock) wakeDriver() {
	if c.wake != nil {
		c.wake()
	}
}

// send counts transfers to the board as they begin and end.
func (c *clock) send(more int) {
	c.mu.Lock()
	c.sending += more
	c.mu.Unlock()
	c.look()
}

// look is called when bytes in flight may have arrived.
func (c *clock) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fpga != nil && c.left > 0 {
		c.fpga.Wake()
	}
}

// run advances the time by some ticks at most.
func (c *clock) run(ticks int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = ticks
	if c.fpga != nil {
		c.fpga.Wake()
	}
	return c.err
}

// stop ends run, and returns how many ticks have passed since it did so last.
func (c *clock) stop() (passed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	passed, c.passed, c.left = c.passed, 0, 0
	return passed
}

// transport is that of a target.
type transport struct {
	hostdrv.Transport // by USB, in wall-clock time
	board             *virtual.Board
	clock             *clock
	timing            hostdrv.Timing
}

func newTransport(t hostdrv.Transport, b *virtual.Board, c *clock) *transport {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wake = t.Wake
	timing, usb := c.timing, t.Timing()
	timing.Burst, timing.AckCoalesce = usb.Burst, usb.AckCoalesce
	return &transport{t, b, c, timing}
}

// Timing is that of the first target in the FPGA.
func (t *transport) Timing() hostdrv.Timing { return t.timing }

// Exchange implements hostdrv.Transport. An idle one sends nothing, since no time would pass for it.
func (t *transport) Exchange(x *hostdrv.Exchange) error {
	inner := hostdrv.Exchange{Wait: math.MaxInt32}
	if !x.Idle {
		inner.Out = x.Out
		if err := t.clock.run(x.Wait); err != nil {
			return err
		}
	}
	err := t.Transport.Exchange(&inner)
	x.Taken, x.In = inner.Taken, inner.In
	if !x.Idle {
		x.Ticks = t.clock.stop()
	}
	return err
}

// Reset implements hostdrv.Resetter.
func (t *transport) Reset() error { return t.board.Reset() }
