package soak

import (
	"encoding/binary"
	"errors"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/ni"
)

// netHost is a host of a network. It sends CONNECTs, which trap, so that each packet is seen as it comes.
type netHost struct {
	ticked uint64 // clocks that its virtual links know to have passed
	*cluster.NI
	net      *network
	number   int
	sent     uint64 // packets, with those that were refused
	queue    []int  // hosts to which packets are due
	packet   []byte // that waits for room
	trapped  bool
	resume   uint64 // when it says RESUME
	clearing bool   // LOST is being cleared
	stalled  uint64 // until when it takes and sends nothing
	last     map[int]uint64
	ends     []virtualEnd       // by host, of those who speak over virtual links
	orders   []linkproto.Packet // for a network interface that carries them out
	next     int                // whose turn it is to send
	entered  uint64             // barriers
	left     uint64
	asking   bool               // for one
	remakes  []linkproto.Packet // by which the group is made anew
}

// netBytes is the length of what packets carry: who sent it, to whom, its number there, and the same in a mask.
const netBytes = 24

const mask = 0x9E3779B97F4A7C15

// busy reports whether something of the host's is underway.
func (h *netHost) busy() bool {
	c := h.Credit(1)
	return h.virtualBusy() || h.barrierBusy() || c.Outstanding() > 0 || c.Stopped || h.clearing || h.trapped || h.packet != nil || len(h.queue) > 0
}

// turn does what is due.
func (h *netHost) turn(offering bool) {
	if h.net.Cycles < h.stalled {
		return
	}
	if h.trapped && h.net.Cycles >= h.resume {
		h.request(linkproto.Packet{Type: linkproto.TypeResume, Via: 1}, func(linkproto.Packet) {}, func() { h.trapped = false })
	}
	if c := h.Credit(1); c.Stopped && !h.clearing {
		clear := linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.LinkStatusReg(1), Value: linkproto.StatusLost.In(1)}
		h.request(clear, func(linkproto.Packet) { c.Stopped, h.clearing = false, false }, func() { h.clearing = true })
	}
	if h.net.barriers != nil {
		h.turnBarrier(offering)
	}
	if h.ends != nil {
		h.order()
		h.turnVirtual(offering)
		h.emitVirtual()
		return
	}
	if offering && h.packet == nil && len(h.queue) == 0 {
		h.queue = append(h.queue, h.draw())
	}
	for h.send() && len(h.queue) > 0 {
		h.packet = h.connect(h.queue[0])
		h.queue = h.queue[1:]
	}
}

// request asks the network interface; done is called if it takes the request now.
func (h *netHost) request(p linkproto.Packet, answer func(linkproto.Packet), done func()) {
	switch err := h.Request(p, answer); {
	case errors.Is(err, ni.ErrBusy):
	default:
		try.OK(err)
		done()
	}
}

// draw is whom the next packet is for.
func (h *netHost) draw() int {
	n := h.net
	if n.hot >= 0 && n.hot != h.number && n.rng.Chance(0.8) {
		return n.hot
	}
	to := n.rng.IntN(len(n.hosts) - 1)
	if to >= h.number {
		to++
	}
	return to
}

// numbered is the next packet for another host.
func (h *netHost) numbered(to int) (id uint64, packet []byte) {
	h.sent++
	id = h.sent<<16 | uint64(h.number)<<8 | uint64(to)
	p := linkproto.Packet{Type: linkproto.TypeConnect, Port: uint32(h.sent)}
	if h.ends != nil && (h.net.flows || h.net.rng.Bool()) {
		p = linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: uint32(h.sent)}
	}
	p.Data = binary.LittleEndian.AppendUint64(nil, id)
	p.Data = binary.LittleEndian.AppendUint64(p.Data, id*mask)
	p.Data = append(p.Data, h.net.rng.Bytes(testbench.Pick(h.net.rng, 0, 8, h.net.rng.IntN(linkproto.MaxParams-15)))...)
	if p.Type == linkproto.TypeMessage {
		p.Rest = uint32(len(p.Data))
	}
	return id, try.Get(p.Append(nil))
}

// connect is the same in a datagram.
func (h *netHost) connect(to int) []byte {
	nodes := h.net.Topology.Nodes
	_, packet := h.numbered(to)
	r := linkproto.Route{
		Via: 1, Dest: nodes[h.net.hosts[to].Node].ID, Src: nodes[h.Node].ID, Hops: linkproto.MaxHops, State: linkproto.RouteDatagram, Packet: packet,
	}
	return try.Get(r.Append(nil))
}

// send sends the packet that waits, and reports whether none is left.
func (h *netHost) send() bool {
	if h.packet == nil {
		return true
	}
	c := h.Credit(1)
	if h.clearing || !c.HasRoom(len(h.packet)) {
		return false
	}
	switch err := h.SendRaw(h.packet); {
	case errors.Is(err, ni.ErrBusy):
		return false
	default:
		try.OK(err)
	}
	c.Sent(len(h.packet))
	h.packet = nil
	return true
}

// received looks at a packet that has come.
func (h *netHost) received(p linkproto.Packet) {
	switch p.Type {
	case linkproto.TypeVirtual:
		h.given(p)
		return
	case linkproto.TypeTrap:
	default:
		return
	}
	var q linkproto.Packet
	try.OK(q.Decode(p.Data))
	id, from, number := h.check(q)
	if number <= h.last[from] && !h.net.fault.unplug && !h.net.fault.pull { // without another way all go the same
		try.Failf("%w: packet %d of host %d has come to host %d behind %d", ErrOrder, number, from, h.number, h.last[from])
	}
	h.net.seen[id] = true
	h.last[from] = max(h.last[from], number)
	h.trapped, h.resume = true, h.net.Cycles+uint64(testbench.Pick(h.net.rng, 0, 0, 0, h.net.rng.IntN(500)))
}
