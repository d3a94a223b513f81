package hostdrv

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

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// client is a program's end of the connection to the server of an NI.
type client struct {
	path     string
	conn     *net.UnixConn
	identity Identity
	stands   bool
	slots    chan struct{} // one for each call underway
	work     sync.WaitGroup
	stopped  chan struct{} // closed when err is set
	once     sync.Once
	closed   error // of closing conn

	links   []*clientLink // by link - 1
	sending sync.Mutex    // one at a time, in order
	unsent  chan struct{} // has room for one: writes are to be sent

	mu    sync.Mutex
	err   error // why nothing works any more
	last  uint32
	calls map[uint32]*remoteCall
	ports map[uint32]*clientPort // by handle
}

// remoteCall is a call underway.
type remoteCall struct {
	answer chan answer // has room for it
	// undo, if nobody waits for the answer any more, is called with one that is no error.
	undo func(answer)
	gone bool
}

type answer struct {
	message sharing.Message
	file    *os.File // or nil
	err     error
}

// dialServer connects to the server of an NI, of which it wants a hash as Options do.
func dialServer(ctx context.Context, path string, hash uint64) (*client, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unixpacket", path)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("hostdrv: the network interface that is served at %s is another user's, who may let a group in (lmmc serve --group): %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("hostdrv: no network interface is served at %s (lmmc serve does that): %w", path, err)
	}
	c := &client{path: path, conn: conn.(*net.UnixConn), slots: make(chan struct{}, 1), stopped: make(chan struct{}), unsent: make(chan struct{}, 1),
		calls: map[uint32]*remoteCall{}, ports: map[uint32]*clientPort{}}
	c.work.Go(c.read)
	a, err := c.call(ctx, sharing.Message{Op: sharing.OpHello, Value: sharing.Version})
	var w sharing.Welcome
	if err == nil {
		err = errors.Join(json.Unmarshal(a.message.Data, &w), json.Unmarshal(w.Identity, &c.identity))
	}
	if err == nil {
		err = c.identity.check(hash)
	}
	if err == nil && w.Calls < 1 {
		err = fmt.Errorf("%w: its server takes %d calls", ErrProtocol, w.Calls)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	c.stands, c.slots = w.VirtualTime, make(chan struct{}, w.Calls)
	c.openLinks()
	return c, nil
}

// read takes what the server says until the connection ends.
func (c *client) read() {
	message, control := make([]byte, sharing.MaxMessage), make([]byte, 64)
	for reset := false; ; {
		n, file, err := receive(c.conn, message, control)
		if errors.Is(err, syscall.ECONNRESET) && !reset { // its last words may be behind that
			reset = true
			continue
		}
		var m sharing.Message
		if err == nil {
			m, err = sharing.Decode(message[:n])
		}
		if err == nil {
			err = c.heard(m, file)
		} else {
			err = fmt.Errorf("%w: the server at %s has ended: %w", ErrGone, c.path, err)
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

// heard takes what the server says, which owns the file.
func (c *client) heard(m sharing.Message, file *os.File) error {
	switch m.Op {
	case sharing.OpCarried:
		return c.progress(m)
	case sharing.OpSpoilt:
		return c.spoil(m)
	case sharing.OpRefused:
		why, err := c.failureOf(m)
		return errors.Join(err, fmt.Errorf("hostdrv: the server at %s serves this program no more: %w", c.path, why))
	}
	a := answer{message: m, file: file}
	if m.Op == sharing.OpFailed {
		why, err := c.failureOf(m)
		if err != nil {
			return err
		}
		a.err = why
	}
	return c.answered(a)
}

// failureOf reads the failure that a message tells of.
func (c *client) failureOf(m sharing.Message) (why, err error) {
	var f sharing.Failure
	if err := json.Unmarshal(m.Data, &f); err != nil {
		return nil, fmt.Errorf("%w: the server at %s sent %q: %w", ErrProtocol, c.path, m.Data, err)
	}
	return errorOf(f), nil
}

// answered takes an answer.
func (c *client) answered(a answer) error {
	m := a.message
	c.mu.Lock()
	call := c.calls[m.Call]
	if call == nil || m.Op < sharing.OpDone {
		c.mu.Unlock()
		return fmt.Errorf("%w: it answered call %d, which nobody made", ErrProtocol, m.Call)
	}
	delete(c.calls, m.Call)
	<-c.slots
	gone := call.gone
	a.message.Data = append([]byte(nil), m.Data...)
	if !gone {
		call.answer <- a
	}
	c.mu.Unlock()
	if gone {
		if a.file != nil {
			a.file.Close()
		}
		if call.undo != nil && a.err == nil {
			c.work.Go(func() { call.undo(a) })
		}
	}
	return nil
}

// fail ends everything.
func (c *client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
		close(c.stopped)
	}
	for _, call := range c.calls {
		if !call.gone {
			call.answer <- answer{err: c.err}
		}
	}
	clear(c.calls)
}

// call asks the server and waits for the answer.
func (c *client) call(ctx context.Context, m sharing.Message) (answer, error) {
	return c.callUndo(ctx, m, nil)
}

// callUndo is call; if ctx ends first and the server has done it all the same, undo is called.
func (c *client) callUndo(ctx context.Context, m sharing.Message, undo func(answer)) (answer, error) {
	select {
	case c.slots <- struct{}{}:
	case <-c.stopped:
		return answer{}, c.failure()
	case <-ctx.Done():
		return answer{}, waitError(ctx, c.what(m))
	}
	call := &remoteCall{answer: make(chan answer, 1), undo: undo}
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return answer{}, c.err
	}
	c.last++
	m.Call = c.last
	c.calls[m.Call] = call
	c.mu.Unlock()
	c.send(m.Append(make([]byte, 0, 64+len(m.Data))))
	select {
	case a := <-call.answer:
		return a, a.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	select {
	case a := <-call.answer: // just so
		c.mu.Unlock()
		return a, a.err
	default:
	}
	call.gone = true
	c.mu.Unlock()
	c.conn.Write(sharing.Message{Op: sharing.OpCancel, Call: m.Call}.Append(nil))
	return answer{}, waitError(ctx, c.what(m))
}

// put writes a message to the socket. If the server has ended, reading tells why.
func (c *client) put(message []byte) {
	if _, err := c.conn.Write(message); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		c.conn.Close()
	}
}

// over is why nothing works any more, or nil.
func (c *client) over() error {
	select {
	case <-c.stopped:
		return c.failure()
	default:
		return nil
	}
}

func (c *client) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func waitError(ctx context.Context, what string) error {
	return fmt.Errorf("hostdrv: waiting for %s: %w", what, context.Cause(ctx))
}

// what describes what a call waits for.
func (c *client) what(m sharing.Message) string {
	switch m.Op {
	case sharing.OpConnect:
		return "the other node to accept a port"
	case sharing.OpAccept:
		return "a request to connect"
	case sharing.OpWait:
		return "a change of a port"
	case sharing.OpFlush:
		return "the server to send what was written"
	case sharing.OpSync:
		return "the peer to acknowledge"
	}
	return "the server at " + c.path
}

// close ends the connection: the server deletes the ports.
func (c *client) close() error {
	c.fail(ErrClosed)
	c.once.Do(func() {
		if c.closed = c.conn.Close(); errors.Is(c.closed, net.ErrClosed) {
			c.closed = nil // the connection failed before
		}
		c.mu.Lock()
		ports := c.ports
		c.ports = nil
		c.mu.Unlock()
		for _, p := range ports {
			c.closed = errors.Join(c.closed, p.release())
		}
	})
	c.work.Wait()
	return c.closed
}

// fetch asks for what comes in a file, as JSON, and decodes that.
func (c *client) fetch(ctx context.Context, op sharing.Op, into any) error {
	a, err := c.call(ctx, sharing.Message{Op: op})
	if err != nil {
		return err
	}
	if a.file == nil {
		return c.noFile()
	}
	defer a.file.Close()
	text, err := io.ReadAll(io.NewSectionReader(a.file, 0, 1<<30))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func (c *client) noFile() error {
	return fmt.Errorf("%w: the server at %s sent no file", ErrProtocol, c.path)
}

func (c *client) report(ctx context.Context) (r Report, err error) {
	err = c.fetch(ctx, sharing.OpReport, &r)
	return r, err
}

func (c *client) createPort(node *Node, link int, d Direction) (*Port, error) {
	if link < 1 || link > len(c.links) || d > Receive {
		return nil, fmt.Errorf("%w: no link %d, there are %d, or no direction %d", ErrRange, link, len(c.links), d)
	}
	a, err := c.call(context.Background(), sharing.Message{Op: sharing.OpCreate, Value: uint64(link)<<1 | uint64(d)})
	if err != nil {
		return nil, err
	}
	return c.newPort(node, a.message.Port, uint32(a.message.Value), link, d), nil
}

func (c *client) accept(ctx context.Context, node *Node, prefix []byte) (*Request, error) {
	a, err := c.callUndo(ctx, sharing.Message{Op: sharing.OpAccept, Data: prefix}, func(a answer) {
		c.call(context.Background(), sharing.Message{Op: sharing.OpRefuse, Port: a.message.Port, Data: []byte("the program stopped waiting")})
	})
	if err != nil {
		return nil, err
	}
	var o sharing.Offer
	if err := json.Unmarshal(a.message.Data, &o); err != nil || o.Direction > uint8(Receive) || o.Link < 1 || o.Link > len(c.links) {
		return nil, fmt.Errorf("%w: the server at %s offers % x", ErrProtocol, c.path, a.message.Data)
	}
	return &Request{node: node, via: o.Link, id: uint32(a.message.Value), direction: Direction(o.Direction), params: o.Params, handle: a.message.Port}, nil
}

func (c *client) take(r *Request) (*Port, error) {
	if _, err := c.call(context.Background(), sharing.Message{Op: sharing.OpTake, Port: r.handle}); err != nil {
		return nil, err
	}
	return c.newPort(r.node, r.handle, r.id, r.via, r.direction), nil
}

func (c *client) refuse(r *Request, reason string) error {
	_, err := c.call(context.Background(), sharing.Message{Op: sharing.OpRefuse, Port: r.handle, Data: []byte(reason)})
	return err
}
