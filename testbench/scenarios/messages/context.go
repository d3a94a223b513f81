package messages

import (
	"bytes"
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
)

// messageContext is a context of messages: its rings are at the beginning of its region, and behind them are slots, as many for sends as for receives.
type messageContext struct {
	host     *host
	number   int
	sends    map[uint16]*send // that are not complete, by cookie
	receives map[uint16]*receive
	posted   [2]uint16 // sends and receives
	free     [2][]int  // slots of them
	told     uint16    // completions
	read     uint16    // and those that have been looked at
	reading  bool
}

// send is a send that is posted.
type send struct {
	linkproto.Posted
	slot int
	data []byte
	end  *virtualEnd // nil: the descriptor is wrong
	want linkproto.CompletionStatus
}

// receive is a receive that is posted.
type receive struct {
	linkproto.Posted
	slot  int
	wrong bool
}

func newMessageContext(h *host, number int) *messageContext {
	c := &messageContext{host: h, number: number, sends: map[uint16]*send{}, receives: map[uint16]*receive{}}
	for slot := range harness.RegionRing {
		c.free[0], c.free[1] = append(c.free[0], slot), append(c.free[1], slot)
	}
	return c
}

func (c *messageContext) start() int {
	return (c.number - 1) * harness.RegionFrames * harness.MessagePage
}

// slot is the address of a slot, of a send or a receive.
func (c *messageContext) slot(of, slot int) int {
	return c.start() + linkproto.RingsOf(harness.RegionRing) + (of*harness.RegionRing+slot)*harness.MessageMost
}

// enable has the network interface begin it.
func (c *messageContext) enable() {
	first := uint32((c.number - 1) * harness.RegionFrames)
	c.host.set(linkproto.ContextRegRegion.Reg(c.number), linkproto.ContextFirst.In(first)|linkproto.ContextLast.In(first+harness.RegionFrames-1)|linkproto.ContextSize.In(2))
	c.host.set(linkproto.ContextRegStatus.Reg(c.number), linkproto.ContextEnabled.In(1))
}

func (c *messageContext) turn() {
	h := c.host
	rng := h.world.rng
	if len(h.orders) > 0 {
		return
	}
	if len(c.free[1]) > 0 && rng.Chance(0.5) {
		c.receive(rng)
	}
	if h.world.offering && len(c.free[0]) > 0 && rng.Chance(0.5) {
		c.send(rng)
	}
}

// post posts a descriptor in the ring of sends (0) or of receives (1).
func (c *messageContext) post(ring int, d linkproto.Posted) {
	entry := c.start() + linkproto.RingEntry*(ring*harness.RegionRing+int(c.posted[ring])%harness.RegionRing)
	c.host.put(entry, d.Append(nil))
	c.posted[ring]++
	tail := []linkproto.ContextReg{linkproto.ContextRegSendTail, linkproto.ContextRegReceiveTail}[ring]
	c.host.set(tail.Reg(c.number), uint32(c.posted[ring]))
}

// wrongBytes are an address and a length that are not of the region behind the rings, or an odd address.
func (c *messageContext) wrongBytes(rng *testbench.Rand, slot int) (addr, length uint32) {
	end := c.start() + harness.RegionFrames*harness.MessagePage
	switch rng.IntN(4) {
	case 0:
		return uint32(slot + rng.Between(1, 3)), 4
	case 1:
		return uint32(end - 4), uint32(rng.Between(5, 100))
	case 2:
		return uint32(c.start() + linkproto.RingsOf(harness.RegionRing) - 4), 8
	}
	return uint32(slot), -uint32(rng.Between(1, 4))
}

// send posts the next send.
func (c *messageContext) send(rng *testbench.Rand) {
	s := &send{slot: c.free[0][0]}
	at := c.slot(0, s.slot)
	s.Posted = linkproto.Posted{Addr: uint32(at), Length: uint32(testbench.Pick(rng, 0, 1, 60, 61, 62, 122, harness.MessageMost, rng.IntN(harness.MessageMost))), Tag: rng.Uint32(), Cookie: c.posted[0]}
	var own, others []*virtualEnd
	for _, e := range c.host.ends {
		if e.context == c.number {
			own = append(own, e)
		} else {
			others = append(others, e)
		}
	}
	switch s.end = testbench.Pick(rng, own...); {
	case s.end.closing || !s.end.opened:
		return
	case rng.Chance(0.05):
		s.Addr, s.Length = c.wrongBytes(rng, at)
		s.VL, s.end, s.want = uint16(s.end.number), nil, linkproto.CompletionBadDescriptor
	case rng.Chance(0.05):
		s.VL, s.end, s.want = testbench.Pick(rng, 0, 7, 9, uint16(testbench.Pick(rng, others...).number)), nil, linkproto.CompletionBadLink
	default:
		s.VL, s.data = uint16(s.end.number), rng.Bytes(int(s.Length))
		c.host.put(at, s.data)
		s.end.underway++
		s.end.count += max(1, (s.Length+harness.MessagePage-4)/(harness.MessagePage-3))
		s.end.peer.coming = append(s.end.peer.coming, s)
	}
	c.free[0] = c.free[0][1:]
	c.sends[s.Cookie] = s
	c.post(0, s.Posted)
}

// receive posts the next receive.
func (c *messageContext) receive(rng *testbench.Rand) {
	r := &receive{slot: c.free[1][0]}
	at := c.slot(1, r.slot)
	r.Posted = linkproto.Posted{Addr: uint32(at), Length: uint32(testbench.Pick(rng, harness.MessageMost, harness.MessageMost, harness.MessageMost, rng.IntN(harness.MessageMost))), Cookie: c.posted[1]}
	if r.wrong = rng.Chance(0.05); r.wrong {
		r.Addr, r.Length = c.wrongBytes(rng, at)
	} else {
		c.host.lend(at, int(r.Length), true)
	}
	c.free[1] = c.free[1][1:]
	c.receives[r.Cookie] = r
	c.post(1, r.Posted)
}

// completed learns how many descriptors are complete.
func (c *messageContext) completed(count uint16) {
	if c.told = count; !c.reading {
		c.next()
	}
}

// next looks at the next completion.
func (c *messageContext) next() {
	if c.reading = c.read != c.told; !c.reading {
		return
	}
	at := c.start() + linkproto.RingEntry*(linkproto.RingCompletions*harness.RegionRing+int(c.read)%(2*harness.RegionRing))
	c.host.get(at, linkproto.RingEntry, func(entry []byte) {
		copy(c.host.memory[at:], entry)
		have, ok := linkproto.DecodeCompletion(entry)
		if !ok {
			c.host.failf("completion %d of context %d is none: % x", c.read, c.number, entry)
		}
		if have.Receive {
			c.received(have)
		} else {
			c.sent(have)
		}
		c.read++
		c.next()
	})
}

// sent takes the completion of a send.
func (c *messageContext) sent(have linkproto.Completion) {
	s := c.sends[have.Cookie]
	if s == nil {
		c.host.failf("context %d has completed a send that is not posted: %+v", c.number, have)
	}
	want := linkproto.Completion{Length: s.Length, Tag: s.Tag, VL: s.VL, Cookie: s.Cookie, Status: s.want}
	if s.end != nil {
		if s.end.underway--; s.end.closing && (have.Status == linkproto.CompletionClosed || have.Status == linkproto.CompletionBadLink) {
			want.Status = have.Status
		}
	}
	if have != want {
		c.host.failf("context %d has completed a send as %+v, want %+v", c.number, have, want)
	}
	delete(c.sends, s.Cookie)
	c.free[0] = append(c.free[0], s.slot)
}

// received takes the completion of a receive, and compares the bytes.
func (c *messageContext) received(have linkproto.Completion) {
	h, r := c.host, c.receives[have.Cookie]
	if r == nil {
		h.failf("context %d has completed a receive that is not posted: %+v", c.number, have)
	}
	delete(c.receives, r.Cookie)
	free := func() { c.free[1] = append(c.free[1], r.slot) }
	want := linkproto.Completion{Length: r.Length, Cookie: r.Cookie, Receive: true, Status: linkproto.CompletionBadDescriptor}
	if r.wrong {
		if have != want {
			h.failf("context %d has completed a receive as %+v, want %+v", c.number, have, want)
		}
		free()
		return
	}
	if have.VL < 1 || int(have.VL) > len(h.ends) || len(h.ends[have.VL-1].coming) == 0 {
		h.failf("context %d has a message by virtual link %d, by which none comes: %+v", c.number, have.VL, have)
	}
	e := h.ends[have.VL-1]
	s := e.coming[0]
	e.coming = e.coming[1:]
	want.Length, want.Tag, want.VL, want.Status = s.Length, s.Tag, uint16(e.number), linkproto.CompletionOK
	switch {
	case s.Length > r.Length:
		want.Status = linkproto.CompletionTooLong
	case e.closing && have.Status == linkproto.CompletionBroken:
		want.Status = have.Status
	}
	if have != want || e.context != c.number {
		h.failf("context %d has completed a receive as %+v, want %+v of context %d", c.number, have, want, e.context)
	}
	switch {
	case want.Status == linkproto.CompletionTooLong || s.Length == 0:
		free()
		return
	case want.Status == linkproto.CompletionOK:
		h.packets, h.bytes = h.packets+1, h.bytes+uint64(s.Length)
	}
	h.get(int(r.Addr), int(s.Length), func(data []byte) {
		if want.Status == linkproto.CompletionOK && !bytes.Equal(data, s.data) {
			h.failf("context %d: a message of %d bytes by virtual link %d has come as % x, want % x", c.number, s.Length, e.number, data, s.data)
		}
		copy(h.memory[r.Addr:], data)
		h.lend(int(r.Addr), len(data), false)
		free()
	})
}

func (c *messageContext) idle() bool { return len(c.sends) == 0 && !c.reading && c.read == c.told }

// check compares what can be read of it when nothing is underway.
func (c *messageContext) check(read func(string, linkproto.Reg, uint32)) {
	for _, r := range []struct {
		reg  linkproto.ContextReg
		want uint32
	}{
		{linkproto.ContextRegStatus, linkproto.ContextEnabled.In(1)}, {linkproto.ContextRegSendTail, uint32(c.posted[0])}, {linkproto.ContextRegReceiveTail, uint32(c.posted[1])},
		{linkproto.ContextRegSendHead, uint32(c.posted[0])}, {linkproto.ContextRegCompletions, uint32(c.read)},
	} {
		read(fmt.Sprintf("of context %d, %s", c.number, linkproto.ContextRegs[r.reg].Name), r.reg.Reg(c.number), r.want)
	}
}

func (c *messageContext) String() string {
	return fmt.Sprintf("context %d: %d sends and %d receives posted, %d and %d of them underway, %d completions of %d read", c.number, c.posted[0], c.posted[1], len(c.sends), len(c.receives), c.read, c.told)
}
