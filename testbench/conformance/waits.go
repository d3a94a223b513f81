package conformance

import (
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

var waitCases = []Case{
	{"waits/change", "A wait ends when what it waits for has arrived, whether that is before it blocks or after.",
		waiting, "driver.md#lmmc", waitChange},
	{"waits/out", "A wait for a port whose page is out ends when the page is in and holds what is waited for.",
		waiting, "driver.md#lmmc", waitOut},
	{"waits/deadline", "A wait that nothing ends takes as much of the target's time as it was given.",
		waiting, "driver.md#time", waitDeadline},
	{"waits/cancel", "A wait that is cancelled returns, and spoils nothing.",
		waiting, "driver.md#time", waitCancel},
	{"waits/memory", "A receive page that is mapped as memory shows what arrives to a program that only reads memory.",
		linkMemory, "driver.md#pages-as-memory", waitMemory},
}

// later calls do when some time of the target has passed, while the caller waits for something else. How long that takes depends on when
// the system lets do run, since a simulation goes on meanwhile: what waits for it must be patient.
func (b *bench) later(ctx context.Context, ticks int, do func() error) <-chan error {
	done := make(chan error, 1)
	limit, cancel := b.within(ctx, ticks)
	context.AfterFunc(limit, func() {
		cancel()
		if ctx.Err() != nil {
			done <- context.Cause(ctx)
			return
		}
		done <- do()
	})
	return done
}

func waitChange(ctx context.Context, b *bench) {
	_, c := b.one(ctx)
	// 20 microseconds of spinning, unless the node is told otherwise.
	spin := int(b.ticks(20 * time.Microsecond))
	for i, wait := range []int{1, spin / 2, 2*spin + 1000, 20*spin + 5000} {
		value := byte(i + 1)
		written := b.later(ctx, wait, func() error { return c.send.WritePage(ctx, []byte{value}, 0) })
		err := c.receive.Wait(ctx, func(page []byte) bool { return page[0] == value })
		try.Wrap(errors.Join(err, <-written), "a write %d symbol times after the wait began", wait)
	}
}

func waitOut(ctx context.Context, b *bench) {
	c := b.crowd(ctx, 1, 3)
	for range 5 {
		i := b.rng.IntN(len(c.ports))
		for j := range c.ports { // port i is out afterwards
			if j != i {
				try.OK(c.write(ctx, j))
			}
		}
		c.end(ctx)
		want := binary.LittleEndian.Uint32(c.pages[i]) + 1
		written := b.later(ctx, 5000, func() error { return c.write(ctx, i) })
		err := c.ports[i].receive.Wait(ctx, func(page []byte) bool { return binary.LittleEndian.Uint32(page) == want })
		try.Wrap(errors.Join(err, <-written), "port %d, which was out", c.ports[i].send.Port().ID())
	}
}

func waitDeadline(ctx context.Context, b *bench) {
	_, c := b.one(ctx)
	for _, ticks := range []int{100, 3000, 30_000} {
		start := b.now(ctx)
		limit, cancel := b.within(ctx, ticks)
		err := c.receive.Wait(limit, func([]byte) bool { return false })
		cancel()
		try.OK(wraps(err, context.DeadlineExceeded))
		// A simulation looks at the time every turn; a board's host may be busy. Less than half a symbol time is for rounding to nanoseconds.
		if took := b.ticks(b.now(ctx) - start); took < float64(ticks)-0.5 || b.line.timing().VirtualTime && took > float64(ticks)+8192 {
			try.Failf("a wait of %d symbol times took %.0f", ticks, took)
		}
	}
}

func waitCancel(ctx context.Context, b *bench) {
	n, c := b.one(ctx)
	limit, cancel := context.WithCancel(ctx)
	ended := make(chan error)
	for _, wait := range []func() error{
		func() error { return c.receive.Wait(limit, func([]byte) bool { return false }) },
		func() error { _, err := n.Accept(limit); return err },
	} {
		go func() { ended <- wait() }()
	}
	if _, err := b.target.ReadRegister(ctx, linkproto.RegScratch); err != nil {
		cancel()
		try.OK(err, <-ended, <-ended)
	}
	cancel()
	for range 2 {
		try.OK(wraps(<-ended, context.Canceled))
	}
	if _, err := b.target.ReadRegister(limit, linkproto.RegMagic); !errors.Is(err, context.Canceled) {
		try.Failf("a request with a context that was cancelled before: %w", err)
	}
	want := make([]byte, b.id.PageBytes)
	want[3] = 3
	try.OK(c.send.WritePage(ctx, want[3:4], 3))
	n.shows(ctx, c, want)
}

func waitMemory(ctx context.Context, b *bench) {
	_, c := b.one(ctx)
	page, err := c.receive.Bytes()
	if errors.Is(err, errors.ErrUnsupported) {
		skipf("%v", err)
	}
	try.OK(err)
	word := (*atomic.Uint32)(unsafe.Pointer(&page[8]))
	for i := range uint32(20) {
		try.OK(c.send.StoreUint32(ctx, 8, 1000+i))
		for word.Load() != 1000+i { // time goes on while a page is mapped
			if ctx.Err() != nil {
				try.Failf("memory shows %d, want %d: %w", word.Load(), 1000+i, context.Cause(ctx))
			}
			runtime.Gosched()
		}
	}
	try.OK(c.receive.Unmap())
}
