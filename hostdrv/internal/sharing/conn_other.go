//go:build !linux

package sharing

import (
	"net"
	"time"
)

// Conn carries messages between a program and the server.
type Conn struct{ *net.UnixConn }

// NewConn makes a Conn of a socket, which it takes over.
func NewConn(from *net.UnixConn) (*Conn, error) { return &Conn{from}, nil }

// Receive waits for a message.
func (c *Conn) Receive(message, control []byte) (n, controls int, err error) {
	n, controls, _, _, err = c.ReadMsgUnix(message, control)
	return n, controls, err
}

// Send sends a message.
func (c *Conn) Send(message, control []byte) error {
	_, _, err := c.WriteMsgUnix(message, control, nil)
	return err
}

// LimitSends and LimitReceives have Send and Receive wait until then at most; zero: for ever.
func (c *Conn) LimitSends(until time.Time) error    { return c.SetWriteDeadline(until) }
func (c *Conn) LimitReceives(until time.Time) error { return c.SetReadDeadline(until) }
