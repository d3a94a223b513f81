package cluster_test

import (
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// barrier is a group of a network's barriers.
type barrier struct {
	*testing.T
	*cluster.Cluster
	group int
	all   *cluster.BarrierGroup
}

// makeBarrier sets a group up.
func makeBarrier(t *testing.T, c *cluster.Cluster, group, generation int, members []*cluster.NI) *barrier {
	t.Helper()
	g := check.Must(c.NewBarrierGroup(group, generation, members))(t)
	return &barrier{T: t, Cluster: c, group: group, all: g}
}

func (b *barrier) enter(i *cluster.NI, generation, phase uint8) {
	b.Helper()
	set(b.T, b.Cluster, i, linkproto.BarrierRegPhase.Reg(b.group), uint32(linkproto.BarrierValue(generation, phase)))
}

// left is whether a network interface has left a phase.
func (b *barrier) left(i *cluster.NI, generation, phase uint8) bool {
	b.Helper()
	return read(b.T, b.Cluster, i, linkproto.BarrierRegPhase.Reg(b.group)) == uint32(linkproto.BarrierValue(generation, phase))
}

// TestBarriers: on a tree of switches, with cables that damage symbols, no host leaves a phase before the last has entered it, and all leave it then. A
// cable that is cut meanwhile delays that until it is whole; the group that is made again without a member goes on without it. With both models and RTL cables have two lanes.
func TestBarriers(t *testing.T) {
	for _, rung := range []string{cluster.Model, cluster.RTL, "both"} {
		t.Run(rung, func(t *testing.T) { testBarriers(t, rung) })
	}
}

func testBarriers(t *testing.T, rung string) {
	seed := testbench.TestSeed(t)
	top := check.Must(topology.Generate("tree", []int{3, 2}, 1))(t)
	lanes := 1
	if rung == "both" {
		rung = cluster.RTL
		lanes = 2
		for i := range top.Nodes {
			if i%2 != 0 {
				top.Nodes[i].Rung = cluster.Model
			}
		}
	}
	for i := range top.Cables {
		top.Cables[i].Lanes = lanes
		top.Cables[i].BitErrorRate = 1e-4
	}
	c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Rung: rung, Seed: seed, Barriers: true}))(t)
	t.Cleanup(func() { check.Error(t, c.Close()) })
	const group = 19
	b := makeBarrier(t, c, group, 1, c.NIs)
	rng := testbench.NewRand(seed)
	last := 0
	for phase := uint8(1); phase <= 20; phase++ {
		last = rng.IntN(len(c.NIs))
		for n, i := range c.NIs {
			if n != last {
				b.enter(i, 1, phase)
			}
		}
		if phase == 10 {
			check.Fatal(t, c.Cut(last, true))
		}
		check.Fatal(t, c.Run(2000))
		for _, i := range c.NIs {
			check.Equal(t, "left before the last has entered", b.left(i, 1, phase), false)
		}
		b.enter(c.NIs[last], 1, phase)
		if phase == 10 {
			check.Fatal(t, c.Run(30_000))
			check.Fatal(t, c.Cut(last, false))
		}
		for _, i := range c.NIs {
			check.Fatal(t, c.Until(200_000, "all to leave", func() bool { return b.left(i, 1, phase) }))
		}
	}
	rest := append([]*cluster.NI{c.NIs[0]}, c.NIs[2:]...)
	b.enter(c.NIs[1], 1, 5) // which is none of the group's phases then
	check.Fatal(t, b.all.Dissolve())
	b = makeBarrier(t, c, group, 2, rest)
	for phase := uint8(1); phase <= 3; phase++ {
		for _, i := range rest {
			b.enter(i, 2, phase)
		}
		for _, i := range rest {
			check.Fatal(t, c.Until(200_000, "all of the rest to leave", func() bool { return b.left(i, 2, phase) }))
		}
	}
}
