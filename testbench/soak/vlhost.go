package soak

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// virtualEnd is a host's end of its virtual link with another.
type virtualEnd interface {
	account() *stream
	// feed takes an INIT, or what is of the end's number.
	feed(r *linkproto.Route, raw []byte)
	// turn lets clocks pass, and takes what has come.
	turn(clocks int)
	// send takes a packet, or returns flowctl.ErrFull.
	send(packet []byte) error
	// emit is the next ROUTE to send.
	emit() (route []byte, ok bool)
	// busy reports whether something is underway, or the end is not up.
	busy() bool
	// lost is how many packets it has given up.
	lost() uint32
	// String says how it stands.
	String() string
}

// stream is the account of an end.
type stream struct {
	peer int
	sent []uint64 // what it has sent, in order
}

func (s *stream) account() *stream { return s }

// softEnd is an end that the host carries out.
type softEnd struct {
	stream
	*flowctl.VirtualLink
	host *netHost
}

// virtualRetry is short beside the outages, so that virtual links give up now and then. It is shorter too than what all of a host's may have queued takes to leave,
// so they send much again. Opposite network interfaces, which outlast the outages, hosts do so as well, by the interfaces' RETRY.
const virtualRetry = 4096

// openVirtual gives all hosts virtual links with each other.
func (n *network) openVirtual() {
	n.virtual = true
	for _, h := range n.hosts {
		h.openVirtual()
	}
}

// openVirtual gives a host a virtual link with each other. It carries them out itself, or its network interface does.
func (h *netHost) openVirtual() {
	n, retry := h.net, virtualRetry
	if slices.ContainsFunc(n.hosts, func(h *netHost) bool { return h.Params.Virtual > 0 }) {
		retry = linkproto.DefaultVLRetry
	}
	node := func(i int) uint16 { return n.Topology.Nodes[n.hosts[i].Node].ID }
	for i := range n.hosts {
		if i == h.number {
			h.ends = append(h.ends, nil)
			continue
		}
		c := flowctl.VirtualConfig{
			Node: node(h.number), Peer: node(i), Number: uint16(i + 1), Via: 1, Retry: retry, MaxPacket: linkproto.MaxPacket(h.Params.PageBytes),
			NewLife: func() linkproto.Life { return linkproto.Life(1 + n.rng.Uint32()>>1) },
		}
		if h.Params.Virtual > 0 {
			h.ends = append(h.ends, &niEnd{stream: stream{peer: i}, hand: try.Get(flowctl.NewHandshake(c)), host: h})
			continue
		}
		h.ends = append(h.ends, &softEnd{stream{peer: i}, try.Get(flowctl.NewVirtual(c)), h})
	}
	h.Routed, h.ticked = h.routed, n.Cycles
}

// routed gives a ROUTE to the end that it is for.
func (h *netHost) routed(r linkproto.Route, raw []byte) {
	state, ok := linkproto.DecodeVLState(r.State)
	for i, end := range h.ends {
		if end == nil || !ok {
			continue
		}
		peer := h.net.Topology.Nodes[h.net.hosts[i].Node].ID
		if state.Kind == linkproto.KindInit && peer == r.Src || state.Kind != linkproto.KindInit && int(r.VL) == i+1 {
			end.feed(&r, raw)
		}
	}
}

// turnVirtual lets a turn pass for the ends, and has them send.
func (h *netHost) turnVirtual(offering bool) {
	passed := int(h.net.Cycles - h.ticked) // more than a turn where routers were asked meanwhile
	h.ticked = h.net.Cycles
	for _, end := range h.ends {
		if end != nil {
			end.turn(passed)
		}
	}
	if offering && len(h.queue) == 0 {
		h.queue = append(h.queue, h.draw())
	}
	for len(h.queue) > 0 {
		end := h.ends[h.queue[0]]
		id, packet := h.numbered(h.queue[0])
		switch err := end.send(packet); {
		case errors.Is(err, flowctl.ErrFull):
			h.sent--
			first := h.queue[0]
			if h.queue = h.queue[1:]; !offering { // else another is drawn: the one may be dead
				h.queue = append(h.queue, first)
			}
			return
		default:
			try.OK(err)
		}
		s := end.account()
		s.sent = append(s.sent, id)
		h.queue = h.queue[1:]
	}
}

// emitVirtual sends ROUTEs of the ends in turn while there is room.
func (h *netHost) emitVirtual() {
	for idle := 0; idle < len(h.ends) && h.send(); {
		h.next = (h.next + 1) % len(h.ends)
		idle++
		if end := h.ends[h.next]; end != nil {
			if route, ok := end.emit(); ok {
				h.packet, idle = route, 0
			}
		}
	}
}

// virtualBusy reports whether something of the ends is underway, or one is not up.
func (h *netHost) virtualBusy() bool {
	return slices.ContainsFunc(h.ends, func(end virtualEnd) bool { return end != nil && end.busy() })
}

func (e *softEnd) turn(clocks int) {
	h, n := e.host, e.host.net
	e.Tick(clocks)
	if loss, ok := e.Lost(); ok {
		for _, id := range e.sent[loss.First:] {
			n.reported[id] = true
		}
	}
	for ; n.Cycles >= h.resume; h.resume = n.Cycles + uint64(testbench.Pick(n.rng, 0, 0, 0, n.rng.IntN(500))) {
		packet, ok := e.Receive()
		if !ok {
			break
		}
		var p linkproto.Packet
		try.OK(p.Decode(packet))
		h.came(p, e.peer)
	}
}

func (e *softEnd) feed(r *linkproto.Route, raw []byte) { e.Feed(r, raw) }
func (e *softEnd) send(packet []byte) error            { return e.Send(packet) }
func (e *softEnd) emit() (route []byte, ok bool)       { return e.Emit(nil) }
func (e *softEnd) busy() bool                          { return !e.Status().Up || e.Queued()+e.Readable() > 0 }
func (e *softEnd) String() string {
	return fmt.Sprintf("of the host: %+v, %d to send, %d to receive", e.Status(), e.Queued(), e.Readable())
}
func (e *softEnd) lost() uint32 { return e.Counter(linkproto.CntLostPackets) }

// came checks a packet that has come by a virtual link: behind all that came before, and for this host.
func (h *netHost) came(p linkproto.Packet, peer int) {
	id, from, number := h.check(p)
	if from != peer || number <= h.last[from] {
		try.Failf("%w: packet %d of host %d has come to host %d by the virtual link to host %d behind %d", ErrOrder, number, from, h.number, peer, h.last[from])
	}
	h.net.seen[id] = true
	h.last[from] = number
}

// check looks whether a packet is for this host and came once.
func (h *netHost) check(p linkproto.Packet) (id uint64, from int, number uint64) {
	if len(p.Data) < 16 || binary.LittleEndian.Uint64(p.Data)*mask != binary.LittleEndian.Uint64(p.Data[8:]) {
		try.Failf("%w: to host %d has come % x", ErrDamaged, h.number, p.Data)
	}
	id = binary.LittleEndian.Uint64(p.Data)
	number, from = id>>16, int(id>>8&0xFF)
	switch to := int(id & 0xFF); {
	case to != h.number:
		try.Failf("%w: packet %d of host %d to %d has come to host %d", ErrDamaged, number, from, to, h.number)
	case h.net.seen[id]:
		try.Failf("%w: packet %d of host %d has come to host %d twice", ErrOrder, number, from, to)
	}
	return id, from, number
}

// judgeVirtual wants each packet seen, or reported by the virtual link that lost it.
func (n *network) judgeVirtual() {
	n.delivered = uint64(len(n.seen))
	for _, h := range n.hosts {
		for _, end := range h.ends {
			if end == nil {
				continue
			}
			s := end.account()
			for _, id := range s.sent {
				if !n.seen[id] && !n.reported[id] {
					try.Failf("%w: packet %d of host %d to host %d has neither come nor been reported", ErrLost, id>>16, h.number, s.peer)
				}
			}
			if lost := end.lost(); lost > 0 && !n.fault.unplug && !n.fault.pull && !n.fault.stall {
				try.Failf("%w: the virtual link from host %d to host %d gave up %d packets, though nothing was out", ErrLost, h.number, s.peer, lost)
			}
		}
	}
}
