package socket

import (
	"net"
	"net/netip"
	"syscall"
)

// groupOf reads the address of a multicast group and a port.
func groupOf(address string) (group netip.AddrPort, is bool) {
	group, err := netip.ParseAddrPort(address)
	return netip.AddrPortFrom(plain(group.Addr()), group.Port()), err == nil && group.Addr().IsMulticast()
}

// plain is the address of a group as nodes say it to each other: that of IPv4 not mapped to IPv6, as package net may have it, and no zone.
func plain(group netip.Addr) netip.Addr { return group.Unmap().WithZone("") }

func (s *Stack) dialGroup(group netip.AddrPort) (net.Conn, error) {
	p, err := s.newPacket(0, Addr{})
	if err != nil {
		return nil, opError("dial", "connect", nil, net.UDPAddrFromAddrPort(group), err)
	}
	p.group, p.dialled = group, true
	return p, nil
}

// JoinGroup makes the own node a member of a multicast group. Datagrams to the group that come to the port can be read, whoever of the node's programs has joined it.
func (p *PacketConn) JoinGroup(group netip.Addr) error {
	group = plain(group)
	return p.member("join", syscall.EADDRINUSE, group, false, func() error {
		err := p.stack.mux.Join(group)
		if err == nil {
			p.joined[group] = true
		}
		return err
	})
}

// LeaveGroup undoes JoinGroup, as Close does.
func (p *PacketConn) LeaveGroup(group netip.Addr) error {
	group = plain(group)
	return p.member("leave", syscall.EADDRNOTAVAIL, group, true, func() error {
		delete(p.joined, group)
		return p.stack.mux.Leave(group)
	})
}

// member changes whether the own node is in a group, or fails unless it was before.
func (p *PacketConn) member(op string, none syscall.Errno, group netip.Addr, was bool, change func() error) error {
	failed := error(none)
	if err := p.control(op, func() {
		if p.joined[group] == was {
			failed = change()
		}
	}); err != nil {
		return err
	}
	if failed != nil {
		return opError(op, "setsockopt", p.local, &net.IPAddr{IP: group.AsSlice()}, failed)
	}
	return nil
}

// WriteGroup sends a datagram to those members of a multicast group that are at the own node, at others, or both. A node is one as far as it has said so: that takes a message
// each way after the Stack is opened and after a program joins. It waits for the member whose cable has no room, Options.Patience at most if that one does not answer.
func (p *PacketConn) WriteGroup(b []byte, to netip.AddrPort, own, others bool) (int, error) {
	err := p.stack.do(&p.write, &p.closed, func() error {
		return p.socket.Cast(plain(to.Addr()), to.Port(), b, own, others)
	})
	if err != nil {
		return 0, opError("write", "sendto", p.local, net.UDPAddrFromAddrPort(to), err)
	}
	return len(b), nil
}
