package cluster_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/ni"
)

func open(t *testing.T, shape string, size []int, threads int, change func(*topology.Topology)) *cluster.Cluster {
	t.Helper()
	top := check.Must(topology.Generate(shape, size, 1))(t)
	if change != nil {
		change(top)
	}
	seed := testbench.TestSeed(t)
	t.Logf("seed %d", seed)
	c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Seed: seed, Threads: threads}))(t)
	t.Cleanup(func() { check.Error(t, c.Close()) })
	return c
}

// TestCarry: whatever the network is, and however its cables disturb, every write comes to its place once, and every PAGE traps once.
func TestCarry(t *testing.T) {
	for _, test := range []struct {
		shape  string
		size   []int
		errors float64
		lanes  int
	}{{"star", []int{4}, 0, 1}, {"tree", []int{2, 2}, 0, 1}, {"fat-tree", []int{2, 2}, 1e-5, 1},
		{"line", []int{3}, 0, 1}, {"ring", []int{4}, 1e-5, 1}, {"mesh", []int{2, 2}, 0, 1}, {"hyper-crossbar", []int{2, 2}, 1e-5, 1},
		{"star", []int{2}, 1e-5, 2}} {
		t.Run(fmt.Sprint(test.shape, test.errors, " lanes ", test.lanes), func(t *testing.T) {
			c := open(t, test.shape, test.size, 1, func(top *topology.Topology) {
				for i := range top.Cables {
					top.Cables[i].Latency, top.Cables[i].BitErrorRate, top.Cables[i].Lanes = 1+i%5, test.errors, test.lanes
				}
			})
			r, err := c.Carry(cluster.Traffic{Packets: 100, Bytes: 64, Pages: 5})
			check.Fatal(t, err)
			check.Equal(t, "packets", r.Writes+r.Pages, 100*len(c.NIs))
			t.Logf("%+v", r)
		})
	}
}

// TestRefused: what cannot run is said before anything runs.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		shape  string
		size   []int
		change func(*topology.Topology)
		want   []string
	}{
		{"star", []int{2}, func(top *topology.Topology) { top.Nodes[1].Rung = "gates:x" }, []string{"n1", `"gates:x"`, "rtl and model"}},
		{"star", []int{2}, func(top *topology.Topology) { top.Nodes[1].Rung = "tcp:127.0.0.1:1" }, []string{"127.0.0.1:1", "nobody serves there"}},
		{"star", []int{2}, rungs("tcp:127.0.0.1:1", 0, 1), []string{"n0:1 - s0:1 leads outside"}},
		{"ring", []int{3}, func(top *topology.Topology) { top.Nodes[1].Rung = "serial:/dev/none" }, []string{"n1 is outside and has 2 cables"}},
		{"star", []int{2}, func(top *topology.Topology) { top.Cables[0].Lanes = 2 }, []string{"s0", "2 and 1 lanes"}},
	} {
		top := check.Must(topology.Generate(test.shape, test.size, 1))(t)
		if test.change != nil {
			test.change(top)
		}
		_, err := cluster.Open(t.Context(), cluster.Config{Topology: top})
		if err == nil {
			t.Fatalf("%s %v runs", test.shape, test.size)
		}
		check.Contains(t, "error", err.Error(), test.want...)
	}
	c := open(t, "star", []int{2}, 1, nil)
	for _, traffic := range []cluster.Traffic{{Packets: 1}, {Packets: 1, Bytes: 5000}} {
		if _, err := c.Carry(traffic); err == nil {
			t.Errorf("%+v is carried", traffic)
		}
	}
	var timeout *ni.Timeout
	if err := c.Until(100, "nothing", func() bool { return false }); !errors.As(err, &timeout) {
		t.Errorf("a wait that does not end: %v", err)
	}
}
