package stream

import (
	"net/netip"
	"syscall"
)

// askTicks is how often a peer is asked for its groups that has not answered.
const askTicks = 8

// groupBytes is how many bytes the address of a group takes: of IPv6, as which IPv4 is mapped.
const groupBytes = 16

// mostGroups is how many groups a node is in at most: as many as a segment says.
const mostGroups = MaxData / groupBytes

// Groups (Options.Peers) are multicast groups whose members are where programs have joined them. Each node says to its peers in which it is, all of them each time, so what is
// said twice does no harm; a datagram to a group goes to each member.
type groups struct {
	own map[netip.Addr]int // how often the own node is in
	age int                // ticks
}

// member is what is known of a peer that exchanges groups with the own node.
type member struct {
	is    bool // it does
	in    map[netip.Addr]bool
	known bool // in its present life
	say   bool // the own groups
}

// Join makes the own node a member of a group, once more if it is one.
func (m *Mux) Join(group netip.Addr) error {
	if !group.IsMulticast() {
		return syscall.EINVAL
	}
	if m.groups.own[group] == 0 && len(m.groups.own) == mostGroups {
		return syscall.ENOBUFS
	}
	if m.groups.own[group]++; m.groups.own[group] == 1 {
		m.tellGroups()
	}
	return nil
}

// Leave undoes a Join.
func (m *Mux) Leave(group netip.Addr) error {
	if m.groups.own[group] == 0 {
		return syscall.EADDRNOTAVAIL
	}
	if m.groups.own[group]--; m.groups.own[group] == 0 {
		delete(m.groups.own, group)
		m.tellGroups()
	}
	return nil
}

func (m *Mux) tellGroups() {
	for _, p := range m.peers {
		p.tellGroups()
	}
}

func (p *peer) tellGroups() {
	p.groups.say = p.groups.is
	p.speak()
}

// forgetGroups is for a peer that may be in others now.
func (p *peer) forgetGroups() { p.groups.in, p.groups.known, p.groups.say = nil, false, false }

// askGroups asks those that have not answered.
func (m *Mux) askGroups() {
	if m.groups.age++; m.groups.age%askTicks != 0 {
		return
	}
	for _, p := range m.peers {
		if !p.groups.known {
			p.tellGroups()
		}
	}
}

// nextGroups is what is said of the own groups.
func (p *peer) nextGroups() Segment {
	p.groups.say = false
	g := Segment{Kind: Groups, Ask: !p.groups.known}
	for group := range p.mux.groups.own {
		at := group.As16()
		g.Data = append(g.Data, at[:]...)
	}
	return g
}

// joined takes what a peer says of its groups.
func (p *peer) joined(g *Segment) {
	p.groups.is, p.groups.known, p.groups.in = true, true, map[netip.Addr]bool{}
	for b := g.Data; len(b) > 0; b = b[groupBytes:] {
		p.groups.in[groupAt(b)] = true
	}
	if g.Ask {
		p.tellGroups()
	}
}

func groupAt(b []byte) netip.Addr { return netip.AddrFrom16([groupBytes]byte(b)).Unmap() }

// Cast sends a datagram to the members of a group: of the own node, of others, or both. EAGAIN says that there is one whose cable has no room yet.
func (s *Socket) Cast(group netip.Addr, port uint16, b []byte, own, others bool) error {
	if len(b) > MaxPacket {
		return syscall.EMSGSIZE
	}
	m := s.mux
	var to []*peer
	if own && m.groups.own[group] > 0 {
		to = append(to, m.peer(m.o.Node))
	}
	for _, p := range m.peers {
		if others && p.groups.in[group] {
			to = append(to, p)
		}
	}
	for _, p := range to {
		if len(p.datagrams) >= mostUnsent {
			return syscall.EAGAIN
		}
	}
	at := group.As16()
	b = append(at[:], b...)
	for _, p := range to {
		s.queue(p, Segment{Kind: Datagram, Group: true, Port: port}, b)
	}
	return nil
}
