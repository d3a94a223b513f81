package net_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
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
			if !n.keeps && n.r.Chance(0.005) {
				w.free(n, vls)
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

// free has a host say that it has freed what MESSAGEs it has got.
func (w *vlWorld) free(n *netVL, vls []int) {
	for _, vl := range vls {
		if number := w.called(n.side, vl); n.returns[number] != n.given[number] {
			n.returns[number] = n.given[number]
			*n.CSpace, *n.CWdata = true, uint32(n.given[number])
			n.control(number, vlStatus)
			*n.CSpace = false
		}
	}
}

// resume lets all that is trapped go on.
func (w *vlWorld) resume(n *netVL, vls []int) {
	for _, vl := range vls {
		number := w.called(n.side, vl)
		if n.read(number, vlStatus)&vlTrapped != 0 {
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
			n.keeps, n.full = false, false
			w.resume(n, vls)
		}
	}
	for limit := w.now + 100*vlTick; ; w.step() {
		for _, n := range w.rtl {
			if n != nil {
				w.free(n, vls)
			}
		}
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
			w.messages = true
			vls := []int{1, 2, 3, 6}
			for _, vl := range vls {
				w.open(vl)
			}
			w.run(10000, vls...)
			w.settle(vls...)
			for i := range 16 {
				w.lose, w.double, w.damage, w.spread = 0.05, 0.05, 0.05, 600
				for _, n := range w.rtl {
					if n != nil {
						n.slow, n.halts, n.voids = 0.3*float64(i%2), 0.3*float64(i/2%2), 0.008*float64(i%2)
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
			for range 40 * vlTick { // until nothing more comes that is dropped
				w.step()
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
			if n.seen.replays < 50 || n.seen.drops < 100 || n.seen.bad < 50 || n.seen.voids < 10 || n.seen.halts < 10 || n.refused < 10 || n.seen.ahead < 300 || n.seen.undone < 5 {
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
	if status := far.read(peerNumber(1), vlStatus); status&(vlOwnStop|vlTrapped) != vlOwnStop|vlTrapped {
		t.Errorf("the state of its other end is %x, want stopped by itself and trapped", status)
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
	n.write(1, vlStatus, 0)
	check.Equal(t, "state when the host has closed it too", n.read(1, vlStatus)&0xFF, 0)
	check.Equal(t, "a packet is taken while it is closed", n.hand(1, w.packet()), false)
	w.want[1][1], w.cut = nil, false

	w.rtl[1].write(peerNumber(1), vlStatus, 0)
	w.open(1)
	check.Equal(t, "freed since reset", n.read(1, vlStatus)>>24, uint32(n.accepts[1]))
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
