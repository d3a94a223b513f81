package hostdrv

import (
	"context"
	"math"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/linkproto"
)

// offload has the NI carry out virtual links, if it can.
func (node *localNode) offload(ctx context.Context, o NodeOptions) error {
	if !node.identity.Has(linkproto.FeatureVirtual) {
		return nil
	}
	sizes := make([]uint32, 3)
	b := node.Batch()
	for i, r := range []linkproto.Reg{linkproto.RegVLNumbers, linkproto.RegVLSlots, linkproto.RegVLWindow} {
		b.ReadRegister(r, &sizes[i])
	}
	if err := b.Run(ctx); err != nil {
		return err
	}
	node.lock()
	defer node.unlock()
	node.core.Offloading(int(sizes[0]), int(sizes[1]), int(sizes[2]))
	return node.err()
}

// newVirtual makes a virtual link, which the NI carries out if it can carry out another one, and else the driver.
func (node *localNode) newVirtual(c engine.VirtualConfig, frames int, replacement func(frames int) Replacement) (*nodeLink, error) {
	if node.core.Offloads() > 0 {
		v, err := node.core.NewOffload(c)
		if err != nil {
			return nil, err
		}
		l := node.newLink(c.Link, v, frames, replacement)
		l.peer, l.writes = c.Peer, FrameEntry{VL: v.Number()}
		return l, nil
	}
	v, err := node.core.NewVirtual(c)
	if err != nil {
		return nil, err
	}
	l := node.newLink(c.Link, v, frames, replacement)
	l.peer = c.Peer
	v.Allowed = func(frame int) bool { return node.frames[frame].link == l }
	return l, nil
}

// renew begins a new session with the peer, since what it has sent may be lost: the ports of the link end, at both nodes.
func (l *nodeLink) renew() {
	l.own = l.own%math.MaxUint32 + 1
	l.startOver(0, &PeerError{l.link})
	l.outbox, l.unacked = nil, nil
	l.hello(true)
}
