package hostdrv

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stafflink/lmmc/linkproto"
)

// NodeOptions say how a Node uses its NI. The zero value suits most programs.
type NodeOptions struct {
	// Frames is how many frames of the receive buffer the peer at each link gets to page its ports into, by link - 1; nil means equal
	// parts for all links.
	Frames []int
	// Replacement decides which frame of a peer a port gets that has none; nil means NewClock.
	Replacement func(frames int) Replacement
	// Spin is how long a wait looks again and again, in the target's time, before it blocks; 0 means 20 microseconds.
	Spin time.Duration
	// Seed, unless 0, decides what is random otherwise: the number of the node's session.
	Seed uint64
}

const defaultSpin = 20 * time.Microsecond

// Node is an NI used by link memory management based communication (LMMC): ports, each with a page that its sender writes and its receiver
// reads. There may be many more ports than the peer's receive buffer has frames: the sender decides which port has which frame, and
// the receiving node saves and restores pages as it is told.
//
// All methods may be called from any goroutine at any time.
type Node struct {
	client   *client       // of another process's NI: nothing below spinTime is used then, or nil
	spinTime time.Duration // how long waits spin

	ni      *NI
	spin    uint64 // ticks
	session uint32
	links   []*nodeLink // by link - 1
	frames  []*inFrame  // of the own receive buffer
	offers  []*Request  // that nobody has fetched yet
	ids     [2]uint32   // the port numbers given out last, by Direction
	stats   NodeStats
	audited uint64 // ticks at the last look for lost packets
}

// NodeStats count what a node has done.
type NodeStats struct {
	PageOuts  uint64 `json:"page_outs"` // PAGE packets sent
	PageIns   uint64 `json:"page_ins"`  // PAGE traps served
	Connects  uint64 `json:"connects"`  // CONNECT traps served
	Refreshes uint64 `json:"refreshes"` // reads of what NOTIFY told of
	Malformed uint64 `json:"malformed"` // PAGE and CONNECT packets of peers that made no sense
	Discarded uint64 `json:"discarded"` // messages and offers dropped since there were too many
	Restarted uint64 `json:"restarted"` // peers that started again
	Repeated  uint64 `json:"repeated"`  // messages said again, since links may have lost them
	Retold    uint64 `json:"retold"`    // traps that the NI was asked to tell again
}

// Most messages that wait for room on a link, offers that wait for Accept, and ports that a link's peer has opened and does not know to have
// ended. What comes beyond is dropped, or refused.
const (
	maxOutbox = 256
	maxOffers = 256
	maxOver   = 1 << 14
)

// Start makes a Node of an NI, whose events it takes. It gives the peers their frames and says hello to them; peers that have not been
// started yet do so when they are.
func Start(ctx context.Context, n *NI, o NodeOptions) (*Node, error) {
	id := n.identity
	if !id.Has(linkproto.FeaturePaging) || !id.Has(linkproto.FeatureNotify) {
		return nil, fmt.Errorf("hostdrv: this network interface cannot page: its features are %#x, without %s or %s",
			id.Features, linkproto.FeaturePaging.Name, linkproto.FeatureNotify.Name)
	}
	grants, err := o.grants(id)
	if err != nil {
		return nil, err
	}
	if o.Replacement == nil {
		o.Replacement = NewClock
	}
	if o.Spin == 0 {
		o.Spin = defaultSpin
	}
	rng := rand.New(rand.NewPCG(o.Seed, 2))
	if o.Seed == 0 {
		rng = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	node := &Node{ni: n, spinTime: o.Spin, spin: uint64(o.Spin.Seconds() * n.timing.TicksPerSecond), session: 1 + rng.Uint32N(1<<32-2)}
	for i, count := range grants {
		l := &nodeLink{node: node, link: i + 1, first: len(node.frames), count: count, replacement: o.Replacement}
		node.links = append(node.links, l)
		for range count {
			node.frames = append(node.frames, &inFrame{link: l, index: len(node.frames)})
		}
	}
	for len(node.frames) < id.Frames {
		node.frames = append(node.frames, &inFrame{index: len(node.frames)})
	}
	if err := node.setUp(ctx); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range node.links {
		l.greet(true)
	}
	if err := n.takeEvents(node); err != nil {
		return nil, err
	}
	n.wakeOwner()
	return node, nil
}

// setUp tells the NI who may write which frame, and to tell of changes: again if an answer got lost, which changes nothing.
func (node *Node) setUp(ctx context.Context) error {
	for {
		b := node.ni.Batch()
		for _, f := range node.frames {
			e := FrameEntry{}
			if f.link != nil {
				e.Link = f.link.link
			}
			b.SetFrame(f.index, e)
		}
		b.WriteRegister(linkproto.RegControl, linkproto.ControlNotify.In(1))
		err := b.Run(ctx)
		if restarted := new(RestartError); !errors.As(err, &restarted) {
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

// NI is the node's network interface, or nil if that is another process's.
func (node *Node) NI() *NI { return node.ni }

// Identity is what the NI said about itself.
func (node *Node) Identity() Identity {
	if node.client != nil {
		return node.client.identity
	}
	return node.ni.identity
}

// Stats returns the node's counts so far.
func (node *Node) Stats() NodeStats {
	if node.client != nil {
		return node.Tables().Stats
	}
	node.ni.mu.Lock()
	defer node.ni.mu.Unlock()
	return node.counted()
}

// counted returns the counts; it is called under the NI's lock.
func (node *Node) counted() NodeStats {
	s := node.stats
	for i := range node.ni.core.queues {
		s.Retold += node.ni.core.queues[i].retold
	}
	return s
}

// linkOf returns a link by its number.
func (node *Node) linkOf(link int) (*nodeLink, error) {
	if err := node.ni.checkLink(link); err != nil {
		return nil, err
	}
	return node.links[link-1], nil
}

// trap serves a trap; it, notify, restarted and turn are called under the NI's lock.
func (node *Node) trap(t *Trap) {
	l := node.links[t.Link-1]
	if t.Type == linkproto.TypePage {
		node.stats.PageIns++
		l.page(t)
		return
	}
	node.stats.Connects++
	if len(t.Params) == 0 { // told again, without
		l.suggest(t.Port, linkproto.NodeMessage{Kind: linkproto.NodeMissed, Ends: l.ends(t.Port)})
	} else if err := l.message(t.Port, t.Params); err != nil {
		node.stats.Malformed++
	}
	l.resume()
}

func (node *Node) notify(frame, first, last int) { node.frames[frame].changed(first, last) }

// restarted is for the host's cable: what the NI told of changes meanwhile is lost.
func (node *Node) restarted(r Restart) {
	for _, f := range node.frames {
		f.changed(0, node.ni.identity.PageBytes-1)
	}
	for i, lost := range r.Lost {
		if lost > 0 {
			node.links[i].lost()
		}
	}
}

// lost is for a link that has lost packets.
func (node *Node) lost(link int) { node.links[link-1].lost() }

// auditEvery is how many ticks pass between two looks at the NI's counters of lost packets, while there is something to lose.
const auditEvery = 16 * linkproto.DefaultWordTimer

func (node *Node) turn() {
	c := node.ni.core
	for _, l := range node.links {
		l.flushOutbox()
	}
	if c.now-node.audited >= auditEvery && c.join.done {
		node.audited = c.now
		for _, l := range node.links {
			if c.queues[l.link-1].freed != l.audited {
				l.audit(func(error) {})
			}
		}
	}
}

// ErrPort is wrapped by errors about the state of a port.
var ErrPort = errors.New("hostdrv: port")

// PeerError is what the ports of a link end with when the node at its far end starts again.
type PeerError struct{ Link int }

func (e *PeerError) Error() string {
	return fmt.Sprintf("hostdrv: the node at the far end of link %d started again; its ports are gone: create and connect them again", e.Link)
}
