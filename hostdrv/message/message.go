// Package message lets programs on the nodes of a network exchange messages, as PM does: by contexts, of which each belongs to one program, with descriptors that a
// program posts and completions that it polls. Messages of 0 bytes to 1 MB pass from node to node whole, once, and in the order in which they were posted to a
// node. Nothing of that allocates memory or calls anybody in the common case. See doc/messages.md.
package message

import (
	"context"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/msg"
)

// MaxMessage is the longest message that there can be.
const MaxMessage = msg.MaxLongest

// Contexts that programs have.
const (
	FirstContext = msg.FirstContext
	LastContext  = msg.LastContext
)

// Errors that callers tell apart with errors.Is.
var (
	ErrFull    = msg.ErrFull    // of Post: no descriptor is free until Poll gives one back
	ErrTooLong = msg.ErrTooLong // for the context, or, in a TooLongError, for the descriptor that a message came to
	ErrTaken   = msg.ErrTaken   // another program has the context, or another part of this one
	ErrNode    = msg.ErrNode    // to which a message cannot go
	ErrPeer    = msg.ErrPeer    // a PeerError says which
	ErrEnded   = msg.ErrEnded   // by the network interface, with Options.Engine: open the context again
)

// Types of descriptors, completions and what they say.
type (
	// Options say how a context is.
	Options = msg.Options
	// Peer is a node that messages are exchanged with.
	Peer = msg.Peer
	// Group is a multicast group whose members acknowledge.
	Group = msg.Group
	// Send is a descriptor for sending.
	Send = msg.Send
	// Receive is a descriptor for receiving.
	Receive = msg.Receive
	// Completion says that a descriptor is the program's again.
	Completion = msg.Completion
	// Stats count what a context has done.
	Stats = msg.Stats
	// PeerError is what sends complete with that the peer did not acknowledge.
	PeerError = msg.PeerError
	// TooLongError is what a receive completes with that has no room for its message.
	TooLongError = msg.TooLongError
)

// Context is a program's end of the messages of one number, 1 to 255: it reaches those contexts of other nodes that have the same one. Its methods may be called from any
// goroutine at any time.
type Context struct{ messages hostdrv.Messages }

// Open opens a context on a node. Virtual links to peers are made when the first message goes to them, or comes from them.
func Open(ctx context.Context, node *hostdrv.Node, number int, o Options) (*Context, error) {
	m, err := node.OpenMessages(ctx, number, o)
	if err != nil {
		return nil, err
	}
	return &Context{m}, nil
}

// on returns the context; a zero one is closed.
func (c *Context) on() (hostdrv.Messages, error) {
	if c.messages == nil {
		return nil, hostdrv.ErrClosed
	}
	return c.messages, nil
}

// Buffer returns memory for messages that a program posts again and again. Of an NI that another process serves it is shared with the server, so that posting and receiving by it
// copy nothing between the two; any other memory does as well, for a copy. It is the context's as long as the program lives.
func (c *Context) Buffer(bytes int) ([]byte, error) {
	m, err := c.on()
	if err != nil {
		return nil, err
	}
	return m.Buffer(bytes)
}

// PostSend posts a message to be sent. It does not wait: ErrFull says that no descriptor is free.
func (c *Context) PostSend(s Send) error {
	m, err := c.on()
	if err != nil {
		return err
	}
	return m.PostSend(s)
}

// PostReceive posts room for a message, whichever peer it comes from. Messages take descriptors in the order in which these were posted. While there is none, peers wait,
// and only this context's.
func (c *Context) PostReceive(r Receive) error {
	m, err := c.on()
	if err != nil {
		return err
	}
	return m.PostReceive(r)
}

// Poll takes the oldest completion; false says that there is none yet.
func (c *Context) Poll(into *Completion) (bool, error) {
	m, err := c.on()
	if err != nil {
		return false, err
	}
	done, ok, err := m.Poll()
	if ok {
		*into = done
	}
	return ok, err
}

// Wait takes the oldest completion, and waits for it if need be: it polls for some microseconds and sleeps then.
func (c *Context) Wait(ctx context.Context) (Completion, error) {
	m, err := c.on()
	if err != nil {
		return Completion{}, err
	}
	return m.Wait(ctx)
}

// Stats returns the counts so far.
func (c *Context) Stats() (Stats, error) {
	m, err := c.on()
	if err != nil {
		return Stats{}, err
	}
	return m.Stats()
}

// Close ends the context. Its peers' sends that are not acknowledged complete with a PeerError, at once if the network lets them know.
func (c *Context) Close() error {
	m, err := c.on()
	if err != nil {
		return nil
	}
	return m.Close()
}
