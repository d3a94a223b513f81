package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv"
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
func (b *bench) one(ctx context.Context) (*node, channel, error) {
	n, err := b.node(ctx, b.id.Frames)
	if err != nil {
		return nil, channel{}, err
	}
	c, err := n.connect(ctx, hostdrv.Send, "")
	if err == nil {
		err = errors.Join(c.send.WritePage(ctx, []byte{1}, 0), c.receive.Wait(ctx, func(page []byte) bool { return page[0] == 1 }))
	}
	if err == nil {
		err = errors.Join(c.send.WritePage(ctx, []byte{0}, 0), c.receive.Wait(ctx, func(page []byte) bool { return page[0] == 0 }))
	}
	return n, c, err
}

// packets counts what do sends over the loop, and checks what the reader then sees.
func (n *node) packets(ctx context.Context, c channel, want []byte, do func() error) (uint32, error) {
	before, err := n.bench.counter(ctx, n.at, linkproto.CntRxPackets)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(do(), c.send.Sync(ctx)); err != nil {
		return 0, err
	}
	if err := n.shows(ctx, c, want); err != nil {
		return 0, err
	}
	after, err := n.bench.counter(ctx, n.at, linkproto.CntRxPackets)
	return after - before, err
}

// scribble writes at random places, so that at most count are apart from each other; it returns how many are.
func (b *bench) scribble(page []byte, count int, write func(data []byte, off int) error) (apart uint32, err error) {
	touched := make([]bool, len(page))
	for range count {
		off := b.rng.IntN(len(page))
		data := page[off : off+1+b.rng.IntN(min(len(page)-off, 12))]
		for i := range data {
			data[i]++ // so that each byte changes, unless it is written 256 times
			touched[off+i] = true
		}
		if err := write(data, off); err != nil {
			return 0, err
		}
	}
	for i, t := range touched {
		if t && (i == 0 || !touched[i-1]) {
			apart++
		}
	}
	return apart, nil
}

func immediate(ctx context.Context, b *bench) error {
	n, c, err := b.one(ctx)
	if err != nil {
		return err
	}
	want := make([]byte, b.id.PageBytes)
	const writes = 30
	sent, err := n.packets(ctx, c, want, func() error {
		_, err := b.scribble(want, writes, func(data []byte, off int) error { return c.send.WritePage(ctx, data, off) })
		return err
	})
	if err == nil && sent != writes {
		err = fmt.Errorf("%d writes were sent as %d packets", writes, sent)
	}
	return err
}

func late(ctx context.Context, b *bench) error {
	n, c, err := b.one(ctx)
	if err != nil {
		return err
	}
	if err := c.send.Port().SetWritePolicy(hostdrv.Late); err != nil {
		return err
	}
	want := make([]byte, b.id.PageBytes)
	for range 6 {
		var apart uint32
		shown := bytes.Clone(want)
		sent, err := n.packets(ctx, c, shown, func() (err error) {
			apart, err = b.scribble(want, b.rng.IntN(20), func(data []byte, off int) error { return c.send.WritePage(ctx, data, off) })
			return err
		})
		if err != nil || sent > 0 {
			return either(err, "%d packets were sent before Flush", sent)
		}
		sent, err = n.packets(ctx, c, want, func() error { return c.send.Flush(ctx) })
		if err != nil {
			return err
		}
		if sent != apart {
			return fmt.Errorf("a Flush sends %d packets, %d ranges of bytes were written", sent, apart)
		}
	}
	// What is kept is sent with the next Flush also when the policy changes.
	want[0]++
	if err := errors.Join(c.send.WritePage(ctx, want[:1], 0), c.send.Port().SetWritePolicy(hostdrv.Immediate), c.send.Flush(ctx)); err != nil {
		return err
	}
	return n.shows(ctx, c, want)
}

func interval(ctx context.Context, b *bench) error {
	n, c, err := b.one(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(c.send.Port().SetWritePolicy(hostdrv.Late), c.send.Port().FlushEvery(b.duration(2000))); err != nil {
		return err
	}
	want := make([]byte, b.id.PageBytes)
	for range 5 {
		_, err := b.scribble(want, 4, func(data []byte, off int) error { return c.send.WritePage(ctx, data, off) })
		if err == nil {
			err = n.shows(ctx, c, want)
		}
		if err != nil {
			return err
		}
	}
	return c.send.Port().FlushEvery(0)
}

func writtenAsMemory(ctx context.Context, b *bench) error {
	n, c, err := b.one(ctx)
	if err != nil {
		return err
	}
	if err := c.send.Port().SetWritePolicy(hostdrv.Late); err != nil {
		return err
	}
	page, err := c.send.Bytes()
	if errors.Is(err, errors.ErrUnsupported) {
		return skipf("%v", err)
	}
	if err != nil {
		return err
	}
	for range 6 {
		apart, err := b.scribble(page, b.rng.IntN(12), func([]byte, int) error { return nil })
		if err != nil {
			return err
		}
		sent, err := n.packets(ctx, c, page, func() error { return c.send.Flush(ctx) })
		if err != nil {
			return err
		}
		if sent != apart {
			return fmt.Errorf("a Flush sends %d packets, %d ranges of bytes have changed", sent, apart)
		}
	}
	return c.send.Unmap()
}
