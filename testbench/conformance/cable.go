package conformance

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

var cableCases = []Case{
	{"cable/flips", "Bits that are inverted on the host's cable change nothing: all is sent again until it is right.",
		staffLink, "driver.md#when-something-breaks", cableWith(func(rate float64) faults { return faults{flip: rate} })},
	{"cable/drops", "Symbols that the host's cable loses or doubles change nothing.",
		staffLink, "driver.md#when-something-breaks", cableWith(func(rate float64) faults { return faults{drop: rate / 2, duplicate: rate / 2} })},
	{"cable/bursts", "Bursts of noise on the host's cable change nothing.",
		staffLink, "driver.md#when-something-breaks", cableWith(func(rate float64) faults { return faults{burst: rate} })},
	{"cable/short-cuts", "A cable that is cut for less than the retries take, in either direction, loses nothing.",
		staffLink, "driver.md#when-something-breaks", shortCuts},
	{"cable/long-cuts", "When a cable was cut for so long that its link starts again, exactly the writes that did not arrive are reported as lost.",
		staffLink, "driver.md#what-goes-wrong", longCuts},
	{"cable/paging", "Ports are paged over a cable that damages symbols, and every page holds what was written to it.",
		remotePaging, "driver.md#when-something-breaks", cablePaging},
	{"cable/noise", "A driver opens a network interface at a cable that carries noise at first.",
		staffLink, "protocol.md#bringing-a-link-up", noise},
}

// upset makes the cable fail with a chance for each symbol, so that it does so some twenty times in what a case sends, but damages the longest
// frame one time in four at most: else the retries may not do.
func (b *bench) upset(make func(rate float64) faults) {
	f := make(min(20/float64(b.symbols()/8), 0.25/float64(linkproto.MaxPacket(b.id.PageBytes)+linkproto.FrameOverhead)))
	f.rng = rand.New(rand.NewPCG(b.rng.Uint64(), 1))
	b.line.disturb(f)
}

func cableWith(make func(rate float64) faults) func(context.Context, *bench) {
	return func(ctx context.Context, b *bench) {
		l, frames := b.openLoop(ctx)
		m := b.blank(ctx, 0, frames)
		b.upset(make)
		for left := b.symbols() / 8; left > 0 || (!b.replayed() && left > -4*b.symbols()); {
			off := b.rng.IntN(len(m.want))
			data := b.noise(1 + b.rng.IntN(min(len(m.want)-off, 200)))
			try.OK(b.ni.Write(ctx, l.via, off, data))
			m.write(off, data)
			left -= len(data) + 24
			if b.rng.IntN(8) > 0 {
				continue
			}
			want := b.rng.Uint32()
			try.OK(b.ni.WriteRegister(ctx, linkproto.RegScratch, want))
			b.reads(ctx, linkproto.RegScratch, want, "which was written")
			left -= 50
		}
		try.OK(b.arrived(ctx, l), b.check(ctx, m))
		b.damaged(ctx)
	}
}

// replayed reports whether a fault has made the driver send something again.
func (b *bench) replayed() bool { return b.ni.CableCounters()[linkproto.CntReplays] > 0 }

// damaged checks that the faults were met, and did not make the link start again.
func (b *bench) damaged(ctx context.Context) {
	b.line.disturb(faults{})
	own := b.ni.CableCounters()
	theirs := try.Get(b.ni.Counters(ctx, 0))
	switch {
	case !b.replayed():
		try.Failf("the faults made the driver send nothing again, so it cannot have met them")
	case own[linkproto.CntRestarts] > 0:
		try.Failf("the host's link started again %d times, by faults that are to be mended by sending again", own[linkproto.CntRestarts])
	case theirs[linkproto.CntBadPacket] > b.bad:
		try.Failf("the network interface counts %d bad packets", theirs[linkproto.CntBadPacket]-b.bad)
	}
	b.measure("packets sent again after", float64(own[linkproto.CntReplays]), "faults")
}

// numbered opens frame 0 to a loop; write i puts its number into word i.
func (b *bench) numbered(ctx context.Context) (loop, int) {
	l := b.loop()
	b.frames()
	b.grant(ctx, l.at, 0)
	try.OK(b.ni.WriteBuffer(ctx, make([]byte, b.id.PageBytes), 0))
	return l, min(b.id.PageBytes/4, 64)
}

func (b *bench) number(ctx context.Context, l loop, i int) error {
	return b.ni.Write(ctx, l.via, 4*i, binary.LittleEndian.AppendUint32(nil, uint32(i+1)))
}

// missing counts the words that do not hold their number.
func (b *bench) missing(ctx context.Context, words int) (n int) {
	have := make([]byte, 4*words)
	try.OK(b.ni.ReadBuffer(ctx, have, 0))
	for i := range words {
		if binary.LittleEndian.Uint32(have[4*i:]) != uint32(i+1) {
			n++
		}
	}
	return n
}

func shortCuts(ctx context.Context, b *bench) {
	for way := range 3 {
		l, words := b.numbered(ctx)
		b.line.disturb(b.cut(400, linkproto.DefaultRetry/2, way))
		for i := range words {
			try.OK(b.number(ctx, l, i))
		}
		try.OK(b.arrived(ctx, l))
		if n := b.missing(ctx, words); n > 0 {
			try.Failf("%d of %d writes are missing", n, words)
		}
	}
	switch n := b.ni.CableCounters(); {
	case n[linkproto.CntRestarts] > 0:
		try.Failf("the host's link started again %d times", n[linkproto.CntRestarts])
	case n[linkproto.CntReplays] == 0:
		try.Failf("the driver sent nothing again, so no cut can have met anything")
	}
}

// cut cuts the cable for some ticks: in both directions for way 0, from the NI for 1, to it for 2. In a simulation that begins within some
// ticks; elsewhere, where nobody knows how far a case is by then, at once.
func (b *bench) cut(within, ticks, way int) faults {
	from := 0
	if b.line.timing().VirtualTime {
		from = b.rng.IntN(within)
	}
	return faults{from: from, to: from + ticks, out: way != 1, in: way != 2}
}

func longCuts(ctx context.Context, b *bench) {
	cuts := 3
	if b.slow() {
		cuts = 1 // they take long
	}
	for cut := range cuts {
		l, words := b.numbered(ctx)
		restarts := b.ni.CableCounters()[linkproto.CntRestarts]
		b.line.disturb(b.cut(1500, linkproto.DefaultRetry*(linkproto.DefaultRetryLimit+1), cut))
		for i := range words {
			try.OK(b.number(ctx, l, i))
			if i%4 != 0 {
				continue
			}
			var restarted *hostdrv.RestartError
			if err := b.ni.WriteRegister(ctx, linkproto.RegScratch, uint32(i)); err != nil && !errors.As(err, &restarted) {
				try.OK(err)
			}
			b.reads(ctx, linkproto.RegScratch, uint32(i), "which was written before the cable was cut or when it was whole again")
		}
		for !b.line.whole() { // however little time the writes have taken
			try.Get(b.ni.ReadRegister(ctx, linkproto.RegScratch))
		}
		lost := 0
		var loss *hostdrv.LossError
		if err := b.ni.Sync(ctx, l.via); errors.As(err, &loss) {
			lost = int(loss.Lost)
		} else if err != nil {
			try.OK(err)
		}
		try.Wrap(b.arrived(ctx, l), "after the cable was whole again")
		n := b.missing(ctx, words)
		switch {
		case b.ni.CableCounters()[linkproto.CntRestarts] == restarts:
			try.Failf("the host's link did not start again, though its cable was cut for longer than all retries")
		case n != lost:
			try.Failf("%d of %d writes are missing, and %d were reported as lost", n, words, lost)
		}
	}
}

func cablePaging(ctx context.Context, b *bench) {
	c := b.crowd(ctx, 4, 4)
	b.upset(func(rate float64) faults { return faults{flip: rate / 3, drop: rate / 3, burst: rate / 3} })
	some := max(10, b.symbols()/8/b.id.PageBytes)
	for n := 0; n < some || (!b.replayed() && n < 32*some); n++ {
		try.OK(c.write(ctx, b.rng.IntN(len(c.ports))))
		c.look(ctx, b.rng.IntN(len(c.ports)))
	}
	c.end(ctx)
	b.damaged(ctx)
}

func noise(ctx context.Context, b *bench) {
	for range 3 {
		try.OK(b.ni.Close())
		b.line.disturb(faults{rng: rand.New(rand.NewPCG(b.rng.Uint64(), 2)), burst: 0.2, drop: 0.1, until: 3000})
		try.OK(b.drive(ctx, hostdrv.Options{}))
		if b.ni.Identity() != b.id {
			try.Failf("the identity was read as %+v, it is %+v", b.ni.Identity(), b.id)
		}
	}
	scratch(ctx, b)
}
