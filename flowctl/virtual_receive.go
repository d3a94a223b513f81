package flowctl

import "github.com/stafflink/lmmc/linkproto"

// Feed takes a ROUTE for this end that is no INIT. It is decoded but for its CRC, and raw are its bytes. What is damaged, or not for this end in this life,
// changes nothing.
func (f *VirtualFlow) Feed(r *linkproto.Route, raw []byte) {
	state, ok := linkproto.DecodeVLState(r.State)
	if !ok || state.Kind == linkproto.KindInit || r.Src != f.cfg.Peer || r.Dest != f.cfg.Node {
		f.bad()
		return
	}
	if !f.open {
		return
	}
	next, seq := linkproto.VLNumber(f.tx.base, r.Next), uint32(0)
	if state.Packet {
		seq = linkproto.VLNumber(f.expect, r.Seq)
	}
	if linkproto.CheckRoute(raw, f.key.Back().At(seq, next)) != nil || !state.Packet && (len(r.Packet) != 0 || r.Seq != 0) {
		f.bad()
		return
	}
	f.ComeUp()
	f.peerStop = state.Stop
	if state.Stop {
		f.retries = 0 // it is there, and has no room
	}
	if f.acknowledged(next) && state.Kind == linkproto.KindLost {
		f.again()
	}
	if state.Packet {
		f.deliver(seq, r.Packet)
	}
}

// bad counts a ROUTE that is damaged or of another life. Until the flow is up those of former lives are nothing unusual.
func (f *VirtualFlow) bad() {
	if f.up {
		f.counters[linkproto.CntBadWord]++
	}
}

// acknowledged handles the number that the peer expects next. It reports whether that is one that counts.
func (f *VirtualFlow) acknowledged(next uint32) bool {
	packets := linkproto.VLDistance(f.tx.base, next)
	switch {
	case packets < 0: // overtaken by a later one
		return false
	case packets > f.tx.top:
		f.bad()
		return false
	case packets > 0:
		f.tx.acknowledge(packets)
		f.counters[linkproto.CntTxPackets] += uint32(packets)
		f.waited, f.retries, f.probe, f.moved = 0, 0, false, true
	}
	return true
}

// again handles the peer's report that the base is missing. Once it was sent again that is not done anew until its answer can have come, or until packets before it
// have been acknowledged since: what came behind those has found it missing, as behind each trap.
func (f *VirtualFlow) again() {
	if f.tx.top == 0 || f.tx.next == 0 {
		return
	}
	if base := f.tx.slot(0); base.again && !f.moved && f.now-base.sent < uint64(f.cfg.Turn) {
		return
	}
	f.goBack()
}

// goBack sends from the base on.
func (f *VirtualFlow) goBack() {
	f.tx.next, f.moved = 0, false
	f.counters[linkproto.CntReplays]++
}

// deliver handles a packet.
func (f *VirtualFlow) deliver(seq uint32, packet []byte) {
	switch ahead := linkproto.VLDistance(f.expect, seq); {
	case ahead < 0:
		f.counters[linkproto.CntRxDup]++
		f.urgent = true // its acknowledgement must have been lost
	case ahead > 0:
		f.counters[linkproto.CntRxGap]++
		f.lost()
	case !linkproto.LengthFits(packet) || len(packet) < linkproto.MinPacket || len(packet) > f.cfg.MaxPacket:
		f.counters[linkproto.CntBadPacket]++
		f.arrived()
	case !f.take(packet):
		f.counters[linkproto.CntRxOverrun]++
		f.lost()
	default:
		f.counters[linkproto.CntRxPackets]++
		f.arrived()
	}
}

// arrived goes on to the next packet.
func (f *VirtualFlow) arrived() {
	f.expect = (f.expect + 1) & linkproto.VLSeqMask
	if f.missing || f.stop {
		f.urgent = true
	}
	f.missing = false
	if !f.unsaid {
		f.unsaid, f.since = true, 0
	}
}

// lost says LOST, at once if that is new or was said long ago.
func (f *VirtualFlow) lost() {
	if !f.missing || f.now-f.saidLost >= uint64(f.cfg.Turn) {
		f.urgent = true
	}
	f.missing = true
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
