package engine

import (
	"bytes"
	"slices"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
)

// Carrier is a virtual link with a Taker, which the NI carries out, or the driver.
type Carrier interface {
	// Offer sends a packet if the link has room for it, and has the Taker's Turn called when it may have some.
	Offer(p *linkproto.Packet) bool
	// Sent and Freed count packets: given to the link, and acknowledged or lost.
	Sent() uint64
	Freed() uint64
	// Touch has the Taker take and offer what it can.
	Touch()
	// Restart begins a new life of the link: what is not acknowledged is lost.
	Restart()
	// Close ends the link, and tells the peer.
	Close()
	Status() flowctl.VirtualStatus
	// Alone reports whether the peer's node says that nobody there has the channel; the Taker's Turn is called when it does.
	Alone() bool
}

// NewCarrier makes a virtual link with a Taker. The NI carries it out if it can carry out another one, and else the driver.
func (c *Core) NewCarrier(v VirtualConfig) (Carrier, error) {
	if c.CanOffload() {
		return c.NewOffload(v)
	}
	return c.NewVirtual(v)
}

// Status is the state of the link.
func (o *Offload) Status() flowctl.VirtualStatus {
	return flowctl.VirtualStatus{Up: o.up(), Refused: o.hand.Refused(), Life: o.hand.Life(), Peer: o.hand.Peer()}
}

// Alone reports whether the peer's node says that nobody there has the channel.
func (o *Offload) Alone() bool { return o.hand.Alone() }

// Touch has the Taker take and offer what it can.
func (o *Offload) Touch() {
	o.touch()
	o.core.sendOffloads()
}

// Close ends the link. If it is up, the NI acknowledges what has come, and an INIT of another life tells the peer that the rest is lost. Its number is free then.
func (o *Offload) Close() {
	if o.closed {
		return
	}
	q, config := &o.core.offloads, o.hand.Config()
	up := o.hand.Up()
	if o.up() { // what has come is acknowledged at once
		o.control()
	}
	o.closed, o.inbox = true, nil
	o.close()
	delete(q.named, virtualName{config.Peer, config.Channel})
	q.used--
	q.empty--
	o.core.RemoveTimer(&o.timer)
	if up {
		o.hand.Restart()
		o.Touch()
	}
}

// OffloadsClosed reports whether the NI has closed the links that were closed here. It takes packets for nobody until then.
func (c *Core) OffloadsClosed() bool { return !slices.ContainsFunc(c.offloads.links, (*Offload).ends) }

// ChannelClosed is OffloadsClosed for the links of a channel.
func (c *Core) ChannelClosed(channel uint16) bool {
	return !slices.ContainsFunc(c.offloads.links, func(o *Offload) bool { return o.ends() && o.hand.Config().Channel == channel })
}

// ends reports whether the link was closed here, and not by the NI yet.
func (o *Offload) ends() bool { return o.closed && o.phase != offloadClosed }

// Offer sends a packet if it is the link's turn, and else has its turn come when it has room.
func (o *Offload) Offer(p *linkproto.Packet) bool {
	if !o.turn {
		o.want()
		return false
	}
	o.turn = false
	sent, _ := o.send(p) // its fields are right
	return sent
}

// want has the link's turn come. If it has no room in its window, the SPACE that makes some has the Taker offer again.
func (o *Offload) want() {
	q := &o.core.offloads
	if o.wants || !o.up() || int(o.sent-o.freed) >= q.window {
		return
	}
	o.wants = true
	if o.share.offers = append(o.share.offers, o); len(o.share.offers) == 1 {
		q.turns = append(q.turns, o.share)
	}
}

// next takes the link whose turn it is from those that wait. Its share waits behind the others.
func (q *offloads) next() *Offload {
	s := q.turns[0]
	o := s.offers[0]
	s.offers = slices.Delete(s.offers, 0, 1)
	if q.turns = slices.Delete(q.turns, 0, 1); len(s.offers) > 0 {
		q.turns = append(q.turns, s)
	}
	o.wants = false
	return o
}

// sendOffloads says INITs while there is room, and has Takers send.
func (c *Core) sendOffloads() {
	c.sayOffloads()
	c.tellOffloads()
	c.turnOffloads()
}

// turnOffloads has Takers offer packets in turn, while there is room for them: on the host's cable too, which holds so many packets only, however short.
func (c *Core) turnOffloads() {
	q, without := &c.offloads, 0 // links in a row that have found no slot
	for len(q.turns) > 0 && without <= q.used && c.err == nil && !c.mustWait() {
		if _, ok := c.link.Room(linkproto.RouteExtra + c.id.MaxPacket()); !ok {
			return
		}
		o := q.next()
		if o.closed || !o.up() {
			continue
		}
		if !o.hasSlot() {
			o.want()
			without++
			continue
		}
		o.turn, without = true, 0
		o.taker.Turn()
		o.turn = false
	}
}

// got takes a packet for the Taker.
func (o *Offload) got(q linkproto.Packet) {
	if o.deaf {
		return
	}
	if q.Type == linkproto.TypeMessage {
		if o.given++; o.given-o.told > uint64(o.core.offloads.window) {
			o.core.Fail(Violation("virtual link %d gave %d messages that were not freed", o.number, o.given-o.told))
			return
		}
	}
	o.inbox = append(o.inbox, offloadPacket{Packet: q, opened: o.opened})
	o.deliver()
	if n := len(o.inbox); n > 0 {
		o.inbox[n-1].Data = bytes.Clone(q.Data) // which is valid until here
	}
}

// breakOff has the Taker told that what comes now does not go on from what has come.
func (o *Offload) breakOff() {
	if o.taker != nil && !o.closed {
		o.inbox = append(o.inbox, offloadPacket{broken: true})
		o.deliver()
	}
}

// offerAll gives the Taker what has come, until it takes no more. Nobody is there for it until there is a Handler.
func (o *Offload) offerAll() {
	if o.delivering {
		return
	}
	o.delivering = true
	defer func() { o.delivering = false }()
	for !o.closed && o.core.err == nil && o.core.events != nil && len(o.inbox) > 0 {
		p := o.inbox[0]
		if p.broken {
			o.taker.Broken()
		} else if !o.taker.Take(p.Packet) {
			return
		}
		if o.closed {
			return
		}
		o.inbox = slices.Delete(o.inbox, 0, 1)
		switch p.Type {
		case linkproto.TypeMessage:
			o.took(p.opened)
		case linkproto.TypePage, linkproto.TypeConnect: // which a Taker does not want: the NI goes on behind them
			o.resume(p.opened)
		}
	}
}

// took counts a MESSAGE that is gone. The NI is told when they are a quarter of the window.
func (o *Offload) took(opened int) {
	q := &o.core.offloads
	if opened != o.opened {
		return
	}
	if o.taken++; !o.owes && 4*(o.taken-o.told) >= uint64(q.window) {
		o.owes = true
		q.spaces = append(q.spaces, o)
	}
}

// tellOffloads tells the NI how many MESSAGEs are gone, so that it gives more.
func (c *Core) tellOffloads() {
	q := &c.offloads
	for len(q.spaces) > 0 && c.resume.done {
		o := q.spaces[0]
		if !o.closed && o.phase != offloadClosed && o.phase != offloadClosing && o.taken > o.told {
			inner := linkproto.Packet{Type: linkproto.TypeSpace, Packets: uint8(o.taken)}
			if sent, _ := o.wrap(&inner); !sent {
				return
			}
			o.told = o.taken
		}
		o.owes, q.spaces = false, slices.Delete(q.spaces, 0, 1)
	}
}
