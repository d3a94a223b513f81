package conformance

import (
	"context"
	"errors"
	"slices"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

var identityCases = []Case{
	{"identity/fields", "The identity is one that the protocol allows, and reads the same register by register.",
		linkMemory, "protocol.md#registers", identityFields},
	{"identity/read-only", "Registers that are read-only refuse to be written, and keep what they hold.",
		"", "protocol.md#registers", readOnly},
	{"identity/mismatch", "A driver that was built for other RTL refuses the network interface, and says which field differs.",
		"", "driver.md#when-something-breaks", mismatch},
	{"identity/names", "NODE_ID and NONCE keep what is written; a write of NONCE starts the links that are up again, and a read-only PEER names each one's far end.",
		staffLink, "protocol.md#bringing-a-link-up", names},
	{"identity/anonymous", "Without a nonce every link stays down; it comes up by itself once the node has one.",
		staffLink, "protocol.md#bringing-a-link-up", anonymous},
	{"identity/cables", "What is sent by a link is acknowledged, and arrives at the same link each time.",
		staffLink, "protocol.md#sending-and-receiving", cables},
}

// identityRegs are the registers that never change.
var identityRegs = []linkproto.Reg{
	linkproto.RegMagic, linkproto.RegVersion, linkproto.RegHashLo, linkproto.RegHashHi, linkproto.RegLinks, linkproto.RegFrames,
	linkproto.RegPageBytes, linkproto.RegReplayBytes, linkproto.RegRxBytes, linkproto.RegWindow, linkproto.RegFeatures,
}

func identityFields(ctx context.Context, b *bench) {
	id := b.id
	var known uint32
	for _, f := range linkproto.Features {
		known |= f.In(1<<f.Bits - 1)
	}
	switch {
	case id.Features&^known != 0:
		try.Failf("FEATURES is %#x, of which version %d knows %#x", id.Features, id.Version, known)
	case id.RxBytes < id.MaxPacket():
		try.Failf("RX_BYTES is %d, which does not hold a packet of %d bytes", id.RxBytes, id.MaxPacket())
	}
	want := []uint32{
		id.Magic, id.Version, uint32(id.Hash), uint32(id.Hash >> 32), uint32(id.Links), uint32(id.Frames), uint32(id.PageBytes),
		uint32(id.ReplayBytes), uint32(id.RxBytes), uint32(id.Window), id.Features,
	}
	for i, r := range identityRegs {
		b.reads(ctx, r, want[i], "which it read when the driver opened")
	}
}

func readOnly(ctx context.Context, b *bench) {
	regs := slices.Clone(identityRegs)
	for link := range b.id.Links + 1 {
		regs = append(regs, linkproto.CounterReg(link, linkproto.CntLostPackets), linkproto.CounterReg(link, linkproto.CntRestarts))
	}
	for _, r := range regs {
		before := try.Get(b.ni.ReadRegister(ctx, r))
		try.Wrap(refused(b.ni.WriteRegister(ctx, r, ^before), linkproto.StatusBadAddress), "a write of register %v", r)
		b.reads(ctx, r, before, "which it read before a write that was refused")
	}
}

func mismatch(ctx context.Context, b *bench) {
	try.OK(b.ni.Close())
	other := b.id.Hash + 1
	if other == 0 {
		other++
	}
	err := b.drive(ctx, hostdrv.Options{Hash: other})
	var wrong *hostdrv.IdentityError
	switch {
	case err == nil:
		try.Failf("a driver for RTL %016x opens a network interface of RTL %016x", other, b.id.Hash)
	case !errors.As(err, &wrong):
		try.OK(err)
	case len(wrong.Mismatches) != 1 || wrong.Mismatches[0].Field != "HASH":
		try.Failf("want that HASH differs and nothing else, is told: %w", err)
	}
	try.OK(b.drive(ctx, hostdrv.Options{Hash: b.id.Hash}))
}

// names gives the NI other names, and looks for them at the far ends of its loops.
func names(ctx context.Context, b *bench) {
	peers := b.loops()
	for _, l := range peers {
		try.Wrap(refused(b.ni.WriteRegister(ctx, linkproto.PeerReg(l.at), 0), linkproto.StatusBadAddress), "a write of PEER of link %d", l.at)
	}
	for range 4 {
		node, nonce := b.rng.Uint32(), b.rng.Uint32()|1
		if node == nonce {
			node++
		}
		restarts := make([]func() uint32, len(peers))
		for i, l := range peers {
			restarts[i] = b.growth(ctx, l.at, linkproto.CntRestarts)
		}
		try.OK(b.ni.WriteRegister(ctx, linkproto.RegNodeID, node), b.ni.WriteRegister(ctx, linkproto.RegNonce, nonce))
		b.reads(ctx, linkproto.RegNodeID, node, "which was written")
		b.reads(ctx, linkproto.RegNonce, nonce, "which was written")
		for i, l := range peers {
			want := hostdrv.LinkPeer{Known: true, Node: uint16(node)}
			b.becomes(ctx, l.at, "known to its peer by the new name", func(s hostdrv.LinkStatus) bool { return s.Up && s.Peer == want })
			if restarts[i]() == 0 {
				try.Failf("link %d was up when NONCE was written, and has not started again", l.at)
			}
		}
	}
}

// anonymous takes the nonce away, and gives it back.
func anonymous(ctx context.Context, b *bench) {
	loops := b.loops()
	nonce := try.Get(b.ni.ReadRegister(ctx, linkproto.RegNonce))
	if nonce == 0 {
		try.Failf("NONCE is 0 after a driver has opened the network interface")
	}
	for range 2 {
		try.OK(b.ni.WriteRegister(ctx, linkproto.RegNonce, 0))
		for _, l := range loops {
			b.becomes(ctx, l.at, "down", func(s hostdrv.LinkStatus) bool { return !s.Up })
			if b.comesUp(ctx, l.at) {
				try.Failf("link %d is up, and its node has no nonce", l.at)
			}
		}
		try.OK(b.ni.WriteRegister(ctx, linkproto.RegNonce, nonce))
		for _, l := range loops {
			b.becomes(ctx, l.at, "up", func(s hostdrv.LinkStatus) bool { return s.Up })
		}
	}
}

// becomes waits until a link is as wanted.
func (b *bench) becomes(ctx context.Context, link int, what string, is func(hostdrv.LinkStatus) bool) {
	limit, cancel := b.soon(ctx, 1)
	defer cancel()
	for {
		s, err := b.ni.LinkStatus(limit, link)
		try.Wrap(err, "link %d is not %s", link, what)
		if is(s) {
			return
		}
	}
}

func cables(ctx context.Context, b *bench) {
	links := try.Get(b.trace(ctx))
	if !slices.Equal(links, b.links) {
		try.Failf("the cables go as in %v, and went as in %v before", links, b.links)
	}
}
