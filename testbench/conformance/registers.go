package conformance

import (
	"context"
	"slices"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

var registerCases = []Case{
	{"registers/scratch", "SCRATCH keeps every value that is written to it, whatever else is read and written.",
		"", "protocol.md#registers", scratch},
	{"registers/control", "CONTROL keeps its NOTIFY field.",
		"", "protocol.md#registers", control},
	{"registers/frame-table", "Each entry of the frame table keeps what is written to it, apart from the others.",
		pageFrames, "protocol.md#registers", frameTable},
	{"registers/holes", "Registers that do not exist refuse to be read and written, with BAD_ADDRESS.",
		"", "protocol.md#requests-of-the-host", holes},
	{"registers/pipelined", "Requests that are underway together, more than there are tags, are carried out in their order.",
		"", "driver.md#two-kinds-of-calls", pipelined},
	{"registers/counters", "The host port counts each packet that it receives, once; both ends of a link count each packet, once.",
		"", "protocol.md#counters-of-a-link", counters},
	{"registers/not-trapped", "RESUME for a link that has not trapped is refused with NOT_TRAPPED.",
		remotePaging, "protocol.md#traps", notTrapped},
}

func scratch(ctx context.Context, b *bench) {
	var values []uint32
	for bit := range 32 {
		values = append(values, 1<<bit, ^uint32(1<<bit))
	}
	for range 64 {
		values = append(values, b.rng.Uint32())
	}
	for _, want := range append(values, 0, ^uint32(0)) {
		try.OK(b.ni.WriteRegister(ctx, linkproto.RegScratch, want))
		try.Get(b.ni.ReadRegister(ctx, identityRegs[b.rng.IntN(len(identityRegs))]))
		b.reads(ctx, linkproto.RegScratch, want, "which was written")
	}
}

func control(ctx context.Context, b *bench) {
	for _, want := range []uint32{1, 0, 1, 0} {
		try.OK(b.ni.WriteRegister(ctx, linkproto.RegControl, linkproto.ControlNotify.In(want)))
		if have := try.Get(b.ni.ReadRegister(ctx, linkproto.RegControl)); linkproto.ControlNotify.Of(have) != want {
			try.Failf("CONTROL reads %#x after NOTIFY was set to %d", have, want)
		}
	}
}

func frameTable(ctx context.Context, b *bench) {
	want := make([]hostdrv.FrameEntry, b.id.Frames)
	var regs []linkproto.Reg
	for i := range want {
		regs = append(regs, linkproto.FrameReg(i))
	}
	check := func() {
		for i, v := range b.registers(ctx, regs...) {
			e := hostdrv.FrameEntry{}
			if linkproto.FrameValid.Of(v) != 0 {
				e.Link = int(linkproto.FrameLink.Of(v))
			}
			if e != want[i] {
				try.Failf("the entry of frame %d reads %#x, want that link %d may write it", i, v, want[i].Link)
			}
		}
	}
	try.Wrap(try.Run(check), "all entries were cleared")
	for range max(2, min(16, b.symbols()/40/b.id.Frames)) {
		for _, i := range b.rng.Perm(len(want))[:b.rng.IntN(len(want)+1)] {
			want[i].Link = b.rng.IntN(b.id.Links + 1)
			try.OK(b.ni.SetFrame(ctx, i, want[i]))
		}
		check()
	}
}

// ofRouter reports whether a register is one of a router, with as many ports as there can be.
func ofRouter(r linkproto.Reg) bool {
	info := r.Info()
	return info != nil && slices.Contains([]linkproto.Reg{linkproto.RegRouterCounters, linkproto.RegPortStatus, linkproto.RegPortPeer,
		linkproto.RegPortCounters, linkproto.RegRouteTable, linkproto.RegGroupTable}, info.Reg)
}

// mayExist reports whether an NI with this identity has, or may have, a register.
func mayExist(id hostdrv.Identity, r linkproto.Reg) bool {
	in := func(first linkproto.Reg, count int) bool { return r >= first && int(r-first) < count }
	switch ports := id.Links + 1; {
	case slices.Contains(identityRegs, r), r == linkproto.RegScratch, r == linkproto.RegControl, r == linkproto.RegNodeID, r == linkproto.RegNonce:
	case in(linkproto.RegLinkStatus, ports), in(linkproto.RegPeer, ports):
	case in(linkproto.RegCounters, linkproto.CounterStride*ports):
	case in(linkproto.RegFrameTable, id.Frames):
	case id.Has(linkproto.FeatureTrace) && (in(linkproto.RegTrace, len(linkproto.TraceRegs)) || r >= linkproto.RegTraceRing):
	case id.Has(linkproto.FeatureRouter) && ofRouter(r):
	case id.Has(linkproto.FeatureVirtual) && (in(linkproto.RegVLNumbers, 3) || in(linkproto.RegVL, linkproto.VLStride<<linkproto.MaxVLBits)):
	case id.Has(linkproto.FeatureMessages) && (r == linkproto.RegContexts || in(linkproto.RegContext, linkproto.ContextStride<<linkproto.MaxContextBits)):
	case id.Has(linkproto.FeatureInjector) && in(linkproto.RegInject, linkproto.InjectStride*ports):
	default:
		return false
	}
	return true
}

func holes(ctx context.Context, b *bench) {
	var regs []linkproto.Reg
	for r := 0; r < 1<<16; r++ { // every edge
		reg := linkproto.Reg(r)
		if !mayExist(b.id, reg) && (mayExist(b.id, reg-1) || mayExist(b.id, reg+1)) {
			regs = append(regs, reg)
		}
	}
	for range min(512, b.symbols()/64) {
		if reg := linkproto.Reg(b.rng.Uint32()); !mayExist(b.id, reg) {
			regs = append(regs, reg)
		}
	}
	for _, r := range regs {
		_, err := b.ni.ReadRegister(ctx, r)
		try.Wrap(refused(err, linkproto.StatusBadAddress), "a read of register %v", r)
		try.Wrap(refused(b.ni.WriteRegister(ctx, r, b.rng.Uint32()), linkproto.StatusBadAddress), "a write of register %v", r)
	}
}

func pipelined(ctx context.Context, b *bench) {
	const most = 2000 // tags are 255
	have, want := make([]uint32, min(most, max(300, b.symbols()/40))), []uint32{}
	batch := b.ni.Batch()
	for i := range have {
		v := b.rng.Uint32()
		want = append(want, v)
		batch.WriteRegister(linkproto.RegScratch, v)
		batch.ReadRegister(linkproto.RegScratch, &have[i])
	}
	try.OK(batch.Run(ctx))
	for i := range have {
		if have[i] != want[i] {
			try.Failf("of %d writes and reads of SCRATCH in turn, read %d brings %#x, want %#x", len(want), i, have[i], want[i])
		}
	}
}

func counters(ctx context.Context, b *bench) {
	const requests = 20
	received := b.growth(ctx, 0, linkproto.CntRxPackets)
	for range requests {
		try.Get(b.ni.ReadRegister(ctx, linkproto.RegScratch))
	}
	if n := received(); n != requests+1 {
		try.Failf("the host port counts %d packets, %d were sent to it", n, requests+1)
	}
	for _, l := range b.loops() {
		sent, lost := b.growth(ctx, l.via, linkproto.CntTxPackets), b.growth(ctx, l.via, linkproto.CntLostPackets)
		received := b.growth(ctx, l.at, linkproto.CntRxPackets)
		count := uint32(1 + b.rng.IntN(100))
		for range count {
			try.OK(b.ni.Send(ctx, l.via, nowhere))
		}
		try.OK(b.ni.Sync(ctx, l.via))
		if sent, lost, received := sent(), lost(), received(); sent != count || received != count || lost != 0 {
			try.Failf("%d packets were sent by link %d: it counts %d sent and %d lost, link %d %d received", count, l.via, sent, lost, l.at, received)
		}
	}
}

func notTrapped(ctx context.Context, b *bench) {
	for link := 1; link <= b.id.Links; link++ {
		try.Wrap(refused(b.ni.Resume(ctx, link), linkproto.StatusNotTrapped), "RESUME of link %d", link)
	}
}
