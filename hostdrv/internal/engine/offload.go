package engine

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
)

// offloads are the virtual links that the NI carries out.
type offloads struct {
	numbers int // theirs are below, from 1 on
	slots   int // packets that they hold for sending
	window  int // of one
	held    int // packets that the NI may hold of all

	links []*Offload // by number - 1
	ready []*Offload // that have an INIT to say
}

// Offload is an end of a virtual link that the NI carries out. The driver says INIT, opens and closes it, and hands on what traps.
type Offload struct {
	core   *Core
	link   int // what the Handler calls it
	number int
	hand   *flowctl.VirtualHandshake
	at     uint64 // ticks that it knows to have passed
	timer  Timer
	waits  bool // it is among those that are ready

	phase   offloadPhase
	opened  int  // how often it was
	upSaid  bool // to the NI
	trapped bool // the Handler has a trap
	trap    offloadPacket
	inbox   []offloadPacket // behind it

	sent, freed, losses uint64
	freedAt             uint8  // as SPACE said last
	full                bool   // was full, and less than half has gone since
	bad                 uint64 // packets that were wrong
}

// offloadPacket is one that has come.
type offloadPacket struct {
	linkproto.Packet
	opened int // how often the link had been opened then
}

// offloadPhase is what the NI knows of the link.
type offloadPhase int

const (
	offloadClosing offloadPhase = iota // until the NI says that it has closed it
	offloadClosed
	offloadOpening // until the NI has answered
	offloadOpen
)

// Offloading has virtual links carried out by the NI, which has so many numbers, slots and packets a link for them, as its registers say. All are closed, since a
// program before this one may have opened some.
func (c *Core) Offloading(numbers, slots, window int) {
	c.offloads = offloads{numbers: numbers, slots: slots, window: window}
	for vl := 1; vl < numbers; vl++ {
		c.closeOffload(vl)
	}
}

// last is the highest number of theirs. Those that the driver carries out have higher ones.
func (q *offloads) last() int { return max(q.numbers-1, 0) }

// Offloads is how many more virtual links the NI can carry out.
func (c *Core) Offloads() int { return c.offloads.last() - len(c.offloads.links) }

func (c *Core) closeOffload(vl int) {
	c.Demand(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.VLRegStatus.Reg(vl)}, fmt.Sprintf("it does not close virtual link %d", vl),
		func(linkproto.Packet, error) {})
}

// NewOffload makes a virtual link that the NI carries out, which begins to come up. There is a number left.
func (c *Core) NewOffload(v VirtualConfig) (*Offload, error) {
	number := len(c.offloads.links) + 1
	hand, err := flowctl.NewHandshake(flowctl.VirtualConfig{
		Node: v.Node, Peer: v.Peer, Number: uint16(number), Channel: v.Channel, Via: uint8(v.Via), NewLife: v.NewLife, MaxPacket: c.id.MaxPacket(),
	})
	if err != nil {
		return nil, err
	}
	o := &Offload{core: c, link: v.Link, number: number, hand: hand, at: c.now}
	o.timer.Fire = o.touch
	c.offloads.links = append(c.offloads.links, o)
	o.touch()
	return o, nil
}

// Number is what the NI calls the link.
func (o *Offload) Number() int { return o.number }

// Forward sends a packet if there is room; its fields have been checked.
func (o *Offload) Forward(p *linkproto.Packet) (sent bool, err error) {
	c := o.core
	if ready, err := c.alive(); !ready || !o.HasRoom(p.Size()) {
		return false, err
	}
	via := p.Via
	p.Via = 0
	inner, err := p.Append(nil)
	p.Via = via
	if err != nil {
		return false, err
	}
	if !c.send(&linkproto.Packet{Type: linkproto.TypeVirtual, VL: uint16(o.number), Data: inner}, inFlight{}) {
		return false, nil
	}
	o.sent++
	c.offloads.held++
	return true, nil
}

// HasRoom reports whether there is room for a packet. Once there is not, writers wait until half of the window is free, as for a cable.
func (o *Offload) HasRoom(int) bool {
	q, held := &o.core.offloads, int(o.sent-o.freed)
	o.full = held >= q.window || q.held >= q.slots || o.full && held > q.window/2
	return o.phase == offloadOpen && o.hand.Up() && !o.full && !o.core.mustWait()
}

// Sent, Freed and Lost count packets: given to the link, acknowledged or lost, and lost, or not known to be acknowledged when the link ended.
func (o *Offload) Sent() uint64  { return o.sent }
func (o *Offload) Freed() uint64 { return o.freed }
func (o *Offload) Lost() uint64  { return o.losses }

// Audit has nothing to ask: a loss is known when it happens.
func (o *Offload) Audit(done func(more bool, err error)) { done(false, o.core.err) }

// Mark returns the number of packets sent so far.
func (o *Offload) Mark() *uint64 { mark := o.sent; return &mark }

// Unmark ends what Mark began.
func (o *Offload) Unmark(*uint64) {}

// free takes that so many packets have left the NI's queue.
func (o *Offload) free(n uint64) {
	o.freed += n
	o.core.offloads.held -= int(n)
}

// drop gives up what is not known to be acknowledged.
func (o *Offload) drop() {
	n := o.sent - o.freed
	o.losses += n
	o.free(n)
	if n > 0 && o.core.events != nil {
		o.core.events.Lost(o.link)
	}
}

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
	case o.phase == offloadClosed && o.hand.Peer().Known && !o.hand.Refused():
		o.open()
	case o.phase == offloadOpen && o.hand.Up() && !o.upSaid:
		o.control()
	}
	c.RemoveTimer(&o.timer)
	if idle := o.hand.IdleFor(); idle > 0 {
		c.AddTimer(&o.timer, c.now+uint64(idle))
	} else if !o.waits {
		o.waits = true
		c.offloads.ready = append(c.offloads.ready, o)
	}
}

// open has the NI open the link.
func (o *Offload) open() {
	o.phase = offloadOpening
	o.opened++
	life, peer := o.opened, o.hand.Peer()
	o.set(linkproto.VLRegPeer, uint32(o.hand.Config().Peer), nil)
	o.set(linkproto.VLRegNumber, uint32(peer.Number), nil)
	o.set(linkproto.VLRegKey, uint32(o.hand.Key()), nil)
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
	for _, o := range c.offloads.links {
		if config := o.hand.Config(); config.Peer == r.Src && config.Channel == w.Channel {
			o.feed(r, raw)
			return true
		}
	}
	return false
}

// sendOffloads says INITs while there is room.
func (c *Core) sendOffloads() {
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

// virtual takes a VIRTUAL from the NI.
func (c *Core) virtual(p linkproto.Packet) {
	var q linkproto.Packet
	err := q.Decode(p.Data)
	switch {
	case !c.id.Has(linkproto.FeatureVirtual) && c.id.Links > 0:
		c.Fail(Violation("it sent a %v", p.Type))
	case err != nil:
		c.Fail(Violation("virtual link %d: % x: %w", p.VL, p.Data[:min(len(p.Data), 32)], err))
	case int(p.VL) > len(c.offloads.links) || p.VL == 0: // of an earlier program
	default:
		c.offloads.links[p.VL-1].take(q)
	}
}

// take takes what the NI says of the link, or hands on from it.
func (o *Offload) take(q linkproto.Packet) {
	switch q.Type {
	case linkproto.TypeSpace:
		o.space(q)
	case linkproto.TypePage, linkproto.TypeConnect:
		q.Data = bytes.Clone(q.Data)
		o.inbox = append(o.inbox, offloadPacket{q, o.opened})
		o.deliver()
	case linkproto.TypeMessage:
		o.bad++
	default:
		o.core.Fail(Violation("virtual link %d gave a %v", o.number, q.Type))
	}
}

// space takes what the NI says of the link's state.
func (o *Offload) space(q linkproto.Packet) {
	status, n := uint32(q.Bytes), uint64(q.Packets-o.freedAt)
	o.freedAt = q.Packets
	isOpen := linkproto.VLOpen.Of(status) != 0
	switch {
	case o.phase == offloadClosing && !isOpen && linkproto.VLLost.Of(status) == 0: // as asked
		o.phase = offloadClosed
	case o.phase == offloadClosing, o.phase == offloadOpening && !isOpen: // of before
	case !isOpen: // by itself
		o.phase = offloadClosed
		o.hand.Restart()
		o.drop()
	case n > o.sent-o.freed:
		o.core.Fail(Violation("virtual link %d freed %d packets, but only %d were sent", o.number, n, o.sent-o.freed))
		return
	default:
		o.free(n)
		if linkproto.VLUp.Of(status) != 0 {
			o.upSaid = true
			o.hand.ComeUp()
		}
	}
	o.touch()
}

// deliver hands on the next packet that traps, unless the Handler has one.
func (o *Offload) deliver() {
	c := o.core
	for !o.trapped && c.err == nil && c.events != nil && len(o.inbox) > 0 {
		o.trap, o.inbox = o.inbox[0], o.inbox[1:]
		if o.trap.Type == linkproto.TypePage && int(o.trap.Frame) >= c.id.Frames {
			c.Fail(Violation("virtual link %d trapped at a PAGE for frame %d of %d", o.number, o.trap.Frame, c.id.Frames))
			return
		}
		o.trapped = true
		c.events.Trap(&Trap{Link: o.link, Type: o.trap.Type, Frame: int(o.trap.Frame), Port: o.trap.Port, Params: o.trap.Data})
	}
}

// Resume lets packets go on behind a trap. The NI refuses it if it has closed the link meanwhile.
func (o *Offload) Resume() {
	if o.trapped = false; o.trap.opened == o.opened && o.phase == offloadOpen {
		o.core.Submit(&Call{Persistent: true, VL: uint16(o.number), Packet: linkproto.Packet{Type: linkproto.TypeResume}, Done: func(linkproto.Packet, error) {}})
	}
	o.deliver()
}

// restartOffloads begins new lives, since the host's cable has started again: what the NI has said meanwhile is lost.
func (c *Core) restartOffloads() {
	for _, o := range c.offloads.links {
		o.hand.Restart()
		o.phase = offloadOpen
		o.close()
		o.touch()
	}
}
