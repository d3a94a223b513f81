package model

import (
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// serveLink takes the next packet of a link, unless it is trapped, and reports whether there was one.
func (n *NI) serveLink(link int) bool {
	p := n.ports[link]
	if p.trapped || p.trap != nil {
		return n.dropLate(link)
	}
	raw, ok := p.next()
	if !ok {
		return false
	}
	o := Observation{Port: link, Packet: raw, Outcome: Malformed}
	inner, ok := n.routed(raw)
	switch {
	case ok && n.tell(link, raw, inner):
		o.Outcome = Told
	case ok:
		o.Outcome = n.arrived(link, inner)
	default:
		p.counters[linkproto.CntBadPacket]++
	}
	n.observe(o)
	return true
}

// routed returns what is to be carried out of a link's packet: of a ROUTE the packet inside, if it is a datagram for this node.
func (n *NI) routed(raw []byte) (inner []byte, ok bool) {
	if !n.cfg.Routes || linkproto.Type(raw[0]) != linkproto.TypeRoute {
		return raw, true
	}
	var r linkproto.Route
	err := r.Decode(raw)
	ok = err == nil && n.node != 0 && uint32(r.Dest) == n.node&0xFFFF && r.State == linkproto.RouteDatagram && r.VL == 0 && r.Next == 0 && r.Seq == 0 &&
		len(r.Packet) >= linkproto.MinPacket && linkproto.LengthFits(r.Packet)
	return r.Packet, ok
}

// tell gives a ROUTE that carries an answer to the host, whole, and reports whether it is one and the host port had room.
func (n *NI) tell(link int, raw, inner []byte) bool {
	kind := linkproto.Type(inner[0] & (1<<linkproto.TypeBits - 1))
	if linkproto.Type(raw[0]) != linkproto.TypeRoute || !n.cfg.Routes || kind != linkproto.TypeRegData && kind != linkproto.TypeDone {
		return false
	}
	told := slices.Clone(raw)
	told[0] |= byte(link) << linkproto.TypeBits
	return n.ports[0].send(told)
}

// arrived carries out a link's packet.
func (n *NI) arrived(link int, raw []byte) Outcome {
	p := n.ports[link]
	var q linkproto.Packet
	switch err := q.Decode(raw); {
	case err != nil || q.Via != 0:
	case q.Type == linkproto.TypeWrite:
		o := n.write(link, q)
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

// write carries out a remote write, whole or not at all.
func (n *NI) write(link int, q linkproto.Packet) Outcome {
	page := n.within(q.Addr, len(q.Data))
	if page == nil {
		return Astray
	}
	f := &n.frames[int(q.Addr)/n.cfg.PageBytes]
	switch {
	case !f.valid:
		return Closed
	case int(f.link) != link:
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
