package model

import (
	"bytes"

	"github.com/stafflink/lmmc/linkproto"
)

// impatience is that of a link that takes ROUTEs, with no router before it: a host that never goes on behind a trap must not hold up the network.
type impatience struct {
	waited  int    // ticks without room, of which nothing has been taken
	overdue bool   // ROUTEs are not kept waiting
	kept    []byte // a packet that is no ROUTE, taken out of the link meanwhile
}

// wait lets time pass for the packets of a link.
func (n *NI) wait(link, ticks int) {
	if link == 0 || !n.cfg.Routes || n.network != nil {
		return
	}
	p := n.ports[link]
	if !p.Status().OwnStop {
		p.waited = 0
	} else if p.waited += ticks; p.waited >= n.cfg.Patience {
		p.overdue = true
	}
}

// next returns the next packet of a link.
func (p *port) next() (packet []byte, ok bool) {
	if p.kept != nil {
		packet, ok = p.kept, true
	} else {
		packet, ok = p.Receive()
	}
	if ok {
		p.impatience = impatience{}
	}
	return packet, ok
}

// dropLate drops a ROUTE that waits behind a trap, or keeps it for the host if it is for that. It reports whether there was one.
func (n *NI) dropLate(link int) bool {
	p := n.ports[link]
	if !p.overdue || p.kept != nil {
		return false
	}
	raw, ok := p.Receive()
	if !ok {
		return false
	}
	if linkproto.Type(raw[0]) != linkproto.TypeRoute {
		p.kept = bytes.Clone(raw)
		return false
	}
	if !n.sorted(link, raw) {
		p.counters[linkproto.CntDenied]++
		n.observe(Observation{Port: link, Packet: raw, Outcome: Late})
	}
	return true
}
