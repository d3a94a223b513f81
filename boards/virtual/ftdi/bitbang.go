package ftdi

import "time"

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
