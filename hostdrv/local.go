package hostdrv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/linkproto"
)

// localNode is the node of an NI of this process.
type localNode struct {
	*NI
	spin     uint64 // ticks that waits poll
	session  uint32
	links    []*nodeLink     // by link - 1
	frames   []*inFrame      // of the own receive buffer
	requests []*localRequest // that nobody has fetched yet
	ids      [2]uint32       // the port numbers given out last, by Direction
	stats    NodeStats
	audited  uint64 // ticks at the last check for lost packets
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
		return startPortless(n)
	}
	id := n.identity
	if !id.Has(linkproto.FeaturePaging) || !id.Has(linkproto.FeatureNotify) {
		return nil, fmt.Errorf("the network interface cannot page: its features are %#x, want %s and %s",
			id.Features, linkproto.FeaturePaging.Name, linkproto.FeatureNotify.Name)
	}
	grants, err := o.grants(id)
	if err != nil {
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
	for _, count := range grants {
		node.newLink(count, o.Replacement)
	}
	for len(node.frames) < id.Frames {
		node.frames = append(node.frames, &inFrame{index: len(node.frames)})
	}
	if err := node.setUp(ctx); err != nil {
		return nil, err
	}
	n.lock()
	defer n.unlock()
	for _, l := range node.links {
		l.hello(true)
	}
	if err := n.takeEvents(handler{node}); err != nil {
		return nil, err
	}
	n.wakeOwner()
	return &Node{backend: node}, nil
}

// setUp sets which link may write which frame, and makes the NI report changes; it does so again if an answer was lost.
func (node *localNode) setUp(ctx context.Context) error {
	for {
		b := node.Batch()
		for _, f := range node.frames {
			e := FrameEntry{}
			if f.link != nil {
				e.Link = f.link.link
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

func (o NodeOptions) grants(id Identity) ([]int, error) {
	grants := o.Frames
	if grants == nil {
		for link := range id.Links {
			grants = append(grants, (id.Frames+id.Links-1-link)/id.Links)
		}
	}
	sum := 0
	for _, g := range grants {
		if g < 0 {
			return nil, fmt.Errorf("%w: %d frames for a link", ErrRange, g)
		}
		sum += g
	}
	if len(grants) != id.Links || sum > id.Frames {
		return nil, fmt.Errorf("%w: frames %v for the links, there are %d links and %d frames", ErrRange, grants, id.Links, id.Frames)
	}
	return grants, nil
}

func (node *localNode) err() error { return node.core.Err() }

func (node *localNode) createPort(link int, d Direction) (portBackend, error) {
	node.lock()
	defer node.unlock()
	if err := node.err(); err != nil {
		return nil, err
	}
	// Numbers that senders give are odd and those that receivers give even, so that the two never give the same one.
	for l := node.links[link-1]; ; {
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
	l := h.node.links[t.Link-1]
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
	l.resume()
}

func (h handler) Notify(frame, first, last int) { h.node.frames[frame].changed(first, last) }

// Restarted is for the host's cable: what the NI has reported of changes meanwhile is lost.
func (h handler) Restarted(lost []int) {
	for _, f := range h.node.frames {
		f.changed(0, h.node.identity.PageBytes-1)
	}
	for i, n := range lost {
		if n > 0 {
			h.node.links[i].lost()
		}
	}
}

func (h handler) Lost(link int) { h.node.links[link-1].lost() }

// auditEvery is how many ticks pass between two reads of the NI's counters of lost packets, while there is something to lose.
const auditEvery = 16 * linkproto.DefaultWordTimer

func (h handler) Turn() {
	c := h.node.core
	for _, l := range h.node.links {
		l.flushOutbox()
	}
	if c.Now()-h.node.audited >= auditEvery && c.Running() {
		h.node.audited = c.Now()
		for _, l := range h.node.links {
			if c.Queue(l.link).Freed() != l.audited {
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
