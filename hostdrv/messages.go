package hostdrv

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/msg"
	"github.com/stafflink/lmmc/linkproto"
)

// Messages is a context of a node: what package message makes a message.Context of. Programs use that.
type Messages interface {
	PostSend(s msg.Send) error
	PostReceive(r msg.Receive) error
	Poll(into *msg.Completion) (bool, error)
	Wait(ctx context.Context, into *msg.Completion) error
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
	number  int
}

func (n *NI) openMessages(_ context.Context, number int, o msg.Options) (Messages, error) {
	n.lock()
	defer n.unlock()
	switch {
	case n.identity.MaxPacket() > 0 && !n.identity.Has(linkproto.FeatureRoutes) && n.core.Relay == nil:
		return nil, ErrNoRoutes
	case n.node == 0:
		return nil, fmt.Errorf("%w: the network interface has no number to send messages from; open it with Options.NodeID", ErrOption)
	}
	if err := o.Check(number, n.node); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRange, err)
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
	if err != nil {
		return nil, err
	}
	return &localMessages{n, c, number}, nil
}

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

func (m *localMessages) Poll(into *msg.Completion) (bool, error) {
	m.ni.lock()
	defer m.ni.unlock()
	if m.context.Poll(into) {
		return true, nil
	}
	return false, m.context.Err()
}

// Wait polls for a time and blocks then. Where time stands still unless somebody waits it blocks at once.
func (m *localMessages) Wait(ctx context.Context, into *msg.Completion) error {
	for start := time.Now(); ; runtime.Gosched() {
		if done, err := m.Poll(into); done || err != nil {
			return err
		}
		if m.ni.timing.VirtualTime || time.Since(start) >= defaultSpin {
			break
		}
	}
	var failed error
	got := false
	err := m.ni.until(ctx, fmt.Sprintf("a completion of context %d", m.number), func() bool {
		if !got && failed == nil {
			if got = m.context.Poll(into); !got {
				failed = m.context.Err()
			}
		}
		return got || failed != nil
	})
	if got {
		return nil
	}
	if failed != nil {
		return failed
	}
	return err
}

func (m *localMessages) Stats() (msg.Stats, error) {
	m.ni.lock()
	defer m.ni.unlock()
	return m.context.Stats(), nil
}

func (m *localMessages) Close() error {
	m.ni.lock()
	defer m.ni.unlock()
	m.context.Close()
	m.ni.release()
	m.ni.wakeOwner()
	return nil
}
