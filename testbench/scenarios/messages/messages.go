// Package messages holds the scenario of a ring of network interfaces that carry out messages, virtual links and barriers for their hosts.
package messages

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/suite"
	"github.com/stafflink/lmmc/verilator"
)

// Scenarios are those of this package.
var Scenarios = []suite.Scenario{
	{Name: "messages",
		Doc: "a ring of three NIs with routers carries out contexts of messages, virtual links of the hosts and barriers, " +
			"with bit errors, also on the hosts' cables, and cables cut; " +
			"virtual links close and open amid it: every message whole, once and in order, every completion, refusal and byte of the receive buffers right",
		Seeds: 2, Run: run},
}

const (
	nodes = 3
	group = 5 // of the barriers
)

// world is a run: the hosts of a ring, link 2 of each network interface cabled to link 1 of the next.
type world struct {
	*ni.Fabric
	rng      *testbench.Rand
	hosts    []*host
	offering bool
}

func run(ctx context.Context, r *suite.Run) error {
	c := ni.Ring(nodes, harness.Messages, 1+testbench.NewRand(r.Seed).Split("cables").IntN(40))
	c.Seed = r.Seed
	if r.Width > 1 {
		c.Params.Contexts = 0 // which the RTL carries out at WIDTH 1 only
	}
	return harness.OnFabric(ctx, r, c, func(f *ni.Fabric) {
		w := &world{Fabric: f, rng: testbench.NewRand(r.Seed).Split("messages")}
		w.open()
		w.disturb(w.rng.Split("faults"))
		for range 2 {
			w.offering = true
			w.run(w.rng.Between(8_000, 16_000))
			w.renew()
			w.run(w.rng.Between(8_000, 16_000))
			w.offering = false
			w.until("all messages and barriers to end", func() bool { return w.each((*host).idle) })
			for _, h := range w.hosts {
				h.check()
			}
		}
		for _, h := range w.hosts {
			r.Stats.Packets, r.Stats.Bytes = r.Stats.Packets+h.packets, r.Stats.Bytes+h.bytes
		}
	})
}

// run has the hosts do what is due for so many clocks.
func (w *world) run(clocks int) {
	end := w.Cycles + uint64(clocks)
	w.until("", func() bool { return w.Cycles >= end })
}

// until has the hosts do what is due until it is so.
func (w *world) until(what string, so func() bool) {
	const patience = 600_000
	for start := w.Cycles; !so(); {
		if w.Cycles-start > patience {
			for i, h := range w.hosts {
				what += fmt.Sprintf("\nnode %d: %s", i, h)
			}
			try.OK(&ni.Timeout{Since: start, Clocks: w.Cycles - start, What: what})
		}
		for _, h := range w.hosts {
			h.turn()
		}
		try.OK(w.Run(1))
	}
}

// open sets up routes, frames, the group of barriers, virtual links and contexts.
func (w *world) open() {
	for node := range w.Nodes {
		w.hosts = append(w.hosts, newHost(w, node))
		try.OK(w.FillBuffer(node, w.hosts[node].memory))
	}
	for _, h := range w.hosts {
		const each = harness.MessageContexts + 1 // ends to a peer
		for i, e := range h.ends {
			e.peer = h.peer(i / each).ends[(nodes-2-i/each)*each+i%each]
		}
	}
	for _, h := range w.hosts {
		for peer := range 2 { // that of link 2, and that of link 1
			route := linkproto.RoutePort.In(uint32(2-peer)) | linkproto.RouteAlternate.In(uint32(1+peer))
			h.set(linkproto.RouteReg(h.peer(peer).id()), route)
		}
		// The tree of the barriers is node 0, 1, 2.
		h.set(linkproto.BarrierRegMembers.Reg(group), linkproto.BarrierPorts.In([nodes]uint32{0b101, 0b111, 0b011}[h.node])|linkproto.BarrierGeneration.In(1))
		for _, e := range h.ends {
			if e.context == 0 {
				h.set(linkproto.FrameReg(e.frame()), linkproto.FrameVL.In(uint32(e.number))|linkproto.FrameValid.In(1))
			}
			if h.node < e.peer.host.node {
				e.newLives(w.rng)
			}
		}
	}
	for _, h := range w.hosts {
		for _, e := range h.ends {
			e.open()
		}
		for _, c := range h.contexts {
			c.enable()
		}
	}
	w.until("virtual links to open", func() bool { return w.each((*host).told) })
}

func (w *world) each(so func(*host) bool) bool {
	for _, h := range w.hosts {
		if !so(h) {
			return false
		}
	}
	return true
}

// disturb plans faults: those from which links recover, bit errors on the hosts' cables, and one cable that is pulled for so long that its link
// goes down and the other way is taken.
func (w *world) disturb(rng *testbench.Rand) {
	const span = 60_000
	plan := harness.Plan{ErrorRate: harness.Rate(rng, 1e-7, 1e-5), Faults: 6, HostErrorRate: harness.Rate(rng, 1e-5, 1e-4)}
	plan.Disturb(w.Fabric, rng, span)
	cable := rng.IntN(nodes)
	at, clocks := uint64(rng.IntN(span)), uint64(rng.Between(15_000, 30_000))
	for _, wire := range w.Wires[2*cable : 2*cable+2] {
		try.OK(wire.Inject(verilator.Fault{Kind: verilator.Cut, At: wire.Stats().Samples + at, Cycles: clocks, Value: uint64(linkproto.SymIdle)}))
	}
}

// renew closes a virtual link at both ends amid traffic, and opens it in new lives when nothing of it is underway.
func (w *world) renew() {
	h := testbench.Pick(w.rng, w.hosts...)
	e := testbench.Pick(w.rng, h.ends...)
	both := []*virtualEnd{e, e.peer}
	for _, one := range both {
		one.closing = true
	}
	w.until("a virtual link to be quiet", func() bool { return e.quiet() && e.peer.quiet() })
	for _, one := range both {
		one.ending = true
	}
	for _, one := range both {
		w.run(w.rng.IntN(1500))
		one.host.set(linkproto.VLRegStatus.Reg(one.number), 0)
		one.ending = false
	}
	w.until("what was underway by a virtual link that has closed", func() bool { return e.over() && e.peer.over() })
	w.run(2000) // completions of receives are told apart from the end of the link
	mine, theirs := e.host.reading(), e.peer.host.reading()
	w.until("completions to be read", func() bool { return mine() && theirs() })
	e.newLives(w.rng)
	for _, one := range both {
		one.renewed()
		one.open()
	}
	w.until("a virtual link to open again", func() bool { return e.opened && e.peer.opened })
	for _, one := range both {
		one.closing = false
	}
}
