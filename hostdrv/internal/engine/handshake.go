package engine

import (
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// Restart begins a new life of the link.
func (o *Offload) Restart() {
	o.hand.Restart()
	o.close()
	o.touch()
}

// close has the NI close the link. It is opened again when the NI says that it has.
func (o *Offload) close() {
	if o.phase == offloadOpening || o.phase == offloadOpen {
		o.phase = offloadClosing
		o.core.closeOffload(o.number)
		o.drop()
	}
}

// touch does what is due: opens the link when it is known who is at the other end, and has its turn come to say INIT.
func (o *Offload) touch() {
	c := o.core
	o.hand.Tick(int(c.now - o.at))
	o.at = c.now
	switch {
	case o.closed:
	case o.phase == offloadClosed && o.hand.Peer().Known && !o.hand.Refused():
		o.open()
	case o.phase == offloadOpen && o.hand.Up() && !o.upSaid:
		o.control()
	}
	if o.taker != nil && !o.closed {
		o.deliver()
		o.taker.Turn()
	}
	c.RemoveTimer(&o.timer)
	switch idle := o.hand.IdleFor(); {
	case idle == 0 && !o.waits:
		o.waits = true
		c.offloads.ready = append(c.offloads.ready, o)
	case idle > 0 && !o.closed:
		c.AddTimer(&o.timer, c.now+uint64(idle))
	}
}

// open has the NI open the link.
func (o *Offload) open() {
	o.phase = offloadOpening
	o.opened++
	o.deaf, o.given, o.taken, o.told = false, 0, 0, 0
	life, peer := o.opened, o.hand.Peer()
	o.set(linkproto.VLRegPeer, uint32(o.hand.Config().Peer), nil)
	o.set(linkproto.VLRegNumber, uint32(peer.Number), nil)
	o.set(linkproto.VLRegKey, uint32(o.hand.Key()), nil)
	if o.core.offloads.contexts > 0 {
		context := uint32(0)
		if o.ring != nil {
			context = uint32(o.ring.rings.number)
			o.ring.opening()
		}
		o.set(linkproto.VLRegContext, context, nil)
	}
	o.upSaid = o.hand.Up()
	o.set(linkproto.VLRegStatus, o.wanted(), func() {
		if o.opened == life && o.phase == offloadOpening {
			o.phase = offloadOpen
			o.touch()
		}
	})
}

// control has the NI send packets, or say its state.
func (o *Offload) control() {
	o.upSaid = true
	o.set(linkproto.VLRegStatus, o.wanted(), nil)
}

// wanted is what to write to STATUS of an open link.
func (o *Offload) wanted() uint32 {
	value := linkproto.VLOpen.In(1)
	if o.upSaid {
		value |= linkproto.VLUp.In(1)
	}
	return value
}

// set writes a register of the link.
func (o *Offload) set(r linkproto.VLReg, value uint32, done func()) {
	o.core.Demand(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: r.Reg(o.number), Value: value}, "it does not let virtual links be opened",
		func(_ linkproto.Packet, err error) {
			if err == nil && done != nil {
				done()
			}
		})
}

// feed takes an INIT.
func (o *Offload) feed(r *linkproto.Route, raw []byte) {
	o.hand.Tick(int(o.core.now - o.at))
	o.at = o.core.now
	news, ok := o.hand.Feed(r, raw)
	switch {
	case !ok:
	case news.NewPeer:
		o.close()
	case news.Up && o.phase == offloadOpen:
		o.control()
	}
	o.touch()
}

// feedOffload gives an INIT to the virtual link that it is for, and reports whether it is one that the NI carries out.
func (c *Core) feedOffload(r *linkproto.Route, raw []byte) bool {
	w, ok := linkproto.DecodeVLInit(r.Packet)
	if state, isState := linkproto.DecodeVLState(r.State); !ok || !isState || state.Kind != linkproto.KindInit {
		return false
	}
	o := c.offloads.named[virtualName{r.Src, w.Channel}]
	if o == nil {
		return false
	}
	o.feed(r, raw)
	return true
}

// sayOffloads says INITs while there is room.
func (c *Core) sayOffloads() {
	q := &c.offloads
	for len(q.ready) > 0 {
		o := q.ready[0]
		via := o.hand.Config().Via
		if ready, _ := c.ready(via, linkproto.RouteExtra+linkproto.VLInitBytes); !ready {
			return
		}
		route, ok := o.hand.Emit(c.packet[:0], false)
		if ok && !c.sendBytes(route, nil, inFlight{via: via}) {
			o.hand.Say()
			return
		}
		if ok {
			c.queues[via-1].send(len(route))
		}
		q.ready, o.waits = slices.Delete(q.ready, 0, 1), false
		o.touch()
	}
}

// restartOffloads begins new lives, since the host's cable has started again: what the NI has said meanwhile is lost.
func (c *Core) restartOffloads() {
	c.restartRings()
	for _, o := range c.offloads.links {
		switch {
		case o.closed && o.phase == offloadClosed:
			continue
		case o.closed:
			c.closeOffload(o.number)
			continue
		}
		o.hand.Restart()
		o.deaf = true
		o.breakOff()
		o.phase = offloadOpen
		o.close()
		o.touch()
	}
}
