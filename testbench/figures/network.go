package figures

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv/routing"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
)

var networkFigures = []Figure{
	{Name: "switch_saturation", Doc: "16 NIs on a switch of 16 ports, 4 bytes a clock inside, uniform messages of 64 to 1500 bytes as fast as possible: accepted share of what the links carry of such packets",
		Must: new(0.85), Aim: new(0.95), Published: fifoSwitch, Long: true, Measure: steps(switchSaturation)},
	{Name: "hxb_saturation", Doc: "75 NIs in a hyper-crossbar of 5x5x3, the same traffic: accepted share of the most that hosts' and other cables could carry by these tables",
		Must: new(0.7), Aim: new(0.85), Long: true, Measure: steps(hxbSaturation)},
	{Name: "net_check_2560", Doc: "routing tables with alternates for a hyper-crossbar of 16x16x10 NIs with two links a dimension, made and checked, CPU time",
		Unit: "s", Must: new(30.0), Aim: new(5.0), Better: Lower, Timed: true, Long: true, Measure: steps(netCheck)},
}

func switchSaturation(ctx context.Context) Measurement {
	return saturateNetwork(ctx, "star", []int{16}, 100_000, 40_000)
}

func hxbSaturation(ctx context.Context) Measurement {
	return saturateNetwork(ctx, "hyper-crossbar", []int{5, 5, 3}, 30_000, 10_000)
}

// saturateNetwork keeps all hosts of a network busy, and takes samples of so many clocks.
func saturateNetwork(ctx context.Context, shape string, size []int, sample, quick int) Measurement {
	const load, width, slots = 1.5, 4, 16
	work := cluster.Workload{Pattern: "uniform", Least: 64, Most: 1500, Sample: sample}
	if Quick(ctx) {
		work.Sample = quick
	}
	c := try.Get(cluster.Open(ctx, cluster.Config{
		Topology: try.Get(topology.Generate(shape, size, 1)), Seed: 1, Params: cluster.BenchParams(2048, width), Slots: slots, Arrivals: true,
	}))
	defer try.Finally(c.Close)
	b := try.Get(c.NewBench(work))
	p := try.Get(b.At(load))
	if p.State != cluster.Saturated {
		try.Failf("the network is %s at a load of %v: %.3f of %.3f accepted", p.State, load, p.Accepted, p.Offered)
	}
	return Measurement{Value: p.Accepted / b.Bound, Note: fmt.Sprintf("over 3 samples of %d clocks, %d messages, %d slots at each input; payload %.1f MB/s of each NI at 125 MHz",
		p.Clocks, p.Messages, slots, 125*p.Payload)}
}

// netCheck makes the tables and checks them.
func netCheck(context.Context) Measurement {
	t := try.Get(topology.Generate("hyper-crossbar", []int{16, 16, 10}, 2))
	start := cpuTime()
	r := try.Get(routing.Build(t, "")).Check()
	took := (cpuTime() - start).Seconds()
	try.OK(r.Err())
	return Measurement{Value: took, Note: fmt.Sprintf("%d nodes, %d cables, %d table entries, %d with an alternate", len(t.Nodes), len(t.Cables), r.Entries, r.Alternates)}
}
