package hostdrv

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/linkproto"
)

// Identity is what an NI says about itself, in its first registers.
type Identity = engine.Identity

// FrameEntry is a frame's entry in the frame table: the link that may write it, 0 for none.
type FrameEntry struct {
	Link int `json:"link"`
}

// LinkStatus is the state of a link of the NI.
type LinkStatus struct {
	Up        bool  `json:"up"`
	PeerStop  bool  `json:"peer_stop"` // the peer sends STOP
	OwnStop   bool  `json:"own_stop"`  // the NI sends STOP
	Trapped   bool  `json:"trapped"`   // its packets wait for Resume
	Epoch     uint8 `json:"epoch"`
	PeerEpoch uint8 `json:"peer_epoch"` // 0 if unknown
}

// Counters are the counters of a link, by linkproto.Counter.
type Counters [linkproto.NumCounters]uint32

// run runs a batch that add fills.
func (n *NI) run(ctx context.Context, add func(*Batch)) error {
	b := n.Batch()
	add(b)
	return b.Run(ctx)
}

// ReadRegister returns the value of a register.
func (n *NI) ReadRegister(ctx context.Context, r linkproto.Reg) (v uint32, err error) {
	err = n.run(ctx, func(b *Batch) { b.ReadRegister(r, &v) })
	return v, err
}

// WriteRegister sets a register.
func (n *NI) WriteRegister(ctx context.Context, r linkproto.Reg, v uint32) error {
	return n.run(ctx, func(b *Batch) { b.WriteRegister(r, v) })
}

// ReadBuffer fills p with the receive buffer from addr.
func (n *NI) ReadBuffer(ctx context.Context, p []byte, addr int) error {
	return n.run(ctx, func(b *Batch) { b.ReadBuffer(p, addr) })
}

// WriteBuffer writes p to the receive buffer from addr. The links may write there too.
func (n *NI) WriteBuffer(ctx context.Context, p []byte, addr int) error {
	return n.run(ctx, func(b *Batch) { b.WriteBuffer(p, addr) })
}

// SetFrame sets which link may write a frame.
func (n *NI) SetFrame(ctx context.Context, frame int, e FrameEntry) error {
	return n.run(ctx, func(b *Batch) { b.SetFrame(frame, e) })
}

// Frame returns a frame's entry in the frame table.
func (n *NI) Frame(ctx context.Context, frame int) (FrameEntry, error) {
	if frame < 0 || frame >= n.identity.Frames {
		return FrameEntry{}, fmt.Errorf("%w: no frame %d, there are %d", ErrRange, frame, n.identity.Frames)
	}
	v, err := n.ReadRegister(ctx, linkproto.FrameReg(frame))
	if err != nil || linkproto.FrameValid.Of(v) == 0 {
		return FrameEntry{}, err
	}
	return FrameEntry{Link: int(linkproto.FrameLink.Of(v))}, nil
}

// Resume says that the trap of a link has been served: the link receives again.
func (n *NI) Resume(ctx context.Context, link int) error {
	return n.run(ctx, func(b *Batch) { b.Resume(link) })
}

// SetNotify sets whether the NI reports remote writes, by Notify events.
func (n *NI) SetNotify(ctx context.Context, on bool) error {
	v := uint32(0)
	if on {
		v = linkproto.ControlNotify.In(1)
	}
	return n.WriteRegister(ctx, linkproto.RegControl, v)
}

// LinkStatus returns the state of a link; 0 is the NI's end of the host's cable.
func (n *NI) LinkStatus(ctx context.Context, link int) (LinkStatus, error) {
	if link != 0 {
		if err := checkLink(n.identity, link); err != nil {
			return LinkStatus{}, err
		}
	}
	v, err := n.ReadRegister(ctx, linkproto.LinkStatusReg(link))
	is := func(b linkproto.Bits) bool { return b.Of(v) != 0 }
	return LinkStatus{
		Up: is(linkproto.StatusUp), PeerStop: is(linkproto.StatusPeerStop), OwnStop: is(linkproto.StatusOwnStop), Trapped: is(linkproto.StatusTrapped),
		Epoch: uint8(linkproto.StatusEpoch.Of(v)), PeerEpoch: uint8(linkproto.StatusPeerEpoch.Of(v)),
	}, err
}

// Counters returns the counters of a link; 0 is the NI's end of the host's cable.
func (n *NI) Counters(ctx context.Context, link int) (c Counters, err error) {
	if link != 0 {
		if err := checkLink(n.identity, link); err != nil {
			return c, err
		}
	}
	b := n.Batch()
	for i := range c {
		b.ReadRegister(linkproto.CounterReg(link, linkproto.Counter(i)), &c[i])
	}
	err = b.Run(ctx)
	return c, err
}

// CableCounters returns the counters of the host's own end of the cable.
func (n *NI) CableCounters() (c Counters) {
	n.lock()
	defer n.unlock()
	for i := range c {
		c[i] = n.core.Counter(linkproto.Counter(i))
	}
	return c
}

func checkLink(id Identity, link int) error {
	if link < 1 || link > id.Links {
		return fmt.Errorf("%w: no link %d, there are %d", ErrRange, link, id.Links)
	}
	return nil
}
