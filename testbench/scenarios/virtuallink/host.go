package virtuallink

import (
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
)

// step has something happen, and compares what comes of it.
func (w *world) step() {
	w.tried["steps"]++
	rng := w.rng
	e := w.links[rng.Between(1, nodeLinks-1)]
	e.learn()
	switch kind := rng.IntN(104); {
	case e.isOpen && kind < 3 && !e.begun():
		e.close()
	case !e.isOpen && kind < 60 || kind < 3:
		e.open()
	case kind < 60:
		raw := e.route()
		flows := e.up && !e.stopped // else packets begin to go, and which are underway when it comes again depends on when they do
		w.deliver(e, raw)
		if rng.Chance(0.2) && flows && len(raw) < linkproto.RouteExtra+linkproto.MinPacket { // a LOST that comes again is none
			for range 6 {
				w.look()
			}
			w.deliver(e, raw)
		}
	case kind < 80:
		e.fromHost()
	case kind < 84:
		w.silence()
	case kind < 86:
		e.close()
	case kind < 88:
		e.urge()
	case kind < 92:
		w.ask(linkproto.Packet{Type: linkproto.TypeResume, Via: 1}) // for a datagram that traps the link
		w.settle()
		w.deliver(e, e.datagram())
		w.tried["datagrams"]++
	case len(w.engines) > 0:
		testbench.Pick(rng, w.engines...).act()
	}
	w.settle()
	e.learn()
	for _, c := range w.engines {
		c.learn()
	}
	if e.trapped && rng.Chance(0.7) {
		e.tell(linkproto.Packet{Type: linkproto.TypeResume, Tag: uint8(rng.IntN(256))})
	}
	if given := w.sides[1].given[e.number]; given != e.returned && rng.Chance(0.25) {
		e.returned += uint8(rng.Between(1, int(given-e.returned)))
		e.tell(linkproto.Packet{Type: linkproto.TypeSpace, Packets: e.returned})
	}
	if w.tried["steps"]%32 == 0 {
		w.compareAll()
	}
	w.settle()
}

// deliver has a ROUTE come from another node.
func (w *world) deliver(e *farEnd, raw []byte) {
	w.do("it comes", func(s *side) error { return s.ports[e.node%2].Link.Send(raw) })
}

// begun reports whether all that the link's context has posted by it has begun: what has not may go by a life of the link that begins at once, or not.
func (e *farEnd) begun() bool {
	if e.context == 0 {
		return true
	}
	c := e.world.engines[e.context-1]
	return c.posted[0]-c.completed[0] <= 1 && e.up && !e.stopped
}

// learn reads how the virtual link is, which both sides say alike.
func (e *farEnd) learn() {
	w := e.world
	status := w.register(linkproto.VLRegStatus.Reg(e.number))
	e.stopped, e.stops = linkproto.StatusPeerStop.Of(status) == 1, linkproto.StatusOwnStop.Of(status) == 1
	e.isOpen, e.up, e.trapped = linkproto.VLOpen.Of(status) == 1, linkproto.VLUp.Of(status) == 1, linkproto.StatusTrapped.Of(status) == 1
	if e.isOpen {
		e.expect = w.register(linkproto.VLRegExpect.Reg(e.number))
		w.register(linkproto.VLRegCounts.Reg(e.number))
	}
	if freed := uint32(uint8(linkproto.StatusFreed.Of(status) - e.first - e.freed)); freed > 0 {
		e.freed += freed
		delete(w.late, e.said())
	}
}

// compareAll compares what can be read.
func (w *world) compareAll() {
	for _, e := range w.links[1:] {
		w.settle()
		e.learn()
		for _, r := range []linkproto.VLReg{linkproto.VLRegPeer, linkproto.VLRegNumber, linkproto.VLRegKey, linkproto.VLRegContext} {
			w.register(r.Reg(e.number))
		}
	}
	for _, c := range []linkproto.Counter{linkproto.CntDenied, linkproto.CntBadPacket} {
		w.register(linkproto.CounterReg(1, c))
		w.register(linkproto.CounterReg(0, c))
	}
	w.compareBuffers()
}

// open has the network interface begin a virtual link, anew if it is open.
func (e *farEnd) open() {
	w := e.world
	rng := w.rng
	w.tried["opened"]++
	e.node, e.theirs, e.key = uint16(nodeSelf+rng.Between(1, 2)), uint16(rng.IntN(1<<13)<<3|e.number), linkproto.Key(rng.Uint32())
	for _, s := range w.sides {
		delete(s.tops, e.theirs)
		s.given[e.number] = 0
	}
	e.rest, e.returned, e.expect, e.last = 0, 0, 0, nil
	up := uint32(testbench.Pick(rng, 0, 1))
	if e.isOpen || rng.Bool() {
		w.set(linkproto.VLRegStatus.Reg(e.number), 0)
	}
	w.set(linkproto.VLRegPeer.Reg(e.number), linkproto.VLPeerNode.In(uint32(e.node))|linkproto.VLPeerClass.In(uint32(rng.IntN(4))))
	w.set(linkproto.VLRegNumber.Reg(e.number), uint32(e.theirs))
	w.set(linkproto.VLRegKey.Reg(e.number), uint32(e.key))
	if w.contexts > 0 {
		w.set(linkproto.VLRegContext.Reg(e.number), uint32(e.context))
	}
	w.set(linkproto.VLRegStatus.Reg(e.number), linkproto.VLOpen.In(1)|linkproto.VLUp.In(up))
	for range 10 {
		w.look()
	}
	for _, s := range w.sides { // it may say at once that it is up, or not
		delete(s.said, e.said())
	}
	w.settle()
	e.first, e.freed = linkproto.StatusFreed.Of(w.register(linkproto.VLRegStatus.Reg(e.number))), 0
}

func (e *farEnd) close() {
	e.world.set(linkproto.VLRegStatus.Reg(e.number), 0)
}

// urge has an end say its state, or opens it as it was.
func (e *farEnd) urge() {
	if e.isOpen {
		e.world.set(linkproto.VLRegStatus.Reg(e.number), linkproto.VLOpen.In(1)|linkproto.VLUp.In(1))
	}
}

// silence lets time pass in which nothing comes from other nodes, now and then so much that virtual links are given up.
func (w *world) silence() {
	clocks := w.rng.IntN(3 * harness.Messages.VLRetry)
	if w.rng.Chance(0.1) || w.tried["silence"] == 0 && w.tried["steps"] > nodeSteps/2 {
		clocks = 50 * harness.Messages.VLRetry
		w.tried["silence"]++
	}
	w.history = append(w.history, fmt.Sprintf("silence for %d clocks", clocks))
	for ; clocks > 0; clocks -= nodeLook {
		w.look()
	}
}

// tell has a packet sent in a VIRTUAL.
func (e *farEnd) tell(p linkproto.Packet) { e.world.virtual(e.number, try.Get(p.Append(nil))) }

func (w *world) virtual(number int, inner []byte) {
	raw := try.Get((&linkproto.Packet{Type: linkproto.TypeVirtual, VL: uint16(number), Data: inner}).Append(nil))
	w.await("room for a packet", func(s *side) bool { return s.room() })
	w.do(fmt.Sprintf("VIRTUAL %d: % x", number, inner), func(s *side) error { return s.host.SendRaw(raw) })
}

// waiting is how many other virtual links wait for acknowledgements. If they are many, there is no moment in which no timer is about to run out.
func (w *world) waiting(but *farEnd) (n int) {
	for _, e := range w.links[1:] {
		if e != but && e.isOpen && e.top() != e.freed {
			n++
		}
	}
	return n
}

// fromHost has the host send something by a virtual link, or what is refused.
func (e *farEnd) fromHost() {
	w := e.world
	rng := w.rng
	p := linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: rng.Uint32(), Rest: rng.Uint32(), Data: rng.Bytes(rng.IntN(harness.MessagePage - 2))}
	switch rng.IntN(6) {
	case 0:
		p = linkproto.Packet{Type: linkproto.TypeWrite, Addr: rng.Uint32(), Data: rng.Bytes(rng.IntN(harness.MessagePage))}
	case 1:
		p = linkproto.Packet{Type: linkproto.TypeConnect, Port: rng.Uint32(), Data: rng.Bytes(rng.IntN(harness.MessagePage / 2))}
	case 2:
		p = linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(rng.Uint32()), Port: rng.Uint32()}
	}
	if e.context != 0 { // by its links the host may send what is no MESSAGE, but the model counts that to the contexts' share
		e = w.links[nodeLinks-1]
	}
	if w.waiting(e) >= 3 {
		return
	}
	if w.sending() && w.model.VirtualQueued() >= harness.Messages.VLSlots/2 { // of which contexts may need the other half
		return
	}
	number, inner := e.number, try.Get(p.Append(nil))
	if rng.Chance(0.1) {
		switch rng.IntN(4) {
		case 0:
			inner[0] = byte(testbench.Pick(rng, linkproto.TypeRetrap, linkproto.TypeRegRead, linkproto.TypeBufWrite, linkproto.TypeVirtual))
		case 1:
			inner[1]++
		case 2:
			number = nodeLinks + rng.IntN(100)
		default:
			inner[0] |= byte(rng.Between(1, 7)) << linkproto.TypeBits
		}
	}
	w.virtual(number, inner)
}

// enough reports whether the run has tested all that it is to test.
func (w *world) enough() bool {
	least := map[string]int{"steps": nodeSteps, "opened": 7, "silence": 1, "wrong": 30, "datagrams": 3}
	if w.contexts > 0 {
		least["posted"] = 5
	}
	for what, n := range least {
		if w.tried[what] < n {
			return false
		}
	}
	return true
}
