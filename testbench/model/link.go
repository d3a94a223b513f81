package model

import (
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// serveLink takes the next packet of a link, and reports whether there was one. While the link is trapped, what is to be carried out waits, and what is not
// passes it, as far as there is room.
func (n *NI) serveLink(link int) bool {
	p := n.ports[link]
	trapped := p.trapped || p.trap != nil
	if !trapped && len(p.behind) > 0 {
		raw := p.behind[0]
		p.behind, p.behindBytes = p.behind[1:], p.behindBytes-len(raw)
		p.waited, p.overdue = 0, false
		n.carryOut(link, raw)
		return true
	}
	switch {
	case trapped && (!n.cfg.Routes || n.network != nil):
		return false
	case trapped && p.behindBytes >= n.cfg.maxPacket():
		return n.dropLate(link)
	}
	raw, ok := p.next()
	switch {
	case !ok:
	case n.sorted(link, raw):
	case trapped:
		p.behind, p.behindBytes = append(p.behind, slices.Clone(raw)), p.behindBytes+len(raw)
	default:
		n.carryOut(link, raw)
	}
	return ok
}

// carryOut carries out a link's packet, or the one inside if it is a ROUTE.
func (n *NI) carryOut(link int, raw []byte) {
	inner, _, _ := n.routed(raw)
	n.observe(Observation{Port: link, Packet: raw, Outcome: n.arrived(link, inner)})
}

// sorted reports whether a link's packet is not to be carried out: it is a ROUTE that is dropped, or kept for the host.
func (n *NI) sorted(link int, raw []byte) bool {
	_, told, ok := n.routed(raw)
	if ok && !told {
		return false
	}
	o := Observation{Port: link, Packet: raw, Outcome: Told}
	if !ok || !n.tell(link, raw) {
		o.Outcome = Malformed
		n.ports[link].counters[linkproto.CntBadPacket]++
	}
	n.observe(o)
	return true
}

// routed is Routed, but that what is no ROUTE, or comes where none are taken, is to be carried out as it is.
func (n *NI) routed(raw []byte) (inner []byte, told, ok bool) {
	if !n.cfg.Routes || linkproto.Type(raw[0]) != linkproto.TypeRoute {
		return raw, false, true
	}
	return Routed(raw, uint16(n.node), n.gateway)
}

// Routed returns what is to be carried out of a ROUTE at a node: the packet inside, if it is a datagram for this node or a multicast group. With told the ROUTE is
// for the host instead, as it came: a datagram with an answer or a MESSAGE, or one of a virtual link, whose CRC only its hosts know; so is such a one for another
// node at a gateway.
func Routed(raw []byte, node uint16, gateway bool) (inner []byte, told, ok bool) {
	var r linkproto.Route
	err := r.Decode(raw)
	group, foreign := r.Dest >= linkproto.MulticastBase, r.Dest != node
	switch {
	case len(raw) < linkproto.RouteExtra || node == 0 || foreign && group && r.State != linkproto.RouteDatagram || foreign && !group && !gateway:
		return nil, false, false
	case r.State != linkproto.RouteDatagram:
		return nil, true, true
	case err != nil || r.VL != 0 || r.Next != 0 || r.Seq != 0 || len(r.Packet) < linkproto.MinPacket || !linkproto.LengthFits(r.Packet):
		return nil, false, false
	}
	kind := linkproto.Type(r.Packet[0] & (1<<linkproto.TypeBits - 1))
	told = kind == linkproto.TypeRegData || kind == linkproto.TypeDone || kind == linkproto.TypeMessage
	return r.Packet, told, told || group || !foreign
}

// tell keeps a ROUTE for the host, and reports whether there was room.
func (n *NI) tell(link int, raw []byte) bool {
	p := n.ports[link]
	if p.routeBytes+len(raw) > max(minRouteBytes, n.cfg.RxBytes) {
		return false
	}
	told := slices.Clone(raw)
	told[0] |= byte(link) << linkproto.TypeBits
	p.routes, p.routeBytes = append(p.routes, told), p.routeBytes+len(told)
	return true
}

// minRouteBytes is how many bytes of ROUTEs for the host are kept in any case.
const minRouteBytes = 1024

// offerRoute gives the host the oldest ROUTE of a link for it.
func (n *NI) offerRoute(link int) bool {
	p := n.ports[link]
	if len(p.routes) == 0 || !n.ports[0].send(p.routes[0]) {
		return false
	}
	p.routes, p.routeBytes = p.routes[1:], p.routeBytes-len(p.routes[0])
	return true
}

// arrived carries out a link's packet.
func (n *NI) arrived(link int, raw []byte) Outcome {
	p := n.ports[link]
	var q linkproto.Packet
	switch err := q.Decode(raw); {
	case err != nil || q.Via != 0:
	case q.Type == linkproto.TypeWrite:
		o := n.write(link, 0, q)
		if o != Written {
			p.counters[linkproto.CntDenied]++
		}
		return o
	case n.traps(q, raw):
		p.trap, p.stands = trapOf(link, raw), trapOf(link, fixed(q))
		return Trapped
	}
	p.counters[linkproto.CntBadPacket]++
	return Malformed
}

// traps reports whether a packet stops its link.
func (n *NI) traps(q linkproto.Packet, raw []byte) bool {
	switch q.Type {
	case linkproto.TypePage:
		return int(q.Frame) < n.cfg.Frames
	case linkproto.TypeConnect:
		return linkproto.HeaderBytes+len(raw) <= n.cfg.maxPacket()
	}
	return false
}

// write carries out a remote write of a link, or of a virtual one if vl is not 0, whole or not at all.
func (n *NI) write(link, vl int, q linkproto.Packet) Outcome {
	page := n.within(q.Addr, len(q.Data))
	if page == nil {
		return Astray
	}
	f := &n.frames[int(q.Addr)/n.cfg.PageBytes]
	switch {
	case !f.valid:
		return Closed
	case int(f.vl) != vl || vl == 0 && int(f.link) != link:
		return Foreign
	}
	copy(page, q.Data)
	if n.notify && len(q.Data) > 0 {
		first := int(q.Addr) % n.cfg.PageBytes
		f.touch(first, first+len(q.Data)-1)
	}
	return Written
}

// touch widens the pending NOTIFY by the bytes first to last.
func (f *frame) touch(first, last int) {
	if f.changed {
		first, last = min(first, f.first), max(last, f.last)
	}
	f.changed, f.first, f.last = true, first, last
}

// offerNotify tells the host of one frame; frames take turns.
func (n *NI) offerNotify() bool {
	if !n.notify {
		return false
	}
	for i := range n.frames {
		at := (n.scan + i) % len(n.frames)
		f := &n.frames[at]
		if !f.changed {
			continue
		}
		notify := linkproto.Packet{Type: linkproto.TypeNotify, Frame: uint16(at), First: uint16(f.first), Last: uint16(f.last)}
		if !n.ports[0].send(encode(notify)) {
			return false
		}
		f.changed = false
		n.scan = at + 1
		return true
	}
	return false
}

// trapOf is the TRAP of a packet of a link.
func trapOf(link int, packet []byte) []byte {
	return encode(linkproto.Packet{Type: linkproto.TypeTrap, Via: uint8(link), Data: packet})
}

// fixed is a packet that traps without params.
func fixed(q linkproto.Packet) []byte {
	return encode(linkproto.Packet{Type: q.Type, Frame: q.Frame, Port: q.Port})
}

// offerTrap reports a trap, from when on the link is trapped, or tells one again.
func (n *NI) offerTrap(link int) bool {
	p := n.ports[link]
	if p.retrap != nil {
		if !n.ports[0].send(p.retrap) {
			return false
		}
		p.retrap = nil
		return true
	}
	if p.trap == nil || !n.ports[0].send(p.trap) {
		return false
	}
	p.trap, p.trapped = nil, true
	return true
}
