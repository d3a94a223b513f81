package conformance

import (
	"context"
	"errors"
	"fmt"

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
func (b *bench) stuff(ctx context.Context, l loop, frame int) (sent int, err error) {
	if err := b.ni.Send(ctx, l.via, linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(frame), Port: 7}); err != nil {
		return 0, err
	}
	size := min(b.id.PageBytes, 256)
	// More than the link's FIFO, its transmit queue and the host port's hold between them.
	most := 2*(b.id.RxBytes+b.id.ReplayBytes+1<<16)/size + 4*b.id.Window
	for ; sent < most; sent++ {
		limit, cancel := b.within(ctx, linkproto.DefaultRetry)
		err := b.ni.Write(limit, l.via, frame*b.id.PageBytes, pattern(sent, size))
		cancel()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return sent, nil
		}
		if err != nil {
			return sent, err
		}
	}
	return sent, fmt.Errorf("the reader of link %d has stopped, and %d writes of %d bytes were taken: more than there is room for", l.at, sent, size)
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
func (b *bench) stopped(ctx context.Context, l loop) error {
	own, err := b.ni.LinkStatus(ctx, l.at)
	if err != nil {
		return err
	}
	peer, err := b.ni.LinkStatus(ctx, l.via)
	switch {
	case err != nil:
		return err
	case !own.Trapped || !own.OwnStop:
		return fmt.Errorf("the reader of link %d has stopped and its FIFO is full, and its status is %+v", l.at, own)
	case !peer.PeerStop:
		return fmt.Errorf("link %d says STOP, and the status of link %d at its far end is %+v", l.at, l.via, peer)
	}
	return nil
}

// drain lets a link go on, and checks that the last write is what stands in the end.
func (b *bench) drain(ctx context.Context, l loop, frame, sent int) error {
	before, err := b.counter(ctx, l.at, linkproto.CntDenied)
	if err != nil {
		return err
	}
	if err := errors.Join(b.ni.Resume(ctx, l.at), b.arrived(ctx, l)); err != nil {
		return err
	}
	if err := b.holds(ctx, frame*b.id.PageBytes, pattern(sent-1, min(b.id.PageBytes, 256))); err != nil {
		return fmt.Errorf("after %d writes: %w", sent, err)
	}
	after, err := b.counter(ctx, l.at, linkproto.CntDenied)
	if err == nil && after != before {
		err = fmt.Errorf("link %d has denied %d writes", l.at, after-before)
	}
	return err
}

func flowStop(ctx context.Context, b *bench) error {
	l, err := b.loop()
	if err != nil {
		return err
	}
	if _, err := b.frames(); err != nil {
		return err
	}
	before, err := b.drops(ctx)
	if err != nil {
		return err
	}
	if err := b.grant(ctx, l.at, 0); err != nil {
		return err
	}
	for range 2 {
		received, err := b.counter(ctx, l.at, linkproto.CntRxPackets)
		if err != nil {
			return err
		}
		sent, err := b.stuff(ctx, l, 0)
		if err != nil {
			return err
		}
		if err := errors.Join(b.stopped(ctx, l), b.drain(ctx, l, 0, sent)); err != nil {
			return err
		}
		now, err := b.counter(ctx, l.at, linkproto.CntRxPackets)
		if err != nil {
			return err
		}
		if have, want := now-received, uint32(sent+2); have != want { // the PAGE, and what arrived writes
			return fmt.Errorf("%d packets were sent by link %d, link %d has received %d", want, l.via, l.at, have)
		}
	}
	after, err := b.drops(ctx)
	if err == nil && after != before {
		err = fmt.Errorf("%d packets were dropped for want of room", after-before)
	}
	return err
}

func flowBoth(ctx context.Context, b *bench) error {
	loops, err := b.loops()
	if err != nil {
		return err
	}
	if _, err := b.frames(); err != nil {
		return err
	}
	loops = loops[:min(len(loops), b.id.Frames-1)]
	sent := make([]int, len(loops))
	for i, l := range loops {
		if err := b.grant(ctx, l.at, i); err != nil {
			return err
		}
		if sent[i], err = b.stuff(ctx, l, i); err != nil {
			return err
		}
	}
	for _, l := range loops {
		if err := b.stopped(ctx, l); err != nil {
			return err
		}
	}
	if err := scratch(ctx, b); err != nil {
		return fmt.Errorf("while all links are stopped: %w", err)
	}
	for i, l := range loops {
		if err := b.drain(ctx, l, i, sent[i]); err != nil {
			return err
		}
	}
	return nil
}

func flowWithdraw(ctx context.Context, b *bench) error {
	l, err := b.lane(ctx)
	if err != nil {
		return err
	}
	sent, err := b.stuff(ctx, l, 0)
	if err != nil {
		return err
	}
	for range 5 {
		limit, cancel := b.within(ctx, 1000)
		err := b.ni.Write(limit, l.via, 0, b.noise(min(b.id.PageBytes, 256)))
		cancel()
		if err := wraps(err, context.DeadlineExceeded); err != nil {
			return fmt.Errorf("a write for which there is no room: %w", err)
		}
	}
	_, err = b.ni.Events() // the trap has been told, and waits for whoever asks
	return errors.Join(err, b.drain(ctx, l, 0, sent))
}
