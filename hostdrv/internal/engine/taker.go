package engine

import (
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// Taker gets what comes by a virtual link that carries something else than a link.
type Taker interface {
	// Take takes a packet; false leaves it there until Virtual.Touch, and the link says STOP when more comes than it holds. Data is valid until it returns.
	Take(p linkproto.Packet) bool
	// Broken says that the link has started again: what comes now does not go on from what came before.
	Broken()
	// Lost says that the link has started again, and of the packets given to it so many were acknowledged: the others may have arrived, or will not.
	Lost(kept uint64)
	// Turn is called when the link's state may have changed, so there may be room.
	Turn()
}

// Share is what virtual links have together of the host's cable: each Share gets as much as any other, however many links it has.
type Share struct {
	ready  []*Virtual // of the driver's, that may have ROUTEs to send
	offers []*Offload // of the NI's, whose Takers have packets
}

// virtualName is what a virtual link is called between two nodes.
type virtualName struct{ peer, channel uint16 }

// never is an idle time that nothing ends but an event.
const never = 1 << 30

// virtualNumber returns the lowest number that no virtual link has. Those that the NI carries out have lower ones.
func (c *Core) virtualNumber() int {
	first := c.offloads.last() + 1
	if i := slices.Index(c.virtuals.all, nil); i >= 0 {
		return first + i
	}
	return first + len(c.virtuals.all)
}

// virtualPlace is where a number stands among those of the driver's virtual links.
func (c *Core) virtualPlace(number uint16) int { return int(number) - c.offloads.last() - 1 }

// enter puts a virtual link into the tables.
func (c *Core) enter(v *Virtual, name virtualName) {
	q := &c.virtuals
	if q.named == nil {
		q.named = map[virtualName]*Virtual{}
	}
	q.named[name] = v
	i := c.virtualPlace(v.vl.Config().Number)
	if i == len(q.all) {
		q.all = append(q.all, nil)
	}
	q.all[i] = v
}

// Listen has open called when another node asks for a virtual link of a channel that there is none of to it; nil ends that. It reports false if the channel has one
// already.
func (c *Core) Listen(channel uint16, open func(node uint16, via uint8)) bool {
	q := &c.virtuals
	switch {
	case open == nil:
		delete(q.listeners, channel)
		return true
	case q.listeners[channel] != nil:
		return false
	case q.listeners == nil:
		q.listeners = map[uint16]func(uint16, uint8){}
	}
	q.listeners[channel] = open
	return true
}

// Close ends a virtual link. If it is up, what has come is acknowledged, and its last ROUTE is an INIT of another life, which tells the peer that what is not
// acknowledged is lost. If that ROUTE is lost itself, the peer finds out by its timer.
func (v *Virtual) Close() {
	if v.closed {
		return
	}
	c, config := v.core, v.vl.Config()
	c.Settle() // what was posted before goes before
	v.closed = true
	c.virtuals.all[c.virtualPlace(config.Number)] = nil
	delete(c.virtuals.named, virtualName{config.Peer, config.Channel})
	c.RemoveTimer(&v.timer)
	if v.vl.Status().Up {
		v.farewell, _ = v.vl.Acknowledge(nil)
		v.vl.Restart()
		v.ready()
	}
	c.sendVirtuals()
}

// HangUp closes the virtual links with a Taker and those of the NI, which tells the peers. Nothing can be sent by them any more.
func (c *Core) HangUp() {
	for _, v := range c.virtuals.all {
		if v != nil && v.taker != nil {
			v.Close()
		}
	}
	for _, o := range c.offloads.links {
		o.Close()
	}
}

// HungUp reports whether that is done: the NI has closed the links, and has what tells the peers. While the host's cable is down nobody can be told.
func (c *Core) HungUp() bool {
	switch {
	case !c.resume.done || len(c.virtuals.all)+len(c.offloads.links) == 0:
		return true
	case len(c.virtuals.ready)+len(c.offloads.ready) > 0 || !c.OffloadsClosed():
		return false
	case c.farewell == 0: // others may send behind it
		c.farewell = c.bytes
	}
	_, freed := c.link.Freed()
	return freed >= c.farewell
}

// Offer sends a MESSAGE if the link has room for it, whatever waits on the host's cable. Its Data is not copied before it goes, and stays until Freed counts the packet.
func (v *Virtual) Offer(p *linkproto.Packet) bool {
	c, data := v.core, p.Data
	packet, err := p.AppendHeader(c.packet[:0])
	if err == nil {
		c.packet = packet
		err = v.vl.SendFrom(packet, data)
	}
	if err != nil {
		return false
	}
	v.sent++
	return true
}

// direct gives the Taker a packet as it comes, if none waits.
func (v *Virtual) direct(raw []byte) bool {
	c := v.core
	if v.delivering || v.closed || c.err != nil || c.events == nil || len(v.breaks) > 0 {
		return false
	}
	v.delivering = true
	defer func() { v.delivering = false }()
	if !v.take(raw) {
		return false
	}
	v.read++
	return true
}

// take gives a packet to the Taker, and reports whether it is gone.
func (v *Virtual) take(raw []byte) bool {
	var p linkproto.Packet
	if err := p.Decode(raw); err != nil {
		v.bad++
		return true
	}
	return v.taker.Take(p)
}

// Touch has Settle touch the link, and send what is offered then.
func (v *Virtual) Touch() { v.mark() }

func (v *Virtual) mark() {
	if !v.marked {
		v.marked = true
		v.core.virtuals.marked = append(v.core.virtuals.marked, v)
	}
}

// touchMarked touches the links that are marked, each once however much was posted for it or has come.
func (c *Core) touchMarked() {
	q := &c.virtuals
	for i := 0; i < len(q.marked); i++ {
		v := q.marked[i]
		v.marked = false
		v.touch()
	}
	q.marked = q.marked[:0]
}

// Settle does what Touch was called for, and reports whether it was.
func (c *Core) Settle() bool {
	if len(c.virtuals.marked) == 0 {
		return false
	}
	c.touchMarked()
	c.sendVirtuals()
	return true
}

// looked tells the Taker of a restart, at once of what was sent, and of what comes when all that had come before is taken.
func (v *Virtual) looked(lost uint64) {
	if n := v.vl.Counter(linkproto.CntRestarts); n != v.restarts {
		v.restarts = n
		if at := v.read + uint64(v.vl.Readable()); len(v.breaks) == 0 || v.breaks[len(v.breaks)-1] != at {
			v.breaks = append(v.breaks, at)
		}
		v.taker.Lost(v.sent - lost)
	}
	v.broken()
}

// broken tells of the restart that happened before the next packet, if there was one.
func (v *Virtual) broken() {
	if len(v.breaks) > 0 && v.breaks[0] == v.read {
		v.breaks = slices.Delete(v.breaks, 0, 1)
		v.taker.Broken()
	}
}

// offer gives the next packet to the Taker, and reports whether it is gone.
func (v *Virtual) offer() bool {
	raw, _ := v.vl.Peek()
	if !v.take(raw) || v.closed {
		return false
	}
	v.vl.Receive()
	v.read++
	v.broken()
	return true
}

// ready has the link's turn come to send.
func (v *Virtual) ready() {
	if v.waits {
		return
	}
	v.waits = true
	if v.share.ready = append(v.share.ready, v); len(v.share.ready) == 1 {
		v.core.virtuals.ready = append(v.core.virtuals.ready, v.share)
	}
}

// took takes the link whose turn it is from those that wait. Its share waits behind the others.
func (q *virtuals) took() {
	s := q.ready[0]
	s.ready[0].waits = false
	s.ready = behindFirst(s.ready)
	if q.ready = behindFirst(q.ready); len(s.ready) > 0 {
		q.ready = append(q.ready, s)
	}
}

// behindFirst takes the first element out, in place.
func behindFirst[T any](s []*T) []*T {
	last := copy(s, s[1:])
	s[last] = nil
	return s[:last]
}

// owe counts the link, which has no Taker, while its packets are not all acknowledged.
func (v *Virtual) owe() {
	owes := v.taker == nil && v.vl.Queued() > 0
	switch {
	case owes && !v.owes:
		v.core.virtuals.owing++
	case !owes && v.owes:
		v.core.virtuals.owing--
	}
	v.owes = owes
}
