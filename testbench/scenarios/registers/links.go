package registers

import (
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// Of the links, what registers read while nothing goes on.

// steady are the fields of a status that stand while its link rests.
var steady = linkproto.StatusUp.In(1) | linkproto.StatusTrapped.In(1) | linkproto.StatusQueued.In(1) | linkproto.StatusLost.In(1) | linkproto.StatusForeign.In(1) |
	linkproto.StatusLanes.In(0xFF) | linkproto.StatusFreed.In(0xFF)

// ports lists the ports of the cables, with the registers that tell of them.
func (w *walk) ports(do func(port int, status, peer, counters linkproto.Reg)) {
	for port := 1; port <= w.Params.Cables(); port++ {
		if w.Params.Router > 0 {
			do(port, linkproto.PortStatusReg(port), linkproto.PortPeerReg(port), linkproto.PortCounterReg(port, 0))
		} else {
			do(port, linkproto.LinkStatusReg(port), linkproto.PeerReg(port), linkproto.CounterReg(port, 0))
		}
	}
}

func (w *walk) know(reg linkproto.Reg, value, known uint32) {
	w.regs.known[reg] = promise{value: value, known: known, reads: true, writes: w.regs.at(reg).writes}
}

// down takes note of what holds after a reset.
func (w *walk) down() {
	w.ports(func(_ int, status, _, counters linkproto.Reg) {
		w.know(status, 0, ^linkproto.StatusEpoch.In(0xFF))
		for c := range linkproto.Reg(linkproto.NumCounters) {
			if c := linkproto.Counter(c); c != linkproto.CntRxStray && c != linkproto.CntRxCRC { // the peer may still say what it began before
				w.know(counters+linkproto.Reg(c), 0, ^uint32(0))
			}
		}
	})
	w.own()
	if w.Params.Router > 0 {
		for i := range linkproto.Reg(linkproto.NumRouterCounters * (w.Params.Router + 1)) {
			w.know(linkproto.RegRouterCounters+i, 0, ^uint32(0))
		}
	}
}

// own takes note of what the host port reads, and the link to the router.
func (w *walk) own() {
	w.know(linkproto.LinkStatusReg(0), linkproto.StatusUp.In(1), steady)
	if w.Params.Router > 0 {
		w.know(linkproto.PeerReg(1), 0, ^uint32(0))
		w.know(linkproto.PortPeerReg(0), 0, ^uint32(0))
	}
}

// rise waits for the links to be up.
func (w *walk) rise() {
	w.ports(func(port int, status, _, _ linkproto.Reg) {
		try.OK(w.Until(100_000, fmt.Sprintf("port %d to come up", port), func() bool {
			v := try.Get(w.ReadRegister(0, status))
			return linkproto.StatusUp.Of(v) != 0 && w.Peer(port).Link.Status().Up
		}))
		w.Peer(port).Link.Lost()
	})
	try.Get(w.Admit(0, 1))
}

// settle takes note of what the links say of themselves at rest. From here on all of it stands.
func (w *walk) settle() {
	try.OK(w.Run(4000))
	w.own()
	w.ports(func(port int, status, peer, counters linkproto.Reg) {
		c := w.Peer(port).Link.Config()
		freed := uint32(0)
		if w.Params.Router == 0 {
			freed = uint32(w.Node.Host.Credit(port).FreedPackets)
		}
		w.know(status, linkproto.StatusUp.In(1)|linkproto.StatusFreed.In(freed), steady)
		w.know(peer, linkproto.PeerKnown.In(1)|linkproto.PeerNode.In(uint32(c.Node)), ^uint32(0))
		for c := range linkproto.Reg(linkproto.NumCounters) {
			w.know(counters+c, try.Get(w.ReadRegister(0, counters+c)), ^uint32(0))
		}
	})
}
