// Package shared is a program's end of the connection to the server of another process's network interface (NI).
package shared

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/hostdrv/internal/wait"
)

// Config says how to use a server.
type Config struct {
	Path    string // of the socket
	Hash    uint64 // of the RTL that the NI must have been built from; 0 takes any
	Spin    time.Duration
	ErrorOf func(sharing.Failure) error // makes an error of one that the server sent
}

// Client is the connection.
type Client struct {
	Links []sharing.Link // of the server's node

	config      Config
	conn        *sharing.Conn
	identity    engine.Identity
	virtualTime bool
	slots       chan struct{} // one for each call underway
	work        sync.WaitGroup
	stopped     chan struct{} // closed when err is set
	once        sync.Once
	closed      error // of closing conn

	sending sync.Mutex    // one at a time, in order
	unsent  chan struct{} // has room for one: writes are to be sent

	// Mu is the lock of the client and its ports.
	Mu      sync.Mutex
	err     error // why nothing works any more
	waiters wait.List
	links   map[int]*link
	last    uint32
	calls   map[uint32]*call
	ports   map[uint32]*Port     // by handle
	talks   map[uint32]*Messages // by handle
}

// call is a call underway.
type call struct {
	answer chan Answer // has room for it
	// then is called with an answer that is no error, under Mu and before the next message is read.
	then func(Answer)
	// undo is called with one if nobody waits for it any more.
	undo func(Answer)
	// sure makes a context that ends cancel the call and wait for its answer, by which the server has carried it out or has not.
	sure bool
	gone bool
}

// Answer is what the server answers.
type Answer struct {
	sharing.Message
	File *os.File // or nil
	err  error
}

// Dial connects to the server of an NI.
func Dial(ctx context.Context, config Config) (*Client, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unixpacket", config.Path)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("another user serves a network interface there, who may let a group in (lmmc serve --group): %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("no network interface is served there (lmmc serve does that): %w", err)
	}
	messages, err := sharing.NewConn(conn.(*net.UnixConn))
	if err != nil {
		return nil, err
	}
	c := &Client{config: config, conn: messages, slots: make(chan struct{}, 1), stopped: make(chan struct{}), unsent: make(chan struct{}, 1),
		calls: map[uint32]*call{}, ports: map[uint32]*Port{}, talks: map[uint32]*Messages{}}
	c.work.Go(c.read)
	a, err := c.Call(ctx, "the server", sharing.Message{Op: sharing.OpHello, Value: sharing.Version})
	var w sharing.Welcome
	if err == nil {
		err = errors.Join(json.Unmarshal(a.Data, &w), json.Unmarshal(w.Identity, &c.identity))
	}
	if err == nil {
		err = c.identity.Check(config.Hash)
	}
	if err == nil && w.Calls < 1 {
		err = fmt.Errorf("%w: the server takes %d calls", engine.ErrProtocol, w.Calls)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.virtualTime, c.slots = w.VirtualTime, make(chan struct{}, w.Calls)
	links := map[int]*link{}
	for _, l := range w.Links {
		links[l.Link] = &link{number: uint32(l.Link)}
	}
	c.Mu.Lock()
	c.Links, c.links = w.Links, links
	c.Mu.Unlock()
	c.work.Go(c.sendWrites)
	return c, nil
}

// Identity is the NI's.
func (c *Client) Identity() engine.Identity { return c.identity }

// read takes the server's messages until the connection ends.
func (c *Client) read() {
	message, control := make([]byte, sharing.MaxMessage), make([]byte, 64)
	for reset := false; ; {
		n, file, err := receive(c.conn, message, control)
		if errors.Is(err, syscall.ECONNRESET) && !reset { // its last messages may be behind that
			reset = true
			continue
		}
		var m sharing.Message
		if err == nil {
			m, err = sharing.Decode(message[:n])
		}
		if err == nil {
			err = c.take(m, file)
		} else {
			err = fmt.Errorf("%w: the server has ended: %w", engine.ErrGone, err)
		}
		if err != nil {
			if file != nil {
				file.Close()
			}
			c.fail(err)
			return
		}
	}
}

// take takes a message of the server, and its file. An error ends the connection.
func (c *Client) take(m sharing.Message, file *os.File) (err error) {
	var why error
	if m.Op == sharing.OpFailed || m.Op == sharing.OpRefused || m.Op == sharing.OpWriteFailed || m.Op == sharing.OpEnded {
		var f sharing.Failure
		if err := json.Unmarshal(m.Data, &f); err != nil {
			return violation("sent %q: %w", m.Data, err)
		}
		why = c.config.ErrorOf(f)
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	defer c.release()
	switch m.Op {
	case sharing.OpWritten:
		return c.carried(m)
	case sharing.OpWriteFailed:
		if p := c.ports[m.Port]; p != nil && p.failed == nil && m.Value == uint64(p.attempt) {
			p.failed = why
		}
		return nil
	case sharing.OpEnded:
		if p := c.ports[m.Port]; p != nil {
			p.end(why)
		}
		if x := c.talks[m.Port]; x != nil {
			x.ended.CompareAndSwap(nil, &why)
		}
		return nil
	case sharing.OpMessageCame:
		if x := c.talks[m.Port]; x != nil {
			x.came++
		}
		return nil
	case sharing.OpRefused:
		return why
	}
	return c.answer(Answer{Message: m, File: file, err: why})
}

func violation(format string, args ...any) error {
	return fmt.Errorf("%w: the server "+format, append([]any{engine.ErrProtocol}, args...)...)
}

// answer takes an answer; it is for Mu held.
func (c *Client) answer(a Answer) error {
	call := c.calls[a.Call]
	if call == nil || a.Op < sharing.OpDone {
		return violation("answered call %d, which is not underway", a.Call)
	}
	delete(c.calls, a.Call)
	<-c.slots
	a.Data = append([]byte(nil), a.Data...)
	switch {
	case !call.gone:
		if call.then != nil && a.err == nil {
			call.then(a)
		}
		call.answer <- a
		return nil
	case a.File != nil:
		a.File.Close()
	}
	if call.undo != nil && a.err == nil {
		c.work.Go(func() { call.undo(a) })
	}
	return nil
}

// fail ends everything.
func (c *Client) fail(err error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if c.err == nil {
		c.err = err
		close(c.stopped)
	}
	for _, call := range c.calls {
		if !call.gone {
			call.answer <- Answer{err: c.err}
		}
	}
	clear(c.calls)
	c.release()
}

func (c *Client) release() { c.waiters.Release(c.hasFailed) }

func (c *Client) hasFailed() bool { return c.err != nil }

// Err is why nothing works any more, or nil; it is for Mu held.
func (c *Client) Err() error { return c.err }

// Until waits until done, which is asked under Mu, now and after each message of the server.
func (c *Client) Until(ctx context.Context, what string, done func() bool) error {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	w := c.waiters.Add(ctx, done)
	c.release()
	c.Mu.Unlock()
	w.Await()
	c.Mu.Lock()
	c.waiters.Remove(w)
	return w.Err(what, c.err)
}

// Call asks the server and waits for the answer.
func (c *Client) Call(ctx context.Context, what string, m sharing.Message) (Answer, error) {
	return c.do(ctx, what, m, call{})
}

// CallSure is Call that fails only if the server has not carried it out: also when ctx ends it waits for the answer.
func (c *Client) CallSure(ctx context.Context, what string, m sharing.Message) (Answer, error) {
	return c.do(ctx, what, m, call{sure: true})
}

func (c *Client) do(ctx context.Context, what string, m sharing.Message, with call) (Answer, error) {
	select {
	case c.slots <- struct{}{}:
	case <-c.stopped:
		return Answer{}, c.failure()
	case <-ctx.Done():
		if err := c.failure(); err != nil {
			return Answer{}, err
		}
		return Answer{}, wait.Error(ctx, what)
	}
	call := &with
	call.answer = make(chan Answer, 1)
	c.Mu.Lock()
	if c.err != nil {
		c.Mu.Unlock()
		return Answer{}, c.err
	}
	c.last++
	m.Call = c.last
	c.calls[m.Call] = call
	c.Mu.Unlock()
	c.send(m.Append(make([]byte, 0, 64+len(m.Data))))
	select {
	case a := <-call.answer:
		return a, a.err
	case <-ctx.Done():
	}
	c.Mu.Lock()
	select {
	case a := <-call.answer: // meanwhile
		c.Mu.Unlock()
		return a, a.err
	default:
	}
	call.gone = !call.sure
	c.Mu.Unlock()
	c.conn.Send(sharing.Message{Op: sharing.OpCancel, Call: m.Call}.Append(nil), nil)
	if call.sure {
		if a := <-call.answer; !errors.Is(a.err, context.Canceled) {
			return a, a.err
		}
	}
	return Answer{}, wait.Error(ctx, what)
}

func (c *Client) failure() error {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return c.err
}

// Close ends the connection: the server deletes the ports.
func (c *Client) Close() error {
	c.fail(engine.ErrClosed)
	c.once.Do(func() {
		c.Mu.Lock()
		talks := c.talks
		c.talks = nil
		c.Mu.Unlock()
		if c.closed = c.conn.Close(); errors.Is(c.closed, net.ErrClosed) {
			c.closed = nil // the connection failed before
		}
		for _, x := range talks {
			c.closed = errors.Join(c.closed, x.release())
		}
		c.Mu.Lock()
		defer c.Mu.Unlock()
		for _, p := range c.ports {
			c.closed = errors.Join(c.closed, p.release())
		}
		c.ports = nil
	})
	c.work.Wait()
	return c.closed
}

// Fetch asks for what comes in a file, as JSON, and decodes that.
func (c *Client) Fetch(ctx context.Context, m sharing.Message, into any) error {
	a, err := c.CallFile(ctx, m)
	if err != nil {
		return err
	}
	defer a.File.Close()
	text, err := io.ReadAll(io.NewSectionReader(a.File, 0, 1<<30))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// CallFile is Call for what is answered by a file.
func (c *Client) CallFile(ctx context.Context, m sharing.Message) (Answer, error) {
	a, err := c.Call(ctx, "the server", m)
	if err == nil && a.File == nil {
		err = violation("sent no file")
	}
	return a, err
}

// CreatePort creates a port.
func (c *Client) CreatePort(link int, direction uint8) (*Port, error) {
	return c.newPort(sharing.Message{Op: sharing.OpCreate, Value: uint64(link)<<1 | uint64(direction)}, link)
}

// newPort asks for a port. It is registered before the next message is read, which may say that it has ended.
func (c *Client) newPort(m sharing.Message, number int) (*Port, error) {
	p := &Port{c: c, link: c.links[number], done: make(chan struct{})}
	_, err := c.do(context.Background(), "the server", m, call{then: func(a Answer) {
		if p.handle, p.id = a.Port, uint32(a.Value); c.ports != nil {
			c.ports[p.handle] = p
		}
	}})
	return p, err
}
