package conformance

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// trace finds out where the cables of the links go: packets that are sent by one are counted by the link at its far end. They are
// writes of nothing to an address that no NI has, so that another NI there takes no harm.
func (b *bench) trace(ctx context.Context) ([]Link, error) {
	limit, cancel := b.limit(ctx)
	defer cancel()
	links := make([]Link, b.id.Links)
	for i := range links {
		links[i].Link = i + 1
		up, err := b.comesUp(limit, i+1)
		if err != nil {
			return links, err
		}
		if links[i].Up = up; !up {
			continue
		}
		before, err := b.received(limit)
		if err != nil {
			return links, err
		}
		count := uint32(3 + b.rng.IntN(6))
		for range count {
			if err := b.ni.Send(limit, i+1, nowhere); err != nil {
				return links, err
			}
		}
		if err := b.ni.Sync(limit, i+1); err != nil {
			return links, fmt.Errorf("%w, of packets that were sent to find out where its cable goes", err)
		}
		after, err := b.received(limit)
		if err != nil {
			return links, err
		}
		for j := range before {
			if after[j]-before[j] == count {
				links[i].Peer = j + 1
			}
		}
	}
	for i, l := range links {
		if l.Peer > 0 && links[l.Peer-1].Peer != l.Link {
			links[i].Peer = 0 // its count has grown by chance
		}
	}
	return links, nil
}

// nowhere is a remote write that every NI denies.
var nowhere = linkproto.Packet{Type: linkproto.TypeWrite, Addr: 1<<32 - 1}

// comesUp waits for a link to come up, or long enough to know that it will not.
func (b *bench) comesUp(ctx context.Context, link int) (bool, error) {
	for start := b.ni.Now(); ; {
		s, err := b.ni.LinkStatus(ctx, link)
		if err != nil || s.Up {
			return s.Up, err
		}
		if b.ni.Now()-start > b.duration(4*linkproto.DefaultWordTimer) {
			return false, nil
		}
	}
}

// received are the counts of packets that the links have received.
func (b *bench) received(ctx context.Context) ([]uint32, error) {
	counts := make([]uint32, b.id.Links)
	batch := b.ni.Batch()
	for i := range counts {
		batch.ReadRegister(linkproto.CounterReg(i+1, linkproto.CntRxPackets), &counts[i])
	}
	return counts, batch.Run(ctx)
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
	if len(all) == 0 {
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
