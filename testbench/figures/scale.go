package figures

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
)

var scaleFigures = []Figure{
	{Name: "hxb_2560_rate", Doc: "2,560 NIs and 576 switches of a hyper-crossbar of 16x16x10 in RTL on two threads, hosts send uniform messages of 64 to 1500 bytes, 25 % of a link",
		Unit: "cycles/s", Must: new(40.0), Aim: new(200.0), Timed: true, Long: true, Measure: steps(scaleRate)},
	{Name: "hxb_2560_gb", Doc: "the same: most memory of the process",
		Unit: "GB", Must: new(16.0), Aim: new(6.0), Better: Lower, Long: true, Measure: steps(scaleMemory)},
	{Name: "net_linear", Doc: "CPU time of an NI with its three ports of switches and a cycle in this network, over that in one of 3x3x2 under the same load",
		Must: new(1.5), Aim: new(1.1), Better: Lower, Timed: true, Long: true, Measure: steps(netLinear)},
	{Name: "net_threads", Doc: "hyper-crossbar of 4x4x2 under the same load: speed-up from one thread to two, as a share of that of two independent runs side by side",
		Must: new(0.85), Aim: new(0.95), Timed: true, Long: true, Measure: steps(netThreads)},
}

// Of the networks that are measured here.
const (
	scaleLatency = 20
	scaleLoad    = 0.25
)

// openScale opens a hyper-crossbar with its hosts ready to send.
func openScale(ctx context.Context, size []int, threads int) (*cluster.Cluster, *cluster.Bench) {
	t := try.Get(topology.Generate("hyper-crossbar", size, 1))
	for i := range t.Cables {
		t.Cables[i].Latency = scaleLatency
	}
	c := try.Get(cluster.Open(ctx, cluster.Config{Topology: t, Seed: 1, Params: cluster.BenchParams(2048, 1), Arrivals: true, Preload: true, Threads: threads}))
	return c, try.Get(c.NewBench(cluster.Workload{Pattern: "uniform", Least: 64, Most: 1500}))
}

// largeRun is a run of the large network.
type largeRun struct {
	nis       int
	clocks    int
	wall, cpu time.Duration // of these clocks
	opening   time.Duration
	peak      float64 // bytes
	carried   cluster.Carried
}

func (r *largeRun) note() string {
	return fmt.Sprintf("%d clocks in %.1f s, CPU time %.1f s; opened in %.0f s; load %.3f, all of %d messages arrived, receive buffers compared",
		r.clocks, r.wall.Seconds(), r.cpu.Seconds(), r.opening.Seconds(), r.carried.Offered, r.carried.Messages)
}

// large is the run that several figures are about.
var large struct {
	sync.Mutex
	run *largeRun
}

// runLarge runs the large network, once in a process.
func runLarge(ctx context.Context) *largeRun {
	large.Lock()
	defer large.Unlock()
	if large.run == nil {
		clocks := 2048
		if Quick(ctx) {
			clocks = 512
		}
		large.run = runScale(ctx, []int{16, 16, 10}, 2, clocks, clocks)
	}
	return large.run
}

// runScale runs a network under load: for some clocks until it is full, and then for others that are measured.
func runScale(ctx context.Context, size []int, threads, fill, clocks int) *largeRun {
	forgetPeak()
	start := time.Now()
	c, b := openScale(ctx, size, threads)
	defer try.Finally(c.Close)
	r := &largeRun{nis: len(c.NIs), clocks: clocks, opening: time.Since(start)}
	try.OK(b.Begin(scaleLoad), b.Pass(fill))
	start, cpu := time.Now(), cpuTime()
	try.OK(b.Pass(clocks))
	r.wall, r.cpu = time.Since(start), cpuTime()-cpu
	r.carried = try.Get(b.End())
	r.peak = peakMemory()
	return r
}

func scaleRate(ctx context.Context) Measurement {
	r := runLarge(ctx)
	return Measurement{Value: float64(r.clocks) / r.wall.Seconds(), Note: r.note()}
}

func scaleMemory(ctx context.Context) Measurement {
	r := runLarge(ctx)
	return Measurement{Value: r.peak / 1e9, Note: fmt.Sprintf("%.0f KB for an NI with its share of switches", r.peak/1e3/float64(r.nis))}
}

// cost is the CPU time of a network interface, with its share of switches, for a clock.
func (r *largeRun) cost() time.Duration { return r.cpu / time.Duration(r.clocks*r.nis) }

func netLinear(ctx context.Context) Measurement {
	big := runLarge(ctx)
	small := runScale(ctx, []int{3, 3, 2}, 1, 4096, 32_768)
	base := small.cost().Seconds() * 1e9
	return Measurement{Value: float64(big.cost()) / float64(small.cost()), Baseline: &base,
		Note: fmt.Sprintf("%v against %v an NI and clock, CPU time", big.cost(), small.cost())}
}

// netThreads is threadScaling of a network with switches.
func netThreads(ctx context.Context) Measurement {
	const clocks = 2048
	var gains, limits []float64
	benches := make([]*cluster.Bench, 3) // of one thread twice, of two threads
	for i := range benches {
		c, b := openScale(ctx, []int{4, 4, 2}, 1+i/2)
		defer try.Finally(c.Close)
		benches[i] = b
		try.OK(b.Begin(scaleLoad), b.Pass(2*clocks))
	}
	rounds := rounds(ctx)
	for range rounds {
		one := try.Get(passing(clocks, benches[0]))
		two := try.Get(passing(clocks, benches[2]))
		both := try.Get(passing(clocks, benches[0], benches[1]))
		gains, limits = append(gains, one/two), append(limits, 2*one/both)
	}
	for _, b := range benches {
		try.Get(b.End())
	}
	gain, limit := Median(gains), Median(limits)
	return Measurement{Value: gain / limit, Baseline: &limit,
		Note: fmt.Sprintf("medians of %d rounds of %d clocks: two threads gain %.2fx, two independent runs %.2fx", rounds, clocks, gain, limit)}
}

// passing runs networks at the same time and returns how many seconds that took.
func passing(clocks int, benches ...*cluster.Bench) (float64, error) {
	return sideBySide(len(benches), func(i int) error { return benches[i].Pass(clocks) })
}

// forgetPeak has peakMemory begin anew; where the system cannot, that is of the whole process.
func forgetPeak() { os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peakMemory is the most memory that this process has had, in bytes.
func peakMemory() float64 {
	for line := range strings.Lines(string(try.Get(os.ReadFile("/proc/self/status")))) {
		var kilobytes float64
		if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kilobytes); err == nil {
			return 1024 * kilobytes
		}
	}
	try.Failf("no VmHWM in /proc/self/status")
	return 0
}
