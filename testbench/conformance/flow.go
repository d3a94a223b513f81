package conformance

import (
	"context"
	"errors"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

var flowCases = []Case{
	{"flow/stop", "When a reader stops, STOP reaches the sender, whose writes wait; nothing is dropped, and all of it arrives when the reader goes on.",
		staffLink, "protocol.md#sending-and-receiving", flowStop},
	{"flow/both", "Two ends that have both stopped reading do not block each other, nor the host.",
		remotePaging, "protocol.md#traps", flowBoth},
	{"flow/withdraw", "A write that waits for room can be given up: it is not sent later.",
		waiting, "driver.md#two-kinds-of-calls", flowWithdraw},
}

// stuff holds a link at a trap, and writes by it until there is no more room. It returns how many writes were sent: write i is to word
// i modulo the page's, and of the value that m says.
func (b *bench) stuff(ctx context.Context, l loop, frame int) (sent int) {
	try.OK(b.ni.Send(ctx, l.via, linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(frame), Port: 7}))
	size := min(b.id.PageBytes, 256)
	// More than the link's FIFO, its transmit queue and the host port's hold between them.
	most := 2*(b.id.RxBytes+b.id.ReplayBytes+1<<16)/size + 4*b.id.Window
	for ; sent < most; sent++ {
		limit, cancel := b.within(ctx, linkproto.DefaultRetry)
		err := b.ni.Write(limit, l.via, frame*b.id.PageBytes, pattern(sent, size))
		cancel()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return sent
		}
		try.OK(err)
	}
	try.Failf("the reader of link %d has stopped, and %d writes of %d bytes were taken: more than there is room for", l.at, sent, size)
	return sent
}

// pattern is what write i writes.
func pattern(i, size int) []byte {
	p := make([]byte, size)
	for j := range p {
		p[j] = byte(i + j*(1+i>>8))
	}
	return p
}

// stopped checks that both ends of a loop say STOP.
func (b *bench) stopped(ctx context.Context, l loop) {
	own := try.Get(b.ni.LinkStatus(ctx, l.at))
	peer := try.Get(b.ni.LinkStatus(ctx, l.via))
	switch {
	case !own.Trapped || !own.OwnStop:
		try.Failf("the reader of link %d has stopped and its FIFO is full, and its status is %+v", l.at, own)
	case !peer.PeerStop:
		try.Failf("link %d says STOP, and the status of link %d at its far end is %+v", l.at, l.via, peer)
	}
}

// drain lets a link go on, and checks that the last write is what stands in the end.
func (b *bench) drain(ctx context.Context, l loop, frame, sent int) {
	checkDenied := b.deniedAt(ctx, l.at)
	try.OK(b.ni.Resume(ctx, l.at), b.arrived(ctx, l))
	try.Wrap(b.holds(ctx, frame*b.id.PageBytes, pattern(sent-1, min(b.id.PageBytes, 256))), "after %d writes", sent)
	checkDenied(0)
}

func flowStop(ctx context.Context, b *bench) {
	l := b.lane(ctx)
	checkDrops := b.dropsNothing(ctx)
	for range 2 {
		received := b.growth(ctx, l.at, linkproto.CntRxPackets)
		sent := b.stuff(ctx, l, 0)
		b.stopped(ctx, l)
		b.drain(ctx, l, 0, sent)
		if have, want := received(), uint32(sent+2); have != want { // the PAGE, and what arrived writes
			try.Failf("%d packets were sent by link %d, link %d has received %d", want, l.via, l.at, have)
		}
	}
	checkDrops()
}

func flowBoth(ctx context.Context, b *bench) {
	loops := b.loops()
	b.frames()
	loops = loops[:min(len(loops), b.id.Frames-1)]
	sent := make([]int, len(loops))
	for i, l := range loops {
		b.grant(ctx, l.at, i)
		sent[i] = b.stuff(ctx, l, i)
	}
	for _, l := range loops {
		b.stopped(ctx, l)
	}
	try.Wrap(try.Run(func() { scratch(ctx, b) }), "while all links are stopped")
	for i, l := range loops {
		b.drain(ctx, l, i, sent[i])
	}
}

func flowWithdraw(ctx context.Context, b *bench) {
	l := b.lane(ctx)
	sent := b.stuff(ctx, l, 0)
	for range 5 {
		limit, cancel := b.within(ctx, 1000)
		err := b.ni.Write(limit, l.via, 0, b.noise(min(b.id.PageBytes, 256)))
		cancel()
		try.Wrap(wraps(err, context.DeadlineExceeded), "a write for which there is no room")
	}
	try.Get(b.ni.Events()) // the trap has been told, and waits for whoever asks
	b.drain(ctx, l, 0, sent)
}
