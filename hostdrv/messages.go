package hostdrv

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/msg"
	"github.com/stafflink/lmmc/hostdrv/internal/wait"
	"github.com/stafflink/lmmc/linkproto"
)

// Messages is a context of a node: what package message makes a message.Context of. Programs use that.
type Messages interface {
	Buffer(bytes int) ([]byte, error)
	PostSend(s msg.Send) error
	PostReceive(r msg.Receive) error
	Poll() (done msg.Completion, ok bool, err error)
	Wait(ctx context.Context) (msg.Completion, error)
	Stats() (msg.Stats, error)
	Close() error
}

// OpenMessages opens a context of the node's NI; package message calls it.
func (node *Node) OpenMessages(ctx context.Context, number int, o msg.Options) (Messages, error) {
	return node.on().openMessages(ctx, number, o)
}

// localMessages is a context of an NI of this process.
type localMessages struct {
	ni      *NI
	context *msg.Context
	what    string    // is waited for
	idle    *awaiting // of a call that has ended, for the next one; nil if there is none
}

// awaiting is a call that waits for a completion.
type awaiting struct {
	waiter *wait.Waiter
	done   msg.Completion
	got    bool
	failed error
}

func (n *NI) openMessages(ctx context.Context, number int, o msg.Options) (Messages, error) {
	if err := n.contextClosed(ctx, number); err != nil {
		return nil, err
	}
	n.lock()
	defer n.unlock()
	c, err := n.openContext(number, o)
	if err != nil {
		return nil, err
	}
	return &localMessages{ni: n, context: c, what: completionOf(number)}, nil
}

func completionOf(number int) string { return fmt.Sprintf("a completion of context %d", number) }

// contextClosed waits until the NI has closed the virtual links of a context of before.
func (n *NI) contextClosed(ctx context.Context, number int) error {
	return n.until(ctx, fmt.Sprintf("virtual links of an earlier context %d to close", number), func() bool { return n.core.ChannelClosed(msg.Channel(number)) })
}

// openContext opens a context; it is for the lock held.
func (n *NI) openContext(number int, o msg.Options) (*msg.Context, error) {
	if err := n.routes(); err != nil {
		return nil, err
	}
	if n.node == 0 {
		return nil, fmt.Errorf("%w: the network interface has no number to send messages from; open it with Options.NodeID", ErrOption)
	}
	if err := o.Check(number, n.node); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRange, err)
	}
	if o.Engine && !n.identity.Has(linkproto.FeatureMessages) {
		return nil, fmt.Errorf("%w: the network interface carries out no contexts (feature %s): have the driver do it, without Options.Engine", ErrOption, linkproto.FeatureMessages.Name)
	}
	for _, p := range o.Peers {
		if err := checkLink(n.identity, max(p.Link, 1)); err != nil {
			return nil, err
		}
	}
	if err := n.core.Err(); err != nil {
		return nil, err
	}
	c, err := msg.Open(n.core, n.node, n.timing.TicksPerSecond, number, o)
	if err == nil {
		n.contexts[number] = c
	}
	return c, err
}

// Buffer is any memory: the driver reads it where it is.
func (m *localMessages) Buffer(bytes int) ([]byte, error) { return make([]byte, bytes), nil }

func (m *localMessages) PostSend(s msg.Send) error {
	m.ni.lock()
	defer m.ni.unlock()
	err := m.context.PostSend(s)
	m.ni.wakeOwner()
	return err
}

func (m *localMessages) PostReceive(r msg.Receive) error {
	m.ni.lock()
	defer m.ni.unlock()
	err := m.context.PostReceive(r)
	m.ni.wakeOwner()
	return err
}

func (m *localMessages) Poll() (done msg.Completion, ok bool, err error) {
	m.ni.lock()
	defer m.ni.unlock()
	if ok = m.context.Poll(&done); !ok {
		err = m.context.Err()
	}
	return done, ok, err
}

// Wait polls for a time and blocks then. Where time stands still unless somebody waits it blocks at once.
func (m *localMessages) Wait(ctx context.Context) (msg.Completion, error) {
	done, ok, err := m.Poll()
	if ok || err != nil {
		return done, err
	}
	if !m.ni.timing.VirtualTime {
		for start := time.Now(); time.Since(start) < defaultSpin; runtime.Gosched() {
			if done, ok, err := m.Poll(); ok || err != nil {
				return done, err
			}
		}
	}
	return m.block(ctx)
}

// block waits without polling.
func (m *localMessages) block(ctx context.Context) (msg.Completion, error) {
	m.ni.lock()
	defer m.ni.unlock()
	a := m.idle
	if m.idle = nil; a == nil {
		a = &awaiting{}
		a.waiter = wait.NewWaiter(func() bool { return a.poll(m.context) })
		a.waiter.Patient = true
	}
	a.done, a.got, a.failed = msg.Completion{}, false, nil
	m.ni.enlistAgain(ctx, a.waiter)
	m.ni.unlock()
	a.waiter.Await()
	m.ni.lock()
	err := m.ni.leave(a.waiter, m.what)
	if a.got {
		err = nil
	} else if a.failed != nil {
		err = a.failed
	}
	m.idle = a
	return a.done, err
}

// poll reports whether there is nothing to wait for any more.
func (a *awaiting) poll(c *msg.Context) bool {
	if !a.got && a.failed == nil {
		if a.got = c.Ready() && c.Poll(&a.done); !a.got {
			a.failed = c.Err()
		}
	}
	return a.got || a.failed != nil
}

func (m *localMessages) Stats() (msg.Stats, error) {
	m.ni.lock()
	defer m.ni.unlock()
	return m.context.Stats(), nil
}

func (m *localMessages) Close() error {
	m.ni.lock()
	defer m.ni.unlock()
	m.ni.closeContext(m.context)
	return nil
}

// closeContext closes a context; it is for the lock held.
func (n *NI) closeContext(c *msg.Context) {
	c.Close()
	n.release()
	n.wakeOwner()
}
