package figures

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/bench"
	"github.com/stafflink/lmmc/testbench/bench/baseline"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

var speedFigures = []Figure{
	{Name: "sim_vs_cpp", Doc: "speed of two saturated NIs driven from Go, as a share of that with a hand-written C++ harness",
		Must: new(0.9), Aim: new(1.0), Timed: true, Long: true, Measure: steps(simVsCpp)},
	{Name: "coroutine_rate", Doc: "a Go coroutine at every clock, one read and two writes a cycle, trivial 32-bit design",
		Unit: "cycles/s", Must: new(2e6), Aim: new(4e6), Timed: true, Measure: steps(coroutineRate)},
	{Name: "kit_public_cost", Doc: "speed of a network interface whose state machines are public and that nobody looks into, as a share of that without",
		Must: new(0.98), Aim: new(1.0), Timed: true, Long: true, Measure: steps(publicCost)},
	{Name: "thread_scaling", Doc: "64 NIs in a ring: speed-up from one thread to two, as a share of that of two independent runs side by side",
		Must: new(0.8), Aim: new(0.95), Timed: true, Long: true, Measure: steps(threadScaling)},
}

// rounds is how often speeds that are compared are taken in turn; medians count.
func rounds(ctx context.Context) int { return either(ctx, 9, 3) }

// Median sorts v.
func Median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

var cpuTime = bench.CPUTime

// simVsCpp compares CPU times, which a busy machine disturbs least; that of Go includes its run-time system. The code of a network
// interface exceeds the first-level cache of a processor, so the memory pages it comes to lie on decide on up to a third of its speed: each
// round takes a copy of library and program on other pages.
func simVsCpp(ctx context.Context) Measurement {
	const cable = 16
	// Batches of 1024 clocks: transmit queues that cover the time from one to the next keep the links busy all the same.
	config := saturatedPair(32768, cable, 1024)
	config.Optimize, config.Fresh = verilator.Full, true
	rounds := 2*rounds(ctx) + 1
	var ours, theirs []float64
	for range rounds {
		own, p := goSpeed(ctx, config)
		program := try.Get(baseline.Build(ctx, ni.Design(p)))
		r := try.Get(program.Run(ctx, speedCycles, baseline.Load{Payload: speedPayload, PageBytes: p.PageBytes, ReplayBytes: p.ReplayBytes, Cable: cable}))
		ours, theirs = append(ours, own), append(theirs, float64(r.Cycles)/r.Seconds)
	}
	own, base := Median(ours), Median(theirs)
	return Measurement{Value: own / base, Baseline: &base, Note: fmt.Sprintf("medians of %d copies each, CPU time; %.0f cycles/s from Go (%.0f to %.0f), "+
		"baseline %.0f cycles/s in C++ (%.0f to %.0f)", rounds, own, ours[0], ours[rounds-1], base, theirs[0], theirs[rounds-1])}
}

// publicCost compares CPU times of fresh copies, for the reason that simVsCpp has.
func publicCost(ctx context.Context) Measurement {
	bare := ni.Design(rtl.Params{Links: 1}.WithDefaults())
	bare.Fresh, bare.Optimize = true, verilator.Full
	public := bare
	public.Public = []string{"**.state"}
	rounds := 2*rounds(ctx) + 1
	var ours, theirs []float64
	signals := 0
	for range rounds {
		own, n := idleSpeed(ctx, public)
		base, _ := idleSpeed(ctx, bare)
		ours, theirs, signals = append(ours, own), append(theirs, base), n
	}
	own, base := Median(ours), Median(theirs)
	return Measurement{Value: own / base, Baseline: &base, Note: fmt.Sprintf("medians of %d copies each, CPU time; %d public registers: %.0f cycles/s (%.0f to %.0f), "+
		"without %.0f (%.0f to %.0f)", rounds, signals, own, ours[0], ours[rounds-1], base, theirs[0], theirs[rounds-1])}
}

// idleSpeed returns how many clocks a second of CPU time simulates, and how many public signals there are.
func idleSpeed(ctx context.Context, d verilator.Design) (perSecond float64, signals int) {
	l := try.Get(verilator.Build(ctx, d))
	m := try.Get(l.New(verilator.Config{Seed: 1}))
	defer m.Close()
	try.Get(m.Clock("clk", 2, 0))
	try.OK(m.Poke("rst", 1), m.Run(100), m.Poke("rst", 0), m.Run(10_000))
	start := cpuTime()
	try.OK(m.Run(speedCycles))
	return speedCycles / (cpuTime() - start).Seconds(), len(l.Signals())
}

const speedCycles, speedPayload = 150_000, 1500

// goSpeed returns how many clocks a second of CPU time simulates.
func goSpeed(ctx context.Context, config ni.Config) (float64, rtl.Params) {
	f, t := saturate(ctx, config, speedPayload)
	defer f.Close()
	start, begin, freed := cpuTime(), f.Cycles, t.Freed()
	for f.Cycles-begin < speedCycles {
		try.OK(t.Offer(64))
		try.OK(f.Run(1))
	}
	speed := float64(f.Cycles-begin) / (cpuTime() - start).Seconds()
	if share := float64(t.Freed()-freed) / float64(2*(f.Cycles-begin)); share < 0.95 {
		try.Failf("the links are busy only %.0f %% of the time", 100*share)
	}
	return speed, f.Params
}

func coroutineRate(ctx context.Context) Measurement {
	cycles := either(ctx, 2_000_000, 1_000_000)
	var rates []float64
	rounds := rounds(ctx)
	for range rounds {
		rate := try.Get(bench.CoroutineRate(ctx, uint64(cycles)))
		rates = append(rates, rate)
	}
	return Measurement{Value: Median(rates), Note: fmt.Sprintf("median of %d runs of %d cycles", rounds, cycles)}
}

// threadScaling compares, round by round, one run on one thread, one on two threads, and two runs on one thread each at the
// same time: what the last two gain over the first.
func threadScaling(ctx context.Context) Measurement {
	const nodes, cycles = 64, 4096
	var gains, limits []float64
	rings := make([]*ni.Fabric, 3) // of one thread twice, of two threads
	for i := range rings {
		c := ni.Ring(nodes, rtl.Params{Links: 2}, 64)
		c.Optimize, c.Seed, c.Threads, c.Quantum = verilator.Full, 1, 1+i/2, 64
		f := try.Get(ni.Open(ctx, c))
		defer f.Close()
		rings[i] = f
		try.OK(load(f, 2*cycles))
	}
	rounds := rounds(ctx)
	for range rounds {
		one := try.Get(together(cycles, rings[0]))
		two := try.Get(together(cycles, rings[2]))
		both := try.Get(together(cycles, rings[0], rings[1]))
		gains, limits = append(gains, one/two), append(limits, 2*one/both)
	}
	gain, limit := Median(gains), Median(limits)
	return Measurement{Value: gain / limit, Baseline: &limit,
		Note: fmt.Sprintf("medians of %d rounds: two threads gain %.2fx, two independent runs %.2fx", rounds, gain, limit)}
}

// load runs a fabric whose hosts send writes of a page on all links as fast as they may. No frame is granted, so that the
// receivers refuse them; the links are as busy as they can be.
func load(f *ni.Fabric, cycles int) error {
	page := make([]byte, f.Params.PageBytes)
	for begin := f.Cycles; f.Cycles-begin < uint64(cycles); {
		for _, n := range f.Nodes {
			for link := 1; link <= f.Params.Links; link++ {
				err := n.Host.Write(link, 0, page)
				if err != nil && !errors.Is(err, ni.ErrNoCredit) && !errors.Is(err, ni.ErrBusy) {
					return err
				}
			}
		}
		if err := f.Run(1); err != nil {
			return err
		}
	}
	return nil
}

// together loads fabrics at the same time and returns how many seconds that took.
func together(cycles int, fabrics ...*ni.Fabric) (float64, error) {
	return sideBySide(len(fabrics), func(i int) error { return load(fabrics[i], cycles) })
}

// sideBySide does n things at the same time and returns how many seconds that took.
func sideBySide(n int, do func(i int) error) (float64, error) {
	errs := make([]error, n)
	start := time.Now()
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { errs[i] = do(i) })
	}
	group.Wait()
	return time.Since(start).Seconds(), errors.Join(errs...)
}
