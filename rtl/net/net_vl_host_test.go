package net_test

import (
	"encoding/binary"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// stopped waits until the other end of a virtual link is told to stop, which is no trap.
func (w *vlWorld) stopped(vl int) {
	w.t.Helper()
	w.until("STOP", 600, func() bool { return w.rtl[0].read(vl, vlStatus)&vlPeerStop != 0 })
	if status := w.rtl[1].read(peerNumber(vl), vlStatus); status&(vlOwnStop|vlTrapped) != vlOwnStop {
		w.t.Errorf("the state of its other end is %x, want stopped and not trapped", status)
	}
}

// goes waits until a packet more has come, within RETRY, once doubled, of the one that was refused last, and the other end of its virtual link need not stop.
func (w *vlWorld) goes(vl, before int) {
	w.t.Helper()
	w.until("the packet that was refused", (2+2*vlRetry)*vlTick, func() bool { return w.came[1][vl] == before+1 })
	w.until("GO", 600, func() bool { return w.rtl[0].read(vl, vlStatus)&vlPeerStop == 0 })
}

// TestVirtualRoom: a packet for the host for which there is no room stops its virtual link until there is, and no other packet is stopped.
func TestVirtualRoom(t *testing.T) {
	w := newVLWorld(t, true)
	n, far := w.rtl[0], w.rtl[1]
	for vl := range 4 {
		w.open(vl)
	}
	for round := range 3 {
		far.full = true
		for vl := range 3 {
			n.hand(vl, w.message(leastMessage+round))
			w.stopped(vl)
		}
		said := w.said[0][0] + w.said[0][1]
		before := w.came
		w.run(10000, 3)
		if came := w.came[1][3] - before[1][3]; came < 20 {
			t.Errorf("%d other packets came, want 20", came)
		}
		if said := w.said[0][0] + w.said[0][1] - said; said > 0 {
			t.Errorf("%d packets came back", said)
		}
		far.full = false
		for vl := range 3 {
			check.Equal(t, "packets that came while there was no room", w.came[1][vl], before[1][vl])
		}
		for vl := range 3 {
			w.goes(vl, before[1][vl])
		}
		w.settle(0, 1, 2, 3)
	}
}

// TestVirtualMessages: the host has a window of MESSAGEs of a virtual link at most; the next one stops it until the host has freed some.
func TestVirtualMessages(t *testing.T) {
	w := newVLWorld(t, true)
	n, far := w.rtl[0], w.rtl[1]
	w.open(2)
	for round := range 3 {
		far.keeps = true
		for range vlWindow {
			n.hand(2, w.message(leastMessage))
			n.hand(2, w.message(leastMessage-1)) // which is none
			w.until("what was sent", 3*vlTick, func() bool { return n.freed[2] == n.accepts[2] })
		}
		before := w.came[1][2]
		n.hand(2, w.message(leastMessage))
		w.stopped(2)
		for range 3 * vlTick * vlRetry {
			w.step()
		}
		check.Equal(t, "packets that came beyond the window", w.came[1][2]-before, 0)
		w.free(far, []int{2})
		w.goes(2, before)
		if round == 1 { // and the next life has a window of its own
			w.settle(2)
			n.hand(2, w.message(leastMessage))
			w.until("it comes", 600, func() bool { return len(w.want[1][2]) == 0 })
			n.write(2, vlStatus, 0)
			far.write(peerNumber(2), vlStatus, 0)
			w.open(2)
			continue
		}
		w.settle(2)
	}
}

// TestVirtualTold: the host is told of each time that it closes a virtual link, be it open or not, and then behind what has come by it.
func TestVirtualTold(t *testing.T) {
	w := newVLWorld(t, true)
	n, far := w.rtl[0], w.rtl[1]
	for range 3 {
		tells := n.tells
		n.write(6, vlStatus, 0)
		w.until("it is told", 50, func() bool { return n.tells == tells+1 })
	}
	w.open(6)
	for range 20 {
		far.hand(peerNumber(6), w.packet())
		n.stuck = true
		expect := n.read(6, vlExpect)
		w.until("the packet counts", 600, func() bool { return n.read(6, vlExpect) == expect+1 })
		n.write(6, vlStatus, 0)
		for range 50 {
			w.step()
		}
		check.Equal(t, "told before the packet has come", n.closed[6], false)
		n.stuck = false
		w.until("told behind it", 50, func() bool { return n.closed[6] })
		check.Equal(t, "packets that did not come", len(w.want[0][6]), 0)
		far.write(peerNumber(6), vlStatus, 0)
		w.open(6)
	}
}

// message makes a MESSAGE of so many bytes, header and all.
func (w *vlWorld) message(n int) []byte {
	b := w.r.Bytes(n)
	b[0] = byte(linkproto.TypeMessage)
	binary.LittleEndian.PutUint16(b[1:], uint16(n-linkproto.HeaderBytes))
	return b
}

// packet makes one of a size that is at random.
func (w *vlWorld) packet() []byte {
	n := w.r.Between(linkproto.MinPacket, vlMax)
	if w.r.Chance(0.3) {
		n = linkproto.MinPacket + w.r.Between(0, 3)
	}
	b := w.r.Bytes(n)
	if b[0] |= 0x80; w.messages && w.r.Chance(0.4) && n >= leastMessage { // else nothing that is for the host
		b[0] = byte(linkproto.TypeMessage)
	}
	binary.LittleEndian.PutUint16(b[1:], uint16(n-linkproto.HeaderBytes))
	return b
}
