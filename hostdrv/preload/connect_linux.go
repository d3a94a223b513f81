package preload

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv/ip"
	"github.com/stafflink/lmmc/hostdrv/socket"
)

// connection is one of the cluster's that a program has.
type connection struct {
	entry  Entry        // under the lock of the daemon
	conn   *socket.Conn // once it is established; likewise
	end    *end
	linger atomic.Int32
}

// add makes a connection that a program does not have yet.
func (d *Daemon) add(name record, e Entry) (c *connection, theirs int, err error) {
	end, theirs, err := newPair(name, e.State == Connecting)
	if err != nil {
		return nil, -1, err
	}
	c = &connection{entry: e, end: end}
	c.linger.Store(-1)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.connections[name.id] = c
	return c, theirs, nil
}

func (d *Daemon) remove(id uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.connections, id)
}

// connect gives a program its end of a connection at once, and establishes it afterwards.
func (d *Daemon) connect(conn *net.UnixConn, r record, pid int) {
	refuse := func(err error) { answer(conn, err) }
	node, ok := ip.NodeOf(r.peer.Addr(), d.prefixes)
	if !ok {
		refuse(unix.EHOSTUNREACH)
		return
	}
	waits := r.value == 1
	name := record{kind: nameSocket, domain: r.domain, id: rand.Uint64(), local: netip.AddrPortFrom(d.own(r.peer.Addr()), r.local.Port()), peer: r.peer}
	c, theirs, err := d.add(name, Entry{Net: "tcp", Way: Cluster, State: Connecting, Local: name.local, Peer: name.peer, PID: pid, Program: programName(pid)})
	if err != nil {
		refuse(err)
		return
	}
	err = send(conn, record{kind: answerDone}, theirs)
	unix.Close(theirs)
	ctx, cancel := context.WithCancel(d.ctx)
	defer cancel()
	var s *socket.Conn
	if err == nil {
		stop := c.end.whenHung(cancel)
		s, err = d.stack.DialFrom(ctx, r.local.Port(), socket.Addr{Node: node, Port: r.peer.Port()})
		stop()
	}
	if err == nil {
		name.kind, name.local = nameConnected, netip.AddrPortFrom(name.local.Addr(), s.LocalAddr().(socket.Addr).Port)
		if err = c.end.establish(name); err != nil {
			s.Close()
		}
	}
	if err != nil {
		name.kind, name.value = nameFailed, errnoOf(err)
		_ = c.end.rename(name)
		c.end.close(true)
		d.remove(name.id)
		refuse(err)
		return
	}
	if waits {
		_ = send(conn, record{kind: answerDone}, -1)
	}
	conn.Close()
	d.carry(name, c, s)
}

// carry relays a connection until it is over.
func (d *Daemon) carry(name record, c *connection, s *socket.Conn) {
	d.mu.Lock()
	c.entry.State, c.entry.Local, c.conn = Established, name.local, s
	d.mu.Unlock()
	(&relay{end: c.end, conn: s, linger: &c.linger}).run()
	d.remove(name.id)
}

// errnoOf is what a program gets for an error.
func errnoOf(err error) int32 {
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return int32(errno)
	case errors.Is(err, context.Canceled):
		return int32(unix.ECONNABORTED)
	}
	return int32(unix.ENETDOWN)
}
