package hostdrv

import (
	"context"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/linkproto"
)

// Identity is what an NI says about itself, in its first registers.
type Identity = engine.Identity

// FrameEntry is a frame's entry in the frame table: the link that may write it, or the virtual link of the NI's, 0 for none.
type FrameEntry struct {
	Link int `json:"link"`
	VL   int `json:"vl,omitempty"`
}

// LinkStatus is the state of a link of the NI.
type LinkStatus struct {
	Up       bool     `json:"up"`
	PeerStop bool     `json:"peer_stop"` // the peer sends STOP
	OwnStop  bool     `json:"own_stop"`  // the NI sends STOP
	Trapped  bool     `json:"trapped"`   // its packets wait for Resume
	Epoch    uint8    `json:"epoch"`
	Peer     LinkPeer `json:"peer"`
}

// LinkPeer is who is at the far end of a link, as that has said.
type LinkPeer struct {
	Known   bool   `json:"known"`   // else nothing has been heard of it, and nothing else holds
	Node    uint16 `json:"node"`    // its node id; 0 if it has none
	Refused bool   `json:"refused"` // it takes shorter packets than this NI may send, or has another number of lanes: the link stays down
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
	if vl := int(linkproto.FrameVL.Of(v)); vl != 0 {
		return FrameEntry{VL: vl}, nil
	}
	return FrameEntry{Link: int(linkproto.FrameLink.Of(v))}, nil
}

// Resume says that the trap of a link has been served: the link receives again.
func (n *NI) Resume(ctx context.Context, link int) error {
	return n.run(ctx, func(b *Batch) { b.Resume(link) })
}

// SetNotify sets whether the NI reports remote writes, by Notify events.
func (n *NI) SetNotify(ctx context.Context, on bool) error {
	n.lock()
	n.notifies = on
	n.unlock()
	return n.control(ctx)
}

// control writes CONTROL.
func (n *NI) control(ctx context.Context) error {
	v := uint32(0)
	n.lock()
	if n.notifies {
		v = linkproto.ControlNotify.In(1)
	}
	if n.core.Uplink != nil {
		v |= linkproto.ControlGateway.In(1)
	}
	n.unlock()
	return n.WriteRegister(ctx, linkproto.RegControl, v)
}

// LinkStatus returns the state of a link; 0 is the NI's end of the host's cable.
func (n *NI) LinkStatus(ctx context.Context, link int) (LinkStatus, error) {
	if link != 0 {
		if err := checkLink(n.identity, link); err != nil {
			return LinkStatus{}, err
		}
	}
	var v, peer uint32
	err := n.run(ctx, func(b *Batch) {
		b.ReadRegister(linkproto.LinkStatusReg(link), &v)
		b.ReadRegister(linkproto.PeerReg(link), &peer)
	})
	is := func(b linkproto.Bits) bool { return b.Of(v) != 0 }
	return LinkStatus{
		Up: is(linkproto.StatusUp), PeerStop: is(linkproto.StatusPeerStop), OwnStop: is(linkproto.StatusOwnStop), Trapped: is(linkproto.StatusTrapped),
		Epoch: uint8(linkproto.StatusEpoch.Of(v)),
		Peer: LinkPeer{
			Known: linkproto.PeerKnown.Of(peer) != 0, Node: uint16(linkproto.PeerNode.Of(peer)), Refused: linkproto.PeerRefused.Of(peer) != 0,
		},
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

// Batch collects requests that are then underway together, so that they take one round trip of the cable and not one each. The NI
// carries them out in the order in which they were added. A Batch is for one goroutine; once run it is empty again.
type Batch struct {
	ni    *NI
	calls []*engine.Call
	err   error
}

// running is a batch whose requests are underway.
type running struct {
	left int
	gone bool // the caller no longer waits: its memory is not to be touched
	err  error
}

func (b *Batch) identity() Identity {
	if b.ni == nil {
		return Identity{}
	}
	return b.ni.identity
}

// Batch returns an empty batch.
func (n *NI) Batch() *Batch { return &Batch{ni: n} }

// Run sends the requests and waits for all answers. It returns the first error there was; the other requests are carried out all the
// same, unless an argument was wrong: then none is.
func (b *Batch) Run(ctx context.Context) error {
	calls, err := b.calls, b.err
	*b = Batch{ni: b.ni}
	if b.ni == nil {
		return ErrClosed
	}
	if err != nil || len(calls) == 0 {
		return err
	}
	n := b.ni
	run := &running{left: len(calls)}
	n.lock()
	for _, r := range calls {
		take := r.Done
		r.Done = func(a linkproto.Packet, err error) {
			if run.gone {
				return
			}
			if err == nil {
				take(a, nil)
			} else if run.err == nil {
				run.err = err
			}
			run.left--
		}
		n.core.Submit(r)
	}
	n.unlock()
	err = n.until(ctx, fmt.Sprintf("the answer to %v of %s", calls[0].Packet.Type, engine.Object(&calls[0].Packet)), func() bool { return run.left == 0 })
	n.lock()
	defer n.unlock()
	if err != nil {
		run.gone = true
		n.core.Withdraw(func(r *engine.Call) bool { return slices.Contains(calls, r) })
		for _, r := range calls { // those that are underway are sent again if the cable starts again
			r.Packet.Data = slices.Clone(r.Packet.Data)
		}
		return err
	}
	return run.err
}

func (b *Batch) add(p linkproto.Packet, take func(linkproto.Packet, error)) {
	b.calls = append(b.calls, &engine.Call{Packet: p, Done: take})
}

func (b *Batch) wrong(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("%w: "+format, append([]any{ErrRange}, args...)...)
	}
}

func done(linkproto.Packet, error) {}

// ReadRegister adds a read of a register into v.
func (b *Batch) ReadRegister(r linkproto.Reg, v *uint32) {
	b.add(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: r}, func(a linkproto.Packet, _ error) { *v = a.Value })
}

// WriteRegister adds a write of a register.
func (b *Batch) WriteRegister(r linkproto.Reg, v uint32) {
	b.add(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: r, Value: v}, done)
}

// ReadBuffer adds a read of the receive buffer from addr into p.
func (b *Batch) ReadBuffer(p []byte, addr int) {
	b.pages("read", p, addr, func(part []byte, addr uint32) {
		b.add(linkproto.Packet{Type: linkproto.TypeBufRead, Addr: addr, Count: uint16(len(part))},
			func(a linkproto.Packet, _ error) { copy(part, a.Data) })
	})
}

// WriteBuffer adds a write of p to the receive buffer from addr. It does not copy p.
func (b *Batch) WriteBuffer(p []byte, addr int) {
	b.pages("write", p, addr, func(part []byte, addr uint32) {
		b.add(linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: addr, Data: part}, done)
	})
}

// pages calls do for the part of p in each page.
func (b *Batch) pages(verb string, p []byte, addr int, do func(part []byte, addr uint32)) {
	id := b.identity()
	if addr < 0 || len(p) > id.BufferBytes() || addr > id.BufferBytes()-len(p) {
		b.wrong("cannot %s %d bytes at %#x of a receive buffer of %d bytes", verb, len(p), addr, id.BufferBytes())
		return
	}
	for len(p) > 0 {
		n := min(len(p), id.PageBytes-addr%id.PageBytes)
		do(p[:n:n], uint32(addr))
		p, addr = p[n:], addr+n
	}
}

// SetFrame adds a write of a frame's entry in the frame table.
func (b *Batch) SetFrame(frame int, e FrameEntry) {
	id := b.identity()
	switch {
	case frame < 0 || frame >= id.Frames:
		b.wrong("no frame %d, there are %d", frame, id.Frames)
	case e.Link < 0 || e.Link > id.Links:
		b.wrong("no link %d, there are %d", e.Link, id.Links)
	case e.VL < 0 || e.VL > 1<<16-1 || e.VL > 0 && !id.Has(linkproto.FeatureVirtual):
		b.wrong("no virtual link %d", e.VL)
	case e.VL > 0:
		b.WriteRegister(linkproto.FrameReg(frame), linkproto.FrameVL.In(uint32(e.VL))|linkproto.FrameValid.In(1))
	case e.Link == 0:
		b.WriteRegister(linkproto.FrameReg(frame), 0)
	default:
		b.WriteRegister(linkproto.FrameReg(frame), linkproto.FrameLink.In(uint32(e.Link))|linkproto.FrameValid.In(1))
	}
}

// Resume adds the RESUME of a link that has trapped.
func (b *Batch) Resume(link int) {
	if err := checkLink(b.identity(), link); err != nil {
		b.wrong("%v", err)
		return
	}
	b.add(linkproto.Packet{Type: linkproto.TypeResume, Via: uint8(link)}, done)
}
