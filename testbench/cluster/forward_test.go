package cluster_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// read is a register of a network interface.
func read(t *testing.T, c *cluster.Cluster, i *cluster.NI, reg linkproto.Reg) uint32 {
	t.Helper()
	return check.Must(c.Ask(i, linkproto.Packet{Type: linkproto.TypeRegRead, Reg: reg}))(t).Value
}

// TestStuck: of four network interfaces one has a host that never answers a trap. What is for its node fills the queues, and then is dropped and counted
// there; all else goes on. When the host goes on, its node takes packets again.
func TestStuck(t *testing.T) {
	t.Run("ring", func(t *testing.T) { testStuck(t, "ring", cluster.RTL, linkproto.RouterLate.Reg(0)) })
	for _, rung := range []string{cluster.RTL, cluster.Model} { // without routers
		t.Run("star "+rung, func(t *testing.T) { testStuck(t, "star", rung, linkproto.CounterReg(1, linkproto.CntDenied)) })
	}
}

func testStuck(t *testing.T, shape, rung string, drops linkproto.Reg) {
	const patience = 2000
	seed := testbench.TestSeed(t)
	top := check.Must(topology.Generate(shape, []int{4}, 1))(t)
	c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Rung: rung, Seed: seed, Params: rtl.Params{Patience: patience}}))(t)
	t.Cleanup(func() { check.Error(t, c.Close()) })
	stuck := c.NIs[1]
	trapped := false
	stuck.Received = func(p linkproto.Packet) { trapped = trapped || p.Type == linkproto.TypeTrap }
	check.Fatal(t, c.Send(c.NIs[0], stuck, linkproto.Packet{Type: linkproto.TypePage, Port: 1}))
	check.Fatal(t, c.Until(10_000, "the trap", func() bool { return trapped }))

	write := func(from, to *cluster.NI, at int, data []byte) {
		t.Helper()
		check.Fatal(t, c.Send(from, to, linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(at), Data: data}))
	}
	// More than all queues on the way hold, from both sides, and between the others some that pass the stuck node.
	r := testbench.NewRand(seed)
	const size, rounds = 512, 60
	last := map[*cluster.NI][]byte{}
	for round := range rounds {
		for _, from := range []*cluster.NI{c.NIs[0], c.NIs[2]} {
			write(from, stuck, 0, r.Bytes(size))
			for _, to := range c.NIs {
				if to != from && to != stuck && round%4 == 0 {
					data := r.Bytes(16)
					write(from, to, 1024*(1+from.Node), data)
					if from.Node == 0 {
						last[to] = data
					}
				}
			}
		}
	}
	check.Fatal(t, c.Run(50*patience))
	for to, data := range last {
		a := check.Must(c.Ask(to, linkproto.Packet{Type: linkproto.TypeBufRead, Addr: 1024, Count: 16}))(t)
		if !bytes.Equal(a.Data, data) {
			t.Errorf("what n0 has sent to n%d last has not come: % x, want % x", to.Node, a.Data, data)
		}
	}
	late := read(t, c, stuck, drops)
	if late == 0 || late > 2*rounds {
		t.Errorf("n1 has dropped %d of %d packets, want some", late, 2*rounds)
	}
	check.Equal(t, "packets that others dropped", read(t, c, c.NIs[0], drops), 0)

	answer := check.Must(c.Ask(stuck, linkproto.Packet{Type: linkproto.TypeResume, Via: 1}))(t)
	check.Equal(t, "answer to RESUME", answer.Status, linkproto.StatusOK)
	check.Fatal(t, c.Run(20_000))
	data := r.Bytes(16)
	write(c.NIs[3], stuck, 0, data)
	check.Fatal(t, c.Run(2000))
	a := check.Must(c.Ask(stuck, linkproto.Packet{Type: linkproto.TypeBufRead, Count: 16}))(t)
	check.Equal(t, "what came after RESUME", a.Data, data)
	check.Equal(t, "packets dropped since", read(t, c, stuck, drops), late)
}

// TestAlternates: where two cables run beside each other, one of them may be cut.
func TestAlternates(t *testing.T) {
	seed := testbench.TestSeed(t)
	top := check.Must(topology.Generate("line", []int{3}, 2))(t)
	c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Seed: seed}))(t)
	t.Cleanup(func() { check.Error(t, c.Close()) })
	up := func(cable int) func() bool {
		return func() bool {
			for _, e := range top.Cables[cable].Ends {
				if linkproto.StatusUp.Of(read(t, c, c.NIs[e.Node], linkproto.PortStatusReg(e.Port))) == 0 {
					return false
				}
			}
			return true
		}
	}
	for _, cable := range []int{0, len(top.Cables) - 1} {
		check.Fatal(t, c.Cut(cable, true))
		check.Fatal(t, c.Until(100_000, "the link to go down", func() bool { return !up(cable)() }))
		check.Fatal(t, c.Run(20_000)) // at both its ends
		r := check.Must(c.Carry(cluster.Traffic{Packets: 40, Bytes: 100, Pages: 5}))(t)
		check.Equal(t, "packets", r.Writes+r.Pages, 40*len(c.NIs))
		check.Fatal(t, c.Cut(cable, false))
		check.Fatal(t, c.Until(100_000, "the link to come up", up(cable)))
	}
}
