package socket

import (
	"context"
	"net"
	"syscall"

	"github.com/stafflink/lmmc/hostdrv/internal/stream"
)

// Dial opens a connection to a port of a node, as DialContext does.
func (s *Stack) Dial(network, address string) (net.Conn, error) {
	return s.DialContext(context.Background(), network, address)
}

// DialContext opens a connection to "node:port", as "2:80"; a node has also its IP addresses in Options.Prefixes. The network is "tcp". With "udp" the
// connection is of datagrams, and may lead to a multicast group, "239.1.2.3:5000".
func (s *Stack) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if group, is := groupOf(address); is && isPacket(network) {
		return s.dialGroup(group)
	}
	to, err := s.resolve(network, address)
	if err == nil && isPacket(network) {
		return s.dialPacket(to)
	}
	var c *Conn
	if err == nil {
		c, err = s.dial(ctx, 0, to)
	}
	if err != nil {
		return nil, opError("dial", "connect", nil, to, err)
	}
	return c, nil
}

func (s *Stack) resolve(network, address string) (Addr, error) {
	if s == nil {
		return Addr{}, net.ErrClosed
	}
	if !isStream(network) && !isPacket(network) {
		return Addr{}, net.UnknownNetworkError(network)
	}
	return resolve(address, s.options.Prefixes, s.number)
}

// DialFrom opens a connection from a port of the own node, or from one that is free if that is 0.
func (s *Stack) DialFrom(ctx context.Context, port uint16, to Addr) (*Conn, error) {
	c, err := s.dial(ctx, port, to)
	if err != nil {
		return nil, opError("dial", "connect", nil, to, err)
	}
	return c, nil
}

// dial opens a connection.
func (s *Stack) dial(ctx context.Context, own uint16, to Addr) (*Conn, error) {
	err := s.lock()
	var c *Conn
	if err == nil {
		var st *stream.Stream
		if st, err = s.mux.Dial(to.Node, to.Port, own); err == nil {
			c = newConn(s, st)
		}
	}
	s.unlock()
	if err != nil {
		return nil, err
	}
	for {
		if err = s.lock(); err == nil {
			err = c.stream.Opened()
		}
		if err != syscall.EAGAIN {
			break
		}
		s.unlock()
		select {
		case <-c.write.ready:
			continue
		case <-ctx.Done():
		}
		_ = s.lock()
		err = context.Cause(ctx)
		break
	}
	if err != nil {
		_ = c.close(true)
	}
	s.unlock()
	return c, err
}

func (s *Stack) dialPacket(to Addr) (net.Conn, error) {
	p, err := s.newPacket(0, to)
	if err != nil {
		return nil, opError("dial", "connect", nil, to, err)
	}
	return p, nil
}
