package conformance

import (
	"context"
	"errors"
	"slices"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/linkproto"
)

var performanceCases = []Case{
	{"performance/writes", "Remote writes of a page: the share of the host's cable that is payload.",
		remoteWrite, "driver.md#two-kinds-of-calls", writeThroughput},
	{"performance/reads", "Reads of the receive buffer that are underway together: the share of the host's cable that is payload.",
		linkMemory, "driver.md#two-kinds-of-calls", readThroughput},
	{"performance/latency", "A request alone, and 8 bytes from one end of a port to the other and back, in symbol times of the host's cable.",
		waiting, "driver.md#lmmc", latency},
}

// rate reports payload that took some time.
func (b *bench) rate(name string, bytes int, run func() error) error {
	start := b.ni.Now()
	if err := run(); err != nil {
		return err
	}
	took := b.ni.Now() - start
	b.measure(name, float64(bytes)/b.ticks(took), "")
	b.measure("payload", float64(bytes)/took.Seconds()/1e6, "MB/s")
	return nil
}

func writeThroughput(ctx context.Context, b *bench) error {
	l, err := b.lane(ctx)
	if err != nil {
		return err
	}
	page := b.noise(b.id.PageBytes)
	writes := max(8, b.symbols()/4/len(page))
	return b.rate("share of the cable's nominal rate", writes*len(page), func() error {
		for range writes {
			if err := b.ni.Write(ctx, l.via, 0, page); err != nil {
				return err
			}
		}
		return b.ni.Sync(ctx, l.via)
	})
}

func readThroughput(ctx context.Context, b *bench) error {
	page := make([]byte, b.id.PageBytes)
	reads := max(8, b.symbols()/4/len(page))
	return b.rate("share of the cable's nominal rate", reads*len(page), func() error {
		batch := b.ni.Batch()
		for range reads {
			batch.ReadBuffer(page, 0)
		}
		return batch.Run(ctx)
	})
}

func latency(ctx context.Context, b *bench) error {
	median := func(name string, count int, once func() error) error {
		var took []float64
		for range count {
			start := b.ni.Now()
			if err := once(); err != nil {
				return err
			}
			took = append(took, b.ticks(b.ni.Now()-start))
		}
		slices.Sort(took)
		b.measure(name+", median", took[len(took)/2], "symbol times")
		b.measure(name+", 99 %", took[len(took)*99/100], "symbol times")
		return nil
	}
	count := max(20, min(200, b.symbols()/4000))
	if err := median("request", count, func() error {
		_, err := b.ni.ReadRegister(ctx, linkproto.RegScratch)
		return err
	}); err != nil {
		return err
	}
	n, err := b.node(ctx, b.id.Frames)
	if err != nil {
		return err
	}
	there, err := n.connect(ctx, hostdrv.Send, "there")
	if err != nil {
		return err
	}
	back, err := n.connect(ctx, hostdrv.Send, "back")
	if err != nil {
		return err
	}
	value := byte(0)
	return median("8 bytes there and back", count, func() error {
		value++
		data := []byte{value, 0, 0, 0, 0, 0, 0, 0}
		for _, c := range []channel{there, back} {
			if err := errors.Join(c.send.WriteAt(ctx, data, 0), c.receive.Wait(ctx, func(page []byte) bool { return page[0] == value })); err != nil {
				return err
			}
		}
		return nil
	})
}
