package stream

import (
	"net/netip"
	"syscall"
)

// Limits on datagrams that wait.
const (
	mostWaiting = 256 << 10 // bytes that wait to be read at a port
	mostUnsent  = 64        // datagrams that wait to be sent to a peer
	mostNobody  = 16        // times that a port hears of ports that nobody has, until Read says so
)

// MaxPacket is how many bytes a datagram has at most: as many as of UDP over IPv4.
const MaxPacket = 65507

// Packet is a datagram that has come.
type Packet struct {
	Node, Port uint16     // its sender's
	Group      netip.Addr // that it has gone to, or none
	Data       []byte
}

// Socket takes datagrams for a port.
type Socket struct {
	Port     uint16
	Readable func() // Read may have something; nil: nobody waits
	Writable func() // the same of Write
	Tell     bool   // Read fails with ECONNREFUSED, and from whom, when nobody has a port that was written to

	mux     *Mux
	waiting []received
	size    int // bytes that wait
	nobody  []Packet
}

// received is a datagram, and the buffer of its message.
type received struct {
	packet Packet
	buf    []byte
}

// ListenPacket takes the datagrams for a port, or for one that is free if it is 0.
func (m *Mux) ListenPacket(port uint16) (*Socket, error) {
	port, err := m.ports.free(port, func(p uint16) bool { return m.ports.sockets[p] != nil }, syscall.EADDRINUSE)
	if err != nil {
		return nil, err
	}
	s := &Socket{Port: port, mux: m}
	m.ports.sockets[port] = s
	return s, nil
}

// Write sends a datagram. It is not known whether anybody reads it.
func (s *Socket) Write(node, port uint16, b []byte) error {
	if len(b) > MaxPacket {
		return syscall.EMSGSIZE
	}
	p := s.mux.peer(node)
	if len(p.datagrams) >= mostUnsent {
		return syscall.EAGAIN
	}
	s.queue(p, Segment{Kind: Datagram, Port: port}, b)
	return nil
}

// queue has a datagram go to a peer, in parts like g.
func (s *Socket) queue(p *peer, g Segment, b []byte) {
	g.Stream = uint32(s.Port)
	for g.More = true; g.More; {
		g.Data = b[:min(len(b), MaxData)]
		b = b[len(g.Data):]
		g.More = len(b) > 0
		p.datagrams = append(p.datagrams, g.Append(s.mux.pool.get(len(g.Data))))
	}
	p.speak()
}

// writable tells those that wait to send a datagram.
func (p *ports) writable() {
	for _, s := range p.sockets {
		if s.Writable != nil {
			s.Writable()
		}
	}
}

// Read copies the oldest datagram, or what b has room for of it, and drops it; EAGAIN says that there is none.
func (s *Socket) Read(b []byte) (n int, from Packet, err error) {
	if len(s.nobody) > 0 {
		from, s.nobody = s.nobody[0], s.nobody[1:]
		return 0, from, syscall.ECONNREFUSED
	}
	if len(s.waiting) == 0 {
		return 0, from, syscall.EAGAIN
	}
	r := s.waiting[0]
	s.waiting[0] = received{}
	s.waiting = s.waiting[1:]
	s.size -= len(r.packet.Data)
	n = copy(b, r.packet.Data)
	s.mux.pool.put(r.buf)
	r.packet.Data = nil
	return n, r.packet, nil
}

// Close gives up the port.
func (s *Socket) Close() {
	if s.mux.ports.sockets[s.Port] == s {
		delete(s.mux.ports.sockets, s.Port)
	}
	s.waiting = nil
	for _, wake := range []func(){s.Readable, s.Writable} {
		if wake != nil {
			wake()
		}
	}
}

// nobody has who has an own port hear that nobody has a port of the peer.
func (p *peer) nobody(own, port uint16) {
	if s := p.mux.ports.sockets[own]; s != nil && s.Tell && len(s.nobody) < mostNobody {
		s.nobody = append(s.nobody, Packet{Node: p.node, Port: port})
		if s.Readable != nil {
			s.Readable()
		}
	}
}

// refused is for a message that has not arrived: if that is since the peer has no sockets, who has sent a datagram by it hears so.
func (p *peer) refused(b []byte, why syscall.Errno) {
	if why != syscall.ECONNREFUSED {
		return
	}
	if g, err := Decode(b); err == nil && g.Kind == Datagram && !g.Nobody && !g.Group && !g.More {
		p.nobody(uint16(g.Stream), g.Port)
	}
}

// datagram takes a datagram that has come, or a part of one, and reports whether it keeps buf. Parts come one behind the other, as all messages of a peer do.
func (p *peer) datagram(g *Segment, buf []byte) (kept bool) {
	if g.Nobody {
		p.nobody(g.Port, uint16(g.Stream))
		return false
	}
	if !g.More && len(p.parts) == 0 {
		return p.mux.deliver(p.node, g, buf)
	}
	if p.parts = append(p.parts, g.Data...); len(p.parts) > groupBytes+MaxPacket {
		p.mux.stats.Malformed++
		p.parts = nil
	} else if !g.More {
		g.Data = p.parts
		p.mux.deliver(p.node, g, p.parts)
		p.parts = nil
	}
	return false
}

// deliver has a datagram wait for who has its port, and reports whether it keeps buf.
func (m *Mux) deliver(node uint16, g *Segment, buf []byte) (kept bool) {
	s := m.ports.sockets[g.Port]
	var group netip.Addr
	if g.Group {
		if len(g.Data) < groupBytes {
			m.stats.Malformed++
			return false
		}
		if group, g.Data = groupAt(g.Data), g.Data[groupBytes:]; m.groups.own[group] == 0 {
			m.stats.Dropped++
			return false
		}
	}
	if p := m.peer(node); s == nil && !g.Group && len(p.datagrams) < mostUnsent {
		answer := Segment{Kind: Datagram, Nobody: true, Port: uint16(g.Stream), Stream: uint32(g.Port)}
		p.datagrams = append(p.datagrams, answer.Append(m.pool.get(0)))
		p.speak()
	}
	if s == nil || s.size+len(g.Data) > mostWaiting || len(s.waiting) >= mostWaiting/64 {
		m.stats.Dropped++
		return false
	}
	kept = len(g.Data) > SegmentBytes/4
	if !kept {
		buf = append(m.pool.get(len(g.Data)), g.Data...)
		g.Data = buf
	}
	s.waiting = append(s.waiting, received{Packet{node, uint16(g.Stream), group, g.Data}, buf})
	s.size += len(g.Data)
	if s.Readable != nil {
		s.Readable()
	}
	return kept
}
