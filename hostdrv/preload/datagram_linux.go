package preload

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv/ip"
	"github.com/stafflink/lmmc/hostdrv/socket"
)

// datagrams is a program's socket of UDP: a Unix socket of datagrams. For each peer the daemon has another, an outlet, whose name says the peer's address, and which is connected
// to the program's: so the program alone can send to it.
type datagrams struct {
	daemon  *Daemon
	entry   Entry // under the lock of the daemon
	name    record
	port    *port
	system  *os.File            // the socket that the program had, which the system's stack serves
	groups  map[netip.Addr]bool // that it has joined, of the cluster; with the next two under the lock of the daemon
	by      netip.Addr          // the node's, if the program has said that its groups are the cluster's
	shared  bool                // others may have the same address and port
	away    bool                // what it sends to groups goes by the system's stack
	come    chan packet
	over    chan struct{}
	waiting atomic.Int64 // bytes that have come, and that the program has no room for yet

	mu      sync.Mutex
	outlets map[outletName]*outlet
	last    map[socket.Addr]*outlet // that the program has had last for a node's port, which may have several addresses
	peer    netip.AddrPort          // that the program is connected to
	clock   uint64                  // counts uses of outlets
}

// packet is a datagram that is to go to the program: from a node, or, of the system's stack, from another address.
type packet struct {
	node    socket.Addr
	from    netip.AddrPort
	group   netip.Addr // that it has gone to, unless that is what the socket is bound to
	data    []byte
	refused bool // none: nobody has the port
}

// Limits on what a program's socket has.
const (
	mostWaiting = 256 << 10 // bytes that have come and are not in the kernel's queue yet
	mostOutlets = 1000      // beyond it the one used longest ago is closed
)

// port is one of the node's, which several sockets may share that say SO_REUSEADDR or SO_REUSEPORT.
type port struct {
	conn    *socket.PacketConn
	sockets []*datagrams // under the lock of the daemon
}

// adopt has the daemon carry the datagrams of a program's socket.
func (d *Daemon) adopt(conn *net.UnixConn, r record, pid, system int) {
	s := &datagrams{
		daemon: d, name: record{kind: nameDatagrams, domain: r.domain, id: rand.Uint64(), value: int32(os.Geteuid()), local: r.local},
		entry: Entry{Net: "udp", Way: Cluster, State: Unconnected, Local: r.local, PID: pid, Program: programName(pid)},
		come:  make(chan packet, mostWaiting>>10), over: make(chan struct{}), outlets: map[outletName]*outlet{}, groups: map[netip.Addr]bool{}, last: map[socket.Addr]*outlet{},
	}
	if r.local.Addr().IsUnspecified() {
		s.entry.Way = Both
	}
	fd, err := s.open(system)
	if err == nil {
		err = d.takePort(s)
	}
	if err != nil {
		if s.system != nil {
			s.system.Close()
		}
		answer(conn, err)
	} else {
		d.work.Go(s.deliver)
		d.work.Go(s.fromSystem)
		_ = send(conn, record{kind: answerDone}, fd)
	}
	if fd >= 0 {
		unix.Close(fd)
	}
}

// open makes what the program gets, which tells who has sent a datagram.
func (s *datagrams) open(system int) (fd int, err error) {
	if system, err = unix.FcntlInt(uintptr(system), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return -1, err
	}
	err = unix.SetNonblock(system, true)
	s.system = os.NewFile(uintptr(system), "UDP")
	if err == nil {
		fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	}
	if err != nil {
		return -1, err
	}
	return fd, cmp.Or(roomBehind(fd), unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1),
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, socket.MaxPacket/2+17), // so that more is too long
		unix.Bind(fd, s.name.name()))
}

// takePort gives a socket its port of the node.
func (d *Daemon) takePort(s *datagrams) error {
	err := control(s.system, func(fd int) error {
		address, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR)
		port, failed := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT)
		s.shared = address+port > 0
		return cmp.Or(err, failed)
	})
	if err != nil {
		return err
	}
	d.reap()
	d.mu.Lock()
	defer d.mu.Unlock()
	number := s.name.local.Port()
	p := d.ports[number]
	switch {
	case d.ctx.Err() != nil: // Run may have closed what there was
		return unix.ECANCELED
	case p == nil:
		conn, err := d.stack.ListenPacket("udp", socket.Addr{Node: d.number, Port: number}.String())
		if err != nil {
			return err
		}
		p = &port{conn: conn.(*socket.PacketConn)}
		if err := p.conn.TellRefused(); err != nil {
			p.conn.Close()
			return err
		}
		d.ports[number] = p
		d.work.Go(func() { d.fromCluster(p) })
	case slices.ContainsFunc(p.sockets, s.excludes):
		return unix.EADDRINUSE
	}
	p.sockets = append(p.sockets, s)
	s.port, d.datagrams[s.name.id] = p, s
	return nil
}

// excludes says whether two sockets cannot have the same port.
func (s *datagrams) excludes(other *datagrams) bool {
	a, b := s.name.local.Addr(), other.name.local.Addr()
	return !(s.shared && other.shared) && (a == b || a.IsUnspecified() || b.IsUnspecified())
}

// close gives up a socket, under the lock of the daemon.
func (s *datagrams) close() {
	d := s.daemon
	delete(d.datagrams, s.name.id)
	for group := range s.groups {
		s.leave(group)
	}
	s.port.sockets = slices.DeleteFunc(s.port.sockets, func(other *datagrams) bool { return other == s })
	if number := s.name.local.Port(); len(s.port.sockets) == 0 && d.ports[number] == s.port {
		delete(d.ports, number)
		s.port.conn.Close()
	}
	close(s.over)
	s.system.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.outlets {
		o.file.Close()
	}
	s.outlets = nil
}

// reach answers a program that wants to send to a peer, or to hear of that one only.
func (d *Daemon) reach(r record) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.datagrams[r.id]
	if s == nil {
		return unix.ENOTCONN
	}
	if r.value < 0 {
		s.connect(netip.AddrPort{}, Unconnected)
		return nil
	}
	_, err := s.outlet(outletName{to: r.peer})
	if err == nil && r.value > 0 {
		s.connect(r.peer, Established)
	}
	return err
}

// connect has a socket hear of one peer, or, if that is zero, of all, under the lock of the daemon.
func (s *datagrams) connect(peer netip.AddrPort, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peer, s.entry.Peer, s.entry.State = peer, peer, state
}

// giveBack gives a program its socket of the system's stack back.
func (d *Daemon) giveBack(conn *net.UnixConn, r record) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.datagrams[r.id]
	if s == nil {
		return unix.ENOTCONN
	}
	err := control(s.system, func(fd int) error { return send(conn, record{kind: answerDone}, fd) })
	if err == nil {
		s.close()
	}
	return err
}

// control does something with the descriptor of a file.
func control(f *os.File, do func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	if failed := raw.Control(func(fd uintptr) { err = do(int(fd)) }); failed != nil {
		return failed
	}
	return err
}

// alive says whether the program has not closed its socket.
func (s *datagrams) alive() bool { return taken(unix.SOCK_DGRAM, s.name) }

// put has a datagram go to the program, or drops it if there is no room.
func (s *datagrams) put(p packet) {
	if s.waiting.Add(int64(len(p.data))) <= mostWaiting {
		select {
		case s.come <- p:
			return
		default:
		}
	}
	s.waiting.Add(-int64(len(p.data)))
}

// deliver gives the program what has come, when that has room.
func (s *datagrams) deliver() {
	for {
		var p packet
		select {
		case p = <-s.come:
		case <-s.over:
			return
		}
		s.waiting.Add(-int64(len(p.data)))
		o, err := s.outlet(outletName{s.origin(p), p.group})
		switch {
		case err != nil:
		case p.refused:
			s.refuse(o)
		default:
			s.send(o, p.data)
		}
	}
}

// origin is the address that the program has for who has sent a datagram.
func (s *datagrams) origin(p packet) netip.AddrPort {
	if p.node.Node == 0 {
		return p.from
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.last[p.node]; o != nil {
		return o.to
	}
	return netip.AddrPortFrom(s.daemon.address(p.node.Node, s.name.domain), p.node.Port)
}

// fromCluster takes what comes for a port.
func (d *Daemon) fromCluster(p *port) {
	for b := make([]byte, socket.MaxPacket); ; {
		n, from, group, err := p.conn.ReadGroup(b)
		refused := errors.Is(err, unix.ECONNREFUSED)
		if err != nil && !refused {
			return
		}
		for _, s := range d.receivers(p, from, group) {
			to := group
			if to == s.name.local.Addr() {
				to = netip.Addr{}
			}
			s.put(packet{node: from, group: to, data: slices.Clone(b[:n]), refused: refused})
		}
	}
}

// receivers are the sockets that a datagram goes to: that which hears of its sender only, or else the last one that hears of all; of a group's all who hear that.
func (d *Daemon) receivers(p *port, from socket.Addr, group netip.Addr) (found []*datagrams) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range p.sockets {
		switch {
		case group.IsValid():
			if s.hears(group, from) {
				found = append(found, s)
			}
		case s.name.local.Addr().IsMulticast():
		case !s.peer.IsValid():
			found = []*datagrams{s}
		case d.is(s.peer, from):
			return []*datagrams{s}
		}
	}
	return found
}

// is says whether an address is a node's port.
func (d *Daemon) is(a netip.AddrPort, at socket.Addr) bool {
	node, is := ip.NodeOf(a.Addr(), d.prefixes)
	return is && at == socket.Addr{Node: node, Port: a.Port()}
}

// fromSystem takes what comes by the system's stack.
func (s *datagrams) fromSystem() {
	raw, err := s.system.SyscallConn()
	if err != nil {
		return
	}
	receive(raw, new(sync.Mutex), func(b, from []byte) {
		if at, is := addressOf(from); is {
			s.put(packet{from: at, data: slices.Clone(b)})
		}
	})
}
