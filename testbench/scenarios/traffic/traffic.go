// Package traffic holds the scenarios of network interfaces that write to each other at random, with and without faults.
package traffic

import (
	"context"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/scenarios/lanes"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Scenarios are those of this package.
var Scenarios = []suite.Scenario{
	{Name: "pair", Doc: "two NIs, random remote writes both ways, every byte checked, nothing dropped", Seeds: 2,
		Run: Run(func(rng *testbench.Rand) harness.Plan {
			return harness.Plan{Config: ni.Pair(rtl.Params{}, 1+rng.IntN(40)), Packets: 400, Illegal: 0.1, Gap: rng.Float64() / 2, Clean: true}
		})},
	{Name: "pair-2k", Doc: "the same with 2 KB pages and full windows", Seeds: 1,
		Run: Run(func(rng *testbench.Rand) harness.Plan {
			p := rtl.Params{PageBytes: 2048, ReplayBytes: 8192}
			return harness.Plan{Config: ni.Pair(p, 1+rng.IntN(40)), Packets: 400, Illegal: 0.02, Clean: true}
		})},
	{Name: "pair-small", Doc: "64-byte pages, the smallest buffers that work, one frame", Seeds: 2,
		Run: Run(func(rng *testbench.Rand) harness.Plan {
			return harness.Plan{Config: ni.Pair(harness.OneFrame, 1+rng.IntN(40)), Packets: 1000, Illegal: 0.2, Gap: 0.1, Clean: true}
		})},
	{Name: "pair-far", Doc: "two NIs at a distance of 2,000 symbols send the smallest packets: windows fill and open, nothing dropped", Seeds: 2,
		Run: Run(func(rng *testbench.Rand) harness.Plan {
			p := rtl.Params{ReplayBytes: 4096, RxBytes: 8192, Headroom: 4500, Retry: 16384}
			return harness.Plan{Config: ni.Pair(p, 2000), Packets: 1200, MaxSize: 4, Clean: true}
		})},
	{Name: "pair-faults", Doc: "bit errors, drops, bursts, stuck symbols and unplugged cables between two NIs: nothing lost", Seeds: 2,
		Run: Run(func(rng *testbench.Rand) harness.Plan {
			return harness.Plan{Config: ni.Pair(rtl.Params{}, 1+rng.IntN(40)), Packets: 300, Illegal: 0.05, ErrorRate: harness.Rate(rng, 1e-6, 1e-4), Faults: 40}
		})},
	{Name: "pair-noisy", Doc: "bit error rates up to 3e-3 with short writes: nothing lost", Seeds: 1,
		Run: Run(func(rng *testbench.Rand) harness.Plan {
			return harness.Plan{Config: ni.Pair(rtl.Params{}, 1+rng.IntN(10)), Packets: 300, MaxSize: 32, ErrorRate: harness.Rate(rng, 1e-3, 3e-3)}
		})},
	{Name: "pair-lanes", Doc: "bit error rates up to 5e-5, drops, bursts, stuck symbols and unplugged cables of single lanes between two NIs whose links have two: nothing lost", Seeds: 1,
		Run: Run(func(rng *testbench.Rand) harness.Plan {
			return harness.Plan{Config: ni.Pair(rtl.Params{Lanes: 2}, 1+rng.IntN(40)), Packets: 300, Illegal: 0.05, ErrorRate: harness.Rate(rng, 5e-6, 5e-5), Faults: 8}
		})},
	{Name: "lanes", Doc: "a peer whose lanes fall silent, damage what they carry, come late, lead elsewhere and come back: left out and taken again by the rules, nothing lost", Seeds: 1, Run: lanes.Run},
	{Name: "host-faults", Doc: "bit errors on the cables to the hosts: requests and writes get through", Seeds: 1,
		Run: Run(func(rng *testbench.Rand) harness.Plan {
			return harness.Plan{Config: ni.Pair(rtl.Params{}, 2), Packets: 200, Illegal: 0.05, HostErrorRate: harness.Rate(rng, 1e-5, 1e-4), Clean: true}
		})},
	{Name: "loop", Doc: "one NI, its two links cabled to each other", Seeds: 2,
		Run: Run(func(rng *testbench.Rand) harness.Plan {
			c := ni.Config{Params: harness.TwoLinks, Nodes: 1, Cables: []ni.Cable{{A: 0, LinkA: 1, B: 0, LinkB: 2, Latency: 1 + rng.IntN(40)}}}
			return harness.Plan{Config: c, Packets: 400, Illegal: 0.1, Clean: true}
		})},
	{Name: "ring", Doc: "five NIs with two links each in a ring", Seeds: 1,
		Run: Run(func(rng *testbench.Rand) harness.Plan {
			return harness.Plan{Config: ni.Ring(5, harness.TwoLinks, 1+rng.IntN(20)), Packets: 150, Illegal: 0.05, Gap: 0.2, Clean: true}
		})},
	{Name: "star", Doc: "seven links of one NI written to at once: the write port is shared fairly, STOP holds, nothing dropped", Seeds: 1,
		Run: Run(func(rng *testbench.Rand) harness.Plan {
			c := ni.Config{Params: harness.SevenLinks, Nodes: 2}
			for l := 1; l <= 7; l++ {
				c.Cables = append(c.Cables, ni.Cable{A: 0, LinkA: l, B: 1, LinkB: 8 - l, Latency: 1 + rng.IntN(20)})
			}
			return harness.Plan{Config: c, Packets: 150, Illegal: 0.05, Clean: true}
		})},
}

// Run is a scenario's run of random traffic.
func Run(draw func(*testbench.Rand) harness.Plan) func(context.Context, *suite.Run) error {
	return harness.Planned(draw, random)
}

func random(p harness.Plan, f *ni.Fabric, r *suite.Run) {
	t := try.Get(ni.NewTraffic(f, r.Seed))
	t.Illegal, t.Gap, t.MaxSize = p.Illegal, p.Gap, p.MaxSize
	p.Disturb(f, testbench.NewRand(r.Seed).Split("faults"), p.Packets*600)
	defer harness.Count(r, t)
	const rounds = 4 // every byte is checked after each
	for range rounds {
		try.OK(t.Send(p.Packets / rounds))
		try.OK(t.Settle())
		try.OK(t.Check())
	}
	try.OK(t.CheckCounters(p.Clean))
}
