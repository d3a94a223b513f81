package hostdrv

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/linkproto"
)

// offload has the NI carry out virtual links, if it can.
func (n *NI) offload(ctx context.Context) error {
	if !n.identity.Has(linkproto.FeatureVirtual) {
		return nil
	}
	var numbers, slots, window, contexts uint32
	if err := n.run(ctx, func(b *Batch) {
		b.ReadRegister(linkproto.RegVLNumbers, &numbers)
		b.ReadRegister(linkproto.RegVLSlots, &slots)
		b.ReadRegister(linkproto.RegVLWindow, &window)
		if n.identity.Has(linkproto.FeatureMessages) {
			b.ReadRegister(linkproto.RegContexts, &contexts)
		}
	}); err != nil {
		return err
	}
	if most := uint32(1) << linkproto.MaxVLBits; numbers > most {
		return &IdentityError{Mismatches: []Mismatch{{Field: "VL_NUMBERS", Have: fmt.Sprint(numbers), Want: fmt.Sprint(most, " at most")}}}
	}
	peers := make([]uint32, max(numbers, 1)-1)
	if err := n.run(ctx, func(b *Batch) {
		for i := range peers {
			b.ReadRegister(linkproto.VLRegNumber.Reg(i+1), &peers[i])
		}
	}); err != nil {
		return err
	}
	n.lock()
	n.core.Offloading(int(slots), int(window), peers, int(min(contexts, 1<<linkproto.MaxContextBits)))
	n.unlock()
	return n.until(ctx, "virtual links of an earlier program to close", n.core.OffloadsClosed)
}

// hangUpLimit is how much time peers of virtual links may take to be told that a program ends: of the target's, and, where that may stand still, of the program's.
const hangUpLimit = 100 * time.Millisecond

// hangUp closes the virtual links, so that peers hear at once.
func (n *NI) hangUp() {
	n.lock()
	if n.core.Err() == nil {
		n.core.HangUp()
	}
	done := n.core.Err() != nil || n.core.HungUp()
	n.unlock()
	if done {
		return
	}
	ctx, cancel := n.briefly()
	defer cancel()
	n.until(ctx, "virtual links to close", n.core.HungUp) // or not: the peers find out
}

// briefly is for as long as closing may wait for the NI.
func (n *NI) briefly() (context.Context, context.CancelFunc) {
	real, stop := context.WithTimeout(context.Background(), 10*hangUpLimit)
	ctx, cancel := n.WithTimeout(real, hangUpLimit)
	return ctx, func() { cancel(); stop() }
}

// newVirtual makes a virtual link, which the NI carries out if it can carry out another one, and else the driver.
func (node *localNode) newVirtual(c engine.VirtualConfig, frames int, replacement func(frames int) Replacement) (*nodeLink, error) {
	if node.core.CanOffload() {
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
