package flowctl

import "github.com/stafflink/lmmc/linkproto"

// Feed takes a ROUTE that is for this end: an INIT from its peer's node for its channel, or what has its number. It is decoded but for its CRC, and
// raw are its bytes. What is damaged, or not for this end in this life, changes nothing.
func (v *VirtualLink) Feed(r *linkproto.Route, raw []byte) {
	state, ok := linkproto.DecodeVLState(r.State)
	switch {
	case !ok || r.Src != v.cfg.Peer || r.Dest != v.cfg.Node:
		v.bad()
	case state.Kind == linkproto.KindInit:
		w, ok := linkproto.DecodeVLInit(r.Packet)
		if !ok || r.Next != linkproto.Version || w.Channel != v.cfg.Channel || linkproto.CheckRoute(raw, 0) != nil {
			v.bad()
			return
		}
		v.init(w, state.Stop)
	case v.peer.Known && !v.refused():
		v.take(r, raw, state)
	}
}

// bad counts a ROUTE that is damaged or of another life. Until the link is up those of former lives are nothing unusual.
func (v *VirtualLink) bad() {
	if v.up {
		v.counters[linkproto.CntBadWord]++
	}
}

// init handles an INIT.
func (v *VirtualLink) init(w linkproto.VLInit, stop bool) {
	if v.up && w.Life != v.peer.Life {
		v.Restart()
	}
	if w.Life != v.peer.Life {
		v.peer = VirtualPeer{Known: true, Number: w.Number, Life: w.Life, MaxPacket: linkproto.MaxPacket(1 << w.Page)}
		v.key = linkproto.KeyOf(w.Life, v.life)
		v.retries, v.waited = 0, 0
	}
	v.peerStop, v.urgent = stop, true
	switch {
	case w.Heard != v.life:
		v.tell = true
	case !v.refused():
		v.comeUp()
	}
}

func (v *VirtualLink) comeUp() {
	if !v.up {
		v.up, v.urgent, v.retries, v.waited = true, true, 0, 0
	}
}

// take handles what is no INIT.
func (v *VirtualLink) take(r *linkproto.Route, raw []byte, state linkproto.VLState) {
	next, seq := linkproto.VLNumber(v.tx.base, r.Next), uint32(0)
	if state.Packet {
		seq = linkproto.VLNumber(v.expect, r.Seq)
	}
	if linkproto.CheckRoute(raw, v.key.Back().At(seq, next)) != nil || !state.Packet && (len(r.Packet) != 0 || r.Seq != 0) {
		v.bad()
		return
	}
	v.comeUp()
	v.peerStop = state.Stop
	if state.Stop {
		v.retries = 0 // it is there, and has no room
	}
	if v.acknowledged(next) && state.Kind == linkproto.KindLost {
		v.missing()
	}
	if state.Packet {
		v.deliver(seq, r.Packet)
	}
}

// acknowledged handles the number that the peer expects next. It reports whether that is one that counts.
func (v *VirtualLink) acknowledged(next uint32) bool {
	packets := linkproto.VLDistance(v.tx.base, next)
	switch {
	case packets < 0: // overtaken by a later one
		return false
	case packets > v.tx.top:
		v.bad()
		return false
	case packets > 0:
		v.tx.acknowledge(packets)
		v.counters[linkproto.CntTxPackets] += uint32(packets)
		v.waited, v.retries, v.probe = 0, 0, false
	}
	return true
}

// missing handles the peer's report that the base is missing. Once it was sent again that is not done anew until its answer can have come.
func (v *VirtualLink) missing() {
	if v.tx.top == 0 || v.tx.next == 0 {
		return
	}
	if base := v.tx.slot(0); base.again && v.now-base.sent < uint64(v.cfg.Turn) {
		return
	}
	v.tx.next = 0
	v.counters[linkproto.CntReplays]++
}

// deliver handles a packet.
func (v *VirtualLink) deliver(seq uint32, packet []byte) {
	switch ahead := linkproto.VLDistance(v.expect, seq); {
	case ahead < 0:
		v.counters[linkproto.CntRxDup]++
		v.urgent = true // its acknowledgement must have been lost
	case ahead > 0:
		v.counters[linkproto.CntRxGap]++
		v.lost()
	case !linkproto.LengthFits(packet) || len(packet) < linkproto.MinPacket || len(packet) > v.cfg.MaxPacket:
		v.counters[linkproto.CntBadPacket]++
		v.arrived()
	case !v.rx.deliver(packet):
		v.counters[linkproto.CntRxOverrun]++
		v.lost()
	default:
		v.counters[linkproto.CntRxPackets]++
		v.arrived()
	}
	if v.rx.watch(0) {
		v.counters[linkproto.CntStops] += flag(v.rx.stop)
		v.urgent = true
	}
}

// arrived goes on to the next packet.
func (v *VirtualLink) arrived() {
	v.expect = (v.expect + 1) & linkproto.VLSeqMask
	if v.rx.lost || v.rx.stop {
		v.urgent = true
	}
	v.rx.lost = false
	if !v.unsaid {
		v.unsaid, v.since = true, 0
	}
}

// lost says LOST, at once if that is new or was said long ago.
func (v *VirtualLink) lost() {
	if !v.rx.lost || v.now-v.saidLost >= uint64(v.cfg.Turn) {
		v.urgent = true
	}
	v.rx.lost = true
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// Restart ends the life of this end, the peer being unknown from here on: every packet that was not acknowledged is given up and reported. Packets that were
// delivered stay.
func (v *VirtualLink) Restart() {
	v.up, v.peer, v.life, v.expect = false, VirtualPeer{}, v.cfg.NewLife(), 0
	v.retries, v.waited, v.probe, v.peerStop = 0, 0, false, false
	v.urgent, v.unsaid = true, false
	first := v.tx.accepted - uint64(v.tx.count)
	if n := v.tx.reset(); n > 0 {
		v.loss = Loss{first, uint64(n)}
		v.counters[linkproto.CntLostPackets] += uint32(n)
	}
	v.rx.reset()
	v.counters[linkproto.CntRestarts]++
}
