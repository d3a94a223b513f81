package model

import "github.com/stafflink/lmmc/linkproto"

// serveHost takes the next packet of the host, if its answer will find its place, and reports whether there was one.
func (n *NI) serveHost() bool {
	if n.answer != nil {
		return false
	}
	raw, ok := n.ports[0].Receive()
	if !ok {
		return false
	}
	kind, via := linkproto.Type(raw[0]&(1<<linkproto.TypeBits-1)), int(raw[0]>>linkproto.TypeBits)
	o := Observation{Packet: raw, Outcome: Answered}
	switch {
	case n.isVirtual(raw):
		o.Outcome, o.Status = n.virtuals.request(raw)
	case kind != 0 && kind < linkproto.TypeRegRead && via != 0:
		o.Outcome, o.Status = n.forward(via, raw)
	default:
		o.Status = n.request(raw)
	}
	n.observe(o)
	return true
}

// forward puts a packet into a link's queue, or refuses it.
func (n *NI) forward(via int, raw []byte) (Outcome, linkproto.Status) {
	if via >= len(n.ports) {
		return Answered, n.refuse(via, linkproto.TagNone, linkproto.StatusBadLink)
	}
	p := n.ports[via]
	if !p.hasRoom(len(raw)) {
		p.counters[linkproto.CntNoSpace]++
		p.lost = true
		return Answered, n.done(via, linkproto.TagNone, linkproto.StatusNoSpace)
	}
	n.packet = append(n.packet[:0], raw...)
	n.packet[0] &= 1<<linkproto.TypeBits - 1
	p.send(n.packet)
	return Forwarded, linkproto.StatusOK
}

// request carries out a request of the host, leaves its answer, and returns its status.
func (n *NI) request(raw []byte) linkproto.Status {
	var p linkproto.Packet
	err := p.Decode(raw)
	via := int(p.Via)
	switch info := p.Type.Info(); {
	case info == nil || info.Dir != linkproto.ToNI:
		return n.refuse(via, linkproto.TagNone, linkproto.StatusBadType)
	case err != nil:
		return n.refuse(via, p.Tag, linkproto.StatusBadLength)
	}
	switch p.Type {
	case linkproto.TypeRegRead:
		value, ok := n.readRegister(p.Reg)
		if !ok {
			return n.done(via, p.Tag, linkproto.StatusBadAddress)
		}
		return n.reply(linkproto.Packet{Type: linkproto.TypeRegData, Tag: p.Tag, Reg: p.Reg, Value: value})
	case linkproto.TypeRegWrite:
		return n.done(via, p.Tag, n.writeRegister(p.Reg, p.Value))
	case linkproto.TypeBufRead:
		page := n.within(p.Addr, int(p.Count))
		if page == nil {
			return n.done(via, p.Tag, linkproto.StatusBadAddress)
		}
		return n.reply(linkproto.Packet{Type: linkproto.TypeBufData, Tag: p.Tag, Addr: p.Addr, Data: page})
	case linkproto.TypeBufWrite:
		page := n.within(p.Addr, len(p.Data))
		if page == nil {
			return n.done(via, p.Tag, linkproto.StatusBadAddress)
		}
		copy(page, p.Data)
		return n.done(via, p.Tag, linkproto.StatusOK)
	default:
		return n.aboutTrap(p)
	}
}

// within returns count bytes of the receive buffer, or nil if they do not lie in one page that exists.
func (n *NI) within(addr uint32, count int) []byte {
	offset := int(addr) & (n.cfg.PageBytes - 1)
	if uint64(addr) >= uint64(len(n.buffer)) || offset+count > n.cfg.PageBytes {
		return nil
	}
	return n.buffer[addr:][:count]
}

// aboutTrap carries out RESUME or RETRAP.
func (n *NI) aboutTrap(p linkproto.Packet) linkproto.Status {
	via := int(p.Via)
	if via == 0 || via >= len(n.ports) {
		return n.refuse(via, p.Tag, linkproto.StatusBadLink)
	}
	link := n.ports[via]
	if !link.trapped {
		return n.done(via, p.Tag, linkproto.StatusNotTrapped)
	}
	if p.Type == linkproto.TypeRetrap {
		link.retrap = link.stands
	} else {
		link.trapped = false
	}
	return n.done(via, p.Tag, linkproto.StatusOK)
}

// refuse answers a malformed packet, and counts it.
func (n *NI) refuse(via int, tag uint8, status linkproto.Status) linkproto.Status {
	n.ports[0].counters[linkproto.CntBadPacket]++
	return n.done(via, tag, status)
}

// done answers a packet, with its via.
func (n *NI) done(via int, tag uint8, status linkproto.Status) linkproto.Status {
	n.reply(linkproto.Packet{Type: linkproto.TypeDone, Via: uint8(via), Tag: tag, Status: status})
	return status
}

func (n *NI) reply(p linkproto.Packet) linkproto.Status {
	n.answer = encode(p)
	return linkproto.StatusOK
}

// encode is the bytes of a packet of the interface's own, which cannot be wrong.
func encode(p linkproto.Packet) []byte {
	raw, err := p.Append(nil)
	if err != nil {
		panic(err)
	}
	return raw
}

// tellHost gives every source of packets for the host a turn, and reports whether one had something that found room. The
// sources are answers, NOTIFY, and of each link SPACE, and TRAP before ROUTEs, virtual links, and contexts.
func (n *NI) tellHost() bool {
	sources := 2 + 2*n.cfg.Links
	if n.virtuals != nil {
		sources++
	}
	if n.contexts != nil {
		sources++
	}
	sent := false
	for i := range sources {
		if n.offer((n.turn + i) % sources) {
			sent = true
		}
	}
	if sent { // else turns would depend on how often it was asked
		n.turn = (n.turn + 1) % sources
	}
	return sent
}

func (n *NI) offer(source int) bool {
	switch {
	case source == 2+2*n.cfg.Links:
		return n.virtuals.offer()
	case source > 2+2*n.cfg.Links:
		return n.contexts.offer()
	case source == 0:
		if n.answer == nil || !n.ports[0].send(n.answer) {
			return false
		}
		n.answer = nil
		return true
	case source == 1:
		return n.offerNotify()
	case source%2 == 0:
		return n.offerSpace(source / 2)
	default:
		return n.offerTrap(source/2) || n.offerRoute(source/2)
	}
}

func (n *NI) offerSpace(link int) bool {
	p := n.ports[link]
	packets, bytes := p.Freed()
	if packets == p.told && !p.again {
		return false
	}
	space := linkproto.Packet{Type: linkproto.TypeSpace, Via: uint8(link), Bytes: uint16(bytes), Packets: uint8(packets)}
	if !n.ports[0].send(encode(space)) {
		return false
	}
	p.told, p.again = packets, false
	return true
}
