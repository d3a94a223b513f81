package ftdi

import (
	"time"
)

// Pins is the circuit at the sixteen pins of a channel: the low byte stands for xDBUS, the high one for xCBUS.
type Pins interface {
	// Drive is called whenever the chip changes its outputs, and when it samples the pins: value is on those that it drives. It
	// returns the levels of all pins. It must not call the chip or its device.
	Drive(value, driven uint16) (levels uint16)
}

// Shifter are Pins that transfer a byte at once, which is faster than edge by edge.
type Shifter interface {
	Pins
	// Shift is what Drive is for eight pulses of the clock, which is low and in value: the bits of out come on xDBUS1 before its rising edges, the most
	// significant one first, and those of in are the levels of xDBUS2 then.
	Shift(value, driven uint16, out byte) (in byte)
}

// open are unconnected pins, which the chip itself pulls up.
type open struct{}

func (open) Drive(value, driven uint16) uint16 { return value | ^driven }

// Wire connects a channel's pins. The device's lock is held while they are called.
func (c *Chip) Wire(channel int, p Pins) {
	c.device.Do(func() {
		c.channels[channel].pins.wired = p
		c.channels[channel].pins.drive()
	})
}

// pins are a channel's pins with the chip's outputs.
type pins struct {
	wired            Pins
	value, direction uint16 // outputs have a 1 in direction
}

func (p *pins) drive() (levels uint16) {
	return p.wired.Drive(p.value, p.direction)
}

// release makes all pins inputs.
func (p *pins) release() {
	*p = pins{wired: p.wired}
	p.drive()
}

// bitBangClock is how many bytes a bit-bang channel moves in the time of a bit at the rate that is set.
const bitBangClock = 16

// bitBang is a channel whose eight low pins are set by each byte that comes. Synchronously, each byte brings back what the pins were before
// it; otherwise the pins are read all the time.
type bitBang struct {
	channel *channel
	sync    bool
	sampled time.Time
}

func newBitBang(c *channel, outputs byte, sync bool) *bitBang {
	c.pins.direction = uint16(outputs)
	c.pins.drive()
	return &bitBang{channel: c, sync: sync, sampled: time.Now()}
}

func (b *bitBang) work() {
	c := b.channel
	if !b.sync {
		now := time.Now()
		rate := c.rate * bitBangClock
		n := min(int(now.Sub(b.sampled).Seconds()*rate), buffer-len(c.toHost))
		if n > 0 {
			b.sampled = now
		}
		level := byte(c.pins.drive())
		for range n {
			c.toHost = append(c.toHost, level)
		}
	}
	for len(c.fromHost) > 0 && (!b.sync || len(c.toHost) < buffer) {
		if b.sync {
			c.toHost = append(c.toHost, byte(c.pins.drive()))
		}
		c.pins.value = uint16(c.fromHost[0])
		c.pins.drive()
		c.fromHost = c.fromHost[1:]
	}
}
