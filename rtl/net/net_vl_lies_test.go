package net_test

import (
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// TestVirtualLies: of ROUTEs in which a peer lies about all that they say, the end takes and counts what flowctl does.
func TestVirtualLies(t *testing.T) {
	w := newVLWorld(t, true)
	const vl, far, own = 3, 5, linkproto.Key(0x12345678)
	n := w.rtl[0]
	n.opensAs(vl, 2, far, own, vlIsOpen)
	take := func(packet []byte) bool {
		w.want[0][vl] = append(w.want[0][vl], packet)
		return true
	}
	flow := check.Must(flowctl.NewFlow(flowctl.VirtualConfig{Node: 1, Peer: 2, MaxPacket: vlMax, Window: vlWindow}, take))(t)
	flow.Open(far, own)
	dropped := func() (sum int) {
		for _, c := range []linkproto.Counter{linkproto.CntBadWord, linkproto.CntRxDup, linkproto.CntRxGap, linkproto.CntBadPacket} {
			sum += int(flow.Counter(c))
		}
		return sum
	}
	lies := map[bool]int{}
	for i := range 300 {
		if packet := w.packet(); i%4 == 0 && flow.Up() && n.hand(vl, packet) {
			check.Fatal(t, flow.Send(packet))
		}
		for more := true; more; _, more = flow.Emit(nil) {
		}
		freed, _ := flow.Freed()
		queued, _ := flow.Queued()
		packet, seq, next := w.packet(), flow.Expect(), uint32(freed)+uint32(queued)
		bare := w.r.Bool()
		if bare {
			packet, seq = nil, 0
		}
		change := w.r.Between(0, 12)
		if i < 5 { // until it is up, what is damaged may be of a former life
			change = 0
		}
		key := own.Back()
		r := linkproto.Route{Src: 2, Dest: 1, VL: vl, Packet: packet}
		state := linkproto.VLState{Kind: linkproto.KindAck, Packet: !bare}
		switch change {
		case 0:
			key ^= 1 << w.r.Between(0, 31)
		case 1:
			r.Src = 3
		case 2:
			state.Packet = bare
		case 3:
			next += uint32(w.r.Between(1, 100))
		case 4:
			next -= min(next, uint32(w.r.Between(1, 3)))
		case 5:
			state.Kind = linkproto.KindLost
		case 6:
			seq += uint32(w.r.Between(1, 100))
		case 7:
			seq -= min(seq, uint32(w.r.Between(1, 100)))
		case 8:
			r.VL = 4 // closed
		}
		r.State, r.Next, r.Seq = state.Byte(), uint8(next), uint8(seq)
		if change == 9 {
			r.State ^= 1 << w.r.Between(1, 4)
		}
		if change == 10 { // of neither end, nor of an INIT
			r.State |= 0xC0
			r.State &^= 1
		}
		if change == 11 {
			r.State = linkproto.VLState{Kind: linkproto.KindInit}.Byte()
		}
		sealed := uint32(0)
		if state.Packet {
			sealed = seq
		}
		raw := check.Must(r.Seal(nil, key.At(sealed, next)))(t)
		was := dropped()
		if r.VL == vl && change != 11 { // which are not the end's
			flow.Feed(&r, raw)
		}
		lies[dropped() > was]++
		n.in = append(n.in, raw)
		for range len(raw) + 100 {
			w.step()
		}
		counts := n.read(vl, vlCounts)
		check.Equal(t, "dropped", linkproto.VLCountsDropped.Of(counts), uint32(dropped()))
		check.Equal(t, "expected next", n.read(vl, vlExpect), flow.Expect())
		packets, _ := flow.Freed()
		check.Equal(t, "freed", n.freed[vl], int(packets))
		check.Equal(t, "packets underway", len(w.want[0][vl]), 0)
		if t.Failed() {
			t.Fatalf("ROUTE %d, changed as of %d: %+v, sealed for %d and %d", i, change, r, seq, next)
		}
	}
	if lies[true] < 60 || lies[false] < 60 {
		t.Errorf("%d ROUTEs were dropped, and %d were not: too few", lies[true], lies[false])
	}
}
