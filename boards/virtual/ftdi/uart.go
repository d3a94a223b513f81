package ftdi

import (
	"io"
	"math/rand/v2"
	"sync"
	"time"
)

// UART is the far end of a channel's serial line, on the board. Its time is the board's: nothing is lost because the
// board is slow, and it waits when the host does not read. Data that the host sends while no UART is connected is lost, as on any line.
//
// Bytes are 8 bits without parity here, as an FPGA has them. If the host has set another rate or format it gets what a receiver makes of that, and so does
// who is here, but those without a stop bit: a design drops them.
type UART struct {
	channel *channel
	rate    float64
	rest    []byte // that have been received and not read
	closed  chan struct{}
	once    sync.Once
}

// UART connects a channel's serial line, in place of the UART before. rate is in bits a second; 0: the rate and format that the host has set.
func (c *Chip) UART(channel int, rate float64) *UART {
	u := &UART{channel: c.channels[channel], rate: rate, closed: make(chan struct{})}
	c.device.Do(func() { u.channel.line, u.channel.flow.lines = u, Lines{} })
	return u
}

// SetNoise makes bits of a channel's serial line turn over by chance, in both directions, from now on. The seed decides which.
func (c *Chip) SetNoise(channel int, chance float64, seed uint64) {
	c.device.Do(func() {
		n := &c.channels[channel].noise
		n.chance, n.random = chance, rand.New(rand.NewPCG(seed, uint64(channel)))
	})
}

func signal(what chan struct{}) {
	select {
	case what <- struct{}{}:
	default:
	}
}

// frame is what the host has set; breaks is whether it holds the line low.
func (c *channel) frame() (f frame, breaks bool) {
	f = frame{rate: c.rate, bits: 8, parity: parity(c.format >> 8 & 7), stop: 1 + float64(c.format>>11&3)/2}
	if c.format&0xFF == 7 {
		f.bits = 7
	}
	return f, c.format&lineBreak != 0
}

// own is the frame at this end, where the host has f.
func (u *UART) own(f frame) frame {
	if u.rate == 0 {
		return f
	}
	return eightN1(u.rate)
}

// Read waits for bytes from the host. After Close it returns io.EOF. One goroutine may read and one write.
func (u *UART) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		u.channel.device.Do(u.receive)
		if n = copy(p, u.rest); n > 0 {
			u.rest = u.rest[n:]
			return n, nil
		}
		select {
		case <-u.channel.input:
		case <-u.closed:
			return 0, io.EOF
		}
	}
}

// receive takes what the host has sent, unless something is left.
func (u *UART) receive() {
	c := u.channel
	f, breaks := c.frame()
	if c.engine != nil || c.line != u || len(u.rest) > 0 || breaks {
		return
	}
	u.rest = u.rest[:0]
	sent := c.flow.takePending()
	if c.flow.maySend() {
		sent = append(sent, c.fromHost...)
		c.fromHost = nil
	}
	c.counts.FromHost += uint64(len(sent))
	for _, r := range carry(f, u.own(f), &c.noise, sent) {
		if r.errors&errFraming != 0 {
			c.counts.Framing++
			continue
		}
		u.rest = append(u.rest, r.b)
	}
}

// SetOverrun makes a channel drop data from its serial line once its buffer has been full for a time, as a real chip does at once. Otherwise the far
// line waits.
func (c *Chip) SetOverrun(channel int, after time.Duration) {
	c.device.Do(func() { c.channels[channel].overrun = after })
}

// deliver buffers what fits, and returns the rest and, if the rest will be dropped, how long until then.
func (c *channel) deliver(received []character) (rest []character, left time.Duration) {
	n := c.arrive(received)
	if rest = received[n:]; n > 0 {
		c.filled = time.Time{}
	}
	if len(rest) == 0 || c.overrun == 0 {
		return rest, 0
	}
	if c.filled.IsZero() {
		c.filled = time.Now()
	}
	if left = c.overrun - time.Since(c.filled); left > 0 {
		return rest, left
	}
	c.errors |= errOverrun
	c.counts.Lost += uint64(len(rest))
	return nil, 0
}

// Write returns when all of p is in the chip's buffer, or lost (SetOverrun). After Close it returns io.ErrClosedPipe.
func (u *UART) Write(p []byte) (written int, err error) {
	c := u.channel
	var received []character
	c.device.Do(func() {
		f, _ := c.frame()
		received = carry(u.own(f), f, &c.noise, p)
		c.counts.ToHost += uint64(len(p))
	})
	for {
		var late <-chan time.Time
		c.device.Do(func() {
			var left time.Duration
			if received, left = c.deliver(received); left > 0 {
				late = time.After(left)
			}
		})
		if len(received) == 0 {
			return len(p), nil
		}
		select {
		case <-c.room:
		case <-late:
		case <-u.closed:
			return 0, io.ErrClosedPipe
		}
	}
}

// Close ends Read and Write.
func (u *UART) Close() error {
	u.once.Do(func() {
		close(u.closed)
		u.channel.device.Do(func() {
			if u.channel.line == u {
				u.channel.line, u.channel.flow.lines = nil, Lines{}
			}
		})
	})
	return nil
}

// LineCounts is what has happened at a channel's serial line.
type LineCounts struct {
	FromHost, ToHost uint64 // bytes that were sent
	Turned           uint64 // bits, by noise
	Lost             uint64 // bytes to the host, for want of room
	Framing, Parity  uint64 // bytes that came without stop bit, and with a wrong parity bit
}

// LineCounts returns the counters of a channel.
func (c *Chip) LineCounts(channel int) (counts LineCounts) {
	c.device.Do(func() {
		counts = c.channels[channel].counts
		counts.Turned = c.channels[channel].noise.turned
	})
	return counts
}

// Held is how many bytes a channel holds that are on their way, to either end.
func (c *Chip) Held(channel int) (n int) {
	c.device.Do(func() { n = len(c.channels[channel].toHost) + len(c.channels[channel].fromHost) })
	return n
}
