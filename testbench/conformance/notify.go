package conformance

import (
	"context"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
)

var notifyCases = []Case{
	{"notify/range", "A remote write is notified by its frame and by the range of its bytes.",
		linkMemory, "protocol.md#notifications", notifyRange},
	{"notify/covers", "Notifications of many writes cover every byte that has changed, however they are merged.",
		linkMemory, "protocol.md#notifications", notifyCovers},
	{"notify/off", "Writes of the host are not notified, nor is anything while NOTIFY is clear.",
		linkMemory, "protocol.md#notifications", notifyOff},
}

// watch opens frames to a loop, and asks for notifications.
func (b *bench) watch(ctx context.Context) (l loop, frames int, events *hostdrv.Events) {
	l, frames = b.openLoop(ctx)
	events = try.Get(b.ni.Events())
	try.OK(b.ni.SetNotify(ctx, true))
	return l, frames, events
}

func notifyRange(ctx context.Context, b *bench) {
	l, frames, events := b.watch(ctx)
	page := b.id.PageBytes
	for range max(4, min(40, b.symbols()/1000)) {
		frame, off := b.rng.IntN(frames), b.rng.IntN(page)
		size := 1 + b.rng.IntN(min(page-off, 20))
		if b.rng.IntN(8) == 0 {
			off, size = 0, page
		}
		try.OK(b.ni.Send(ctx, l.via, write(frame*page+off, b.noise(size))))
		told := b.notified(ctx, l, events)
		want := hostdrv.Notify{Frame: frame, First: off, Last: off + size - 1}
		if len(told) != 1 || told[frame] != want {
			try.Failf("a write of bytes %d to %d of frame %d is notified as %v", want.First, want.Last, frame, told)
		}
	}
	// Nothing is written, so nothing is notified.
	try.OK(b.ni.Write(ctx, l.via, 0, nil))
	if told := b.notified(ctx, l, events); len(told) > 0 {
		try.Failf("an empty write is notified as %v", told)
	}
}

func notifyCovers(ctx context.Context, b *bench) {
	l, frames, events := b.watch(ctx)
	page := b.id.PageBytes
	for left := b.symbols() / 4; left > 0; {
		changed := make([]span, frames) // addr is the first byte, size the one behind the last
		for range 1 + b.rng.IntN(60) {
			frame, off := b.rng.IntN(frames), b.rng.IntN(page)
			size := 1 + b.rng.IntN(min(page-off, 50))
			try.OK(b.ni.Write(ctx, l.via, frame*page+off, b.noise(size)))
			left -= size + 12
			if c := &changed[frame]; c.size == 0 {
				*c = span{off, off + size}
			} else {
				*c = span{min(c.addr, off), max(c.size, off+size)}
			}
		}
		told := b.notified(ctx, l, events)
		for frame, c := range changed {
			n, ok := told[frame]
			if ok != (c.size > 0) || ok && (n.First != c.addr || n.Last != c.size-1) {
				try.Failf("in frame %d bytes %d to %d have changed, and %v is notified", frame, c.addr, c.size-1, told)
			}
		}
		left -= 200
	}
}

func notifyOff(ctx context.Context, b *bench) {
	l, _, events := b.watch(ctx)
	try.OK(b.ni.WriteBuffer(ctx, b.noise(b.id.PageBytes), 0))
	if told := b.notified(ctx, l, events); len(told) > 0 {
		try.Failf("a write of the host is notified as %v", told)
	}
	// NOTIFY is set again after the write has been carried out.
	try.OK(b.ni.SetNotify(ctx, false), b.ni.Write(ctx, l.via, 0, b.noise(9)), b.arrived(ctx, l), b.ni.SetNotify(ctx, true))
	if told := b.notified(ctx, l, events); len(told) > 0 {
		try.Failf("a write while NOTIFY was clear is notified as %v", told)
	}
}
