package net_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// until lets the world run until something holds, and fails after so many clocks.
func (w *vlWorld) until(what string, most int, holds func() bool) {
	w.t.Helper()
	for limit := w.now + most; !holds(); w.step() {
		if w.now > limit {
			w.t.Fatalf("not within %d clocks: %s", most, what)
		}
	}
}

// TestVirtualTimes: what has come is acknowledged within ACK_DELAY, LOST and GO are said at once, and an end goes back at once for a LOST, but once
// only for all that it gets within TURN.
func TestVirtualTimes(t *testing.T) {
	w := newVLWorld(t, true)
	n, far := w.rtl[0], w.rtl[1]
	w.open(4)
	number := peerNumber(4)
	for range 20 {
		n.hand(4, w.packet())
		w.until("the packet", 400, func() bool { return w.came[1][4] == n.accepts[4] })
		start := w.now
		w.until("the acknowledgement", vlAckDelay+100, func() bool { return n.freed[4] == n.accepts[4] })
		if took := w.now - start; took < vlAckDelay {
			t.Errorf("an acknowledgement comes after %d clocks, want %d", took, vlAckDelay)
		}
	}
	again := 0
	for range 20 {
		before := n.seen.replays
		w.cut = true
		n.hand(4, w.packet())
		for range 150 { // it is lost
			w.step()
		}
		w.cut = false
		n.hand(4, w.packet())
		w.until("LOST", 400, func() bool { return len(w.rtl[0].in) > 0 })
		w.network = append(w.network, flight{to: 0, at: w.now + 60, bytes: n.in[0]})
		w.until("the packet once more", 400, func() bool { return w.came[1][4] == n.accepts[4] })
		w.until("all acknowledged", 3*vlTick, func() bool { return n.freed[4] == n.accepts[4] && len(w.network) == 0 })
		if replays := n.seen.replays - before; replays == 0 {
			t.Error("it did not go back")
		} else {
			again += replays - 1 // a tick has come between, which is taken for a TURN
		}
		for range 2 * vlTick { // so long that it goes back anew
			w.step()
		}
	}
	if again > 7 {
		t.Errorf("it went back for %d of 20 LOSTs that came again at once", again)
	}
	far.halts = 1
	n.hand(4, w.packet())
	w.until("STOP", 600, func() bool { return n.read(4, vlStatus)&vlPeerStop != 0 })
	far.halts = 0
	*far.CResume = true
	far.control(number, vlStatus)
	w.until("GO", 400, func() bool { return n.read(4, vlStatus)&vlPeerStop == 0 })
	check.Equal(t, "retries of all", far.seen.replays, 0)
}

// TestVirtualLostLater: LOST is said again for what comes a TURN later or more, also when the time has come round since.
func TestVirtualLostLater(t *testing.T) {
	w := newVLWorld(t, true)
	n := w.rtl[0]
	n.opensAs(3, 2, 5, 0x12345678, vlIsOpen)
	packet := w.packet()
	for _, ticks := range []int{2, 127, 128, 129, 256, 0} { // time has 7 bits, since RETRY is 4
		start, words := w.now, n.seen.words
		w.inject(0, 0x56781234, packet, func(r *linkproto.Route) { r.VL, r.Seq = 3, 1 })
		check.Equal(t, "LOSTs", n.seen.words-words, 1)
		for w.now < start+ticks*vlTick {
			w.step()
		}
	}
}

// inject gives a side a ROUTE of the other's end of a virtual link, as it might make it, but for what is changed, and waits until it has come.
func (w *vlWorld) inject(to int, key linkproto.Key, packet []byte, change func(*linkproto.Route)) {
	r := linkproto.Route{Src: uint16(2 - to), Dest: uint16(1 + to), State: linkproto.VLState{Kind: linkproto.KindAck, Packet: packet != nil}.Byte(), Packet: packet}
	change(&r)
	w.rtl[to].in = append(w.rtl[to].in, check.Must(r.Seal(nil, key))(w.t))
	for len(w.rtl[to].in) > 0 {
		w.step()
	}
	for range 50 {
		w.step()
	}
}

// TestVirtualUnfit: of ROUTEs with the right key those for others do nothing; a packet whose length is wrong is dropped, and counts as taken.
func TestVirtualUnfit(t *testing.T) {
	w := newVLWorld(t, true)
	const key = 0x56781234
	n := w.rtl[0]
	n.opensAs(3, 2, 5, 0x12345678, vlIsOpen)
	packet := w.packet()
	for name, change := range map[string]func(*linkproto.Route){
		"another node":   func(r *linkproto.Route) { r.Dest = 2 },
		"a high number":  func(r *linkproto.Route) { r.VL |= 1 << vlBits },
		"INIT":           func(r *linkproto.Route) { r.State = linkproto.VLState{Kind: linkproto.KindInit, Packet: true}.Byte() },
		"a barrier":      func(r *linkproto.Route) { r.State |= 0xC0 },
		"reserved bits":  func(r *linkproto.Route) { r.State |= 8 },
		"without a flag": func(r *linkproto.Route) { r.State &^= 1 },
	} {
		w.inject(0, key, packet, func(r *linkproto.Route) { r.VL = 3; change(r) })
		check.Equal(t, "state after "+name, n.read(3, vlStatus)&0xFF, vlIsOpen)
	}
	expect := uint32(0)
	for _, bad := range [][]byte{append(w.packet(), 0), packet[:len(packet)-1], {1}, {1, 0}, append([]byte{1, vlMax - 2, 0}, make([]byte, vlMax-2)...)} {
		w.inject(0, linkproto.Key(key), bad, func(r *linkproto.Route) { r.VL, r.Seq = 3, uint8(expect) })
		expect++
		check.Equal(t, "expected next", n.read(3, vlExpect), expect)
	}
	w.want[0][3] = [][]byte{packet}
	w.inject(0, key, packet, func(r *linkproto.Route) { r.VL, r.Seq = 3, uint8(expect) })
	check.Equal(t, "packets that came", w.came[0][3], 1)
}

// TestVirtualSpoiled: a packet that began to come before its virtual link was opened anew does not count.
func TestVirtualSpoiled(t *testing.T) {
	w := newVLWorld(t, true)
	n := w.rtl[0]
	for range 20 {
		n.opensAs(3, 2, 5, 0x12345678, vlIsOpen)
		r := linkproto.Route{Src: 2, Dest: 1, VL: 3, State: linkproto.VLState{Packet: true}.Byte(), Packet: append([]byte{1, vlMax - 3, 0}, make([]byte, vlMax-3)...)}
		n.in = append(n.in, check.Must(r.Seal(nil, 0x56781234))(t))
		for range w.r.Between(30, 60) {
			w.step()
		}
		n.write(3, vlStatus, 0)
		n.write(3, vlStatus, vlIsOpen)
		for range 200 {
			w.step()
		}
		check.Equal(t, "expected next", n.read(3, vlExpect), 0)
		n.write(3, vlStatus, 0)
	}
}

// TestVirtualLong: more packets come than the low bits of their numbers count.
func TestVirtualLong(t *testing.T) {
	w := newVLWorld(t, false)
	w.open(2)
	w.run(500, 2)
	early := w.rtl[0].seen.bad // what came before it was opened
	w.rtl[0].voids = 0.005     // which loses nothing
	for w.came[0][2] < 600 || w.came[1][2] < 600 {
		w.run(1000, 2)
	}
	w.settle(2)
	check.Equal(t, "replays", w.rtl[0].seen.replays, 0)
	check.Equal(t, "damaged", w.rtl[0].seen.bad-early, 0)
	check.Equal(t, "replays of the other end", w.soft[uint16(peerNumber(2))|0x100].Counter(linkproto.CntReplays), 0)
}

// TestVirtualLate: a packet that begins while there is no slot is refused, though one is free before it ends.
func TestVirtualLate(t *testing.T) {
	w := newVLWorld(t, true)
	n := w.rtl[0]
	for vl := range 4 {
		w.open(vl)
	}
	for range 20 {
		w.cut = true
		for vl := range 4 {
			for n.hand(vl, w.packet()) {
			}
		}
		packet := append([]byte{1, vlMax - 3, 0}, make([]byte, vlMax-3)...)
		n.sending, n.by, n.gone = packet, 3, 0
		for n.gone < 20 {
			w.step()
		}
		n.write(0, vlStatus, 0)
		w.until("the packet's end", 500, func() bool { return n.sending == nil })
		check.Equal(t, "it is taken", n.last, false)
		w.cut = false
		w.want[1][0] = nil
		w.rtl[1].write(peerNumber(0), vlStatus, 0)
		w.open(0)
		w.settle(1, 2, 3)
	}
}

// TestVirtualReopened: a packet that is sent while it comes is taken back if its virtual link is opened anew meanwhile, and goes by the new one.
func TestVirtualReopened(t *testing.T) {
	w := newVLWorld(t, true)
	n := w.rtl[0]
	w.open(1)
	w.settle(1)
	w.until("a pause", 10*vlTick, func() bool { return n.out == nil })
	n.sending, n.by, n.gone = w.message(vlMax), 1, 0
	w.until("a ROUTE while the packet comes", vlMax, func() bool { return n.out != nil && n.sending != nil })
	n.write(1, vlStatus, 0)
	n.opens(1, 2, uint16(peerNumber(1)), 0x12345678)
	check.Equal(t, "the packet still comes", n.sending != nil, true)
	w.until("the packet has come", vlMax, func() bool { return n.sending == nil })
	w.until("its ROUTE is taken back", 10, func() bool { return n.seen.undone == 1 })
	said := w.said[1][peerNumber(1)]
	w.until("another", 200, func() bool { return w.said[1][peerNumber(1)] > said })
}

// TestVirtualFreed: a slot that is freed while its packet is sent, since the virtual link closes or the peer acknowledges what has not come, and then gets
// another one's packet, sends nothing of that. What its ROUTE said besides is said again.
func TestVirtualFreed(t *testing.T) {
	const route = linkproto.RouteExtra + vlMax
	w := newVLWorld(t, true)
	n, far := w.rtl[0], w.rtl[1]
	for i, held := range []int{vlWindow, vlWindow, vlSlots - 2*vlWindow - 1} { // but for one slot they hold all, and are not up
		vl := 3 + i
		n.opensAs(vl, 2, 0, 0, vlIsOpen)
		for range held {
			check.Equal(t, "a packet is held", n.hand(vl, w.message(vlMax)), true)
		}
	}
	for round := 0; round < 2*route; round += 3 {
		gone := round / 2 // bytes of the ROUTE, before it is freed
		n.opensAs(1, 2, uint16(peerNumber(1)), 0x12345678, vlIsOpen|vlUp)
		far.opensAs(peerNumber(1), 1, 1, 0x56781234, vlIsOpen|vlUp)
		n.opensAs(2, 2, 0, 0, vlIsOpen)
		w.until("a pause", 500, func() bool { return n.out == nil && len(w.network)+len(far.in) == 0 })
		came, words := w.came[1][1], n.seen.words
		n.stalled = true
		check.Equal(t, "a packet is taken", n.hand(1, w.message(vlMax)), true)
		n.stalled = false
		w.until("bytes of it are sent", 500, func() bool { return len(n.out) == gone })
		if n.stalled = true; round%2 == 0 {
			n.write(1, vlStatus, 0)
		} else {
			w.inject(0, 0x56781234, nil, func(r *linkproto.Route) { r.VL, r.Next = 1, 1 })
		}
		for range 10 {
			w.step()
		}
		check.Equal(t, "another one's packet is taken", n.hand(2, w.message(vlMax)), true)
		n.stalled = false
		for range 300 {
			w.step()
		}
		whole := gone >= linkproto.RouteFields+vlMax
		check.Equal(t, "it comes, since all of it had gone", w.came[1][1] > came, whole)
		check.Equal(t, "its state is said", n.seen.words-words, b2i(round%2 == 1 && !whole))
		w.want[1][1], w.want[1][2] = nil, nil
		for vl := range 2 {
			n.write(1+vl, vlStatus, 0)
		}
		far.write(peerNumber(1), vlStatus, 0)
	}
}
