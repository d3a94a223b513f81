package conformance

import (
	"context"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
)

// node is a node that speaks to itself over a loop.
type node struct {
	*hostdrv.Node
	bench *bench
	loop
}

// channel is a port, both ends.
type channel struct{ send, receive *hostdrv.Window }

// node starts LMMC. Frames are what the peer gets of the receive buffer, at most as many as there are.
func (b *bench) node(ctx context.Context, frames int) *node {
	l := b.loop()
	grants := make([]int, b.id.Links)
	grants[l.at-1] = min(frames, b.id.Frames)
	return &node{try.Get(hostdrv.Start(ctx, b.ni, hostdrv.NodeOptions{Frames: grants, Seed: b.rng.Uint64()})), b, l}
}

// connect makes a port, which the sender or the receiver asks for.
func (n *node) connect(ctx context.Context, asks hostdrv.Direction, params string) (c channel, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	from, to := n.via, n.at
	if asks == hostdrv.Receive {
		from, to = to, from
	}
	p, err := n.CreatePort(from, asks)
	if err != nil {
		return c, err
	}
	connected := make(chan error, 1)
	go func() { connected <- p.Connect(ctx, []byte(params)) }()
	q, err := n.accept(ctx, to, asks, params, p.ID())
	if err == nil {
		err = <-connected
	} else {
		cancel()
		err = errors.Join(err, <-connected)
	}
	if err != nil {
		return c, err
	}
	if asks == hostdrv.Receive {
		p, q = q, p
	}
	if c.send, err = p.Window(); err != nil {
		return c, err
	}
	c.receive, err = q.Window()
	return c, err
}

func (n *node) accept(ctx context.Context, link int, asked hostdrv.Direction, params string, id uint32) (*hostdrv.Port, error) {
	r, err := n.Accept(ctx)
	switch {
	case err != nil:
		return nil, err
	case r.Link() != link || r.Direction() == asked || string(r.Params()) != params:
		return nil, fmt.Errorf("a request by link %d to %v, with parameters %q, want link %d and %q", r.Link(), r.Direction(), r.Params(), link, params)
	}
	p, err := r.Accept()
	if err == nil && p.ID() != id {
		err = fmt.Errorf("the port is %d at one end and %d at the other", id, p.ID())
	}
	return p, err
}

// connectMany makes ports, of which each has a page of its own.
func (n *node) connectMany(ctx context.Context, count int) []channel {
	var all []channel
	for i := range count {
		c, err := n.connect(ctx, hostdrv.Direction(i%2), fmt.Sprint(i))
		try.Wrap(err, "port %d of %d", i+1, count)
		all = append(all, c)
	}
	return all
}

// shows waits until the page that a port's reader sees is as it should be.
func (n *node) shows(ctx context.Context, c channel, want []byte) {
	limit, cancel := n.bench.soon(ctx, 1)
	defer cancel()
	have := make([]byte, len(want))
	err := c.receive.Wait(limit, func(page []byte) bool { return copy(have, page) > 0 && string(have) == string(want) })
	if err != nil {
		try.Failf("the page of port %d: %w; %w", c.receive.Port().ID(), err, differ(have, want))
	}
}

// agree compares what sender and receiver think of who has which frame.
func (n *node) agree() {
	t := n.Tables()
	for _, s := range t.Send {
		if s.Link != n.via {
			continue
		}
		if r := t.Frames[s.Frame]; r.Port != s.Port || r.Link != n.at {
			try.Failf("the sender thinks that frame %d has port %d, the receiver that it has port %d of link %d", s.Frame, s.Port, r.Port, r.Link)
		}
	}
}
