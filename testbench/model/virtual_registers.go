package model

import "github.com/stafflink/lmmc/linkproto"

// status is what STATUS reads.
func (v *virtual) status() uint32 {
	value := linkproto.VLLost.In(flag(v.lost))
	freed := v.before
	if f := v.flow; f != nil {
		packets, _ := f.Freed()
		queued, _ := f.Queued()
		freed += packets
		value |= linkproto.VLUp.In(flag(f.Up())) | linkproto.StatusPeerStop.In(flag(f.PeerStop())) | linkproto.StatusOwnStop.In(flag(f.Stop())) |
			linkproto.StatusTrapped.In(flag(v.trapped)) | linkproto.StatusMissing.In(flag(f.Missing())) |
			linkproto.StatusQueued.In(flag(queued > 0)) | linkproto.VLOpen.In(flag(f.IsOpen()))
	}
	return value | linkproto.StatusFreed.In(uint32(freed))
}

// counts is what COUNTS reads.
func (v *virtual) counts() uint32 {
	if v.flow == nil {
		return 0
	}
	dropped := uint32(0)
	for _, c := range []linkproto.Counter{linkproto.CntBadWord, linkproto.CntRxDup, linkproto.CntRxGap, linkproto.CntBadPacket, linkproto.CntRxOverrun} {
		dropped += v.flow.Counter(c)
	}
	const most = 1<<16 - 1
	return linkproto.VLCountsReplays.In(min(v.flow.Counter(linkproto.CntReplays), most)) | linkproto.VLCountsDropped.In(min(dropped, most))
}

// readRegister returns the content of a register of virtual links; ok is false if there is no such register.
func (w *virtuals) readRegister(r linkproto.Reg) (value uint32, ok bool) {
	c := w.ni.cfg
	switch r {
	case linkproto.RegVLNumbers:
		return uint32(len(w.links)), true
	case linkproto.RegVLSlots:
		return uint32(c.VirtualSlots), true
	case linkproto.RegVLWindow:
		return uint32(c.VirtualWindow), true
	}
	v, which := w.at(r)
	if v == nil {
		return 0, false
	}
	switch which {
	case linkproto.VLRegPeer:
		value = v.peer
	case linkproto.VLRegNumber:
		value = v.theirs
	case linkproto.VLRegKey:
		value = v.key
	case linkproto.VLRegStatus:
		value = v.status()
	case linkproto.VLRegExpect:
		if v.flow != nil {
			value = v.flow.Expect()
		}
	case linkproto.VLRegCounts:
		value = v.counts()
	case linkproto.VLRegContext:
		value = v.context
	}
	return value, true
}

// at returns the virtual link that a register belongs to, and which of its registers it is; nil if there is none.
func (w *virtuals) at(r linkproto.Reg) (*virtual, linkproto.VLReg) {
	i, ok := index(r, linkproto.RegVL, linkproto.VLStride*len(w.links))
	if !ok {
		return nil, 0
	}
	return &w.links[i/linkproto.VLStride], linkproto.VLReg(i % linkproto.VLStride)
}

// writeRegister sets a register of virtual links; ok is false if there is none that can be written.
func (w *virtuals) writeRegister(r linkproto.Reg, value uint32) (ok bool) {
	v, which := w.at(r)
	if v == nil {
		return false
	}
	switch which {
	case linkproto.VLRegPeer:
		v.peer = value & (linkproto.VLPeerNode.In(^uint32(0)) | linkproto.VLPeerClass.In(^uint32(0)))
	case linkproto.VLRegNumber:
		v.theirs = value & 0xFFFF
	case linkproto.VLRegKey:
		v.key = value
	case linkproto.VLRegStatus:
		v.control(value)
	case linkproto.VLRegContext:
		v.context = value & (1<<w.ni.cfg.Contexts - 1)
		return w.ni.contexts != nil
	default:
		return false
	}
	return true
}

// control opens or closes the link, or has it say its state.
func (v *virtual) control(value uint32) {
	if linkproto.VLOpen.Of(value) == 0 {
		v.close()
		v.tell()
		v.look()
		return
	}
	if !v.isOpen() {
		v.start()
	}
	if v.isOpen() && linkproto.VLUp.Of(value) != 0 {
		v.flow.ComeUp()
		v.flow.Say()
	}
	v.moved()
}
