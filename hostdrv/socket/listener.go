package socket

import (
	"net"
	"syscall"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/stream"
)

// backlog is how many connections wait for Accept at most: Linux' net.core.somaxconn. More are refused.
const backlog = 4096

// Listener takes connections to a port: a net.Listener with deadlines, as *net.TCPListener.
type Listener struct {
	stack    *Stack
	listener *stream.Listener
	addr     Addr
	accept   half
	closed   bool // under the lock of the stack
}

// Listen takes connections to a port of the own node: ":80", or ":0" for one that is free. The network is "tcp".
func (s *Stack) Listen(network, address string) (net.Listener, error) {
	if isPacket(network) {
		return nil, opError("listen", "listen", nil, nil, net.UnknownNetworkError(network))
	}
	at, err := s.own(network, address)
	if err == nil {
		err = s.lock()
		defer s.unlock()
	}
	l := &Listener{stack: s, accept: half{ready: make(chan struct{}, 1)}}
	if err == nil {
		l.listener, err = s.mux.Listen(at.Port, backlog)
	}
	if err != nil {
		return nil, opError("listen", "bind", nil, at, err)
	}
	l.addr = Addr{s.number, l.listener.Port}
	l.listener.Ready = func() { signal(l.accept.ready) }
	return l, nil
}

// own resolves an address of the own node.
func (s *Stack) own(network, address string) (Addr, error) {
	at, err := s.resolve(network, address)
	if err == nil && at.Node != s.number {
		err = syscall.EADDRNOTAVAIL
	}
	return at, err
}

// Accept waits for a connection.
func (l *Listener) Accept() (net.Conn, error) {
	var c *Conn
	err := l.stack.do(&l.accept, &l.closed, func() error {
		st := l.listener.Accept()
		if st == nil {
			return syscall.EAGAIN
		}
		c = newConn(l.stack, st)
		return nil
	})
	if err != nil {
		return nil, opError("accept", "accept", nil, l.Addr(), err)
	}
	return c, nil
}

// Addr is the port that the Listener has.
func (l *Listener) Addr() net.Addr { return l.addr }

// SetDeadline sets the deadline of Accept, those underway included.
func (l *Listener) SetDeadline(t time.Time) error {
	return l.control("set", func() { l.accept.deadline.set(t) })
}

// SetAdmit has a function say of each connection, before it opens, whether it may, and is not refused. The function must not wait, or call anything of the Stack.
func (l *Listener) SetAdmit(admit func() bool) error {
	return l.control("set", func() { l.listener.Admit = admit })
}

// Close gives the port up. Connections that were not accepted are reset.
func (l *Listener) Close() error {
	return l.control("close", func() {
		l.closed = true
		l.listener.Close()
	})
}

func (l *Listener) control(op string, do func()) error {
	return l.stack.control(op, l.Addr(), nil, &l.closed, do)
}
