package socket

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/stream"
)

// MaxPacket is how many bytes a datagram has at most.
const MaxPacket = stream.MaxPacket

// PacketConn sends and receives datagrams: a net.PacketConn, and of Dial a net.Conn too. Datagrams come in the order of their sender, but those for which there
// is no room at the receiver are dropped.
type PacketConn struct {
	stack       *Stack
	socket      *stream.Socket
	read, write half
	local, peer Addr           // peer: the only one, unless zero
	group       netip.AddrPort // the only one that is heard, unless zero
	dialled     bool           // group, by Dial: it is written to
	joined      map[netip.Addr]bool
	closed      bool // under the lock of the stack
}

// ListenPacket takes datagrams for a port of the own node: ":53", or ":0" for one that is free. Of a multicast group, "239.1.2.3:5000", it takes those to that one, which it joins.
// The network is "udp".
func (s *Stack) ListenPacket(network, address string) (net.PacketConn, error) {
	if isStream(network) {
		return nil, opError("listen", "listen", nil, nil, net.UnknownNetworkError(network))
	}
	group, is := groupOf(address)
	at, err := Addr{Port: group.Port()}, error(nil)
	if !is {
		at, err = s.own(network, address)
	}
	var p *PacketConn
	if err == nil {
		p, err = s.newPacket(at.Port, Addr{})
	}
	if err != nil {
		return nil, opError("listen", "bind", nil, at, err)
	}
	if is {
		p.group = group
		if err := p.JoinGroup(group.Addr()); err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

func (s *Stack) newPacket(port uint16, peer Addr) (*PacketConn, error) {
	err := s.lock()
	defer s.unlock()
	p := &PacketConn{stack: s, peer: peer, joined: map[netip.Addr]bool{}, read: half{ready: make(chan struct{}, 1)}, write: half{ready: make(chan struct{}, 1)}}
	if err == nil {
		p.socket, err = s.mux.ListenPacket(port)
	}
	if err != nil {
		return nil, err
	}
	p.local, p.socket.Tell = Addr{s.number, p.socket.Port}, peer != Addr{}
	p.socket.Readable = func() { signal(p.read.ready) }
	p.socket.Writable = func() { signal(p.write.ready) }
	return p, nil
}

// ReadFrom reads a datagram. What b has no room for is dropped.
func (p *PacketConn) ReadFrom(b []byte) (n int, addr net.Addr, err error) {
	n, from, _, err := p.ReadGroup(b)
	if from == (Addr{}) {
		return n, nil, err
	}
	return n, from, err
}

// ReadGroup does what ReadFrom does, and says the multicast group that the datagram has gone to, which is not valid if it has gone to the own node.
func (p *PacketConn) ReadGroup(b []byte) (n int, from Addr, group netip.Addr, err error) {
	err = p.stack.do(&p.read, &p.closed, func() error {
		for {
			k, packet, err := p.socket.Read(b)
			n, from, group = k, Addr{packet.Node, packet.Port}, packet.Group
			if err != nil && err != syscall.ECONNREFUSED || p.hears(from, group) {
				return err
			}
		}
	})
	switch {
	case err == syscall.ECONNREFUSED:
		return 0, from, group, opError("read", "recvfrom", p.local, from, err)
	case err != nil:
		return 0, Addr{}, group, opError("read", "recvfrom", p.local, nil, err)
	}
	return n, from, group, nil
}

func (p *PacketConn) hears(from Addr, group netip.Addr) bool {
	return (p.peer == Addr{} || from == p.peer) && (!p.group.IsValid() || group == p.group.Addr())
}

// TellRefused has ReadFrom fail with ECONNREFUSED, and with the address, when nobody has a port that was written to. Those of Dial do so for their peer.
func (p *PacketConn) TellRefused() error {
	return p.control("set", func() { p.socket.Tell = true })
}

// WriteTo sends a datagram to a port, an Addr, or to the members of a multicast group, a *net.UDPAddr.
func (p *PacketConn) WriteTo(b []byte, addr net.Addr) (int, error) {
	to, is := addr.(Addr)
	if addr == nil {
		return 0, opError("write", "sendto", p.local, nil, syscall.EDESTADDRREQ)
	}
	if !is {
		if group, is := groupOf(addr.String()); is {
			return p.WriteGroup(b, group, true, true)
		}
		var err error
		if to, err = p.stack.resolve("udp", addr.String()); err != nil {
			return 0, opError("write", "sendto", p.local, addr, err)
		}
	}
	err := p.stack.do(&p.write, &p.closed, func() error {
		if p.peer != (Addr{}) && to != p.peer {
			return syscall.EISCONN
		}
		return p.socket.Write(to.Node, to.Port, b)
	})
	if err != nil {
		return 0, opError("write", "sendto", p.local, addr, err)
	}
	return len(b), nil
}

// Read reads a datagram, of Dial's peer if there is one.
func (p *PacketConn) Read(b []byte) (int, error) {
	n, _, err := p.ReadFrom(b)
	return n, err
}

// Write sends a datagram to Dial's peer.
func (p *PacketConn) Write(b []byte) (int, error) {
	addr := p.RemoteAddr()
	if addr == nil {
		return 0, opError("write", "send", p.local, nil, syscall.EDESTADDRREQ)
	}
	return p.WriteTo(b, addr)
}

// LocalAddr is the own port.
func (p *PacketConn) LocalAddr() net.Addr { return p.local }

// RemoteAddr is Dial's peer or group, or nil.
func (p *PacketConn) RemoteAddr() net.Addr {
	switch {
	case p.peer != Addr{}:
		return p.peer
	case p.dialled:
		return net.UDPAddrFromAddrPort(p.group)
	}
	return nil
}

// SetDeadline sets the deadlines of reads and writes.
func (p *PacketConn) SetDeadline(t time.Time) error {
	return errors.Join(p.SetReadDeadline(t), p.SetWriteDeadline(t))
}

// SetReadDeadline sets the deadline of reads.
func (p *PacketConn) SetReadDeadline(t time.Time) error {
	return p.control("set", func() { p.read.deadline.set(t) })
}

// SetWriteDeadline sets the deadline of writes.
func (p *PacketConn) SetWriteDeadline(t time.Time) error {
	return p.control("set", func() { p.write.deadline.set(t) })
}

// Close gives the port up.
func (p *PacketConn) Close() error {
	return p.control("close", func() {
		p.closed = true
		p.socket.Close()
		for group := range p.joined {
			_ = p.stack.mux.Leave(group)
		}
	})
}

// control does something with a PacketConn that is not closed.
func (p *PacketConn) control(op string, do func()) error {
	return p.stack.control(op, p.local, p.RemoteAddr(), &p.closed, do)
}
