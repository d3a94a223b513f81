package conformance

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
)

// node is a node that sends to another one over a virtual link, or to itself over a loop.
type node struct {
	*hostdrv.Node
	far    *hostdrv.Node // that receives
	bench  *bench
	loop       // via is the sender's link, at the receiver's
	frames int // of the receiver, that the sender pages
}

// channel is a port, both ends.
type channel struct{ send, receive *hostdrv.Window }

// node starts LMMC. Frames are what the peer gets of the receive buffer, at most as many as there are; of a pair the servers have said how many.
func (b *bench) node(ctx context.Context, frames int) *node {
	if b.line.pair != nil {
		return b.line.pair.node(b)
	}
	frames = min(frames, b.id.Frames)
	if b.line.network != nil {
		return b.networkNode(ctx, frames)
	}
	l := b.loop()
	grants := make([]int, b.id.Links)
	grants[l.at-1] = frames
	self := try.Get(hostdrv.Start(ctx, b.ni, hostdrv.NodeOptions{Frames: grants, Seed: b.rng.Uint64()}))
	return &node{self, self, b, l, frames}
}

// connect makes a port, which the sender or the receiver asks for.
func (n *node) connect(ctx context.Context, asks hostdrv.Direction, params string) channel {
	asker, other, from, to := n.Node, n.far, n.via, n.at
	if asks == hostdrv.Receive {
		asker, other, from, to = other, asker, to, from
	}
	p := try.Get(asker.CreatePort(from, asks))
	var q *hostdrv.Port
	try.OK(ask(ctx, p, other, params, func(r *hostdrv.Request) {
		if r.Link() != to || r.Direction() == asks || string(r.Params()) != params {
			try.Failf("a request by link %d to %v, with parameters %q, want link %d and %q", r.Link(), r.Direction(), r.Params(), to, params)
		}
		if q = try.Get(r.Accept()); q.ID() != p.ID() {
			try.Failf("the port is %d at one end and %d at the other", p.ID(), q.ID())
		}
	}))
	if asks == hostdrv.Receive {
		p, q = q, p
	}
	return channel{try.Get(p.Window()), try.Get(q.Window())}
}

// ask asks a node for the other end of a port, which answer grants or refuses, and returns what the one who has asked is told.
func ask(ctx context.Context, p *hostdrv.Port, other *hostdrv.Node, params string, answer func(*hostdrv.Request)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	connected := make(chan error, 1)
	go func() { connected <- p.Connect(ctx, []byte(params)) }()
	if err := try.Run(func() { answer(try.Get(other.Accept(ctx))) }); err != nil {
		cancel()
		try.OK(err, <-connected)
	}
	return <-connected
}

// connectMany makes ports, of which each has a page of its own.
func (n *node) connectMany(ctx context.Context, count int) []channel {
	var all []channel
	for i := range count {
		try.Wrap(try.Run(func() { all = append(all, n.connect(ctx, hostdrv.Direction(i%2), fmt.Sprint(i))) }), "port %d of %d", i+1, count)
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
	frames := n.far.Tables().Frames
	for _, s := range n.Tables().Send {
		if s.Link != n.via {
			continue
		}
		if r := frames[s.Frame]; r.Port != s.Port || r.Link != n.at {
			try.Failf("the sender thinks that frame %d has port %d, the receiver that it has port %d of link %d", s.Frame, s.Port, r.Port, r.Link)
		}
	}
}

// nodes are the node, or both.
func (n *node) nodes() []*hostdrv.Node {
	if n.far == n.Node {
		return []*hostdrv.Node{n.Node}
	}
	return []*hostdrv.Node{n.Node, n.far}
}

// ends are the ends of ports that the tables have.
func (n *node) ends() (all []hostdrv.PortEntry) {
	for _, node := range n.nodes() {
		all = append(all, node.Tables().Ports...)
	}
	return all
}
