// Package preload carries the connections of unchanged programs. A library that is loaded before the C library (lib/) asks the daemon of a node, this package, for connections to
// nodes of the cluster, and has them as descriptors of the kernel: one end of a pair of Unix sockets, whose other end the daemon relays to hostdrv/socket. See doc/sockets.md.
package preload

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/ip"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/hostdrv/socket"
)

// Daemon carries the connections of a node's programs.
type Daemon struct {
	stack    *socket.Stack
	number   uint16
	listener *serve.Listener
	prefixes []netip.Prefix
	groups   bool           // multicast groups are the cluster's
	nets     []netip.Prefix // the node's address in each prefix
	ctx      context.Context
	work     sync.WaitGroup

	mu          sync.Mutex
	connections map[uint64]*connection
	listeners   map[uint64]*listener
	datagrams   map[uint64]*datagrams
	ports       map[uint16]*port // of datagrams
	notes       []note
	programs    map[*net.UnixConn]Entry // of lmmc run
	over        bool                    // nobody is let in any more
}

// Open makes the daemon of a node, which listens for programs at a socket. Nodes have addresses in the prefixes of the options.
func Open(ctx context.Context, node *hostdrv.Node, l *serve.Listener, o socket.Options) (*Daemon, error) {
	stack, err := socket.Open(ctx, node, o)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	d := &Daemon{
		stack: stack, number: stack.Node(), listener: l, prefixes: o.Prefixes, groups: len(o.Peers) > 0, connections: map[uint64]*connection{}, listeners: map[uint64]*listener{},
		datagrams: map[uint64]*datagrams{}, ports: map[uint16]*port{}, programs: map[*net.UnixConn]Entry{},
	}
	for _, p := range o.Prefixes {
		net, err := ip.Address(stack.Node(), p)
		if err != nil {
			return nil, errors.Join(err, stack.Close(), l.Close())
		}
		d.nets = append(d.nets, net)
	}
	return d, nil
}

// ErrNode says that the node is gone.
var ErrNode = errors.New("sockets: the node is gone")

// Run serves programs until the context or the node ends. Their connections end with it: both sides get ECONNRESET.
func (d *Daemon) Run(ctx context.Context) error {
	if d.stack == nil {
		return net.ErrClosed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d.ctx = ctx
	context.AfterFunc(ctx, d.listener.Stop)
	d.work.Go(func() {
		select {
		case <-d.stack.Failed():
			cancel(ErrNode)
		case <-ctx.Done():
		}
	})
	d.work.Go(func() {
		for tick := time.NewTicker(200 * time.Millisecond); ; {
			select {
			case <-tick.C:
				d.reap()
			case <-ctx.Done():
				tick.Stop()
				return
			}
		}
	})
	for {
		conn, pid, err := d.listener.Accept()
		switch {
		case err == nil:
			d.work.Go(func() { d.serve(conn, pid) })
			continue
		case scarce(err):
			time.Sleep(10 * time.Millisecond)
			continue
		}
		cancel(err)
		d.mu.Lock()
		for _, l := range d.listeners {
			l.close()
		}
		for _, s := range d.datagrams {
			s.close()
		}
		for _, c := range d.connections {
			if c.conn != nil {
				_ = c.conn.SetLinger(0)
				c.conn.Close()
			}
			c.end.close(true)
		}
		for conn := range d.programs {
			conn.Close()
		}
		d.mu.Unlock()
		err = d.stack.Close()
		d.work.Wait()
		err = errors.Join(err, d.listener.Close()) // now there can be another daemon
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
			err = errors.Join(cause, err)
		}
		return err
	}
}

// Node is the node's number, and Nets are its addresses.
func (d *Daemon) Node() uint16         { return d.number }
func (d *Daemon) Nets() []netip.Prefix { return d.nets }

// Users is how many connections, listeners, sockets of datagrams and programs of lmmc run there are.
func (d *Daemon) Users() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.users()
}

func (d *Daemon) users() int {
	return len(d.connections) + len(d.listeners) + len(d.datagrams) + len(d.programs)
}

// Unused reports whether there are no users. Then nobody can join any more: ErrEnding tells who comes later.
func (d *Daemon) Unused() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = d.users() == 0
	return d.over
}

// serve answers a request.
func (d *Daemon) serve(conn *net.UnixConn, pid int) {
	defer conn.Close()
	stop := context.AfterFunc(d.ctx, func() { conn.Close() })
	defer stop()
	b, rights := make([]byte, 4096), make([]byte, unix.CmsgSpace(4*4))
	n, k, _, _, err := conn.ReadMsgUnix(b, rights)
	if err != nil {
		return
	}
	fds := received(rights[:k])
	defer func() {
		for _, fd := range fds {
			unix.Close(fd)
		}
	}()
	r, same, ok := parse(b[:n])
	text := string(b[min(recordSize, n):n])
	switch {
	case !ok:
	case !same:
		answer(conn, unix.EPROTO)
	case r.kind == askConnect:
		d.connect(conn, r, pid)
	case r.kind == askListen && len(fds) == 1:
		d.listen(conn, r, pid, fds[0])
	case r.kind == askAdopt && len(fds) == 1:
		d.adopt(conn, r, pid, fds[0])
	case r.kind == askReach:
		answer(conn, d.reach(r))
	case r.kind == askReturn:
		if err := d.giveBack(conn, r); err != nil {
			answer(conn, err)
		}
	case r.kind == askSet || r.kind == askGet:
		d.option(conn, r, b[recordSize:n])
	case r.kind == askLinger:
		d.mu.Lock()
		if c := d.connections[r.id]; c != nil {
			c.linger.Store(r.value)
		}
		d.mu.Unlock()
		answer(conn, nil)
	case r.kind == askReap:
		d.reap()
		answer(conn, nil)
	case r.kind == askNote:
		d.note(r, pid, text)
	case r.kind == askJoin:
		d.join(conn, pid, text)
	case r.kind == askList:
		d.list(conn)
	}
}

// send sends a record, with a descriptor unless that is -1.
func send(conn *net.UnixConn, r record, with int) error {
	var rights []byte
	if with >= 0 {
		rights = unix.UnixRights(with)
	}
	_, _, err := conn.WriteMsgUnix(r.bytes(), rights, nil)
	return err
}

// answer says that something is done, or why not.
func answer(conn *net.UnixConn, err error) {
	r := record{kind: answerDone}
	if err != nil {
		r = record{kind: answerError, value: errnoOf(err)}
	}
	_ = send(conn, r, -1) // or the program has ended
}

// received are the descriptors that came with a message.
func received(rights []byte) (fds []int) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil
	}
	for i := range messages {
		if some, err := unix.ParseUnixRights(&messages[i]); err == nil {
			fds = append(fds, some...)
		}
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
	}
	return fds
}

// address is a node's in the first prefix of an address's kind, or of a domain's: that of IPv4 as good as any for IPv6.
func (d *Daemon) address(node uint16, domain byte) netip.Addr {
	var found netip.Addr
	for _, p := range d.prefixes {
		a, err := ip.Address(node, p)
		if err != nil || domain == unix.AF_INET && a.Addr().Is6() {
			continue
		}
		if !found.IsValid() || a.Addr().Is6() && found.Is4() {
			found = a.Addr()
		}
	}
	return found
}

// own is the node's address in the prefix of a peer's.
func (d *Daemon) own(peer netip.Addr) netip.Addr {
	for _, p := range d.nets {
		if p.Contains(peer) {
			return p.Addr()
		}
	}
	return d.nets[0].Addr()
}

// programName is what a process runs.
func programName(pid int) string {
	name, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm")) // it may be gone
	return strings.TrimSpace(string(name))
}
