package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// client is a program that uses the NI.
type client struct {
	server     *server
	conn       *sharing.Conn
	own        bool            // of the server's user
	connection context.Context // ends with it
	gone       chan struct{}   // closed when the connection has ended
	work       sync.WaitGroup  // calls and lanes underway, and what they have left
	lanes      map[int]*lane   // by link

	mu       sync.Mutex
	last     uint32
	ports    map[uint32]*port // by handle
	offers   map[uint32]*hostdrv.Request
	contexts map[uint32]*messages        // by handle
	barriers map[uint32]*hostdrv.Barrier // by handle
	calls    map[uint32]context.CancelFunc
	captured *outlet // of the capture that is underway, or nil
}

// port is a port of a client.
type port struct {
	*hostdrv.Port
	deleted bool // and not ended yet, since what was written to it goes first; for client.mu held

	mu     sync.Mutex
	window *hostdrv.Window // nil until it is mapped

	// For its link's lane.
	attempt uint8 // of the last Write
	failed  bool  // which failed
}

// errBroken is wrapped by what a client is ended for.
var errBroken = errors.New("it broke the rules of the socket")

// run serves a client until it goes, with nil, or must, with why.
func (c *client) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	c.connection, c.lanes = ctx, map[int]*lane{}
	for _, l := range c.server.node.Links() {
		c.lanes[l.Link] = &lane{client: c, connection: ctx, link: l.Link}
	}
	stop := context.AfterFunc(ctx, func() {
		c.dismiss(c.server.gone(ctx))
	})
	err := c.read(ctx)
	if !stop() { // the server ends
		err = nil
	}
	cancel(err)
	if err != nil {
		c.dismiss(err)
	}
	c.conn.Close()
	close(c.gone)
	c.work.Wait()
	c.reclaim()
	return err
}

// read takes what the client asks for.
func (c *client) read(ctx context.Context) error {
	bytes := make([]byte, sharing.MaxMessage+1) // one too long is seen
	for greeted := false; ; greeted = true {
		n, _, err := c.conn.Receive(bytes, nil)
		if err != nil {
			return nil // gone, however
		}
		m, err := sharing.Decode(bytes[:n])
		switch {
		case err != nil:
			return fmt.Errorf("%w: %w", errBroken, err)
		case greeted == (m.Op == sharing.OpHello):
			return fmt.Errorf("%w: the greeting comes first, and only once", errBroken)
		case m.Op >= sharing.OpDone:
			return fmt.Errorf("%w: it sent an answer", errBroken)
		case m.Op == sharing.OpHello && m.Value != sharing.Version:
			return fmt.Errorf("%w: it speaks version %d, the server version %d: build both from the same sources", errBroken, m.Value, sharing.Version)
		case m.Op == sharing.OpCancel:
			c.cancel(m.Call)
		case m.Op == sharing.OpWrite && c.lanes[int(m.Port)] == nil:
			return fmt.Errorf("%w: it writes by link %d, there are %d", errBroken, m.Port, len(c.lanes))
		case m.Op == sharing.OpWrite:
			err = c.lanes[int(m.Port)].write(m.Data)
		case m.Op == sharing.OpMessagePosted:
			c.posted(m.Port)
		default:
			err = c.begin(ctx, m)
		}
		if err != nil {
			return err
		}
	}
}

func (c *client) cancel(call uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.calls[call]; cancel != nil {
		cancel()
	}
}

// begin begins a call. What cannot wait is done at once, so it is done in the order in which it was asked for.
func (c *client) begin(connection context.Context, m sharing.Message) error {
	ctx, cancel := context.WithCancel(connection)
	c.mu.Lock()
	switch {
	case c.calls[m.Call] != nil:
		c.mu.Unlock()
		cancel()
		return fmt.Errorf("%w: call %d is underway already", errBroken, m.Call)
	case len(c.calls) >= c.server.options.Calls:
		c.mu.Unlock()
		cancel()
		return fmt.Errorf("%w: more than %d calls underway", errBroken, c.server.options.Calls)
	}
	c.calls[m.Call] = cancel
	c.mu.Unlock()
	do := calls[m.Op]
	carry := func() {
		answer, file, err := do.run(c, ctx, m)
		cancel()
		c.mu.Lock()
		delete(c.calls, m.Call) // before the answer, after which the client may begin another
		c.mu.Unlock()
		switch {
		case err == nil:
		case connection.Err() != nil: // dismiss says why
			return
		default:
			c.tellEnded(m.Port) // so that the program's next call says so too
			c.fail(sharing.Message{Op: sharing.OpFailed, Call: m.Call}, err)
			return
		}
		answer.Op, answer.Call = sharing.OpDone, m.Call
		c.send(answer, file)
		if m.Op == sharing.OpCreate || m.Op == sharing.OpTake {
			c.watch(answer.Port)
		}
	}
	if !do.waits {
		carry()
		return nil
	}
	m.Data = append([]byte(nil), m.Data...)
	c.work.Go(carry)
	return nil
}

// send sends a message, with a file that it closes, or nil. If the client does not read, this waits; if it has gone, it does nothing.
func (c *client) send(m sharing.Message, file *os.File) {
	var rights []byte
	if file != nil {
		defer file.Close()
		rights = rightsOf(file)
	}
	c.conn.Send(m.Append(nil), rights)
}

// dismiss ends the connection and says why, if the client reads that.
func (c *client) dismiss(why error) {
	const limit = 100 * time.Millisecond
	_ = c.conn.LimitSends(time.Now().Add(limit))
	c.fail(sharing.Message{Op: sharing.OpRefused}, why)
	c.conn.Close()
}

// fail sends an error in the Data of a message.
func (c *client) fail(m sharing.Message, err error) {
	f := sharing.Describe(err)
	const most = 2048
	f.Text = f.Text[:min(len(f.Text), most)]
	text, err := json.Marshal(f)
	if err != nil {
		text = []byte(`{}`)
	}
	m.Data = text
	c.send(m, nil)
}

// reclaim deletes what the client has left.
func (c *client) reclaim() {
	c.mu.Lock()
	ports, offers, contexts, barriers := c.ports, c.offers, c.contexts, c.barriers
	c.ports, c.offers, c.contexts, c.barriers = nil, nil, nil, nil
	c.mu.Unlock()
	for _, x := range contexts {
		x.end()
	}
	for _, b := range barriers {
		c.work.Go(func() { b.Close(context.Background()) })
	}
	c.work.Wait()
	for _, r := range offers {
		r.Refuse("the program that was to answer has ended") // if it fails, the peer has gone too
	}
	for _, p := range ports {
		p.end()
	}
}

// end deletes a port.
func (p *port) end() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.Delete()
	if p.window != nil {
		err = errors.Join(err, p.window.Unmap())
	}
	return err
}

// watch tells the client when a port ends that it has not deleted.
func (c *client) watch(handle uint32) {
	p, err := c.port(handle)
	if err != nil {
		return
	}
	c.work.Go(func() {
		select {
		case <-p.Done():
			c.tellEnded(handle)
		case <-c.gone:
		}
	})
}

// tellEnded tells the client of a port that it has not deleted, if that has ended.
func (c *client) tellEnded(handle uint32) {
	p, err := c.port(handle)
	if err != nil {
		return
	}
	select {
	case <-p.Done():
		c.fail(sharing.Message{Op: sharing.OpEnded, Port: handle}, p.Err())
	default:
	}
}

// full says that the client has as many ports as it may; it is for c.mu held.
func (c *client) full() error {
	if have := len(c.ports) + len(c.offers) + len(c.contexts) + len(c.barriers); have >= c.server.options.Ports {
		return fmt.Errorf("%w: it has %d ports, at most %d", hostdrv.ErrLimit, have, c.server.options.Ports)
	}
	return nil
}

// port returns a port by its handle.
func (c *client) port(handle uint32) (*port, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.ports[handle]; p != nil && !p.deleted {
		return p, nil
	}
	return nil, errNotTheirs
}

var errNotTheirs = fmt.Errorf("%w: the program has no port with this handle", hostdrv.ErrPort)

// handle returns a new handle; it is for c.mu held.
func (c *client) handle() uint32 {
	for {
		if c.last++; c.last != 0 && c.ports[c.last] == nil && c.offers[c.last] == nil && c.contexts[c.last] == nil {
			return c.last
		}
	}
}
