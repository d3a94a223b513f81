package hostdrv

import (
	"context"
	"fmt"
	"sync"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// clientLink is what a client writes by one link, on its way to the server. Many writes go in one message, without answers: the server tells
// now and then how far it is, and of a port whose write has failed, which the next use of that port returns.
type clientLink struct {
	number uint32

	mu      sync.Mutex
	message []byte        // an OpWrite that has not been sent; empty if there is none
	spare   []byte        // memory of another
	written uint64        // bytes of writes in all
	carried uint64        // of them, what the server is done with
	room    chan struct{} // closed when there is more, nil if nobody waits for that
}

// openLinks gets ready to write.
func (c *client) openLinks() {
	links := make([]*clientLink, c.identity.Links)
	for i := range links {
		links[i] = &clientLink{number: uint32(i + 1)}
	}
	c.mu.Lock()
	c.links = links
	c.mu.Unlock()
	c.work.Go(func() {
		for {
			select {
			case <-c.unsent:
				c.send(nil)
			case <-c.stopped:
				return
			}
		}
	})
}

// send sends a message, after what was written before. If the server has ended, reading tells why.
func (c *client) send(message []byte) {
	c.sending.Lock()
	defer c.sending.Unlock()
	for _, l := range c.links {
		l.mu.Lock()
		writes := l.message
		l.message, l.spare = l.spare[:0], nil
		l.mu.Unlock()
		if len(writes) > 0 {
			c.put(writes)
		}
		l.mu.Lock()
		l.spare = writes
		l.mu.Unlock()
	}
	if len(message) > 0 {
		c.put(message)
	}
}

// write queues a write. It waits while the server is behind with those before.
func (p *clientPort) write(ctx context.Context, data []byte, off int) error {
	l, c := p.link, p.c
	w := sharing.Write{Port: p.handle, Offset: off, Data: data}
	size := sharing.WriteOverhead + len(data)
	for {
		l.mu.Lock()
		switch {
		case p.deleted:
			l.mu.Unlock()
			return deleted(p.id)
		case p.spoilt != nil:
			defer l.mu.Unlock()
			return p.takeFailure()
		case l.written+uint64(size)-l.carried > sharing.WriteWindow:
			if l.room == nil {
				l.room = make(chan struct{})
			}
			room := l.room
			l.mu.Unlock()
			select {
			case <-room:
			case <-c.stopped:
				return c.failure()
			case <-ctx.Done():
				return waitError(ctx, fmt.Sprintf("room to write to port %d", p.id))
			}
		case len(l.message)+size > sharing.MaxMessage:
			l.mu.Unlock()
			c.send(nil)
		default:
			if len(l.message) == 0 {
				l.message = sharing.Message{Op: sharing.OpWrite, Port: l.number}.Append(l.message)
			}
			w.Attempt = p.attempt
			l.message = w.Append(l.message)
			l.written += uint64(size)
			p.written++
			l.mu.Unlock()
			select {
			case c.unsent <- struct{}{}:
			default:
			}
			return c.over()
		}
	}
}

// takeFailure tells of a write that has failed, once; it is for link.mu held. What is written from here on counts again.
func (p *clientPort) takeFailure() error {
	err := p.spoilt
	if err == nil {
		return nil
	}
	p.spoilt = nil
	p.attempt++
	return fmt.Errorf("hostdrv: port %d: a write failed, and those after it were not made: %w", p.id, err)
}

// settle waits until the server has carried out what was written to the port, by an OpFlush or OpSync, and says how that went.
func (p *clientPort) settle(ctx context.Context, op sharing.Op) error {
	p.link.mu.Lock()
	written := p.written
	p.link.mu.Unlock()
	_, err := p.ask(ctx, op, 0, nil)
	p.link.mu.Lock()
	defer p.link.mu.Unlock()
	if failed := p.takeFailure(); failed != nil {
		return failed
	}
	if err == nil {
		p.settled = max(p.settled, written)
	}
	return err
}

// progress takes an OpCarried.
func (c *client) progress(m sharing.Message) error {
	c.mu.Lock()
	links := c.links
	c.mu.Unlock()
	if m.Port < 1 || int(m.Port) > len(links) {
		return fmt.Errorf("%w: the server at %s tells of writes by link %d, there are %d", ErrProtocol, c.path, m.Port, len(links))
	}
	l := links[m.Port-1]
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.Value < l.carried || m.Value > l.written {
		return fmt.Errorf("%w: the server at %s has carried out %d bytes of writes, after %d, of %d", ErrProtocol, c.path, m.Value, l.carried, l.written)
	}
	l.carried = m.Value
	if l.room != nil {
		close(l.room)
		l.room = nil
	}
	return nil
}

// spoil takes an OpSpoilt.
func (c *client) spoil(m sharing.Message) error {
	why, err := c.failureOf(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	p := c.ports[m.Port]
	c.mu.Unlock()
	if p == nil { // deleted meanwhile
		return nil
	}
	p.link.mu.Lock()
	defer p.link.mu.Unlock()
	if p.spoilt == nil && m.Value == uint64(p.attempt) {
		p.spoilt = why
	}
	return nil
}
