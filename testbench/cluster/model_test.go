package cluster_test

import (
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// rungs gives every n-th node of a topology, from the first on, another rung than the one that it has.
func rungs(rung string, first, n int) func(*topology.Topology) {
	return func(top *topology.Topology) {
		for i := first; i < len(top.Nodes); i += n {
			top.Nodes[i].Rung = rung
		}
	}
}

// TestMixed: models and RTL carry the same in one network, however its cables disturb.
func TestMixed(t *testing.T) {
	for _, test := range []struct {
		name   string
		shape  string
		size   []int
		change func(*topology.Topology)
		errors float64
		lanes  int
	}{
		{"models", "tree", []int{3, 3}, rungs(cluster.Model, 0, 1), 2e-6, 1},
		{"a switch in RTL", "star", []int{4}, func(top *topology.Topology) {
			rungs(cluster.Model, 0, 1)(top)
			top.Nodes[4].Rung = cluster.RTL
		}, 0, 1},
		{"a switch that is a model", "star", []int{3}, rungs(cluster.Model, 3, 1), 1e-5, 1},
		{"models that forward", "mesh", []int{2, 3}, rungs(cluster.Model, 0, 1), 1e-5, 1},
		{"every other node of a ring", "ring", []int{4}, rungs(cluster.Model, 0, 2), 0, 1},
		{"every other node", "fat-tree", []int{2, 2}, rungs(cluster.Model, 0, 2), 0, 1},
		{"a hyper-crossbar of both", "hyper-crossbar", []int{2, 2}, rungs(cluster.Model, 1, 3), 0, 1},
		{"models, three lanes", "hyper-crossbar", []int{2, 2}, rungs(cluster.Model, 0, 1), 2e-5, 3},
		{"a model at a switch in RTL, two lanes", "star", []int{2}, rungs(cluster.Model, 0, 3), 2e-5, 2},
		{"a switch that is a model, two lanes", "star", []int{2}, rungs(cluster.Model, 2, 1), 2e-5, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := open(t, test.shape, test.size, 1, func(top *topology.Topology) {
				test.change(top)
				for i := range top.Cables {
					top.Cables[i].Latency, top.Cables[i].BitErrorRate, top.Cables[i].Lanes = 1+17*i%90, test.errors, test.lanes
				}
			})
			r, err := c.Carry(cluster.Traffic{Packets: 100, Bytes: 64, Pages: 5})
			check.Fatal(t, err)
			check.Equal(t, "packets", r.Writes+r.Pages, 100*len(c.NIs))
			t.Logf("%+v", r)
		})
	}
}

// TestThreads: the number of threads changes nothing.
func TestThreads(t *testing.T) {
	var results [2]cluster.Result
	for i := range results {
		c := open(t, "star", []int{4}, 1+i, func(top *topology.Topology) {
			rungs(cluster.Model, 1, 2)(top)
			for i := range top.Cables {
				top.Cables[i].BitErrorRate = 1e-5
			}
		})
		results[i] = check.Must(c.Carry(cluster.Traffic{Packets: 50, Bytes: 200, Pages: 10}))(t)
	}
	check.Equal(t, "with two threads", results[1], results[0])
}

// TestAccount: each packet that does not come is counted by the cable or the router that has lost it.
func TestAccount(t *testing.T) {
	c := open(t, "fat-tree", []int{2, 2}, 1, rungs(cluster.Model, 0, 1))
	check.Fatal(t, c.BeginAccount())
	check.Must(c.Carry(cluster.Traffic{Packets: 50, Bytes: 40, Pages: 10}))(t)
	a := check.Must(c.Account())(t)
	check.Equal(t, "packets", [3]uint64{a.Sent, a.Delivered, a.Missing()}, [3]uint64{200, 200, 0})
}

// TestLanesFail: while single lanes of cables are cut, one way or both, come and go, or damage all that they carry, nothing is lost; the others carry on, and
// each is taken again.
func TestLanesFail(t *testing.T) {
	for _, rung := range []string{cluster.Model, cluster.RTL} {
		t.Run(rung, func(t *testing.T) {
			c := open(t, "star", []int{2}, 1, func(top *topology.Topology) {
				rungs(cluster.Model, 0, 1)(top)
				top.Nodes[0].Rung = rung
				for i := range top.Cables {
					top.Cables[i].Lanes = 2
				}
			})
			check.Fatal(t, c.Watch())
			carry := func(what string) {
				t.Helper()
				r := check.Must(c.Carry(cluster.Traffic{Packets: 100, Bytes: 64, Pages: 5}))(t)
				check.Equal(t, what+": packets", r.Writes+r.Pages, 200)
			}
			wants := func(what string, open int) {
				t.Helper()
				look := c.Look()
				check.Equal(t, what+": open lanes", [2]int{look.Cables[0].Open(), look.Cables[1].Open()}, [2]int{open, 2})
			}
			both := func(do func(cluster.LaneWay) error) {
				check.Fatal(t, do(cluster.LaneWay{Lane: 1}))
				check.Fatal(t, do(cluster.LaneWay{Way: 1, Lane: 1}))
			}
			const timer, again = linkproto.DefaultWordTimer, 2 * linkproto.LaneTrialTimers * linkproto.DefaultWordTimer
			check.Fatal(t, c.CutLane(cluster.LaneWay{Way: 1}, true)) // half dead
			carry("a lane half dead")
			check.Fatal(t, c.Run(3*timer))
			wants("a lane half dead", 1)
			tells := func(node int, reg linkproto.Reg) uint32 {
				return linkproto.StatusLanes.Of(check.Must(c.Register(node, reg))(t))
			}
			check.Equal(t, "what LINK_STATUS and PORT_STATUS tell", [3]uint32{
				tells(0, linkproto.LinkStatusReg(1)), tells(2, linkproto.PortStatusReg(1)), tells(2, linkproto.PortStatusReg(2))}, [3]uint32{2, 2, 3})
			check.Fatal(t, c.CutLane(cluster.LaneWay{Way: 1}, false))
			check.Fatal(t, c.Run(again))
			wants("whole again", 2)
			for range 4 { // flapping
				both(func(l cluster.LaneWay) error { return c.CutLane(l, true) })
				check.Fatal(t, c.Run(3*timer))
				both(func(l cluster.LaneWay) error { return c.CutLane(l, false) })
				check.Fatal(t, c.Run(timer))
				wants("a lane that comes and goes", 1)
			}
			carry("a lane that came and went")
			check.Fatal(t, c.Run(2*again))
			wants("whole again", 2)
			both(func(l cluster.LaneWay) error { return c.DamageLane(l, 0.05) })
			carry("a lane that damages")
			check.Fatal(t, c.Run(3*timer))
			wants("a lane that damages", 1)
			check.Fails(t, "no such lane", c.CutLane(cluster.LaneWay{Lane: 2}, true), nil, "lanes count from 0 to 1")
		})
	}
}
