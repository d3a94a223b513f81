package soak

import (
	"encoding/binary"
	"errors"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// virtualEnd is a host's end of its virtual link with another.
type virtualEnd struct {
	*flowctl.VirtualLink
	peer int
	sent []uint64 // what it has sent, in order
}

// virtualRetry is short beside the outages, so that virtual links give up now and then.
const virtualRetry = 4096

// openVirtual gives a host a virtual link with each other, which it carries out itself.
func (h *netHost) openVirtual() {
	n := h.net
	node := func(i int) uint16 { return n.Topology.Nodes[n.hosts[i].Node].ID }
	for i := range n.hosts {
		if i == h.number {
			h.ends = append(h.ends, nil)
			continue
		}
		end := try.Get(flowctl.NewVirtual(flowctl.VirtualConfig{
			Node: node(h.number), Peer: node(i), Number: uint16(i + 1), Via: 1, Retry: virtualRetry, MaxPacket: linkproto.MaxPacket(h.Params.PageBytes),
			NewLife: func() linkproto.Life { return linkproto.Life(1 + n.rng.Uint32()>>1) },
		}))
		h.ends = append(h.ends, &virtualEnd{VirtualLink: end, peer: i})
	}
	h.Routed = h.routed
}

// routed gives a ROUTE to the end that it is for.
func (h *netHost) routed(r linkproto.Route, raw []byte) {
	state, ok := linkproto.DecodeVLState(r.State)
	for i, end := range h.ends {
		if end != nil && ok && (state.Kind == linkproto.KindInit && end.Config().Peer == r.Src || state.Kind != linkproto.KindInit && int(r.VL) == i+1) {
			end.Feed(&r, raw)
		}
	}
}

// turnVirtual lets a turn pass for the ends, takes what has come, and sends what there is to send.
func (h *netHost) turnVirtual(offering bool) {
	n := h.net
	for _, end := range h.ends {
		if end == nil {
			continue
		}
		end.Tick(turn)
		if loss, ok := end.Lost(); ok {
			for _, id := range end.sent[loss.First:] {
				n.reported[id] = true
			}
		}
		for ; n.Cycles >= h.resume; h.resume = n.Cycles + uint64(testbench.Pick(n.rng, 0, 0, 0, n.rng.IntN(500))) {
			packet, ok := end.Receive()
			if !ok {
				break
			}
			var p linkproto.Packet
			try.OK(p.Decode(packet))
			h.came(p, end)
		}
	}
	if offering && len(h.queue) == 0 {
		h.queue = append(h.queue, h.draw())
	}
	for len(h.queue) > 0 {
		end := h.ends[h.queue[0]]
		id, packet := h.numbered(end.peer)
		switch err := end.Send(packet); {
		case errors.Is(err, flowctl.ErrFull):
			h.sent--
			h.queue = append(h.queue[1:], h.queue[0])
			return
		default:
			try.OK(err)
		}
		end.sent = append(end.sent, id)
		h.queue = h.queue[1:]
	}
}

// emitVirtual sends ROUTEs of the ends in turn while there is room.
func (h *netHost) emitVirtual() {
	for idle := 0; idle < len(h.ends) && h.send(); {
		h.next = (h.next + 1) % len(h.ends)
		idle++
		if end := h.ends[h.next]; end != nil {
			if route, ok := end.Emit(nil); ok {
				h.packet, idle = route, 0
			}
		}
	}
}

// virtualBusy reports whether something of the ends is underway, or one is not up.
func (h *netHost) virtualBusy() bool {
	for _, end := range h.ends {
		if end != nil && (!end.Status().Up || end.Queued()+end.Readable() > 0) {
			return true
		}
	}
	return false
}

// came checks a packet that has come by a virtual link: behind all that came before, and for this host.
func (h *netHost) came(p linkproto.Packet, end *virtualEnd) {
	id, from, number := h.check(p)
	if from != end.peer || number <= h.last[from] {
		try.Failf("%w: packet %d of host %d has come to host %d by the virtual link to host %d behind %d", ErrOrder, number, from, h.number, end.peer, h.last[from])
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
			for _, id := range end.sent {
				if !n.seen[id] && !n.reported[id] {
					try.Failf("%w: packet %d of host %d to host %d has neither come nor been reported", ErrLost, id>>16, h.number, end.peer)
				}
			}
			if lost := end.Counter(linkproto.CntLostPackets); lost > 0 && !n.fault.unplug && !n.fault.pull && !n.fault.stall {
				try.Failf("%w: the virtual link from host %d to host %d gave up %d packets, though nothing was out", ErrLost, h.number, end.peer, lost)
			}
		}
	}
}
