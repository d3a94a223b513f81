package cluster_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// More rungs of programs: models that carry out virtual links, RTL that does, and both beside RTL whose host does; with contexts as well.
const (
	offloading = "virtual links in network interfaces"
	inRTL      = "virtual links in network interfaces in RTL"
	mixed      = "virtual links in some network interfaces"
	engines    = "contexts in network interfaces"
	someOfRTL  = "contexts in network interfaces, and some of RTL"
)

// onRungs runs a test with nodes that are RTL, and models.
func onRungs(t *testing.T, run func(t *testing.T, rung string)) {
	for _, rung := range []string{cluster.RTL, cluster.Model} {
		t.Run(rung, func(t *testing.T) { run(t, rung) })
	}
}

// onVirtual runs a test of virtual links with models whose drivers carry them out, and which do it themselves.
func onVirtual(t *testing.T, run func(t *testing.T, rung string)) {
	for _, rung := range []string{cluster.Model, offloading} {
		t.Run(rung, func(t *testing.T) { run(t, rung) })
	}
}

// programs opens a star whose hosts are drivers of this test.
func programs(t *testing.T, size int, rung string) (*cluster.World, []*hostdrv.NI) {
	t.Helper()
	config := cluster.Config{Topology: check.Must(topology.Generate("star", []int{size}, 1))(t), Seed: 1, Rung: rung}
	switch rung {
	case offloading:
		config.Rung, config.Virtual = cluster.Model, 3
	case engines:
		config.Rung, config.Virtual, config.Params.Contexts = cluster.Model, 3, 2
	case someOfRTL:
		config.Rung, config.Virtual, config.Params.Contexts, config.Topology.Nodes[0].Rung = cluster.RTL, 3, 2, cluster.Model
		config.InSoftware = []string{config.Topology.Nodes[size-1].Name}
	case inRTL:
		config.Rung, config.Virtual = cluster.RTL, 3
	case mixed:
		config.Rung, config.Virtual, config.Topology.Nodes[0].Rung = cluster.RTL, 3, cluster.Model
		config.InSoftware = []string{config.Topology.Nodes[size-1].Name}
	}
	return openPrograms(t, config)
}

// openPrograms is programs for a network.
func openPrograms(t *testing.T, config cluster.Config) (*cluster.World, []*hostdrv.NI) {
	t.Helper()
	c := check.Must(cluster.Open(t.Context(), config))(t)
	w := c.Programs()
	t.Cleanup(func() { check.Error(t, w.Close()) })
	check.Fatal(t, c.Watch())
	var nis []*hostdrv.NI
	for i := range c.NIs {
		n := check.Must(hostdrv.New(t.Context(), check.Must(w.Host(i))(t), hostdrv.Options{Seed: uint64(i + 1)}))(t)
		t.Cleanup(func() { check.Error(t, n.Close()) })
		nis = append(nis, n)
	}
	return w, nis
}

// TestPrograms has drivers send datagrams to each other over a switch, and looks at what the cluster shows of it.
func TestPrograms(t *testing.T) { onRungs(t, testPrograms) }

func testPrograms(t *testing.T, rung string) {
	w, nis := programs(t, 3, rung)
	ctx := t.Context()
	id := func(i int) uint16 { return w.Cluster.Topology.Nodes[w.Cluster.NIs[i].Node].ID }
	const sent = 20
	for i, from := range nis {
		to := (i + 1) % len(nis)
		for k := range sent {
			p := linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(64 * k), Data: bytes.Repeat([]byte{byte(16*i + k + 1)}, 64)}
			check.Fatal(t, from.SendRouted(ctx, 1, id(to), p))
		}
		check.Fatal(t, from.Sync(ctx, 1))
	}
	buffer := make([]byte, 64*sent)
	for i := range nis {
		to := (i + 1) % len(nis)
		for last := byte(16*i + sent); buffer[len(buffer)-1] != last; { // Sync waits for the switch alone
			check.Fatal(t, nis[to].ReadBuffer(ctx, buffer, 0))
		}
		for k := range sent {
			check.Equal(t, "bytes of a write", buffer[64*k:64*k+64], bytes.Repeat([]byte{byte(16*i + k + 1)}, 64))
		}
	}

	look := w.Cluster.Look()
	for i, c := range look.Cables {
		for j, way := range c.Ways {
			frames := uint64(sent)
			if !way.Up || way.Stop || way.Frames != frames || way.Again > 0 || way.Symbols < frames*(64+linkproto.RouteExtra) || way.Symbols > look.Clocks {
				t.Errorf("cable %d, direction %d: %+v in %d clocks", i, j, way, look.Clocks)
			}
		}
	}
}

// TestDropped has a packet for a node that is not there, which the switch drops.
func TestDropped(t *testing.T) {
	w, nis := programs(t, 2, cluster.Model)
	check.Fatal(t, nis[0].SendRouted(t.Context(), 1, 99, linkproto.Packet{Type: linkproto.TypeWrite}))
	look := w.Cluster.Look()
	for ; look.Switches[0].Lost == 0; look = w.Cluster.Look() {
		check.Must(nis[0].ReadRegister(t.Context(), linkproto.RegMagic))(t)
	}
	check.Equal(t, "drops of the switch", look.Switches[0], cluster.SwitchLook{Node: 2, Lost: 1})
}

// TestCut cuts a cable while drivers use it, and plugs it in again: the driver is told what was lost, and all goes on.
func TestCut(t *testing.T) { onRungs(t, testCut) }

func testCut(t *testing.T, rung string) {
	w, nis := programs(t, 2, rung)
	ctx := t.Context()
	cut := func(cut bool) {
		check.Fatal(t, w.Between(func() error { return w.Cluster.Cut(0, cut) }))
	}
	is := func(up bool) {
		for {
			if look := w.Cluster.Look().Cables[0]; look.Ways[0].Up == up && look.Ways[1].Up == up {
				return
			}
			check.Must(nis[0].ReadRegister(ctx, linkproto.RegMagic))(t)
		}
	}
	write := linkproto.Packet{Type: linkproto.TypeWrite, Data: []byte("after")}
	cut(true)
	check.Fatal(t, nis[0].SendRouted(ctx, 1, 2, write))
	var loss *hostdrv.LossError
	if err := nis[0].Sync(ctx, 1); !errors.As(err, &loss) || loss.Lost != 1 {
		t.Errorf("behind a cut: %v", err)
	}
	is(false)
	check.Equal(t, "cut", w.Cluster.Look().Cables[0].Cut, true)
	look := w.Cluster.Look()
	check.Equal(t, "busy with a cut cable", look.Busy(), false)
	cut(false)
	is(true)
	for got := make([]byte, 5); string(got) != "after"; {
		check.Fatal(t, nis[0].SendRouted(ctx, 1, 2, write))
		check.Fatal(t, nis[1].ReadBuffer(ctx, got, 0))
	}
	check.Fails(t, "a cable that is not there", w.Cluster.Cut(2, true), nil)
	for name, want := range map[string]int{"n0:1-s0:1": 0, "s0:2 - n1:1": 1, "n1:1": 1} {
		check.Equal(t, name, check.Must(w.Cluster.CableNamed(name))(t), want)
	}
	check.Contains(t, "error", check.Err(w.Cluster.CableNamed("n7:1")).Error(), "n7:1", "n0:1-s0:1")
}

// TestSendRoutedRefused: what cannot be sent is said at once.
func TestSendRoutedRefused(t *testing.T) {
	_, nis := programs(t, 2, cluster.Model)
	for what, send := range map[string]struct {
		link int
		dest uint16
		p    linkproto.Packet
	}{
		"another link": {2, 2, linkproto.Packet{Type: linkproto.TypeWrite}},
		"node 0":       {1, 0, linkproto.Packet{Type: linkproto.TypeWrite}},
		"no node":      {1, linkproto.MaxNode + 1, linkproto.Packet{Type: linkproto.TypeWrite}},
		"too long":     {1, 2, linkproto.Packet{Type: linkproto.TypeWrite, Data: make([]byte, 1026)}},
		"a ROUTE":      {1, 2, linkproto.Packet{Type: linkproto.TypeRoute}},
	} {
		check.Fails(t, what, nis[0].SendRouted(t.Context(), send.link, send.dest, send.p), hostdrv.ErrRange)
	}
}
