package socket

import (
	"errors"
	"io"
	"net"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/stream"
)

// Conn is a connection: a net.Conn with halves that can be closed, as *net.TCPConn.
type Conn struct {
	stack         *Stack
	stream        *stream.Stream
	local, remote Addr
	read, write   half
	closed        bool // under the lock of the stack
	linger        time.Duration
}

// newConn is called under the lock.
func newConn(s *Stack, st *stream.Stream) *Conn {
	c := &Conn{stack: s, stream: st, local: Addr{s.number, st.Port}, remote: Addr{st.Node(), st.PeerPort}, linger: -1}
	c.read.ready, c.write.ready = make(chan struct{}, 1), make(chan struct{}, 1)
	st.Readable = func() { signal(c.read.ready) }
	st.Writable = func() { signal(c.write.ready) }
	return c
}

// Read reads what has come.
func (c *Conn) Read(b []byte) (n int, err error) {
	err = c.stack.do(&c.read, &c.closed, func() (err error) {
		n, err = c.stream.Read(b)
		return err
	})
	switch {
	case err != nil:
		return n, opError("read", "read", c.local, c.remote, err)
	case n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return n, nil
}

// Write writes all, or fails.
func (c *Conn) Write(b []byte) (n int, err error) {
	err = c.stack.do(&c.write, &c.closed, func() error {
		for {
			k, err := c.stream.Write(b[n:])
			if n += k; err != nil || n == len(b) {
				return err
			}
		}
	})
	if err != nil {
		err = opError("write", "write", c.local, c.remote, err)
	}
	return n, err
}

// AwaitOver waits, once all is read, until nothing can come or go any more. It fails if the connection has not ended as it should, and at the deadline of reads.
func (c *Conn) AwaitOver() error {
	if err := c.stack.do(&c.read, &c.closed, c.stream.Over); err != nil {
		return opError("read", "read", c.local, c.remote, err)
	}
	return nil
}

// LocalAddr is the own end's address.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr is the other end's address.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets the deadlines of reads and writes.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline sets the deadline of reads, those underway included.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.setDeadline(&c.read, t) }

// SetWriteDeadline sets the deadline of writes.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.setDeadline(&c.write, t) }

func (c *Conn) setDeadline(h *half, t time.Time) error {
	return c.control("set", func() { h.deadline.set(t) })
}

// control does something with a connection that is not closed.
func (c *Conn) control(op string, do func()) error {
	return c.stack.control(op, c.local, c.remote, &c.closed, do)
}

// CloseRead ends reading: what has come and will come is dropped.
func (c *Conn) CloseRead() error {
	return c.shutdown(c.stream.CloseRead)
}

// CloseWrite ends writing: the other end reads what was written, and then io.EOF.
func (c *Conn) CloseWrite() error {
	return c.shutdown(c.stream.CloseWrite)
}

func (c *Conn) shutdown(half func() error) error {
	var failed error
	if err := c.control("close", func() { failed = half() }); err != nil {
		return err
	}
	if failed != nil {
		return opError("close", "shutdown", c.local, c.remote, failed)
	}
	return nil
}

// SetLinger says what Close does with what is to be sent still: below 0, the default, it sends that in the background; 0: it drops that, and the other end
// gets ECONNRESET; above 0: it waits for so many seconds, and drops what is left then.
func (c *Conn) SetLinger(seconds int) error {
	return c.control("set", func() { c.linger = time.Duration(seconds) * time.Second })
}

// Close closes the connection.
func (c *Conn) Close() error {
	_ = c.stack.lock() // also where nothing works any more
	linger := c.linger
	err := c.close(linger == 0)
	flushed := make(chan struct{}, 1)
	if err == nil && linger > 0 { // write.ready is left to a Write that is to end
		c.stream.Writable = func() { signal(flushed) }
	}
	c.stack.unlock()
	if err != nil || linger <= 0 {
		return err
	}
	var over deadline
	over.set(time.Now().Add(linger))
	for {
		_ = c.stack.lock()
		done := c.stream.Flushed()
		if !done && passed(over.wait()) {
			c.stream.Abort()
			done = true
		}
		c.stack.unlock()
		if done {
			return nil
		}
		select {
		case <-flushed:
		case <-over.wait():
		}
	}
}

// close closes the connection, under the lock.
func (c *Conn) close(abort bool) error {
	if c.closed || c.stack == nil {
		return opError("close", "close", c.local, c.remote, net.ErrClosed)
	}
	c.closed = true
	if abort {
		c.stream.Abort()
	}
	c.stream.Close()
	signal(c.read.ready)
	signal(c.write.ready)
	return nil
}
