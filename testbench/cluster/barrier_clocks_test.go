package cluster_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// TestBarrierClocks: 32 nodes on a tree of switches of 16 ports, all in RTL, enter at the same clock. From the last that enters at its network interface to the last that
// has left there are 150 clocks at most.
func TestBarrierClocks(t *testing.T) {
	top := &topology.Topology{Default: topology.Link{Lanes: 1, Latency: 1}, Nodes: []topology.Node{{Kind: topology.Switch, Name: "root", ID: 100, Ports: 16}}}
	join := func(a, b topology.End) {
		top.Cables = append(top.Cables, topology.Cable{Ends: [2]topology.End{a, b}, Link: topology.Link{Lanes: 1, Latency: 1}})
	}
	for leaf := 1; leaf <= 3; leaf++ {
		top.Nodes = append(top.Nodes, topology.Node{Kind: topology.Switch, Name: fmt.Sprint("leaf", leaf), ID: uint16(100 + leaf), Ports: 16})
		join(topology.End{Node: leaf, Port: 16}, topology.End{Node: 0, Port: leaf})
	}
	for i := range 32 {
		top.Nodes = append(top.Nodes, topology.Node{Kind: topology.NI, Name: fmt.Sprint("n", i), ID: uint16(1 + i), Ports: 1})
		join(topology.End{Node: 4 + i, Port: 1}, topology.End{Node: 1 + i%3, Port: 1 + i/3})
	}
	c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Seed: testbench.TestSeed(t), Barriers: true, Preload: true}))(t)
	t.Cleanup(func() { check.Error(t, c.Close()) })
	const group = 5
	makeBarrier(t, c, group, 1, c.NIs)
	for phase := uint8(1); phase <= 3; phase++ {
		check.Fatal(t, c.Run(64*int(phase)))
		for _, i := range c.NIs {
			p := linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.BarrierRegPhase.Reg(group), Value: uint32(linkproto.BarrierValue(1, phase))}
			check.Fatal(t, i.Request(p, func(linkproto.Packet) {}))
		}
		start, entered, left := c.Cycles, uint64(0), uint64(0)
		for n := 0; n < len(c.NIs); {
			check.Fatal(t, c.Step())
			n = 0
			for _, i := range c.NIs {
				now, in, err := c.Barrier(i, group)
				check.Fatal(t, err)
				if now != phase && !in {
					entered = c.Cycles + 1
				}
				if now == phase {
					n++
				}
			}
			left = c.Cycles
			if c.Cycles-start > 10_000 {
				t.Fatalf("phase %d: only %d have left", phase, n)
			}
		}
		t.Logf("phase %d: %d clocks from the last enter to the last release", phase, left-entered)
		if left-entered > 150 {
			t.Errorf("phase %d: %d clocks, want 150 at most", phase, left-entered)
		}
	}
}
