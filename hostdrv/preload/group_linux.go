package preload

import (
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv/socket"
)

// mostGroups is how many groups a socket joins at most: the kernel's net.ipv4.igmp_max_memberships.
const mostGroups = 20

// Options of IP that package unix does not know.
const (
	ipMulticastAll      = 49
	mcastJoinGroup      = 42
	mcastLeaveGroup     = 45
	groupRequestAddress = 8 // where struct group_req has it
)

// ofSource are options that want the datagrams of some senders only.
var ofSource = []int{unix.IP_ADD_SOURCE_MEMBERSHIP, unix.IP_DROP_SOURCE_MEMBERSHIP, unix.IP_BLOCK_SOURCE, unix.IP_UNBLOCK_SOURCE}

// isGroup says whether an address is a multicast group's of the cluster: there are some if other nodes are known, and 224.0.0.0/24 is what a link's own protocols have.
func (d *Daemon) isGroup(a netip.Addr) bool {
	return d.groups && a.Is4() && a.IsMulticast() && !a.IsLinkLocalMulticast()
}

// option answers a program that has, or wants to know, an option of its socket of datagrams: the system's socket has it, but for multicast groups of the cluster.
func (d *Daemon) option(conn *net.UnixConn, r record, b []byte) {
	d.mu.Lock()
	s := d.datagrams[r.id]
	level, name := int(r.domain), int(r.value)
	var err error
	switch {
	case s == nil:
		err = unix.ENOTCONN
	case r.kind == askSet:
		err = s.setOption(level, name, b)
	default:
		b, err = s.getOption(level, name, b)
	}
	d.mu.Unlock()
	if err != nil || r.kind == askSet {
		answer(conn, err)
		return
	}
	_, _ = conn.Write(append(record{kind: answerDone}.bytes(), b...)) // or the program has ended
}

func (s *datagrams) getOption(level, name int, b []byte) ([]byte, error) {
	if level == unix.IPPROTO_IP && name == unix.IP_MULTICAST_IF && s.by.IsValid() && len(b) >= 4 {
		return s.by.AsSlice(), nil
	}
	return b, control(s.system, func(fd int) error {
		size := uint32(len(b))
		b = append(b, 0) // has a first byte
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), uintptr(level), uintptr(name), uintptr(unsafe.Pointer(&b[0])), uintptr(unsafe.Pointer(&size)), 0)
		if b = b[:size]; errno != 0 {
			return errno
		}
		return nil
	})
}

func (s *datagrams) setOption(level, name int, b []byte) error {
	if level == unix.IPPROTO_IP {
		group, by, is := groupRequest(name, b)
		own := !by.IsValid() || by.IsUnspecified() || slices.ContainsFunc(s.daemon.nets, func(n netip.Prefix) bool { return n.Addr() == by })
		switch {
		case name == unix.IP_MULTICAST_IF && s.daemon.groups && own && by.IsValid() && !by.IsUnspecified():
			s.by, s.away = by, false
			return nil
		case is && own && s.daemon.isGroup(group) && slices.Contains(ofSource, name):
			return unix.ENOPROTOOPT
		case is && own && s.daemon.isGroup(group):
			return s.member(group, name == unix.IP_ADD_MEMBERSHIP || name == mcastJoinGroup)
		}
	}
	err := control(s.system, func(fd int) error {
		_, _, errno := unix.Syscall6(unix.SYS_SETSOCKOPT, uintptr(fd), uintptr(level), uintptr(name), uintptr(unsafe.Pointer(&append(b, 0)[0])), uintptr(len(b)), 0)
		if errno != 0 {
			return errno
		}
		return nil
	})
	if err == nil && level == unix.IPPROTO_IP && name == unix.IP_MULTICAST_IF {
		s.by, s.away = netip.Addr{}, slices.ContainsFunc(b, func(c byte) bool { return c != 0 })
	}
	return err
}

// groupRequest reads the group and the interface's address of an option, if it has one; by is not valid if an interface is named by its number.
func groupRequest(name int, b []byte) (group, by netip.Addr, is bool) {
	ip := func(at int) netip.Addr { return netip.AddrFrom4([4]byte(b[at:])) }
	switch {
	case name == unix.IP_MULTICAST_IF && len(b) >= 4 && len(b) < 8:
		return group, ip(0), false
	case name == unix.IP_MULTICAST_IF && len(b) >= 8:
		return group, ip(4), false
	case slices.Contains(ofSource, name) && len(b) >= 12:
		return ip(0), ip(4), true
	case name != unix.IP_ADD_MEMBERSHIP && name != unix.IP_DROP_MEMBERSHIP && name != mcastJoinGroup && name != mcastLeaveGroup:
		return group, by, false
	case name == unix.IP_ADD_MEMBERSHIP || name == unix.IP_DROP_MEMBERSHIP:
		if len(b) < 8 || len(b) >= 12 && binary.NativeEndian.Uint32(b[8:]) != 0 {
			return group, by, false
		}
		return ip(0), ip(4), true
	}
	if len(b) < groupRequestAddress || binary.NativeEndian.Uint32(b) != 0 {
		return group, by, false
	}
	at, is := addressOf(b[groupRequestAddress:])
	return at.Addr(), by, is
}

// member has the socket join a group, or leave it.
func (s *datagrams) member(group netip.Addr, join bool) error {
	p := s.port
	switch {
	case join && s.groups[group]:
		return unix.EADDRINUSE
	case join && len(s.groups) == mostGroups:
		return unix.ENOBUFS
	case !join && !s.groups[group]:
		return unix.EADDRNOTAVAIL
	case join && !p.in(group):
		if err := p.conn.JoinGroup(group); err != nil {
			return err
		}
	}
	if join {
		s.groups[group] = true
		return nil
	}
	s.leave(group)
	return nil
}

func (s *datagrams) leave(group netip.Addr) {
	if delete(s.groups, group); !s.port.in(group) {
		_ = s.port.conn.LeaveGroup(group)
	}
}

// in says whether a socket of the port has joined a group.
func (p *port) in(group netip.Addr) bool {
	return slices.ContainsFunc(p.sockets, func(s *datagrams) bool { return s.groups[group] })
}

// hears says whether a datagram of a group is for the socket: the one of any address, or of the group's, which has joined it or takes all that somebody has joined.
func (s *datagrams) hears(group netip.Addr, from socket.Addr) bool {
	at := s.name.local.Addr()
	switch {
	case at != group && (!at.IsUnspecified() || s.peer.IsValid()): // connect gives it the node's address
		return false
	case s.peer.IsValid() && !s.daemon.is(s.peer, from):
		return false
	}
	return s.groups[group] || s.system4(ipMulticastAll) != 0
}

// cast sends a datagram to a group.
func (s *datagrams) cast(to netip.AddrPort, b []byte) {
	s.daemon.mu.Lock()
	away := s.away
	s.daemon.mu.Unlock()
	if away {
		s.toSystem(to, b)
		return
	}
	_, _ = s.port.conn.WriteGroup(b, to, s.system4(unix.IP_MULTICAST_LOOP) != 0, s.system4(unix.IP_MULTICAST_TTL) != 0)
}

// system4 is an option of IP of the system's socket, or -1.
func (s *datagrams) system4(name int) int {
	value := -1
	_ = control(s.system, func(fd int) (err error) { value, err = unix.GetsockoptInt(fd, unix.IPPROTO_IP, name); return err })
	return value
}
