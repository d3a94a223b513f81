package conformance

import (
	"context"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// trace finds out where the cables of the links go: packets that are sent by one are counted by the link at its far end. They are
// writes of nothing to an address that no NI has, so that another NI there takes no harm.
func (b *bench) trace(ctx context.Context) (links []Link, err error) {
	if nw := b.line.network; nw != nil {
		return nw.links(), nil
	}
	if p := b.line.pair; p != nil {
		return p.links(), nil
	}
	limit, cancel := b.limit(ctx)
	defer cancel()
	links = make([]Link, b.id.Links)
	received := make([]linkproto.Reg, len(links))
	for i := range links {
		links[i].Link, received[i] = i+1, linkproto.CounterReg(i+1, linkproto.CntRxPackets)
	}
	err = try.Run(func() {
		for i := range links {
			if links[i].Up = b.comesUp(limit, i+1); !links[i].Up {
				continue
			}
			before := b.registers(limit, received...)
			count := uint32(3 + b.rng.IntN(6))
			for range count {
				try.OK(b.ni.Send(limit, i+1, nowhere))
			}
			try.Wrap(b.ni.Sync(limit, i+1), "packets that were sent to find out where a cable goes")
			for j, after := range b.registers(limit, received...) {
				if after-before[j] == count {
					links[i].Peer = j + 1
				}
			}
		}
	})
	for i, l := range links {
		if l.Peer > 0 && links[l.Peer-1].Peer != l.Link {
			links[i].Peer = 0 // its count has grown by chance
		}
	}
	return links, err
}

// nowhere is a remote write that every NI denies.
var nowhere = linkproto.Packet{Type: linkproto.TypeWrite, Addr: 1<<32 - 1}

// comesUp waits for a link to come up, or long enough to know that it will not.
func (b *bench) comesUp(ctx context.Context, link int) bool {
	for start := b.ni.Now(); ; {
		up := try.Get(b.ni.LinkStatus(ctx, link)).Up
		if up || b.ni.Now()-start > b.duration(4*linkproto.DefaultWordTimer) {
			return up
		}
	}
}

// loop is a way from the NI to itself: what is sent by link via arrives at link at.
type loop struct{ via, at int }

// loops are the ways from the NI to itself.
func (b *bench) loops() (all []loop) {
	try.Wrap(b.lost, "it is not known where the cables go")
	for _, l := range b.links {
		if l.Peer > 0 {
			all = append(all, loop{l.Link, l.Peer})
		}
	}
	switch {
	case len(all) > 0:
	case b.line.network != nil:
		skipf("is about a cable; the target is two nodes of a network, which have a virtual link")
	default:
		skipf("needs a link that is cabled to itself or to another link of the network interface")
	}
	return all
}

// loop is one of them.
func (b *bench) loop() loop {
	all := b.loops()
	return all[b.rng.IntN(len(all))]
}

// openLoop is a loop that may write frames, and how many.
func (b *bench) openLoop(ctx context.Context) (loop, int) {
	l, frames := b.loop(), b.frames()
	for frame := range frames {
		b.grant(ctx, l.at, frame)
	}
	return l, frames
}

// lane is a loop that may write frame 0.
func (b *bench) lane(ctx context.Context) loop {
	l := b.loop()
	b.frames()
	b.grant(ctx, l.at, 0)
	return l
}
