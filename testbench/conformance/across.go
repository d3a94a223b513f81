package conformance

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

var networkCases = []Case{
	{"network/lossy", "Cables of a network that damage symbols change nothing: ports are paged across it, and every page holds what was written to it.",
		staffLink, "protocol.md#virtual-links", networkLossy},
	{"network/short-cuts", "A node that is cut off from the network for less than the retries of its virtual links take, either one, loses nothing.",
		staffLink, "protocol.md#virtual-links", networkShortCuts},
	{"network/long-cuts", "When a node was cut off for so long that its virtual links start again, what did not arrive is reported as lost, and later writes arrive.",
		staffLink, "protocol.md#virtual-links", networkLongCuts},
	{"network/datagrams", "A datagram into a frame that a virtual link may write changes nothing, and is counted as denied.",
		protection, "protocol.md#virtual-links", networkDatagrams},
}

func networkLossy(ctx context.Context, b *bench) {
	nw := b.network()
	c := b.crowd(ctx, 4, 4)
	before := b.growth(ctx, nw.via, linkproto.CntReplays)
	nw.damage(1e-4)
	some := max(10, b.symbols()/8/b.id.PageBytes)
	for n := 0; n < some || before() == 0 && n < 32*some; n++ {
		try.OK(c.write(ctx, b.rng.IntN(len(c.ports))))
		c.look(ctx, b.rng.IntN(len(c.ports)))
	}
	nw.damage(0)
	if before() == 0 {
		try.Failf("link %d sent nothing again, so no damage can have met anything", nw.via)
	}
	c.end(ctx)
}

// shortCut is ticks for which a node is cut off: less than the retries of a virtual link take.
const shortCut = 1 << 17

func networkShortCuts(ctx context.Context, b *bench) {
	nw := b.network()
	n, c := b.one(ctx)
	want := make([]byte, b.id.PageBytes)
	for end := range nw.ends {
		data := b.noise(16)
		copy(want, data)
		nw.pull(end, true)
		try.OK(c.send.WritePage(ctx, data, 0), b.ni.Sleep(ctx, b.duration(shortCut)))
		nw.pull(end, false)
		try.Wrap(c.send.Sync(ctx), "node %s was cut off for %d symbol times", nw.node(end).Name, shortCut)
		n.shows(ctx, c, want)
	}
}

func networkLongCuts(ctx context.Context, b *bench) {
	nw := b.network()
	_, c := b.one(ctx)
	for i := range uint32(b.effort) {
		try.OK(c.send.Sync(ctx))
		nw.pull(1, true)
		try.OK(c.send.WritePage(ctx, []byte{1}, 0))
		var loss *hostdrv.LossError
		if err := c.send.Sync(ctx); !errors.As(err, &loss) || loss.Lost != 1 {
			try.Failf("a Sync while node %s, to which one packet was sent, is cut off: %w, want the packet reported as lost", nw.node(1).Name, err)
		}
		nw.pull(1, false)
		word := binary.LittleEndian.AppendUint32(nil, 2+i)
		try.OK(c.send.WritePage(ctx, word, 0), c.send.Sync(ctx))
		limit, cancel := b.soon(ctx, 1)
		err := c.receive.Wait(limit, func(page []byte) bool { return bytes.Equal(page[:len(word)], word) })
		cancel()
		try.Wrap(err, "a write after the node was back")
	}
}

func networkDatagrams(ctx context.Context, b *bench) {
	nw := b.network()
	n, c := b.one(ctx)
	want := b.noise(b.id.PageBytes)
	try.OK(c.send.WritePage(ctx, want, 0))
	n.shows(ctx, c, want)
	denied := func() uint32 {
		return try.Get(nw.far.ReadRegister(ctx, linkproto.CounterReg(nw.at, linkproto.CntDenied)))
	}
	before := denied()
	for frame := range b.id.Frames {
		try.OK(b.ni.SendRouted(ctx, nw.via, nw.node(1).ID, write(frame*b.id.PageBytes, []byte{want[0] + 1})))
	}
	limit, cancel := b.soon(ctx, 1)
	defer cancel()
	for denied()-before != uint32(b.id.Frames) {
		if err := nw.far.Sleep(limit, b.duration(linkproto.DefaultWordTimer)); err != nil {
			try.Failf("%d datagrams were sent to frames of a virtual link, %d are counted as denied", b.id.Frames, denied()-before)
		}
	}
	n.shows(ctx, c, want)
	have := make([]byte, b.id.PageBytes)
	for _, f := range n.far.Tables().Frames {
		if f.Port == c.receive.Port().ID() {
			try.OK(nw.far.ReadBuffer(ctx, have, f.Frame*b.id.PageBytes))
			try.Wrap(differ(have, want), "frame %d", f.Frame)
			return
		}
	}
	try.Failf("the port has no frame")
}
