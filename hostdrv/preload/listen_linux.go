package preload

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv/socket"
)

// listener is what a program listens by: a Unix socket, to which the daemon connects to hand over each connection, of the cluster or of the system's stack.
type listener struct {
	entry   Entry
	name    record
	cluster net.Listener
	system  *os.File // the program's socket of TCP
}

// listen has a port of the node be the program's. tcp is its socket, which listens at the system's stack.
func (d *Daemon) listen(conn *net.UnixConn, r record, pid, tcp int) {
	at := ":" + strconv.Itoa(int(r.local.Port()))
	cluster, err := d.stack.Listen("tcp", at)
	if errors.Is(err, unix.EADDRINUSE) {
		d.reap()
		cluster, err = d.stack.Listen("tcp", at)
	}
	if err != nil {
		answer(conn, err)
		return
	}
	l := &listener{
		name: record{kind: nameListener, domain: r.domain, id: rand.Uint64(), value: int32(os.Geteuid()), local: r.local}, cluster: cluster,
		entry: Entry{Net: "tcp", Way: Cluster, State: Listening, Local: r.local, PID: pid, Program: programName(pid)},
	}
	if r.local.Addr().IsUnspecified() {
		l.entry.Way = Both
	}
	fd, err := l.open(int(r.value))
	if err == nil {
		tcp, err = unix.FcntlInt(uintptr(tcp), unix.F_DUPFD_CLOEXEC, 0)
	}
	if err == nil {
		err = unix.SetNonblock(tcp, true)
		l.system = os.NewFile(uintptr(tcp), "listener")
	}
	if err != nil {
		cluster.Close()
		answer(conn, err)
	} else {
		d.mu.Lock()
		d.listeners[l.name.id] = l
		if d.ctx.Err() != nil { // Run may have closed what there was
			l.close()
		}
		d.mu.Unlock()
		_ = cluster.(*socket.Listener).SetAdmit(l.alive)
		d.work.Go(func() { d.acceptCluster(l) })
		d.work.Go(func() { d.acceptSystem(l) })
		_ = send(conn, record{kind: answerDone}, fd)
	}
	if fd >= 0 {
		unix.Close(fd)
	}
}

// open makes what the program gets.
func (l *listener) open(backlog int) (fd int, err error) {
	if fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err == nil {
		err = unix.Bind(fd, l.name.name())
	}
	if err == nil {
		err = unix.Listen(fd, backlog)
	}
	return fd, err
}

func (l *listener) close() {
	l.cluster.Close()
	l.system.Close()
}

// hand gives a descriptor to a program, when that has room for it.
func (d *Daemon) hand(l *listener, fd int) error {
	to, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer unix.Close(to)
	for err = unix.Connect(to, l.name.name()); err == unix.EAGAIN && d.ctx.Err() == nil; err = unix.Connect(to, l.name.name()) {
		time.Sleep(10 * time.Millisecond)
	}
	if err == nil {
		err = unix.Sendmsg(to, record{kind: answerDone}.bytes(), unix.UnixRights(fd), nil, unix.MSG_NOSIGNAL)
	}
	return err
}

func (d *Daemon) acceptCluster(l *listener) {
	for {
		c, err := l.cluster.Accept()
		if err != nil {
			return
		}
		s := c.(*socket.Conn)
		local, peer := s.LocalAddr().(socket.Addr), s.RemoteAddr().(socket.Addr)
		name := record{kind: nameSocket, domain: l.name.domain, id: rand.Uint64(),
			local: netip.AddrPortFrom(d.address(local.Node, l.name.domain), local.Port), peer: netip.AddrPortFrom(d.address(peer.Node, l.name.domain), peer.Port)}
		e := Entry{Net: "tcp", Way: Cluster, State: Established, Local: name.local, Peer: name.peer, PID: l.entry.PID, Program: l.entry.Program}
		conn, theirs, err := d.add(name, e)
		for ; scarce(err) && d.ctx.Err() == nil && l.alive(); conn, theirs, err = d.add(name, e) { // it waits, as in the kernel's backlog
			time.Sleep(10 * time.Millisecond)
		}
		if err == nil {
			name.kind = nameConnected
			if err = conn.end.rename(name); err == nil {
				err = d.hand(l, theirs)
			}
			unix.Close(theirs)
			if err != nil {
				conn.end.close(true)
				d.remove(name.id)
			}
		}
		if err != nil {
			_ = s.SetLinger(0)
			s.Close()
			continue
		}
		d.work.Go(func() { d.carry(name, conn, s) })
	}
}

// scarce says that an error is for want of descriptors, which others give back.
func scarce(err error) bool { return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) }

func (d *Daemon) acceptSystem(l *listener) {
	raw, err := l.system.SyscallConn()
	for err == nil {
		var fd int
		var failed error
		err = raw.Read(func(at uintptr) bool {
			fd, _, failed = unix.Accept4(int(at), unix.SOCK_CLOEXEC)
			return failed != unix.EAGAIN
		})
		switch {
		case err != nil:
		case failed != nil: // as for want of descriptors
			time.Sleep(10 * time.Millisecond)
		default:
			d.noteAccepted(l, fd)
			_ = d.hand(l, fd) // or it is closed, and the peer sees that
			unix.Close(fd)
		}
	}
}

// noteAccepted notes a connection that has come by the system's stack.
func (d *Daemon) noteAccepted(l *listener, fd int) {
	var s unix.Stat_t
	local, failed := unix.Getsockname(fd)
	peer, err := unix.Getpeername(fd)
	if err = cmp.Or(failed, err, unix.Fstat(fd, &s)); err != nil {
		return // it is over
	}
	d.note(record{id: s.Ino, domain: unix.SOCK_STREAM, local: addrPort(local), peer: addrPort(peer)}, l.entry.PID, "came by the system's stack")
}

// addrPort is an address of the system's.
func addrPort(a unix.Sockaddr) (at netip.AddrPort) {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		at = netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		at = netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
	}
	return at
}

// alive says whether the program has not closed what it listens by.
func (l *listener) alive() bool { return taken(unix.SOCK_STREAM, l.name) }

// taken says whether a socket of a type has a name.
func taken(kind int, name record) bool {
	fd, err := unix.Socket(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return true // as far as is known
	}
	defer unix.Close(fd)
	return unix.Bind(fd, name.name()) != nil
}

// reap gives the ports free whose programs have closed them.
func (d *Daemon) reap() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, l := range d.listeners {
		if !l.alive() {
			l.close()
			delete(d.listeners, id)
		}
	}
	for _, s := range d.datagrams {
		if !s.alive() {
			s.close()
		}
	}
}
