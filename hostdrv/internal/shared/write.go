package shared

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// link is what a client writes by one link, on its way to the server. Many writes go in one message, without answers: the server reports
// progress now and then, and writes that have failed; the next use of that port returns the error.
type link struct {
	number uint32

	// Under Client.Mu.
	full    [][]byte // OpWrites that have no room for another write
	message []byte   // one that has; empty if there is none
	spare   []byte   // memory of another
	written uint64   // bytes of writes in all
	carried uint64   // of them, those that the server has carried out
}

// sendWrites sends writes until the connection ends.
func (c *Client) sendWrites() {
	for {
		select {
		case <-c.unsent:
			c.send(nil)
		case <-c.stopped:
			return
		}
	}
}

// send sends a message, after what was written before. If the server has ended, read finds out why.
func (c *Client) send(message []byte) {
	c.sending.Lock()
	defer c.sending.Unlock()
	for _, l := range c.links {
		c.Mu.Lock()
		full, writes := l.full, l.message
		l.full, l.message, l.spare = nil, l.spare[:0], nil
		c.Mu.Unlock()
		for _, m := range full {
			c.put(m)
		}
		if len(writes) > 0 {
			c.put(writes)
		}
		c.Mu.Lock()
		l.spare = writes
		c.Mu.Unlock()
	}
	if len(message) > 0 {
		c.put(message)
	}
}

// put writes a message to the socket.
func (c *Client) put(message []byte) {
	if err := c.conn.Send(message, nil); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		c.conn.Close()
	}
}

// Write queues a write; it is for Client.Mu held. False means that too many wait for the server.
func (p *Port) Write(data []byte, off int) (bool, error) {
	l, c := p.link, p.c
	if err := p.takeFailure(); err != nil {
		return false, err
	}
	size := sharing.WriteOverhead + len(data)
	if l.written+uint64(size)-l.carried > sharing.WriteWindow {
		return false, nil
	}
	if len(l.message)+size > sharing.MaxMessage {
		l.full, l.message = append(l.full, l.message), l.spare[:0]
		l.spare = nil
	}
	if len(l.message) == 0 {
		l.message = sharing.Message{Op: sharing.OpWrite, Port: l.number}.Append(l.message)
	}
	l.message = sharing.Write{Port: p.handle, Attempt: p.attempt, Offset: off, Data: data}.Append(l.message)
	l.written += uint64(size)
	p.written++
	select {
	case c.unsent <- struct{}{}:
	default:
	}
	return true, nil
}

// takeFailure returns once that a write has failed. What is written from here on counts again.
func (p *Port) takeFailure() error {
	err := p.failed
	if err == nil {
		return nil
	}
	p.failed = nil
	p.attempt++
	return fmt.Errorf("port %d: an earlier write failed, and later ones were dropped: %w", p.id, err)
}

// carried takes an OpWritten.
func (c *Client) carried(m sharing.Message) error {
	l := c.links[int(m.Port)]
	if l == nil {
		return violation("reported writes by link %d, which the node has not", m.Port)
	}
	if m.Value < l.carried || m.Value > l.written {
		return violation("reported %d bytes of writes, after %d, of %d", m.Value, l.carried, l.written)
	}
	l.carried = m.Value
	return nil
}
