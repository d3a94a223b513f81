package conformance

import (
	"bytes"
	"context"
	"errors"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

var policyCases = []Case{
	{"policies/immediate", "With the immediate policy each write to a port is sent by itself, at once.",
		policies, "driver.md#lmmc", immediate},
	{"policies/late", "With the late policy nothing is sent before Flush, which sends the bytes that were written since, and no others.",
		policies, "driver.md#lmmc", late},
	{"policies/interval", "A port that is flushed at an interval sends what was written by itself.",
		policies, "driver.md#pages-as-memory", interval},
	{"policies/memory", "Of a send page that is written as memory, Flush sends the bytes that have changed, and no others.",
		policies, "driver.md#pages-as-memory", writtenAsMemory},
}

// one starts a node with one port, in its frame.
func (b *bench) one(ctx context.Context) (*node, channel) {
	n := b.node(ctx, b.id.Frames)
	c := n.connect(ctx, hostdrv.Send, "")
	for _, v := range []byte{1, 0} {
		try.OK(c.send.WritePage(ctx, []byte{v}, 0), c.receive.Wait(ctx, func(page []byte) bool { return page[0] == v }))
	}
	return n, c
}

// packets counts what do sends over the link, and checks what the reader then sees.
func (n *node) packets(ctx context.Context, c channel, want []byte, do func()) uint32 {
	b := n.bench
	passed := func() uint32 { return b.counter(ctx, n.at, linkproto.CntRxPackets) }
	if nw := b.line.network; nw != nil { // nothing else goes into it, while the other end writes nothing
		passed = func() uint32 { return b.counter(ctx, nw.via, linkproto.CntTxPackets) }
	} else if b.line.pair != nil {
		passed = func() uint32 { return b.sent(ctx) }
	}
	before := passed()
	do()
	try.OK(c.send.Sync(ctx))
	n.shows(ctx, c, want)
	return passed() - before
}

// scribble writes at random places, so that at most count are apart from each other; it returns how many are.
func (b *bench) scribble(page []byte, count int, write func(data []byte, off int) error) (apart uint32) {
	touched := make([]bool, len(page))
	for range count {
		off := b.rng.IntN(len(page))
		data := page[off : off+1+b.rng.IntN(min(len(page)-off, 12))]
		for i := range data {
			data[i]++ // so that each byte changes, unless it is written 256 times
			touched[off+i] = true
		}
		try.OK(write(data, off))
	}
	for i, t := range touched {
		if t && (i == 0 || !touched[i-1]) {
			apart++
		}
	}
	return apart
}

func immediate(ctx context.Context, b *bench) {
	n, c := b.one(ctx)
	want := make([]byte, b.id.PageBytes)
	const writes = 30
	sent := n.packets(ctx, c, want, func() {
		b.scribble(want, writes, func(data []byte, off int) error { return c.send.WritePage(ctx, data, off) })
	})
	if sent != writes {
		try.Failf("%d writes were sent as %d packets", writes, sent)
	}
}

func late(ctx context.Context, b *bench) {
	n, c := b.one(ctx)
	try.OK(c.send.Port().SetWritePolicy(hostdrv.Late))
	want := make([]byte, b.id.PageBytes)
	for range 6 {
		var apart uint32
		shown := bytes.Clone(want)
		sent := n.packets(ctx, c, shown, func() {
			apart = b.scribble(want, b.rng.IntN(20), func(data []byte, off int) error { return c.send.WritePage(ctx, data, off) })
		})
		if sent > 0 {
			try.Failf("%d packets were sent before Flush", sent)
		}
		sent = n.packets(ctx, c, want, func() { try.OK(c.send.Flush(ctx)) })
		if sent != apart {
			try.Failf("a Flush sends %d packets, %d ranges of bytes were written", sent, apart)
		}
	}
	// What is kept is sent with the next Flush also when the policy changes.
	want[0]++
	try.OK(c.send.WritePage(ctx, want[:1], 0), c.send.Port().SetWritePolicy(hostdrv.Immediate), c.send.Flush(ctx))
	n.shows(ctx, c, want)
}

func interval(ctx context.Context, b *bench) {
	n, c := b.one(ctx)
	try.OK(c.send.Port().SetWritePolicy(hostdrv.Late), c.send.Port().FlushEvery(b.duration(2000)))
	want := make([]byte, b.id.PageBytes)
	for range 5 {
		b.scribble(want, 4, func(data []byte, off int) error { return c.send.WritePage(ctx, data, off) })
		n.shows(ctx, c, want)
	}
	try.OK(c.send.Port().FlushEvery(0))
}

func writtenAsMemory(ctx context.Context, b *bench) {
	n, c := b.one(ctx)
	try.OK(c.send.Port().SetWritePolicy(hostdrv.Late))
	page, err := c.send.Bytes()
	if errors.Is(err, errors.ErrUnsupported) {
		skipf("%v", err)
	}
	try.OK(err)
	for range 6 {
		apart := b.scribble(page, b.rng.IntN(12), func([]byte, int) error { return nil })
		sent := n.packets(ctx, c, page, func() { try.OK(c.send.Flush(ctx)) })
		if sent != apart {
			try.Failf("a Flush sends %d packets, %d ranges of bytes have changed", sent, apart)
		}
	}
	try.OK(c.send.Unmap())
}
