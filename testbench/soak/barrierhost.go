package soak

import (
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// All hosts are members of this group of barriers, whose generations count from here.
const (
	barrierGroup      = 17
	barrierGeneration = 5
)

// restartMember restarts the program of a member, within a barrier or outside: all members make the group anew with the next generation, each as soon as its network interface takes that.
// What is said of the old one until then, or comes late, counts nowhere.
func (n *network) restartMember() {
	n.generation++
	requests := try.Get(n.barriers.Regenerate(int(n.barrierGeneration())))
	for _, h := range n.hosts {
		n.begun = max(n.begun, h.entered)
	}
	for _, h := range n.hosts {
		h.remakes = append(h.remakes, requests[h.NI]...)
		h.entered, h.left = n.begun, n.begun
	}
	n.injected++
	n.mending = append(n.mending, n.Cycles)
}

func (n *network) barrierGeneration() uint8 {
	return uint8((barrierGeneration + n.generation) % (1 << linkproto.BarrierBits))
}

// turnBarrier enters the next barrier now and then, and looks whether all have entered it. Nobody stays behind for good.
func (h *netHost) turnBarrier(offering bool) {
	if h.asking {
		return
	}
	if len(h.remakes) > 0 {
		h.request(h.remakes[0], func(linkproto.Packet) { h.asking = false }, func() { h.asking, h.remakes = true, h.remakes[1:] })
		return
	}
	generation := h.net.generation
	p := linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.BarrierRegPhase.Reg(barrierGroup)}
	enters := h.entered == h.left
	switch {
	case enters && !(offering && h.net.rng.Chance(0.2)) && !h.behind():
		return
	case enters:
		p.Type, p.Value = linkproto.TypeRegWrite, uint32(h.phase(1))
	}
	h.request(p, func(a linkproto.Packet) {
		if h.asking = false; !enters && generation == h.net.generation {
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
	return linkproto.BarrierValue(h.net.barrierGeneration(), uint8((h.left-h.net.begun+more)%(1<<linkproto.BarrierBits)))
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
func (h *netHost) barrierBusy() bool {
	return h.asking || len(h.remakes) > 0 || h.entered > h.left || h.behind()
}
