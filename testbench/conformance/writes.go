package conformance

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

var writeCases = []Case{
	{"writes/alignments", "Remote writes of 0 to 17 bytes at each alignment change the bytes that they name and no others.",
		remoteWrite, "protocol.md#packets", writeAlignments},
	{"writes/sizes", "Remote writes of every size up to a page change the bytes that they name and no others.",
		remoteWrite, "protocol.md#packets", writeSizes},
	{"writes/frames", "A remote write reaches the frame and the byte that it names, at both ends of each frame.",
		linkMemory, "protocol.md#packets", writeFrames},
	{"writes/data", "Data arrive as they are, whatever they look like to the link layer below.",
		staffLink, "protocol.md#symbols", writeData},
	{"writes/many", "Several programs write by all links at once, without waiting: every byte is right and nothing is dropped.",
		remoteWrite, "driver.md#two-kinds-of-calls", writeMany},
}

func writeAlignments(ctx context.Context, b *bench) { b.writeAll(ctx, b.alignments()) }

func writeSizes(ctx context.Context, b *bench) { b.writeAll(ctx, b.sizes()) }

// writeAll makes remote writes to a frame with a page of others on each side, as far as there are.
func (b *bench) writeAll(ctx context.Context, all []span) {
	l, usable := b.loop(), b.frames()
	frame := b.rng.IntN(usable)
	first := max(frame-1, 0)
	m := b.blank(ctx, first, min(frame+2, usable)-first)
	b.grant(ctx, l.at, frame)
	for _, s := range all {
		data, addr := b.noise(s.size), frame*b.id.PageBytes+s.addr
		try.OK(b.ni.Write(ctx, l.via, addr, data))
		m.write(addr, data)
	}
	try.OK(b.arrived(ctx, l))
	try.OK(b.check(ctx, m))
}

func writeFrames(ctx context.Context, b *bench) {
	loops := b.loops()
	frames := b.frames()
	page := b.id.PageBytes
	for _, l := range loops {
		m := b.blank(ctx, 0, frames)
		for frame := range frames {
			b.grant(ctx, l.at, frame)
		}
		write := func(addr, size int) error {
			data := b.noise(size)
			m.write(addr, data)
			return b.ni.Write(ctx, l.via, addr, data)
		}
		for _, frame := range b.rng.Perm(frames) {
			try.OK(write(frame*page, 1), write((frame+1)*page-1, 1))
		}
		// Across all of them, which the driver sends as a write a frame.
		size := min(frames*page-2, 3*page)
		try.OK(write(1+b.rng.IntN(frames*page-1-size), size), b.arrived(ctx, l))
		try.Wrap(b.check(ctx, m), "by link %d to link %d", l.via, l.at)
	}
}

func writeData(ctx context.Context, b *bench) {
	l := b.lane(ctx)
	page := b.id.PageBytes
	var patterns [][]byte
	repeat := func(of ...byte) {
		p := make([]byte, page)
		for i := range p {
			p[i] = of[i%len(of)]
		}
		patterns = append(patterns, p)
	}

	repeat(0)
	repeat(0xFF)
	repeat(linkproto.ESC)
	repeat(linkproto.ESC, byte(linkproto.SymSOP&0xFF))
	repeat(byte(linkproto.SymSOP&0xFF), byte(linkproto.SymEOP&0xFF), byte(linkproto.SymAbort&0xFF), byte(linkproto.SymLSW&0xFF),
		byte(linkproto.SymErr&0xFF), byte(linkproto.SymIdle&0xFF))
	repeat(0x55, 0xAA)
	counting := make([]byte, page)
	for i := range counting {
		counting[i] = byte(i)
	}
	for i, p := range append(patterns, counting) {
		if (i+1)*2*page > b.symbols() {
			break
		}
		try.Wrap(errors.Join(b.ni.Write(ctx, l.via, 0, p), b.arrived(ctx, l), b.holds(ctx, 0, p)), "a page of % x…", p[:6])
	}
}

func writeMany(ctx context.Context, b *bench) {
	loops := b.loops()
	frames := min(b.frames(), 8)
	checkDrops := b.dropsNothing(ctx)
	page := b.id.PageBytes
	images := make([]*image, frames)
	errs := make([]error, frames)
	var writers sync.WaitGroup
	for frame := range images {
		l := loops[frame%len(loops)]
		images[frame] = b.blank(ctx, frame, 1)
		b.grant(ctx, l.at, frame)
		rng := rand.New(rand.NewPCG(b.rng.Uint64(), 0))
		writers.Go(func() {
			for left := b.symbols() / 2 / frames; left > 0; {
				off := rng.IntN(page)
				data := make([]byte, rng.IntN(page-off+1))
				for i := range data {
					data[i] = byte(rng.Uint32())
				}
				if errs[frame] = b.ni.Write(ctx, l.via, frame*page+off, data); errs[frame] != nil {
					return
				}
				images[frame].write(frame*page+off, data)
				left -= len(data) + 24
			}
		})
	}
	writers.Wait()
	try.OK(errs...)
	for _, l := range loops {
		try.OK(b.arrived(ctx, l))
	}
	for _, m := range images {
		try.OK(b.check(ctx, m))
	}
	checkDrops()
}

// dropsNothing begins to watch for packets that the NI drops for want of room; what it returns fails if there were any.
func (b *bench) dropsNothing(ctx context.Context) (check func()) {
	var regs []linkproto.Reg
	for port := range b.id.Links + 1 {
		regs = append(regs, linkproto.CounterReg(port, linkproto.CntNoSpace), linkproto.CounterReg(port, linkproto.CntRxOverrun))
	}
	before := b.registers(ctx, regs...)
	return func() {
		if now := b.registers(ctx, regs...); !slices.Equal(now, before) {
			try.Failf("the ports count %d packets for which there was no room, and counted %d before (no_space and rx_overrun in turn)", now, before)
		}
	}
}
