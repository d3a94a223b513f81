package scenarios

import (
	"context"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/suite"
	"github.com/stafflink/lmmc/verilator"
)

var trafficScenarios = []suite.Scenario{
	{Name: "pair", Doc: "two NIs, random remote writes both ways, every byte checked, nothing dropped", Seeds: 4,
		Run: traffic(func(rng *testbench.Rand) plan {
			return plan{config: ni.Pair(rtl.Params{}, 1+rng.IntN(40)), packets: 400, illegal: 0.1, gap: rng.Float64() / 2, clean: true}
		})},
	{Name: "pair-2k", Doc: "the same with 2 KB pages and full windows", Seeds: 2,
		Run: traffic(func(rng *testbench.Rand) plan {
			p := rtl.Params{PageBytes: 2048, ReplayBytes: 8192}
			return plan{config: ni.Pair(p, 1+rng.IntN(40)), packets: 400, illegal: 0.02, clean: true}
		})},
	{Name: "pair-small", Doc: "64-byte pages, the smallest buffers that work, one frame", Seeds: 2,
		Run: traffic(func(rng *testbench.Rand) plan {
			p := rtl.Params{Frames: 1, PageBytes: 64, ReplayBytes: 256, RxBytes: 512}
			return plan{config: ni.Pair(p, 1+rng.IntN(40)), packets: 1000, illegal: 0.2, gap: 0.1, clean: true}
		})},
	{Name: "pair-far", Doc: "two NIs at a distance of 2,000 symbols send the smallest packets: windows fill and open, nothing dropped", Seeds: 2,
		Run: traffic(func(rng *testbench.Rand) plan {
			p := rtl.Params{ReplayBytes: 4096, RxBytes: 8192, Headroom: 4500, Retry: 16384}
			return plan{config: ni.Pair(p, 2000), packets: 1200, maxSize: 4, clean: true}
		})},
	{Name: "pair-faults", Doc: "bit errors, drops, bursts, stuck symbols and unplugged cables between two NIs: nothing lost", Seeds: 4,
		Run: traffic(func(rng *testbench.Rand) plan {
			return plan{config: ni.Pair(rtl.Params{}, 1+rng.IntN(40)), packets: 300, illegal: 0.05, errorRate: rate(rng, 1e-6, 1e-4), faults: 40}
		})},
	{Name: "pair-noisy", Doc: "bit error rates up to 3e-3 with short writes: nothing lost", Seeds: 2,
		Run: traffic(func(rng *testbench.Rand) plan {
			return plan{config: ni.Pair(rtl.Params{}, 1+rng.IntN(10)), packets: 300, maxSize: 32, errorRate: rate(rng, 1e-3, 3e-3)}
		})},
	{Name: "pair-lanes", Doc: "bit error rates up to 5e-5, drops, bursts, stuck symbols and unplugged cables of single lanes between two NIs whose links have two: nothing lost", Seeds: 2,
		Run: traffic(func(rng *testbench.Rand) plan {
			return plan{config: ni.Pair(rtl.Params{Lanes: 2}, 1+rng.IntN(40)), packets: 300, illegal: 0.05, errorRate: rate(rng, 5e-6, 5e-5), faults: 8}
		})},
	{Name: "lanes", Doc: "a peer whose lanes fall silent, damage what they carry, come late, lead elsewhere and come back: left out and taken again by the rules, nothing lost", Seeds: 1, Run: lanes},
	{Name: "host-faults", Doc: "bit errors on the cables to the hosts: requests and writes get through", Seeds: 2,
		Run: traffic(func(rng *testbench.Rand) plan {
			return plan{config: ni.Pair(rtl.Params{}, 2), packets: 200, illegal: 0.05, hostErrorRate: rate(rng, 1e-5, 1e-4), clean: true}
		})},
	{Name: "loop", Doc: "one NI, its two links cabled to each other", Seeds: 2,
		Run: traffic(func(rng *testbench.Rand) plan {
			c := ni.Config{Params: rtl.Params{Links: 2}, Nodes: 1, Cables: []ni.Cable{{A: 0, LinkA: 1, B: 0, LinkB: 2, Latency: 1 + rng.IntN(40)}}}
			return plan{config: c, packets: 400, illegal: 0.1, clean: true}
		})},
	{Name: "ring", Doc: "five NIs with two links each in a ring", Seeds: 2,
		Run: traffic(func(rng *testbench.Rand) plan {
			return plan{config: ni.Ring(5, rtl.Params{Links: 2}, 1+rng.IntN(20)), packets: 150, illegal: 0.05, gap: 0.2, clean: true}
		})},
	{Name: "star", Doc: "seven links of one NI written to at once: the write port is shared fairly, STOP holds, nothing dropped", Seeds: 1,
		Run: traffic(func(rng *testbench.Rand) plan {
			p := rtl.Params{Links: 7, Frames: 24, PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024}
			c := ni.Config{Params: p, Nodes: 2}
			for l := 1; l <= 7; l++ {
				c.Cables = append(c.Cables, ni.Cable{A: 0, LinkA: l, B: 1, LinkB: 8 - l, Latency: 1 + rng.IntN(20)})
			}
			return plan{config: c, packets: 150, illegal: 0.05, clean: true}
		})},
}

// plan is one run of random traffic, or of remote paging.
type plan struct {
	config        ni.Config
	packets       int     // on each stream, or by each sender
	maxSize       int     // not for paging
	illegal, gap  float64 // not for paging
	errorRate     float64 // on the links
	hostErrorRate float64
	faults        int  // planned ones on each wire
	clean         bool // nothing but deliveries may happen on the links
}

// rate is a random rate between two, evenly spread over the orders of magnitude.
func rate(rng *testbench.Rand, low, high float64) float64 {
	x := rng.Float64()
	for ; low*10 <= high && x > 0.5; x = rng.Float64() {
		low *= 10
	}
	return min(low*(1+9*x), high)
}

// planned is a scenario's run on the fabric of a plan that is drawn from the seed.
func planned(draw func(*testbench.Rand) plan, body func(plan, *ni.Fabric, *suite.Run)) func(context.Context, *suite.Run) error {
	return func(ctx context.Context, r *suite.Run) error {
		p := draw(testbench.NewRand(r.Seed).Split("plan"))
		p.config.Seed = r.Seed
		return onFabric(ctx, r, p.config, func(f *ni.Fabric) { body(p, f, r) })
	}
}

// traffic is a scenario's run of random traffic.
func traffic(draw func(*testbench.Rand) plan) func(context.Context, *suite.Run) error {
	return planned(draw, sendRandomly)
}

func sendRandomly(p plan, f *ni.Fabric, r *suite.Run) {
	t := try.Get(ni.NewTraffic(f, r.Seed))
	t.Illegal, t.Gap, t.MaxSize = p.illegal, p.gap, p.maxSize
	p.disturb(f, testbench.NewRand(r.Seed).Split("faults"), p.packets*600)
	defer count(r, t)
	const rounds = 4 // every byte is checked after each
	for range rounds {
		try.OK(t.Send(p.packets / rounds))
		try.OK(t.Settle())
		try.OK(t.Check())
	}
	try.OK(t.CheckCounters(p.clean))
}

// disturb plans the faults of all cables, those of the links' wires for the next span symbol times.
func (p plan) disturb(f *ni.Fabric, rng *testbench.Rand, span int) {
	for _, w := range f.Wires {
		try.OK(w.SetBitErrorRate(p.errorRate))
		try.OK(w.Inject(faultPlan(rng, f.Params, w.Stats().Samples, p.faults, span)...))
	}
	for _, n := range f.Nodes {
		if p.hostErrorRate > 0 {
			n.Host.Mangle, n.Host.Swallow = flipBits(rng, p.hostErrorRate), flipBits(rng, p.hostErrorRate)
		}
	}
}

// count sums up what was sent.
func count(r *suite.Run, t *ni.Traffic) {
	for _, s := range t.Streams {
		r.Stats.Packets, r.Stats.Bytes = r.Stats.Packets+uint64(s.Sent), r.Stats.Bytes+uint64(s.Bytes)
	}
}

// faultPlan is n faults spread over the next span symbol times of a wire. No unplugging lasts so long that the link would start again.
func faultPlan(rng *testbench.Rand, p rtl.Params, from uint64, n, span int) []verilator.Fault {
	if p.LinkPHY != rtl.Direct {
		return lineFaults(rng, p, from, n, span)
	}
	var faults []verilator.Fault
	for range n {
		f := verilator.Fault{At: from + uint64(rng.IntN(span))}
		switch rng.IntN(5) {
		case 0:
			f.Kind, f.Value = verilator.Flip, 1<<rng.IntN(9)
		case 1:
			f.Kind, f.Cycles = verilator.Drop, 1+uint64(rng.IntN(3))
		case 2:
			f.Kind, f.Cycles, f.Value = verilator.Flip, 1+uint64(rng.IntN(20)), uint64(rng.IntN(512))
		case 3:
			f.Kind, f.Cycles, f.Value = verilator.Stuck, 1+uint64(rng.IntN(50)), uint64(rng.IntN(512))
		default:
			f.Kind, f.Cycles, f.Value = verilator.Cut, uint64(rng.IntN(5000)), uint64(linkproto.SymIdle)
		}
		faults = append(faults, f)
	}
	return faults
}

// flipBits is a cable to a host with bit errors.
func flipBits(rng *testbench.Rand, rate float64) func([]linkproto.Symbol) []linkproto.Symbol {
	own := testbench.NewRand(rng.Uint64())
	return func(line []linkproto.Symbol) []linkproto.Symbol {
		for i := range line {
			for bit := range 9 {
				if own.Float64() < rate {
					line[i] ^= 1 << bit
				}
			}
		}
		return line
	}
}
