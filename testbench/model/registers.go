package model

import (
	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
)

// readRegister returns a register's content; ok is false if there is no such register.
func (n *NI) readRegister(r linkproto.Reg) (value uint32, ok bool) {
	if link, ok := index(r, linkproto.RegLinkStatus, len(n.ports)); ok {
		return n.LinkStatus(link), true
	}
	if link, ok := index(r, linkproto.RegPeer, len(n.ports)); ok {
		return peerOf(n.ports[link]), true
	}
	if i, ok := index(r, linkproto.RegCounters, linkproto.CounterStride*len(n.ports)); ok {
		p, c := n.ports[i/linkproto.CounterStride], linkproto.Counter(i%linkproto.CounterStride)
		return p.Counter(c) + p.counters[c], true
	}
	if i, ok := index(r, linkproto.RegFrameTable, len(n.frames)); ok {
		f := n.frames[i]
		return linkproto.FrameValid.In(flag(f.valid)) | linkproto.FrameLink.In(uint32(f.link)) | linkproto.FrameVL.In(uint32(f.vl)), true
	}
	if n.network != nil {
		if value, ok := n.network.readRegister(r); ok {
			return value, true
		}
	}
	if n.virtuals != nil {
		if value, ok := n.virtuals.readRegister(r); ok {
			return value, true
		}
	}
	if n.contexts != nil {
		if value, ok := n.contexts.readRegister(r); ok {
			return value, true
		}
	}
	value, ok = map[linkproto.Reg]uint32{
		linkproto.RegMagic: linkproto.Magic, linkproto.RegVersion: linkproto.Version,
		linkproto.RegHashLo: uint32(n.cfg.Hash), linkproto.RegHashHi: uint32(n.cfg.Hash >> 32),
		linkproto.RegLinks: uint32(n.cfg.Links), linkproto.RegFrames: uint32(n.cfg.Frames), linkproto.RegPageBytes: uint32(n.cfg.PageBytes),
		linkproto.RegReplayBytes: uint32(n.cfg.ReplayBytes), linkproto.RegRxBytes: uint32(n.cfg.RxBytes), linkproto.RegWindow: linkproto.MaxWindow,
		linkproto.RegFeatures: linkproto.FeaturePaging.In(1) | linkproto.FeatureNotify.In(1) | linkproto.FeatureRoutes.In(flag(n.cfg.Routes)) | linkproto.FeatureRouter.In(flag(n.network != nil)) | linkproto.FeatureVirtual.In(flag(n.virtuals != nil)) | linkproto.FeatureBarriers.In(flag(n.cfg.Barriers)) | linkproto.FeatureMessages.In(flag(n.contexts != nil)),
		linkproto.RegScratch:  n.scratch, linkproto.RegControl: linkproto.ControlNotify.In(flag(n.notify)) | linkproto.ControlGateway.In(flag(n.gateway)),
		linkproto.RegNodeID: n.node, linkproto.RegNonce: n.nonce,
	}[r]
	return value, ok
}

// WriteRegister sets a register, as REG_WRITE does, and reports false if that refuses it.
func (n *NI) WriteRegister(r linkproto.Reg, value uint32) bool {
	return n.writeRegister(r, value) == linkproto.StatusOK
}

// writeRegister sets a register and says how that went.
func (n *NI) writeRegister(r linkproto.Reg, value uint32) linkproto.Status {
	i, isFrame := index(r, linkproto.RegFrameTable, len(n.frames))
	link, isStatus := index(r, linkproto.RegLinkStatus, len(n.ports))
	switch {
	case isStatus:
		if linkproto.StatusLost.Of(value) != 0 {
			n.ports[link].lost = false
		}
	case r == linkproto.RegScratch:
		n.scratch = value
	case r == linkproto.RegNodeID:
		n.node = value
		for _, p := range n.ports {
			p.SetNode(uint16(value))
		}
	case r == linkproto.RegNonce:
		n.nonce = value
		for _, p := range n.ports[1:] {
			before := p.damage()
			p.SetNonce(value)
			p.lost = p.lost || p.damage().packets != before.packets
		}
	case r == linkproto.RegControl:
		n.notify = linkproto.ControlNotify.Of(value) != 0
		n.gateway = linkproto.ControlGateway.Of(value) != 0 && n.cfg.Routes && n.network == nil
		if !n.notify {
			for i := range n.frames {
				n.frames[i].changed = false
			}
		}
	case isFrame:
		n.frames[i].valid = linkproto.FrameValid.Of(value) != 0
		n.frames[i].link = uint8(linkproto.FrameLink.Of(value))
		n.frames[i].vl = uint16(linkproto.FrameVL.Of(value)) & (1<<n.cfg.Virtual - 1)
	case n.network != nil && n.network.writeRegister(r, value):
	case n.virtuals != nil && n.virtuals.writeRegister(r, value):
	case n.contexts != nil && n.contexts.writeRegister(r, value):
	default:
		return linkproto.StatusBadAddress
	}
	return linkproto.StatusOK
}

// index returns where a register lies in a block of size registers.
func index(r, block linkproto.Reg, size int) (int, bool) {
	i := int(r) - int(block)
	return i, i >= 0 && i < size
}

// LinkStatus is what a port's LINK_STATUS register reads.
func (n *NI) LinkStatus(link int) uint32 {
	p := n.ports[link]
	queue := uint32(0)
	if link > 0 {
		freed, _ := p.Freed()
		queue = linkproto.StatusQueued.In(flag(p.packets != freed)) | linkproto.StatusLost.In(flag(p.lost)) | linkproto.StatusFreed.In(uint32(freed))
	}
	return queue | linkproto.StatusTrapped.In(flag(p.trapped)) | statusOf(p.end)
}

// statusOf are the fields of LINK_STATUS that are about the link itself.
func statusOf(link end) uint32 {
	s := link.Status()
	return linkproto.StatusUp.In(flag(s.Up)) | linkproto.StatusPeerStop.In(flag(s.PeerStop)) | linkproto.StatusOwnStop.In(flag(s.OwnStop)) |
		linkproto.StatusMissing.In(flag(s.Missing)) | linkproto.StatusEpoch.In(uint32(s.Epoch)) | lanesOf(link)
}

// lanesOf are those fields that say how the lanes of a link of several are.
func lanesOf(link end) (fields uint32) {
	trunk, ok := link.(*flowctl.Trunk)
	if !ok {
		return 0
	}
	open, foreign := uint32(0), false
	for k := range trunk.Config().Lanes {
		lane := trunk.Lane(k)
		open |= flag(lane.Open) << k
		foreign = foreign || lane.Foreign
	}
	return linkproto.StatusLanes.In(open) | linkproto.StatusForeign.In(flag(foreign))
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
