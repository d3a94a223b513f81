package conformance

import (
	"context"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/linkproto"
)

var protectionCases = []Case{
	{"protection/closed", "A remote write to a frame that nobody may write changes nothing, is counted as denied, and is not notified.",
		protection, "protocol.md#packets", closedFrame},
	{"protection/foreign", "A remote write by a link to a frame of another link changes nothing and is counted as denied.",
		protection, "protocol.md#packets", foreignFrame},
	{"protection/astray", "A remote write across the end of a page or outside the receive buffer is dropped whole, and counted as denied.",
		protection, "protocol.md#packets", astray},
	{"protection/revoked", "A frame that is taken away is closed to all that arrives from then on, and open again when it is given back.",
		protection, "protocol.md#packets", revoked},
	{"protection/malformed", "A PAGE for a frame that does not exist is dropped and counted as a bad packet; it does not trap.",
		protection, "protocol.md#traps", malformed},
}

// denied runs writes that must change nothing: each is counted as denied by the link that it arrives at, the buffer stays as it is, and
// nothing is notified.
func (b *bench) denied(ctx context.Context, l loop, frames int, write func() (count int, err error)) error {
	m, err := b.blank(ctx, 0, frames)
	if err != nil {
		return err
	}
	events, err := b.ni.Events()
	if err != nil {
		return err
	}
	before, err := b.counter(ctx, l.at, linkproto.CntDenied)
	if err != nil {
		return err
	}
	if err := b.ni.SetNotify(ctx, true); err != nil {
		return err
	}
	count, err := write()
	if err != nil {
		return err
	}
	told, err := b.notified(ctx, l, events)
	if err != nil {
		return err
	}
	if err := b.check(ctx, m); err != nil {
		return fmt.Errorf("a write that must be denied was carried out: %w", err)
	}
	after, err := b.counter(ctx, l.at, linkproto.CntDenied)
	switch {
	case err != nil:
		return err
	case after-before != uint32(count):
		return fmt.Errorf("link %d counts %d writes as denied, %d were", l.at, after-before, count)
	}
	for frame, n := range told {
		return fmt.Errorf("bytes %d to %d of frame %d are notified, which were not written", n.First, n.Last, frame)
	}
	return nil
}

// notified returns what the NI tells of all that was sent over a loop before, by frame: the smallest range that covers it.
func (b *bench) notified(ctx context.Context, l loop, events *hostdrv.Events) (map[int]hostdrv.Notify, error) {
	told := map[int]hostdrv.Notify{}
	// Frames take turns, so the spare one may be told before another that was written earlier, but not twice.
	for range 2 {
		if err := b.arrived(ctx, l); err != nil {
			return nil, err
		}
		limit, cancel := b.soon(ctx, 1)
		err := b.gather(limit, events, told)
		cancel()
		if err != nil {
			return nil, fmt.Errorf("a write to frame %d is not notified: %w", b.spare(), err)
		}
	}
	return told, nil
}

// gather takes notifications until that of the spare frame has come.
func (b *bench) gather(ctx context.Context, events *hostdrv.Events, told map[int]hostdrv.Notify) error {
	for {
		ev, err := events.Next(ctx)
		if err != nil {
			return err
		}
		n, ok := ev.(hostdrv.Notify)
		if !ok {
			return fmt.Errorf("the network interface reports %+v", ev)
		}
		if n.Frame == b.spare() {
			return nil
		}
		if old, ok := told[n.Frame]; ok {
			n.First, n.Last = min(n.First, old.First), max(n.Last, old.Last)
		}
		told[n.Frame] = n
	}
}

func closedFrame(ctx context.Context, b *bench) error {
	l, err := b.loop()
	if err != nil {
		return err
	}
	frames, err := b.frames()
	if err != nil {
		return err
	}
	return b.denied(ctx, l, frames, func() (int, error) {
		return 2 * frames, b.intrude(ctx, l, frames)
	})
}

// intrude writes a whole page and a byte to each frame.
func (b *bench) intrude(ctx context.Context, l loop, frames int) error {
	page := b.id.PageBytes
	for _, frame := range b.rng.Perm(frames) {
		if err := errors.Join(b.ni.Write(ctx, l.via, frame*page, b.noise(page)), b.ni.Write(ctx, l.via, frame*page+b.rng.IntN(page), b.noise(1))); err != nil {
			return err
		}
	}
	return nil
}

func foreignFrame(ctx context.Context, b *bench) error {
	l, err := b.loop()
	if err != nil {
		return err
	}
	if b.id.Links < 2 {
		return skipf("needs two links, there is one")
	}
	frames, err := b.frames()
	if err != nil {
		return err
	}
	for frame := range frames {
		other := 1 + b.rng.IntN(b.id.Links-1)
		if other >= l.at {
			other++
		}
		if err := b.grant(ctx, other, frame); err != nil {
			return err
		}
	}
	return b.denied(ctx, l, frames, func() (int, error) {
		return 2 * frames, b.intrude(ctx, l, frames)
	})
}

func astray(ctx context.Context, b *bench) error {
	l, err := b.loop()
	if err != nil {
		return err
	}
	frames, err := b.frames()
	if err != nil {
		return err
	}
	for frame := range frames {
		if err := b.grant(ctx, l.at, frame); err != nil {
			return err
		}
	}
	page, size := b.id.PageBytes, b.id.BufferBytes()
	all := []span{
		{size, 0}, {size, 1}, {size - 1, 2}, {1<<32 - 1, 0}, {1<<32 - 1, 1}, {1 << 31, 4}, {1<<32 - page, page},
	}
	for frame := range frames {
		over := 1 + b.rng.IntN(page-1)
		all = append(all, span{(frame+1)*page - 1, 2}, span{frame*page + over, page - over + 1}, span{frame*page + 1, page})
	}
	for bit := size; bit < 1<<32; bit <<= 1 { // an address whose high bits are not looked at is one in the buffer
		all = append(all, span{bit, 4})
	}
	return b.denied(ctx, l, frames, func() (int, error) {
		for _, s := range all {
			// As one packet: Write would split it at the end of a page.
			p := linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(s.addr), Data: b.noise(s.size)}
			if err := b.ni.Send(ctx, l.via, p); err != nil {
				return 0, err
			}
		}
		return len(all), nil
	})
}

func revoked(ctx context.Context, b *bench) error {
	l, err := b.loop()
	if err != nil {
		return err
	}
	if _, err := b.frames(); err != nil {
		return err
	}
	m, err := b.blank(ctx, 0, 1)
	if err != nil {
		return err
	}
	before, err := b.counter(ctx, l.at, linkproto.CntDenied)
	if err != nil {
		return err
	}
	const turns = 16
	for turn := range turns {
		open := turn%2 == 0
		entry := hostdrv.FrameEntry{}
		if open {
			entry.Link = l.at
		}
		data, off := b.noise(1+b.rng.IntN(8)), b.rng.IntN(b.id.PageBytes-8)
		if err := errors.Join(b.ni.SetFrame(ctx, 0, entry), b.ni.Write(ctx, l.via, off, data), b.arrived(ctx, l)); err != nil {
			return err
		}
		if open {
			m.write(off, data)
		}
		if err := b.check(ctx, m); err != nil {
			return fmt.Errorf("the frame was opened and closed %d times: %w", turn, err)
		}
	}
	after, err := b.counter(ctx, l.at, linkproto.CntDenied)
	if err == nil && after-before != turns/2 {
		err = fmt.Errorf("link %d counts %d writes as denied, %d were", l.at, after-before, turns/2)
	}
	return err
}

func malformed(ctx context.Context, b *bench) error {
	l, err := b.loop()
	if err != nil {
		return err
	}
	if _, err := b.frames(); err != nil {
		return err
	}
	before, err := b.counter(ctx, l.at, linkproto.CntBadPacket)
	if err != nil {
		return err
	}
	frames := []int{b.id.Frames, 1<<16 - 1}
	for bit := 1; bit < 1<<16; bit <<= 1 {
		if bit > b.id.Frames {
			frames = append(frames, bit)
		}
	}
	for _, frame := range frames {
		if err := b.ni.Send(ctx, l.via, linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(frame), Port: 1}); err != nil {
			return err
		}
	}
	if err := b.arrived(ctx, l); err != nil {
		return fmt.Errorf("behind a PAGE for a frame that does not exist: %w", err)
	}
	if s, err := b.ni.LinkStatus(ctx, l.at); err != nil || s.Trapped {
		return either(err, "link %d is trapped", l.at)
	}
	after, err := b.counter(ctx, l.at, linkproto.CntBadPacket)
	if err == nil && after-before != uint32(len(frames)) {
		err = fmt.Errorf("link %d counts %d bad packets, %d were sent to it", l.at, after-before, len(frames))
	}
	return err
}
