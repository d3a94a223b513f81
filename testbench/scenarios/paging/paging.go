// Package paging holds the scenarios of remote paging, and of traps and pages that get lost when a host or a link starts again.
package paging

import (
	"context"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Scenarios are those of remote paging.
var Scenarios = []suite.Scenario{
	{Name: "paging", Doc: "a ring of NIs with more ports than frames, hosts that change pages late: every byte of every page right, every change notified", Seeds: 2,
		Run: Run(func(rng *testbench.Rand) harness.Plan {
			return harness.Plan{Config: ni.Ring(3, harness.TwoLinks, 1+rng.IntN(40)), Packets: 150, Clean: true}
		})},
	{Name: "paging-peers", Doc: "the same from three peers at one NI with the smallest pages, with malformed PAGEs and CONNECTs", Seeds: 2,
		Run: Run(func(rng *testbench.Rand) harness.Plan {
			return harness.Plan{Config: ni.Config{Params: harness.ThreeLinks, Nodes: 1, Peers: []ni.Socket{{Link: 1}, {Link: 2}, {Link: 3}}}, Packets: 250}
		})},
	{Name: "paging-faults", Doc: "the same between two NIs over links with bit errors, drops, bursts and unplugged cables: nothing lost", Seeds: 2,
		Run: Run(func(rng *testbench.Rand) harness.Plan {
			c := ni.Pair(harness.Debugged, 1+rng.IntN(40))
			return harness.Plan{Config: c, Packets: 200, ErrorRate: harness.Rate(rng, 1e-6, 1e-4), HostErrorRate: harness.Rate(rng, 1e-6, 1e-5), Faults: 20}
		})},
	{Name: "paging-mutual", Doc: "two NIs trapped on each other for long: acknowledgements, the hosts and the third link go on, both resume, no deadlock", Seeds: 1,
		Run: mutualTrap},
}

// Run is a scenario's run of random remote paging.
func Run(draw func(*testbench.Rand) harness.Plan) func(context.Context, *suite.Run) error {
	return harness.Planned(draw, func(plan harness.Plan, f *ni.Fabric, r *suite.Run) {
		p := newPagers(f, r)
		plan.Disturb(f, p.rng, plan.Packets*400)
		p.send(plan.Packets)
		p.check(plan.Clean)
	})
}

// mutualTrap lets two network interfaces trap on each other on two of three cables and leaves them so until their queues are full.
func mutualTrap(ctx context.Context, r *suite.Run) error {
	c := ni.Config{Params: harness.ThreeLinks, Nodes: 2, Seed: r.Seed}
	for l := 1; l <= 3; l++ {
		c.Cables = append(c.Cables, ni.Cable{A: 0, LinkA: l, B: 1, LinkB: l, Latency: 3 * l})
	}
	return harness.OnFabric(ctx, r, c, func(f *ni.Fabric) {
		p := newPagers(f, r)
		for round := range 3 {
			for _, h := range p.hosts {
				h.idle = true
			}
			var free []*sender
			for _, s := range p.senders {
				if s.to.Link == 3 {
					free = append(free, s)
					continue
				}
				// A port that is out, then far more than the receive FIFO and the queue hold.
				out := 0
				for s.frameOf(out) >= 0 {
					out++
				}
				frame := s.frames[round%len(s.frames)]
				s.at[frame] = out
				s.queue = append(s.queue, linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(frame), Port: portBase + uint32(out)})
				for range 60 {
					data := p.rng.Bytes(p.Params.PageBytes)
					copy(s.images[out], data)
					s.queue = append(s.queue, linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(frame * p.Params.PageBytes), Data: data})
				}
			}
			for range 60_000 / f.Config.Quantum { // longer than the retries take
				p.serve()
				try.OK(f.Run(1))
			}
			for node := range f.Nodes {
				for link := 1; link <= 3; link++ {
					status := try.Get(f.ReadRegister(node, linkproto.LinkStatusReg(link)))
					if linkproto.StatusUp.Of(status) != 1 || int(linkproto.StatusTrapped.Of(status)) != 1-link/3 || int(linkproto.StatusPeerStop.Of(status)) != 1-link/3 {
						try.Failf("node %d link %d: status %#x while links 1 and 2 are trapped and full", node, link, status)
					}
				}
			}
			// The third cable does not feel it.
			for _, s := range free {
				p.unhindered(s)
			}
			for _, h := range p.hosts {
				h.idle = false
			}
			p.send(20)
		}
		p.check(true)
	})
}
