package flowctl_test

import (
	"math/rand/v2"

	"github.com/stafflink/lmmc/linkproto"
)

// faults are chances, in units of 1/65536 for each symbol.
type faults struct {
	lose, corrupt, duplicate int
	dead                     bool // nothing arrives
}

// channel is one direction of a link: a FIFO of symbols that takes time and has faults.
type channel struct {
	faults
	aborts int  // chance for each frame that its sender takes it back, and begins it again
	began  bool // the last symbol was an SOP
	delay  int  // ticks
	rng    *rand.Rand
	queue  []flying
	ready  []linkproto.Symbol
}

type flying struct {
	symbol linkproto.Symbol
	at     int // tick of arrival
}

func (c *channel) chance(n int) bool { return n > 0 && c.rng.IntN(1<<16) < n }

// put sends a symbol at tick now.
func (c *channel) put(s linkproto.Symbol, now int) {
	if c.began && s.IsData() && c.chance(c.aborts) {
		c.carry(s, now)
		for range c.rng.IntN(testMaxPacket + linkproto.CRCBytes) {
			c.carry(linkproto.Data(byte(c.rng.Uint32())), now)
		}
		c.carry(linkproto.SymAbort, now)
		c.carry(linkproto.SymSOP, now)
	}
	c.began = s == linkproto.SymSOP
	c.carry(s, now)
}

// carry takes a symbol that its sender puts in at tick now, if no fault keeps it from that.
func (c *channel) carry(s linkproto.Symbol, now int) {
	if c.dead || c.chance(c.lose) {
		return
	}
	if c.chance(c.corrupt) {
		s ^= 1 << c.rng.IntN(9)
		if c.rng.IntN(4) == 0 {
			s = linkproto.SymErr
		}
	}
	c.queue = append(c.queue, flying{s, now + c.delay})
	if c.chance(c.duplicate) {
		c.queue = append(c.queue, flying{s, now + c.delay})
	}
}

// get returns what arrives up to tick now, which is valid until the next call.
func (c *channel) get(now int) []linkproto.Symbol {
	c.ready = c.ready[:0]
	i := 0
	for ; i < len(c.queue) && c.queue[i].at <= now; i++ {
		c.ready = append(c.ready, c.queue[i].symbol)
	}
	c.queue = c.queue[i:]
	return c.ready
}
