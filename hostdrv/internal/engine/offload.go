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
	used    int // links
	empty   int // of them, of which it holds none: a slot is kept for each

	links  []*Offload // by number - 1; of a number that is free one that is closed
	named  map[virtualName]*Offload
	ready  []*Offload // that have an INIT to say
	spaces []*Offload // that have a SPACE to say
	turns  []*Share   // with links whose Takers have packets; they take turns
	inner  []byte

	contexts int      // those that the NI carries out have numbers below
	rings    []*Rings // of them, by number; nil: nobody has it

	first bool // they were first to send
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

	taker      Taker     // nil: the Handler
	ring       *RingLink // that it is of; nil: its MESSAGEs come to the host
	share      *Share
	closed     bool // for good
	deaf       bool // what comes is of before it was opened, or goes on from what was lost
	delivering bool
	wants      bool   // the Taker has packets, and it waits for its turn
	turn       bool   // it has it
	owes       bool   // it is among those that have a SPACE to say
	given      uint64 // MESSAGEs, since it was opened
	taken      uint64 // of them
	told       uint64 // of them, as SPACE said last

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
	opened int  // how often the link had been opened then
	broken bool // it is none: what is behind it does not go on from what is before
}

// offloadPhase is what the NI knows of the link.
type offloadPhase int

const (
	offloadClosing offloadPhase = iota // until the NI says that it has closed it
	offloadClosed
	offloadOpening // until the NI has answered
	offloadOpen
)

// Offloading has virtual links carried out by the NI, which has so many slots and packets a link for them, as its registers say. peers are the other end's numbers
// of them, by number - 1. Where one is not 0 a program before this one has opened the link: it is closed. Contexts below a number are the NI's: half of the slots are theirs, and those of
// before are disabled.
func (c *Core) Offloading(slots, window int, peers []uint32, contexts int) {
	c.offloads = offloads{numbers: len(peers) + 1, slots: slots, window: window, named: map[virtualName]*Offload{}, contexts: contexts, rings: make([]*Rings, contexts)}
	if contexts > 0 {
		c.offloads.slots = (slots + 1) / 2
	}
	for number := 1; number < contexts; number++ {
		(&Rings{core: c, number: number}).set(linkproto.ContextRegStatus, 0)
	}
	for i, peer := range peers {
		o := &Offload{core: c, number: i + 1, closed: true, phase: offloadClosed}
		if peer != 0 {
			o.phase = offloadClosing
			c.closeOffload(o.number)
		}
		c.offloads.links = append(c.offloads.links, o)
	}
}

// last is the highest number of theirs. Those that the driver carries out have higher ones.
func (q *offloads) last() int { return max(q.numbers-1, 0) }

// CanOffload reports whether the NI can carry out another virtual link: there is a number, and a slot for it.
func (c *Core) CanOffload() bool {
	q := &c.offloads
	return q.used < q.last() && q.held+q.empty < q.slots
}

func (c *Core) closeOffload(vl int) {
	c.Demand(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.VLRegStatus.Reg(vl)}, fmt.Sprintf("it does not close virtual link %d", vl),
		func(linkproto.Packet, error) {})
}

// NewOffload makes a virtual link that the NI carries out, which begins to come up. The NI can.
func (c *Core) NewOffload(v VirtualConfig) (*Offload, error) {
	q := &c.offloads
	number := 1 + slices.IndexFunc(q.links, func(o *Offload) bool { return o.closed })
	hand, err := flowctl.NewHandshake(flowctl.VirtualConfig{
		Node: v.Node, Peer: v.Peer, Number: uint16(number), Channel: v.Channel, Via: uint8(v.Via), NewLife: v.NewLife, MaxPacket: c.id.MaxPacket(),
	})
	if err != nil {
		return nil, err
	}
	before := q.links[number-1]
	o := &Offload{
		core: c, link: v.Link, number: number, hand: hand, at: c.now, taker: v.Taker, share: v.Share, phase: before.phase, freedAt: before.freedAt, deaf: true,
	}
	o.timer.Fire = o.touch
	q.links[number-1], q.named[virtualName{v.Peer, v.Channel}] = o, o
	q.used++
	q.empty++
	if v.Taker == nil { // which begins when it knows the link
		o.touch()
	}
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
	sent, err = o.send(p)
	p.Via = via
	return sent, err
}

// send gives the NI a packet of the link.
func (o *Offload) send(p *linkproto.Packet) (sent bool, err error) {
	if sent, err = o.wrap(p); sent {
		o.hold()
	}
	return sent, err
}

// hold takes that the NI has a packet more of the link.
func (o *Offload) hold() {
	q := &o.core.offloads
	if o.sent == o.freed {
		q.empty--
	}
	o.sent++
	q.held++
}

// wrap sends a packet inside a VIRTUAL.
func (o *Offload) wrap(p *linkproto.Packet) (sent bool, err error) {
	q := &o.core.offloads
	if q.inner, err = p.Append(q.inner[:0]); err != nil {
		return false, err
	}
	return o.core.send(&linkproto.Packet{Type: linkproto.TypeVirtual, VL: uint16(o.number), Data: q.inner}, inFlight{}), nil
}

// HasRoom reports whether there is room for a packet. Once there is not, writers wait until half of the window is free, as for a cable.
func (o *Offload) HasRoom(int) bool {
	q, held := &o.core.offloads, int(o.sent-o.freed)
	o.full = held >= q.window || !o.hasSlot() || o.full && held > q.window/2
	return o.up() && !o.full && !o.core.mustWait()
}

// hasSlot reports whether there is a slot for a packet, besides those that are kept for links without any: one whose peer says STOP does not stop others.
func (o *Offload) hasSlot() bool {
	q := &o.core.offloads
	return o.sent == o.freed || q.held+q.empty < q.slots
}

// up reports whether the link sends packets.
func (o *Offload) up() bool { return o.phase == offloadOpen && o.hand.Up() }

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
	if n > 0 && o.sent == o.freed {
		o.core.offloads.empty++
	}
}

// drop gives up what is not known to be acknowledged.
func (o *Offload) drop() {
	if o.closed && o.taker == nil { // who waits for it hears that the driver is closed
		return
	}
	n, kept := o.sent-o.freed, o.freed
	o.losses += n
	o.free(n)
	switch {
	case o.taker != nil && !o.closed:
		o.taker.Lost(kept)
	case o.taker == nil && n > 0 && o.core.events != nil:
		o.core.events.Lost(o.link)
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
	switch {
	case q.Type == linkproto.TypeSpace:
		o.space(q)
		return
	case o.closed: // nobody is there for it any more
		return
	case o.taker != nil:
		o.got(q)
		return
	}
	switch q.Type {
	case linkproto.TypePage, linkproto.TypeConnect:
		q.Data = bytes.Clone(q.Data)
		o.inbox = append(o.inbox, offloadPacket{Packet: q, opened: o.opened})
		o.deliver()
	case linkproto.TypeMessage: // which is not for a link
		o.bad++
		o.given++
		o.took(o.opened)
	default:
		o.core.Fail(Violation("virtual link %d gave a %v", o.number, q.Type))
	}
}

// space takes what the NI says of the link's state.
func (o *Offload) space(q linkproto.Packet) {
	status, n := uint32(q.Bytes), uint64(q.Packets-o.freedAt)
	o.freedAt = q.Packets
	isOpen := linkproto.VLOpen.Of(status) != 0
	if o.ring != nil { // the context's packets
		n = 0
	}
	switch {
	case o.phase == offloadClosing && !isOpen && linkproto.VLLost.Of(status) == 0: // as asked
		o.phase = offloadClosed
		o.breakOff()
	case o.closed:
		return
	case o.phase == offloadClosing, o.phase == offloadOpening && !isOpen: // of before
	case !isOpen: // by itself
		o.phase = offloadClosed
		o.hand.Restart()
		o.drop()
		o.breakOff()
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
	if !o.closed {
		o.touch()
	}
}

// deliver hands on the next packet that traps, unless the Handler has one.
func (o *Offload) deliver() {
	c := o.core
	if o.taker != nil {
		o.offerAll()
		return
	}
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
	o.trapped = false
	o.resume(o.trap.opened)
	o.deliver()
}

func (o *Offload) resume(opened int) {
	if opened == o.opened && o.phase == offloadOpen {
		o.core.Submit(&Call{Persistent: true, VL: uint16(o.number), Packet: linkproto.Packet{Type: linkproto.TypeResume}, Done: func(linkproto.Packet, error) {}})
	}
}
