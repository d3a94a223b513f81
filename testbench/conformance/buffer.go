package conformance

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

var bufferCases = []Case{
	{"buffer/sizes", "The host reads and writes its receive buffer in every size at every alignment; bytes beside stay as they are.",
		linkMemory, "protocol.md#requests-of-the-host", bufferSizes},
	{"buffer/own", "Writes of the host need no entry in the frame table, and are carried out in their order with reads.",
		linkMemory, "protocol.md#requests-of-the-host", bufferOwn},
	{"buffer/range", "The driver refuses what lies outside the receive buffer, before anything is sent.",
		"", "driver.md#two-kinds-of-calls", bufferRange},
}

// image is what a part of the receive buffer must hold, and why.
type image struct {
	first  int // address
	want   []byte
	writer []int // of each byte, the index of the write in writes, or -1
	writes []span
}

type span struct{ addr, size int }

// blank fills frames of the buffer with noise.
func (b *bench) blank(ctx context.Context, first, frames int) *image {
	m := &image{first: first * b.id.PageBytes, want: b.noise(frames * b.id.PageBytes)}
	m.writer = make([]int, len(m.want))
	for i := range m.writer {
		m.writer[i] = -1
	}
	try.OK(b.ni.WriteBuffer(ctx, m.want, m.first))
	return m
}

func (m *image) write(addr int, data []byte) {
	copy(m.want[addr-m.first:], data)
	for i := range data {
		m.writer[addr-m.first+i] = len(m.writes)
	}
	m.writes = append(m.writes, span{addr, len(data)})
}

// check compares the buffer with the image.
func (b *bench) check(ctx context.Context, m *image) error {
	have := make([]byte, len(m.want))
	if err := b.ni.ReadBuffer(ctx, have, m.first); err != nil {
		return err
	}
	for i, v := range have {
		if v == m.want[i] {
			continue
		}
		err := fmt.Errorf("frame %d, %w", (m.first+i)/b.id.PageBytes, differ(have[i/b.id.PageBytes*b.id.PageBytes:], m.want[i/b.id.PageBytes*b.id.PageBytes:]))
		w := m.writer[i]
		if w < 0 {
			return fmt.Errorf("%w; nothing was written to it, %d writes were made", err, len(m.writes))
		}
		return fmt.Errorf("%w; written by write %d of %d, of %d bytes at %#x", err, w+1, len(m.writes), m.writes[w].size, m.writes[w].addr)
	}
	return nil
}

// alignments are small writes at each offset of the first and last bytes of a page and of some in the middle, in random order.
func (b *bench) alignments() (all []span) {
	page := b.id.PageBytes
	for _, from := range []int{0, page/2 - 8, page - 16} {
		for off := from; off < from+16; off++ {
			for size := 0; size <= min(17, page-off); size++ {
				all = append(all, span{off, size})
			}
		}
	}
	b.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return b.affordable(all)
}

// sizes are writes of every size, each at a random offset, in random order.
func (b *bench) sizes() (all []span) {
	for _, size := range b.rng.Perm(b.id.PageBytes + 1) {
		all = append(all, span{b.rng.IntN(b.id.PageBytes - size + 1), size})
	}
	// The longest first, so that they are among those that are afforded.
	edge := 0
	for i, s := range all {
		if s.size < 3 || s.size > b.id.PageBytes-3 {
			all[edge], all[i] = all[i], all[edge]
			edge++
		}
	}
	return b.affordable(all)
}

// affordable leaves out what would take too long.
func (b *bench) affordable(all []span) []span {
	left := b.symbols() / 2
	for i, s := range all {
		if left -= s.size + 24; left < 0 {
			return all[:max(i, 1)]
		}
	}
	return all
}

func bufferSizes(ctx context.Context, b *bench) {
	m := b.blank(ctx, 0, 1)
	batch := b.ni.Batch()
	for _, s := range append(b.alignments(), b.sizes()...) {
		data := b.noise(s.size)
		batch.WriteBuffer(data, s.addr)
		m.write(s.addr, data)
	}
	try.OK(batch.Run(ctx))
	try.OK(b.check(ctx, m))
	read := b.alignments()
	have := make([][]byte, len(read))
	for i, s := range read {
		have[i] = make([]byte, s.size)
		batch.ReadBuffer(have[i], s.addr)
	}
	try.OK(batch.Run(ctx))
	for i, s := range read {
		try.Wrap(differ(have[i], m.want[s.addr:][:s.size]), "%d bytes read at %#x", s.size, s.addr)
	}
}

func bufferOwn(ctx context.Context, b *bench) {
	frames := max(1, min(b.id.Frames, b.symbols()/16/b.id.PageBytes))
	m := b.blank(ctx, b.rng.IntN(b.id.Frames-frames+1), frames)
	try.OK(b.check(ctx, m))
	// Writes and reads in turn at one place, in one batch.
	const turns = 64
	var want, have [turns][4]byte
	batch := b.ni.Batch()
	for i := range want {
		copy(want[i][:], b.noise(4))
		batch.WriteBuffer(want[i][:], m.first+4)
		batch.ReadBuffer(have[i][:], m.first+4)
		m.write(m.first+4, want[i][:])
	}
	try.OK(batch.Run(ctx))
	for i := range want {
		if have[i] != want[i] {
			try.Failf("read %d of %d brings % x, where % x was written just before", i, turns, have[i], want[i])
		}
	}
	try.OK(b.check(ctx, m))
}

func bufferRange(ctx context.Context, b *bench) {
	size, link := b.id.BufferBytes(), b.id.Links+1
	received := b.growth(ctx, 0, linkproto.CntRxPackets)
	for name, err := range map[string]error{
		"a read past the end":      b.ni.ReadBuffer(ctx, make([]byte, 2), size-1),
		"a write past the end":     b.ni.WriteBuffer(ctx, make([]byte, size+1), 0),
		"a negative address":       b.ni.WriteBuffer(ctx, []byte{1}, -1),
		"a frame that is not":      b.ni.SetFrame(ctx, b.id.Frames, hostdrv.FrameEntry{}),
		"a frame for no such link": b.ni.SetFrame(ctx, 0, hostdrv.FrameEntry{Link: link}),
		"a write by no such link":  b.ni.Write(ctx, link, 0, nil),
		"RESUME of no such link":   b.ni.Resume(ctx, link),
	} {
		try.Wrap(wraps(err, hostdrv.ErrRange), "%s", name)
	}
	if n := received(); n != 1 { // this question
		try.Failf("%d packets reached the network interface", n-1)
	}
}
