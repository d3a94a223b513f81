package drivertest

import (
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/linkproto"
)

// Cable is what damages symbols between a driver and its NI. Its fields are to be set before the driver starts.
type Cable struct {
	hostdrv.Transport
	RNG  *rand.Rand // for what follows
	Rate float64    // of bit errors
	// CutEvery is the mean number of ticks between two cuts that come by themselves and are so long that the link starts again; 0: none come. Calm is
	// how many ticks there are between two at least: a driver that has no time to find out what has arrived ends with hostdrv.ErrUncertain.
	CutEvery, Calm int

	mu   sync.Mutex
	now  int // ticks
	next int // the earliest time of a cut by itself
	cuts []cut
}

// cut is when a cable carries nothing: to the NI, from it.
type cut struct {
	from, to int // ticks
	out, in  bool
}

// CutAfter cuts the cable, in some ticks from now and for so many, and returns when it is whole again.
func (c *Cable) CutAfter(wait, ticks int, out, in bool) (whole int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cut(wait, ticks, out, in)
}

func (c *Cable) cut(wait, ticks int, out, in bool) (whole int) {
	s := cut{c.now + wait, c.now + wait + ticks, out, in}
	c.cuts = append(c.cuts, s)
	return s.to
}

// Ticks is how many have passed.
func (c *Cable) Ticks() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// pass is what of symbols goes to the NI before the cable is cut.
func (c *Cable) pass(line []linkproto.Symbol) []linkproto.Symbol {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.cuts {
		if s.out && c.now < s.to {
			line = line[:min(len(line), max(s.from-c.now, 0))]
		}
	}
	return slices.Clone(line)
}

// isCut tells what is cut now and how many ticks that stays so.
func (c *Cable) isCut() (out, in bool, left int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left = 1 << 30
	for _, s := range c.cuts {
		switch {
		case c.now < s.from:
			left = min(left, s.from-c.now)
		case c.now < s.to:
			out, in, left = out || s.out, in || s.in, min(left, s.to-c.now)
		}
	}
	return out, in, left
}

// Exchange damages what is exchanged.
func (c *Cable) Exchange(x *hostdrv.Exchange) error {
	sent := x.Out
	out, in, left := c.isCut()
	x.Out = c.pass(sent)
	c.flip(x.Out)
	x.Wait = min(x.Wait, left)
	if out && len(sent) > 0 {
		x.Wait = 1 // the time that it takes to send
	}
	err := c.Transport.Exchange(x)
	x.Out = sent
	if in {
		x.In = nil
	}
	c.flip(x.In)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now += x.Ticks; c.CutEvery > 0 && c.now >= c.next && c.RNG.IntN(c.CutEvery) < min(x.Ticks, 1000) {
		c.next = c.Calm + c.cut(0, linkproto.DefaultRetry*linkproto.DefaultRetryLimit+c.RNG.IntN(100_000), true, true)
	}
	return err
}

func (c *Cable) flip(line []linkproto.Symbol) {
	if c.Rate == 0 {
		return
	}
	for i := range line {
		for bit := range 9 {
			if c.RNG.Float64() < c.Rate {
				line[i] ^= 1 << bit
			}
		}
	}
}
