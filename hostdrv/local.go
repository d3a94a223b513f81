package hostdrv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/linkproto"
)

// localNode is the node of an NI of this process.
type localNode struct {
	*NI
	spin     uint64 // ticks that waits poll
	session  uint32
	links    []*nodeLink     // that ports go by: cables, and behind them virtual links
	frames   []*inFrame      // of the own receive buffer
	requests []*localRequest // that nobody has fetched yet
	ids      [2]uint32       // the port numbers given out last, by Direction
	stats    NodeStats
	audited  uint64         // ticks at the last check for lost packets
	relay    map[uint16]int // NodeOptions.Relay, of an NI that carries no ROUTEs
	uplink   *uplink        // or nil
}

// Most messages that wait for room on a link, requests that wait for Accept, and ports that a link's peer has opened and does not know to have
// ended. What comes beyond is dropped, or refused.
const (
	maxOutbox   = 256
	maxRequests = 256
	maxEnded    = 1 << 14
)

var errOwnCapture = errors.New("the network interface is this process's own: capture it with capture.Tap")

// Start makes a Node of an NI, whose events it takes. It gives the peers their frames and says hello to them; peers that start
// later do so then.
func Start(ctx context.Context, n *NI, o NodeOptions) (*Node, error) {
	if err := n.Err(); err != nil {
		return nil, err
	}
	if o.NoPorts {
		return startPortless(ctx, n)
	}
	id := n.identity
	if !id.Has(linkproto.FeaturePaging) || !id.Has(linkproto.FeatureNotify) {
		return nil, fmt.Errorf("the network interface cannot page: its features are %#x, want %s and %s",
			id.Features, linkproto.FeaturePaging.Name, linkproto.FeatureNotify.Name)
	}
	if err := errors.Join(o.checkPeers(n), o.checkUplink(n)); err != nil {
		return nil, err
	}
	if o.Replacement == nil {
		o.Replacement = NewClock
	}
	rng := rand.New(rand.NewPCG(o.Seed, 2))
	if o.Seed == 0 {
		rng = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	node := &localNode{NI: n, spin: uint64(cmp.Or(o.Spin, defaultSpin).Seconds() * n.timing.TicksPerSecond), session: 1 + rng.Uint32N(1<<32-2)}
	if o.Uplink != nil {
		node.uplink = &uplink{ni: o.Uplink, node: node}
	}
	if err := node.start(ctx, o, rng); err != nil {
		node.abandon()
		return nil, err
	}
	return &Node{backend: node}, nil
}

func (node *localNode) start(ctx context.Context, o NodeOptions, rng *rand.Rand) error {
	if err := node.offload(ctx); err != nil {
		return err
	}
	if err := node.newLinks(o, rng); err != nil {
		return err
	}
	frames := node.identity.Frames
	node.lock()
	node.core.UseFrames(min(len(node.frames), frames))
	node.unlock()
	for len(node.frames) < frames {
		node.frames = append(node.frames, &inFrame{index: len(node.frames)})
	}
	if err := node.setUp(ctx); err != nil {
		return err
	}
	if node.uplink != nil {
		if err := node.uplink.open(ctx); err != nil {
			return err
		}
	}
	err := node.begin()
	if err != nil && node.uplink != nil {
		node.uplink.close()
	}
	return err
}

// abandon ends what start has begun: the NI is the program's.
func (node *localNode) abandon() {
	node.lock()
	defer node.unlock()
	for _, l := range node.links {
		if v, ok := l.carrier.(interface{ Close() }); ok {
			v.Close()
		}
	}
	if node.relay != nil {
		node.core.Relay, node.core.RelayRoom = nil, nil
	}
	node.core.UseFrames(0)
	node.wakeOwner()
}

// begin greets the peers and takes events.
func (node *localNode) begin() error {
	node.lock()
	defer node.unlock()
	if err := node.eventsFree(); err != nil {
		return err
	}
	for _, l := range node.links {
		l.hello(true)
	}
	node.core.Handle(handler{node})
	node.wakeOwner()
	return nil
}

// setUp sets which link may write which frame, and makes the NI report changes; it does so again if an answer was lost.
func (node *localNode) setUp(ctx context.Context) error {
	for {
		b := node.Batch()
		for _, f := range node.frames {
			e := FrameEntry{} // what a virtual link of the driver's may write the driver writes
			if f.link != nil {
				e = f.link.writes
			}
			b.SetFrame(f.index, e)
		}
		b.WriteRegister(linkproto.RegControl, linkproto.ControlNotify.In(1))
		err := b.Run(ctx)
		if _, restarted := errors.AsType[*RestartError](err); !restarted {
			return err
		}
	}
}

// checkPeers looks whether the NI can have the virtual links.
func (o NodeOptions) checkPeers(n *NI) error {
	if len(o.Peers) == 0 {
		return nil
	}
	switch {
	case !n.identity.Has(linkproto.FeatureRoutes) && o.Relay == nil:
		return ErrNoRoutes
	case n.node == 0:
		return fmt.Errorf("%w: the network interface has no number to have virtual links with; open it with Options.NodeID", ErrOption)
	}
	known := map[Peer]bool{}
	for _, p := range o.Peers {
		same := Peer{Node: p.Node, Channel: p.Channel}
		switch {
		case p.Node == 0 || p.Node > linkproto.MaxNode || p.Node == n.node:
			return fmt.Errorf("%w: no virtual link to node %d from node %d, want another one, 1 to %d", ErrRange, p.Node, n.node, linkproto.MaxNode)
		case known[same]:
			return fmt.Errorf("%w: two virtual links to node %d have channel %d", ErrOption, p.Node, p.Channel)
		case p.Link != 0:
			if err := checkLink(n.identity, p.Link); err != nil {
				return err
			}
		}
		known[same] = true
	}
	return nil
}

// newLinks makes the links: the NI's, unless they lead to its own router, and the virtual ones.
func (node *localNode) newLinks(o NodeOptions, rng *rand.Rand) error {
	id, cables := node.identity, node.identity.Links
	if id.Has(linkproto.FeatureRouter) {
		cables = 0
	}
	spare := id.Frames
	if o.Relay != nil && !id.Has(linkproto.FeatureRoutes) {
		node.relay = o.Relay
		spare -= cables
	}
	grants, err := o.grants(spare, cables+len(o.Peers))
	if err != nil {
		return err
	}
	node.lock()
	defer node.unlock()
	if node.relay != nil {
		node.core.Relay, node.core.RelayRoom = node.forward, node.room
	}
	for i, frames := range grants {
		if i < cables {
			l := node.newLink(i+1, node.core.Cable(i+1), frames, o.Replacement)
			l.writes = FrameEntry{Link: i + 1}
			node.links = append(node.links, l)
			continue
		}
		peer := o.Peers[i-cables]
		l, err := node.newVirtual(engine.VirtualConfig{
			Link: id.Links + 1 + i - cables, Via: cmp.Or(peer.Link, 1), Node: node.node, Peer: peer.Node, Channel: peer.Channel,
			NewLife: func() linkproto.Life { return linkproto.Life(1 + rng.Uint32N(math.MaxUint32)) },
		}, frames, o.Replacement)
		if err != nil {
			return err
		}
		node.links = append(node.links, l)
	}
	return node.err()
}

// grants are how many frames each of the links gets.
func (o NodeOptions) grants(spare, links int) ([]int, error) {
	grants := o.Frames
	if grants == nil {
		for link := range links {
			grants = append(grants, (max(spare, 0)+links-1-link)/links)
		}
	}
	sum := 0
	for _, g := range grants {
		if g < 0 {
			return nil, fmt.Errorf("%w: %d frames for a link", ErrRange, g)
		}
		sum += g
	}
	if len(grants) != links || sum > spare {
		return nil, fmt.Errorf("%w: frames %v for the links, there are %d links and %d frames", ErrRange, grants, links, spare)
	}
	return grants, nil
}

// linkOf returns a link by what it is called, or nil.
func (node *localNode) linkOf(link int) *nodeLink {
	for _, l := range node.links {
		if l.link == link {
			return l
		}
	}
	return nil
}

func (node *localNode) linkList() (list []NodeLink) {
	for _, l := range node.links {
		list = append(list, NodeLink{l.link, l.peer})
	}
	return list
}

// cables are so many links of an NI.
func cables(n int) (list []NodeLink) {
	for i := range n {
		list = append(list, NodeLink{Link: i + 1})
	}
	return list
}

func (node *localNode) err() error { return node.core.Err() }

// Close closes the NI, but not the uplink's.
func (node *localNode) Close() error {
	if node.uplink != nil {
		node.hangUp()
		node.uplink.flush()
		node.uplink.close()
	}
	return node.NI.Close()
}

func (node *localNode) createPort(link int, d Direction) (portBackend, error) {
	node.lock()
	defer node.unlock()
	if err := node.err(); err != nil {
		return nil, err
	}
	// Numbers that senders give are odd and those that receivers give even, so that the two never give the same one.
	for l := node.linkOf(link); ; {
		node.ids[d] += 2
		if id := node.ids[d] - uint32(d.other()); id != 0 && l.port(d, id) == nil {
			return l.newPort(id, d), nil
		}
	}
}

// Report is the NI's, with the tables.
func (node *localNode) Report(ctx context.Context) (Report, error) {
	r, err := node.NI.Report(ctx)
	if err == nil {
		tables := node.tables()
		r.Tables = &tables
	}
	return r, err
}

func (node *localNode) capture(context.Context, bool) (*Capture, error) {
	return nil, errOwnCapture
}

// handler is the engine.Handler of a localNode.
type handler struct{ node *localNode }

// Trap serves a trap.
func (h handler) Trap(t *engine.Trap) {
	l := h.node.linkOf(t.Link)
	if l == nil { // of the network, where it is nobody's
		h.node.stats.Malformed++
		h.node.core.Cable(t.Link).Resume()
		return
	}
	if t.Type == linkproto.TypePage {
		h.node.stats.PageIns++
		l.page(t)
		return
	}
	h.node.stats.Connects++
	if len(t.Params) == 0 { // repeated, without
		l.enqueueBestEffort(t.Port, linkproto.NodeMessage{Kind: linkproto.NodeMissed, Ends: l.ends(t.Port)})
	} else if err := l.message(t.Port, t.Params); err != nil {
		h.node.stats.Malformed++
	}
	l.carrier.Resume()
}

func (h handler) Notify(frame, first, last int) { h.node.frames[frame].changed(first, last) }

// Restarted is for the host's cable: what the NI has reported of changes meanwhile is lost, and so may be what came by virtual links that it carries out.
func (h handler) Restarted(lost []int) {
	for _, l := range h.node.links {
		if l.writes.VL > 0 {
			l.renew()
		}
	}
	for _, f := range h.node.frames {
		f.changed(0, h.node.identity.PageBytes-1)
	}
	for i, n := range lost {
		if n > 0 {
			h.Lost(i + 1)
		}
	}
}

// Lost is for ports. Those of virtual links need not know what the link to the network has lost.
func (h handler) Lost(link int) {
	if l := h.node.linkOf(link); l != nil {
		l.lost()
	}
}

// auditEvery is how many ticks pass between two reads of the NI's counters of lost packets, while there is something to lose.
const auditEvery = 16 * linkproto.DefaultWordTimer

func (h handler) Turn() {
	c := h.node.core
	if h.node.uplink != nil {
		h.node.uplink.receive()
	}
	for _, l := range h.node.links {
		l.flushOutbox()
		if l.ring != nil {
			l.ring.pump()
		}
	}
	if c.Now()-h.node.audited >= auditEvery && c.Running() {
		h.node.audited = c.Now()
		for _, l := range h.node.links {
			if l.carrier.Freed() != l.audited {
				l.audit(func(error) {})
			}
		}
	}
}

// oneTurn waits until time has passed.
func (n *NI) oneTurn(ctx context.Context) error {
	n.lock()
	start := n.core.Now()
	n.unlock()
	return n.until(ctx, "a turn", func() bool { return n.core.Now() > start })
}
