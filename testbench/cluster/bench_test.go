package cluster_test

import (
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

func watched(t *testing.T, nis, threads int) *cluster.Cluster {
	t.Helper()
	return watchedShape(t, "star", []int{nis}, threads, 1)
}

func watchedShape(t *testing.T, shape string, size []int, threads, lanes int) *cluster.Cluster {
	t.Helper()
	top := check.Must(topology.Generate(shape, size, 1))(t)
	for i := range top.Cables {
		top.Cables[i].Lanes = lanes
	}
	seed := testbench.TestSeed(t)
	t.Logf("seed %d", seed)
	config := cluster.Config{Topology: top, Seed: seed, Threads: threads, Arrivals: true, Params: rtl.Params{Frames: 2, PageBytes: 256}}
	c := check.Must(cluster.Open(t.Context(), config))(t)
	t.Cleanup(func() { check.Error(t, c.Close()) })
	return c
}

// TestBench: what is offered arrives as long as links can carry it, and then as much as they can; the number of threads changes nothing.
func TestBench(t *testing.T) {
	work := cluster.Workload{Pattern: "neighbour", Least: 64, Most: 600, Sample: 8000}
	var all [2][]cluster.Point
	for i := range all {
		b := check.Must(watched(t, 3, 1+i).NewBench(work))(t)
		check.Equal(t, "senders", b.Senders, 3)
		check.Equal(t, "bound", b.Bound, 1.0)
		for _, load := range []float64{0.4, 1.5} {
			all[i] = append(all[i], check.Must(b.At(load))(t))
		}
	}
	check.Equal(t, "with two threads", all[1], all[0])
	low, full := all[0][0], all[0][1]
	t.Logf("%+v\n%+v", low, full)
	if low.State != cluster.Steady || low.Accepted < 0.95*low.Offered || low.Offered < 0.3 || low.Offered > 0.5 {
		t.Error("at a load of 0.4 not all of it arrives")
	}
	if full.State != cluster.Saturated || full.Accepted < 0.95 || full.Accepted > 1 {
		t.Error("with no other traffic a link does not carry what it could")
	}
	if l := low.Latency; l.P50 < 64+64 || l.P50 > l.P90 || l.P99 > l.Max || float64(l.Max) < l.Mean || full.Latency.P50 < 4*l.P50 {
		t.Error("latencies do not fit what was sent")
	}
}

// TestBenchLatency: most messages meet no other, and their latency is that of its bytes into a host's cable and into a receive buffer, and of what lies between.
func TestBenchLatency(t *testing.T) {
	var took [2]int64
	for i, size := range []int{8, 200} {
		b := check.Must(watched(t, 2, 1).NewBench(cluster.Workload{Pattern: "uniform", Least: size, Most: size, Sample: 20000}))(t)
		p := check.Must(b.At(0.2))(t)
		took[i] = p.Latency.P50
		t.Logf("%d bytes: %+v", size, p.Latency)
	}
	check.Equal(t, "clocks that 200 bytes take more than 8", took[1]-took[0], 2*(200-8))
}

// TestBenchForwards: what network interfaces forward arrives too, and later than what they need not.
func TestBenchForwards(t *testing.T) {
	b := check.Must(watchedShape(t, "line", []int{3}, 1, 1).NewBench(cluster.Workload{Pattern: "uniform", Least: 64, Most: 64, Sample: 5000, Samples: 5}))(t)
	check.Equal(t, "bound", b.Bound, 1.0)
	p := check.Must(b.At(0.2))(t)
	t.Logf("%+v", p)
	if p.State != cluster.Steady || p.Accepted < 0.95*p.Offered {
		t.Error("not all that is offered arrives")
	}
	if l := p.Latency; l.P99-l.P50 < 20 {
		t.Error("a router on the way takes no time")
	}
}

// TestBenchLanes: over four lanes, to and from hosts too, a switch carries what all of them could.
func TestBenchLanes(t *testing.T) {
	b := check.Must(watchedShape(t, "star", []int{2}, 1, 4).NewBench(cluster.Workload{Pattern: "uniform", Least: 200, Most: 256, Sample: 8000}))(t)
	p := check.Must(b.At(1.5))(t)
	t.Logf("%+v", p)
	if p.State != cluster.Saturated || p.Accepted < 0.95 || p.Accepted > 1 || p.Payload < 4*0.8 {
		t.Error("the lanes do not carry together what they could")
	}
}

// TestBenchRefuses: what a network does not allow is said.
func TestBenchRefuses(t *testing.T) {
	c := watched(t, 2, 1)
	for _, w := range []cluster.Workload{
		{Pattern: "uniform", Least: 4, Most: 64}, {Pattern: "uniform", Least: 64, Most: 9000}, {Pattern: "uniform", Least: 64, Most: 8},
		{Pattern: "tornado", Least: 64, Most: 64}, {Pattern: "uniform", Least: 64, Most: 64, Sample: 1}, {Pattern: "uniform", Least: 64, Most: 64, Samples: 2},
	} {
		if _, err := c.NewBench(w); err == nil {
			t.Errorf("%+v is benched", w)
		}
	}
	b := check.Must(c.NewBench(cluster.Workload{Pattern: "uniform", Least: 64, Most: 64}))(t)
	for _, load := range []float64{0, -1, 2.1} {
		if _, err := b.At(load); err == nil {
			t.Errorf("a load of %v is offered", load)
		}
	}
	if _, err := c.NewBench(cluster.Workload{Pattern: "uniform", Least: 64, Most: 64}); err == nil {
		t.Error("a network is benched twice")
	}
	if _, err := open(t, "star", []int{2}, 1, nil).NewBench(cluster.Workload{Pattern: "uniform", Least: 64, Most: 64}); err == nil {
		t.Error("a network that is not watched is benched")
	}
}
