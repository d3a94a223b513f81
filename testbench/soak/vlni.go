package soak

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
)

// niEnd is an end that the network interface carries out. The host says INIT, opens it, and takes what it is given: a CONNECT traps until RESUME, and of MESSAGEs
// there are no more than a window that were not freed. It outlasts all outages, so it is opened once.
type niEnd struct {
	stream
	host *netHost
	hand *flowctl.VirtualHandshake

	opened  bool
	up      bool   // it sends
	freed   uint64 // packets
	trapped bool
	resume  uint64 // when it says RESUME
	given   uint8  // MESSAGEs
	told    uint8  // of them, as SPACE said last
}

func (e *niEnd) number() int { return e.peer + 1 }

func (e *niEnd) feed(r *linkproto.Route, raw []byte) {
	if news, ok := e.hand.Feed(r, raw); ok && news.NewPeer && e.opened {
		try.Failf("%w: host %d says INIT to host %d of another life", ErrWedged, e.peer, e.host.number)
	}
}

func (e *niEnd) turn(clocks int) {
	n := e.host.net
	if e.hand.Tick(clocks); !e.opened && e.hand.Peer().Known {
		e.opened = true
		e.set(linkproto.VLRegPeer, uint32(e.hand.Config().Peer))
		e.set(linkproto.VLRegNumber, uint32(e.hand.Peer().Number))
		e.set(linkproto.VLRegKey, uint32(e.hand.Key()))
		e.set(linkproto.VLRegStatus, linkproto.VLOpen.In(1))
	}
	if e.opened && !e.up && e.hand.Up() {
		e.up = true
		e.set(linkproto.VLRegStatus, linkproto.VLOpen.In(1)|linkproto.VLUp.In(1))
	}
	if e.trapped && n.Cycles >= e.resume {
		e.trapped = false
		e.tell(linkproto.Packet{Type: linkproto.TypeResume, Tag: linkproto.TagNone})
	}
	if e.told != e.given && n.rng.Chance(0.1) {
		e.told = e.given
		e.tell(linkproto.Packet{Type: linkproto.TypeSpace, Packets: e.given})
	}
}

// set has a register of the end written.
func (e *niEnd) set(r linkproto.VLReg, value uint32) {
	e.host.orders = append(e.host.orders, linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: r.Reg(e.number()), Value: value})
}

// tell has the network interface told something of the end.
func (e *niEnd) tell(p linkproto.Packet) {
	e.host.orders = append(e.host.orders, linkproto.Packet{Type: linkproto.TypeVirtual, VL: uint16(e.number()), Data: try.Get(p.Append(nil))})
}

func (e *niEnd) send(packet []byte) error {
	if !e.up || e.underway() >= e.host.Params.VLWindow || e.host.carried() >= e.host.Params.VLSlots || len(e.host.orders) > 0 {
		return flowctl.ErrFull
	}
	p := linkproto.Packet{Type: linkproto.TypeVirtual, VL: uint16(e.number()), Data: packet}
	err := e.host.SendRaw(try.Get(p.Append(nil)))
	if errors.Is(err, ni.ErrBusy) {
		return flowctl.ErrFull
	}
	return err
}

func (e *niEnd) underway() int                 { return len(e.sent) - int(e.freed) }
func (e *niEnd) emit() (route []byte, ok bool) { return e.hand.Emit(nil, false) }
func (e *niEnd) busy() bool                    { return !e.up || e.underway() > 0 || e.trapped || e.told != e.given }
func (e *niEnd) String() string {
	return fmt.Sprintf("of the network interface: opened %v, up %v, peer %+v, %d underway, trapped %v, %d given, %d taken", e.opened, e.up, e.hand.Peer(), e.underway(), e.trapped, e.given, e.told)
}
func (e *niEnd) lost() uint32 { return 0 } // it would have ended the run

// carried is how many packets a network interface holds for sending.
func (h *netHost) carried() (packets int) {
	for _, end := range h.ends {
		if e, ok := end.(*niEnd); ok {
			packets += e.underway()
		}
	}
	return packets
}

// order sends what the network interface is told of virtual links, while there is room.
func (h *netHost) order() {
	for len(h.orders) > 0 {
		var err error
		if p := h.orders[0]; p.Type == linkproto.TypeVirtual {
			err = h.SendRaw(try.Get(p.Append(nil)))
		} else {
			err = h.Request(p, func(a linkproto.Packet) {
				if a.Status != linkproto.StatusOK {
					try.Failf("%w: a write of %v is answered %v", ErrWedged, p.Reg, a.Status)
				}
			})
		}
		if errors.Is(err, ni.ErrBusy) {
			return
		}
		try.OK(err)
		h.orders = h.orders[1:]
	}
}

// given takes what a network interface says, or hands on, of a virtual link.
func (h *netHost) given(p linkproto.Packet) {
	var q linkproto.Packet
	try.OK(q.Decode(p.Data))
	e, n := h.ends[p.VL-1].(*niEnd), h.net
	switch q.Type {
	case linkproto.TypeSpace:
		e.freed += uint64(q.Packets - uint8(e.freed))
		if status := uint32(q.Bytes); linkproto.VLOpen.Of(status) == 0 {
			try.Failf("%w: host %d's network interface has closed the virtual link to host %d", ErrLost, h.number, e.peer)
		} else if linkproto.VLUp.Of(status) != 0 {
			e.hand.ComeUp()
		}
		if e.freed > uint64(len(e.sent)) {
			try.Failf("%w: host %d's network interface has freed %d packets to host %d of %d", ErrCount, h.number, e.freed, e.peer, len(e.sent))
		}
		return
	case linkproto.TypeConnect:
		if e.trapped {
			try.Failf("%w: a trap of the virtual link from host %d to host %d comes behind another", ErrOrder, e.peer, h.number)
		}
		e.trapped, e.resume = true, n.Cycles+uint64(testbench.Pick(n.rng, 0, 0, 0, n.rng.IntN(500)))
	case linkproto.TypeMessage:
		if e.given++; int(e.given-e.told) > h.Params.VLWindow {
			try.Failf("%w: %d messages that were not freed came to host %d from host %d", ErrCount, e.given-e.told, h.number, e.peer)
		}
	}
	h.came(q, e.peer)
}
