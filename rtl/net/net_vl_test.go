package net_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// run lets hosts of RTL ends send by several virtual links for so many clocks, and those in software too, and resumes what was stopped.
func (w *vlWorld) run(clocks int, vls ...int) {
	for end := w.now + clocks; w.now < end; w.step() {
		for _, n := range w.rtl {
			if n == nil {
				continue
			}
			if n.sending == nil && n.r.Chance(0.02) {
				n.sending, n.gone, n.by = w.packet(), 0, w.called(n.side, vls[n.r.Between(0, len(vls)-1)])
			}
			if n.halts > 0 && n.r.Chance(0.005) {
				w.resume(n, vls)
			}
		}
		if w.rtl[1] == nil && w.r.Chance(0.02) {
			vl := vls[w.r.Between(0, len(vls)-1)]
			if packet := w.packet(); w.soft[uint16(peerNumber(vl))|0x100].Send(packet) == nil {
				w.want[0][vl] = append(w.want[0][vl], packet)
			}
		}
	}
}

// called is what a side calls a virtual link.
func (w *vlWorld) called(side, vl int) int {
	if side == 1 {
		return peerNumber(vl)
	}
	return vl
}

// resume lets all that is stopped go on.
func (w *vlWorld) resume(n *netVL, vls []int) {
	for _, vl := range vls {
		number := w.called(n.side, vl)
		if n.read(number, vlStatus)&vlOwnStop != 0 {
			n.seen.halts++
			*n.CResume = true
			n.control(number, vlStatus)
		}
	}
}

// settle takes all faults away and waits until all has come and is acknowledged.
func (w *vlWorld) settle(vls ...int) {
	w.lose, w.double, w.damage, w.spread, w.cut = 0, 0, 0, 1, false
	clear(w.stalled)
	for _, n := range w.rtl {
		if n != nil {
			n.slow, n.halts, n.voids = 0, 0, 0
			w.resume(n, vls)
		}
	}
	for limit := w.now + 100*vlTick; ; w.step() {
		left := len(w.network)
		for _, vl := range vls {
			left += len(w.want[0][vl]) + len(w.want[1][vl])
			for _, n := range w.rtl {
				if n != nil {
					left += n.accepts[w.called(n.side, vl)] - n.freed[w.called(n.side, vl)]
				}
			}
		}
		if left == 0 {
			return
		}
		if w.now > limit {
			w.t.Fatalf("%d packets do not come: %v", left, w.explain(vls))
		}
	}
}

func (w *vlWorld) explain(vls []int) (text string) {
	for _, n := range w.rtl {
		for _, vl := range vls {
			if n != nil {
				number := w.called(n.side, vl)
				text += fmt.Sprintf("\nside %d, %d: %x, expects %d, freed %d of %d; %d underway to it", n.side, vl, n.read(number, vlStatus), n.read(number, vlExpect),
					n.freed[number], n.accepts[number], len(w.want[n.side][vl]))
			}
		}
	}
	for number, v := range w.soft {
		text += fmt.Sprintf("\n%x: %+v, %d queued", number, v.Status(), v.Queued())
	}
	return text
}

var vlKinds = map[string]bool{"with flowctl": false, "with itself": true}

// TestVirtual: over a network that loses, doubles, damages and reorders ROUTEs, with several virtual links at once, of which some are stopped now and then,
// all packets come once, whole and in order.
func TestVirtual(t *testing.T) {
	for name, both := range vlKinds {
		t.Run(name, func(t *testing.T) {
			w := newVLWorld(t, both)
			vls := []int{1, 2, 3, 6}
			for _, vl := range vls {
				w.open(vl)
			}
			w.run(10000, vls...)
			w.settle(vls...)
			for i := range 8 {
				w.lose, w.double, w.damage, w.spread = 0.05, 0.05, 0.05, 600
				for _, n := range w.rtl {
					if n != nil {
						n.slow, n.halts, n.voids = 0.3*float64(i%2), 0.3*float64(i/2%2), 0.004*float64(i%2)
					}
				}
				w.run(15000, vls...)
				w.settle(vls...)
			}
			for _, vl := range vls {
				for side := range w.came {
					if w.came[side][vl] < 60 {
						t.Errorf("%d packets came to side %d by virtual link %d: too few", w.came[side][vl], side, vl)
					}
				}
			}
			n := w.rtl[0]
			var replays, drops uint32
			for _, vl := range vls {
				counts := n.read(vl, vlCounts)
				replays, drops = replays+counts&0xFFFF, drops+counts>>16
			}
			check.Equal(t, "replays", int(replays), n.seen.replays)
			check.Equal(t, "dropped", int(drops), n.seen.drops)
			t.Logf("%+v, %d refused, %v came", n.seen, n.refused, w.came)
			if n.seen.replays < 50 || n.seen.drops < 100 || n.seen.bad < 50 || n.seen.voids < 10 || n.seen.halts < 10 || n.refused < 10 {
				t.Errorf("%+v, %d refused: too few", n.seen, n.refused)
			}
		})
	}
}

// TestVirtualStop: a virtual link that is stopped at the other end takes no slot from others beyond its window, and they go on; it goes on when it may.
func TestVirtualStop(t *testing.T) {
	w := newVLWorld(t, true)
	vls := []int{1, 2}
	for _, vl := range vls {
		w.open(vl)
	}
	n, far := w.rtl[0], w.rtl[1]
	far.halts = 1
	check.Equal(t, "the first packet is taken", n.hand(1, w.packet()), true)
	w.run(3000, 2)
	w.resume(far, []int{2})
	for far.halts = 0; n.hand(1, w.packet()); {
	}
	check.Equal(t, "packets of it that are held", n.accepts[1]-n.freed[1], vlWindow)
	before, said := w.came[1][2], w.said[1][peerNumber(1)]
	w.run(vlTick*250, 2) // more than the time in which retries without an answer run out
	if came := w.came[1][2] - before; came < 500 {
		t.Errorf("%d packets came by the other virtual link, want 500", came)
	}
	if said := w.said[1][peerNumber(1)] - said; said < 40 || said > 63 {
		t.Errorf("it sends %d packets meanwhile, want one each RETRY", said)
	}
	if status := n.read(1, vlStatus); status&(vlIsOpen|vlPeerStop) != vlIsOpen|vlPeerStop {
		t.Errorf("its state is %x, want open and stopped by the peer", status)
	}
	if status := far.read(peerNumber(1), vlStatus); status&vlOwnStop == 0 {
		t.Errorf("the state of its other end is %x, want stopped by itself", status)
	}
	check.Equal(t, "packets that came by it", w.came[1][1], 1)
	w.settle(vls...)
}

// TestVirtualRetries: a virtual link from whose peer nothing comes closes when its retries have run out, and frees its slots; it can be opened anew, and what
// is underway from before does not count.
func TestVirtualRetries(t *testing.T) {
	w := newVLWorld(t, true)
	n := w.rtl[0]
	w.open(1)
	w.run(5000, 1)
	w.settle(1)
	w.cut = true // until some retries have gone
	check.Equal(t, "a packet is taken", n.hand(1, w.packet()), true)
	for range 12 * vlTick * vlRetry {
		w.step()
	}
	w.cut = false
	w.settle(1)
	w.cut = true
	held := 0
	for n.hand(1, w.packet()) {
		held++
	}
	check.Equal(t, "packets held", held, vlWindow)
	start := w.now
	w.until("it closes", 60*vlTick*vlRetry, func() bool { return n.closed[1] })
	if took := w.now - start; took < 40*vlTick*vlRetry {
		t.Errorf("it closes after %d clocks, want %d", took, 40*vlTick*vlRetry)
	}
	check.Equal(t, "freed", n.freed[1], n.accepts[1])
	check.Equal(t, "state", n.read(1, vlStatus)&0xFF, vlGaveUp)
	check.Equal(t, "a packet is taken while it is closed", n.hand(1, w.packet()), false)
	w.want[1][1], w.cut = nil, false

	w.rtl[1].write(peerNumber(1), vlStatus, 0)
	w.open(1)
	check.Equal(t, "freed since it was opened", n.read(1, vlStatus)>>24, 0)
	w.run(20000, 1)
	w.settle(1)
}

// TestVirtualPool: packets are refused when there is no slot, or the window is full; a virtual link that the host closes gives all its slots back.
func TestVirtualPool(t *testing.T) {
	w := newVLWorld(t, true)
	n := w.rtl[0]
	for round := range 20 {
		for vl := range 4 {
			w.open(vl)
		}
		w.cut = true
		held := 0
		for vl := range 4 {
			for n.hand(vl, w.packet()) {
				held++
			}
		}
		if held != vlSlots {
			t.Fatalf("round %d: %d packets are held, want %d", round, held, vlSlots)
		}
		for vl := range 4 {
			n.write(vl, vlStatus, 0)
			check.Equal(t, "state", n.read(vl, vlStatus)&0xFF, 0)
			w.rtl[1].write(peerNumber(vl), vlStatus, 0)
			w.want[1][vl] = nil
		}
		for range 500 { // what was still made
			w.step()
		}
		w.cut = false
	}
}

// TestVirtualUp: an end that is open and not up sends nothing, until something has come for it with the right key; then it is up and says so. The host can
// say that it is, too, and that has its state said again.
func TestVirtualUp(t *testing.T) {
	w := newVLWorld(t, true)
	n, far := w.rtl[0], w.rtl[1]
	number := peerNumber(3)
	n.opensAs(3, 2, uint16(number), 0x12345678, vlIsOpen)
	far.opensAs(number, 1, 3, 0x56781234, vlIsOpen)
	check.Equal(t, "a packet is taken", n.hand(3, w.packet()), true)
	quiet := func(clocks int) {
		t.Helper()
		for range clocks {
			if w.step(); len(w.network) > 0 {
				t.Fatal("an end that is not up says something")
			}
		}
	}
	quiet(10 * vlTick * vlRetry)
	w.network = append(w.network, flight{to: 0, bytes: w.route(2, 1, 3, 0x56781235)})
	quiet(500)
	check.Equal(t, "state after another key", n.read(3, vlStatus)&0xFF, vlIsOpen|vlQueued)
	w.network = append(w.network, flight{to: 0, bytes: w.route(3, 1, 3, 0x56781234)})
	quiet(500)
	check.Equal(t, "state after another node", n.read(3, vlStatus)&0xFF, vlIsOpen|vlQueued)
	w.network = append(w.network, flight{to: 0, bytes: w.route(2, 1, 3, 0x56781234)})
	w.settle(3)
	check.Equal(t, "state", n.read(3, vlStatus)&0xFF, vlIsOpen|vlUp)
	check.Equal(t, "state of the other end", far.read(number, vlStatus)&0xFF, vlIsOpen|vlUp)
	for len(w.network) > 0 {
		w.step()
	}
	quiet(4 * vlTick)
	n.write(3, vlStatus, vlIsOpen|vlUp)
	for limit := w.now + 100; len(w.network) == 0; w.step() {
		if w.now > limit {
			t.Fatal("it does not say its state")
		}
	}
}

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
		w.until("the acknowledgement", 3*vlTick, func() bool { return n.freed[4] == n.accepts[4] })
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
