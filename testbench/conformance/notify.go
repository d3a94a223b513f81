package conformance

import (
	"context"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv"
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
func (b *bench) watch(ctx context.Context) (l loop, frames int, events *hostdrv.Events, err error) {
	if l, err = b.loop(); err != nil {
		return l, 0, nil, err
	}
	if frames, err = b.frames(); err != nil {
		return l, 0, nil, err
	}
	for frame := range frames {
		if err := b.grant(ctx, l.at, frame); err != nil {
			return l, 0, nil, err
		}
	}
	if events, err = b.ni.Events(); err != nil {
		return l, 0, nil, err
	}
	return l, frames, events, b.ni.SetNotify(ctx, true)
}

func notifyRange(ctx context.Context, b *bench) error {
	l, frames, events, err := b.watch(ctx)
	if err != nil {
		return err
	}
	page := b.id.PageBytes
	for range max(4, min(40, b.symbols()/1000)) {
		frame, off := b.rng.IntN(frames), b.rng.IntN(page)
		size := 1 + b.rng.IntN(min(page-off, 20))
		if b.rng.IntN(8) == 0 {
			off, size = 0, page
		}
		if err := b.ni.Write(ctx, l.via, frame*page+off, b.noise(size)); err != nil {
			return err
		}
		told, err := b.notified(ctx, l, events)
		if err != nil {
			return err
		}
		want := hostdrv.Notify{Frame: frame, First: off, Last: off + size - 1}
		if len(told) != 1 || told[frame] != want {
			return fmt.Errorf("a write of bytes %d to %d of frame %d is notified as %v", want.First, want.Last, frame, told)
		}
	}
	// Nothing is written, so nothing is notified.
	if err := b.ni.Write(ctx, l.via, 0, nil); err != nil {
		return err
	}
	if told, err := b.notified(ctx, l, events); err != nil || len(told) > 0 {
		return either(err, "an empty write is notified as %v", told)
	}
	return nil
}

func notifyCovers(ctx context.Context, b *bench) error {
	l, frames, events, err := b.watch(ctx)
	if err != nil {
		return err
	}
	page := b.id.PageBytes
	for left := b.symbols() / 4; left > 0; {
		changed := make([]span, frames) // addr is the first byte, size the one behind the last
		for range 1 + b.rng.IntN(60) {
			frame, off := b.rng.IntN(frames), b.rng.IntN(page)
			size := 1 + b.rng.IntN(min(page-off, 50))
			if err := b.ni.Write(ctx, l.via, frame*page+off, b.noise(size)); err != nil {
				return err
			}
			left -= size + 12
			if c := &changed[frame]; c.size == 0 {
				*c = span{off, off + size}
			} else {
				*c = span{min(c.addr, off), max(c.size, off+size)}
			}
		}
		told, err := b.notified(ctx, l, events)
		if err != nil {
			return err
		}
		for frame, c := range changed {
			n, ok := told[frame]
			if ok != (c.size > 0) || ok && (n.First != c.addr || n.Last != c.size-1) {
				return fmt.Errorf("in frame %d bytes %d to %d have changed, and %v is notified", frame, c.addr, c.size-1, told)
			}
		}
		left -= 200
	}
	return nil
}

func notifyOff(ctx context.Context, b *bench) error {
	l, _, events, err := b.watch(ctx)
	if err != nil {
		return err
	}
	if err := b.ni.WriteBuffer(ctx, b.noise(b.id.PageBytes), 0); err != nil {
		return err
	}
	if told, err := b.notified(ctx, l, events); err != nil || len(told) > 0 {
		return either(err, "a write of the host is notified as %v", told)
	}
	// NOTIFY is set again after the write has been carried out.
	if err := errors.Join(b.ni.SetNotify(ctx, false), b.ni.Write(ctx, l.via, 0, b.noise(9)), b.arrived(ctx, l), b.ni.SetNotify(ctx, true)); err != nil {
		return err
	}
	told, err := b.notified(ctx, l, events)
	if err == nil && len(told) > 0 {
		err = fmt.Errorf("a write while NOTIFY was clear is notified as %v", told)
	}
	return err
}
