package conformance

import (
	"context"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
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
func (b *bench) denied(ctx context.Context, l loop, frames int, write func() (count int)) {
	m := b.blank(ctx, 0, frames)
	events := try.Get(b.ni.Events())
	checkDenied := b.deniedAt(ctx, l.at)
	try.OK(b.ni.SetNotify(ctx, true))
	count := write()
	told := b.notified(ctx, l, events)
	try.Wrap(b.check(ctx, m), "a write that must be denied was carried out")
	checkDenied(count)
	for frame, n := range told {
		try.Failf("bytes %d to %d of frame %d are notified, which were not written", n.First, n.Last, frame)
	}
}

// notified returns what the NI tells of all that was sent over a loop before, by frame: the smallest range that covers it.
func (b *bench) notified(ctx context.Context, l loop, events *hostdrv.Events) map[int]hostdrv.Notify {
	told := map[int]hostdrv.Notify{}
	// Frames take turns, so the spare one may be told before another that was written earlier, but not twice.
	for range 2 {
		try.OK(b.arrived(ctx, l))
		b.gather(ctx, events, told)
	}
	delete(told, b.spare())
	return told
}

// gather takes notifications until that of the spare frame has come.
func (b *bench) gather(ctx context.Context, events *hostdrv.Events, told map[int]hostdrv.Notify) {
	limit, cancel := b.soon(ctx, 1)
	defer cancel()
	for frame := -1; frame != b.spare(); {
		ev, err := events.Next(limit)
		try.Wrap(err, "a write to frame %d is not notified", b.spare())
		n, ok := ev.(hostdrv.Notify)
		if !ok {
			try.Failf("the network interface reports %+v", ev)
		}
		widen(told, n)
		frame = n.Frame
	}
}

// widen takes note of a notification, by frame: the smallest range that covers it and those before.
func widen(told map[int]hostdrv.Notify, n hostdrv.Notify) {
	if old, ok := told[n.Frame]; ok {
		n.First, n.Last = min(n.First, old.First), max(n.Last, old.Last)
	}
	told[n.Frame] = n
}

// deniedAt begins to watch how many writes a link denies; what it returns fails if they are not as many as wanted.
func (b *bench) deniedAt(ctx context.Context, link int) (check func(want int)) {
	denied := b.growth(ctx, link, linkproto.CntDenied)
	return func(want int) {
		if n := denied(); n != uint32(want) {
			try.Failf("link %d counts %d writes as denied, %d were", link, n, want)
		}
	}
}

func closedFrame(ctx context.Context, b *bench) {
	l, frames := b.loop(), b.frames()
	b.denied(ctx, l, frames, func() int { return b.intrude(ctx, l, frames) })
}

// intrude writes a whole page and a byte to each frame, and returns how many writes that are.
func (b *bench) intrude(ctx context.Context, l loop, frames int) int {
	page := b.id.PageBytes
	for _, frame := range b.rng.Perm(frames) {
		try.OK(b.ni.Send(ctx, l.via, write(frame*page, b.noise(page))), b.ni.Send(ctx, l.via, write(frame*page+b.rng.IntN(page), b.noise(1))))
	}
	return 2 * frames
}

func foreignFrame(ctx context.Context, b *bench) {
	l := b.loop()
	if b.id.Links < 2 {
		skipf("needs two links, there is one")
	}
	frames := b.frames()
	for frame := range frames {
		other := 1 + b.rng.IntN(b.id.Links-1)
		if other >= l.at {
			other++
		}
		b.grant(ctx, other, frame)
	}
	b.denied(ctx, l, frames, func() int { return b.intrude(ctx, l, frames) })
}

func astray(ctx context.Context, b *bench) {
	l, frames := b.openLoop(ctx)
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
	b.denied(ctx, l, frames, func() int {
		for _, s := range all {
			// As one packet: Write would split it at the end of a page.
			try.OK(b.ni.Send(ctx, l.via, linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(s.addr), Data: b.noise(s.size)}))
		}
		return len(all)
	})
}

func revoked(ctx context.Context, b *bench) {
	l := b.loop()
	b.frames()
	m := b.blank(ctx, 0, 1)
	checkDenied := b.deniedAt(ctx, l.at)
	const turns = 16
	for turn := range turns {
		open := turn%2 == 0
		entry := hostdrv.FrameEntry{}
		if open {
			entry.Link = l.at
		}
		data, off := b.noise(1+b.rng.IntN(8)), b.rng.IntN(b.id.PageBytes-8)
		try.OK(b.ni.SetFrame(ctx, 0, entry), b.ni.Write(ctx, l.via, off, data), b.arrived(ctx, l))
		if open {
			m.write(off, data)
		}
		try.Wrap(b.check(ctx, m), "the frame was opened and closed %d times", turn)
	}
	checkDenied(turns / 2)
}

func malformed(ctx context.Context, b *bench) {
	l := b.loop()
	b.frames()
	bad := b.growth(ctx, l.at, linkproto.CntBadPacket)
	frames := []int{b.id.Frames, 1<<16 - 1}
	for bit := 1; bit < 1<<16; bit <<= 1 {
		if bit > b.id.Frames {
			frames = append(frames, bit)
		}
	}
	for _, frame := range frames {
		try.OK(b.ni.Send(ctx, l.via, linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(frame), Port: 1}))
	}
	try.Wrap(b.arrived(ctx, l), "behind a PAGE for a frame that does not exist")
	if s := try.Get(b.ni.LinkStatus(ctx, l.at)); s.Trapped {
		try.Failf("link %d is trapped", l.at)
	}
	if n := bad(); n != uint32(len(frames)) {
		try.Failf("link %d counts %d bad packets, %d were sent to it", l.at, n, len(frames))
	}
}
