package soak

import (
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// All hosts are members of this group of barriers.
const (
	barrierGroup      = 17
	barrierGeneration = 5
)

// turnBarrier enters the next barrier now and then, and looks whether all have entered it. Nobody stays behind for good.
func (h *netHost) turnBarrier(offering bool) {
	if h.asking {
		return
	}
	p := linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.BarrierRegPhase.Reg(barrierGroup)}
	enters := h.entered == h.left
	switch {
	case enters && !(offering && h.net.rng.Chance(0.2)) && !h.behind():
		return
	case enters:
		p.Type, p.Value = linkproto.TypeRegWrite, uint32(h.phase(1))
	}
	h.request(p, func(a linkproto.Packet) {
		if h.asking = false; !enters {
			h.look(uint8(a.Value))
		}
	}, func() {
		if h.asking = true; enters {
			h.entered++
		}
	})
}

// phase is PHASE when so many barriers more are over.
func (h *netHost) phase(more uint64) uint8 {
	return linkproto.BarrierValue(barrierGeneration, uint8((h.left+more)%(1<<linkproto.BarrierBits)))
}

// look judges PHASE of the network interface.
func (h *netHost) look(phase uint8) {
	switch phase {
	case h.phase(0):
		return
	case h.phase(1):
	default:
		try.Failf("%w: barrier %d of host %d: PHASE is %#x, want %#x or %#x", ErrOrder, h.entered, h.number, phase, h.phase(0), h.phase(1))
	}
	for _, other := range h.net.hosts {
		if other.entered < h.entered {
			try.Failf("%w: host %d has left barrier %d, and host %d has not entered it", ErrOrder, h.number, h.entered, other.number)
		}
	}
	h.left++
}

// behind reports whether another host waits for this one.
func (h *netHost) behind() bool {
	for _, other := range h.net.hosts {
		if other.entered > h.entered {
			return true
		}
	}
	return false
}

// barrierBusy reports whether the host is in a barrier, or is to be.
func (h *netHost) barrierBusy() bool { return h.asking || h.entered > h.left || h.behind() }
