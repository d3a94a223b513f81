package live_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/live"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// begin runs a star of models until the test ends.
func begin(t *testing.T, nis int, o live.Options) *live.Network {
	t.Helper()
	return beginOn(t, cluster.Model, "star", []int{nis}, o)
}

// beginOn runs a network whose nodes have a rung.
func beginOn(t *testing.T, rung, shape string, size []int, o live.Options) *live.Network {
	t.Helper()
	return beginWith(t, rung, check.Must(topology.Generate(shape, size, 1))(t), o)
}

func beginWith(t *testing.T, rung string, top *topology.Topology, o live.Options) *live.Network {
	t.Helper()
	c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Seed: 1, Rung: rung}))(t)
	o.Seed = 1
	n := check.Must(live.Open(t.Context(), c, o))(t)
	t.Cleanup(func() { check.Error(t, n.Close()) })
	check.Background(t, func(ctx context.Context) error {
		if err := n.Run(ctx); !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	})
	return n
}

// dir is a folder for sockets, whose paths must be short.
func dir(t *testing.T) string {
	t.Helper()
	dir := check.Must(os.MkdirTemp("", "lmmc"))(t)
	t.Cleanup(func() { check.Error(t, os.RemoveAll(dir)) })
	return dir
}

// TestPrograms has programs, as they would be in other processes, write to each other.
func TestPrograms(t *testing.T) {
	n := begin(t, 3, live.Options{Dir: dir(t)})
	names, targets := n.Targets()
	check.Equal(t, "names", names, []string{"n0", "n1", "n2"})
	ctx := t.Context()
	var nodes []*hostdrv.Node
	for _, target := range targets {
		node := check.Must(hostdrv.OpenNode(ctx, target, hostdrv.Options{}, hostdrv.NodeOptions{}))(t)
		t.Cleanup(func() { check.Error(t, node.Close()) })
		nodes = append(nodes, node)
	}
	for i, node := range nodes {
		to := (i + 1) % len(nodes)
		check.Equal(t, "number", check.Must(node.ReadRegister(ctx, linkproto.RegNodeID))(t), uint32(n.Number(i)))
		check.Fatal(t, node.SendRouted(ctx, 1, n.Number(to), linkproto.Packet{Type: linkproto.TypePage, Frame: 1, Port: 7})) // which is dropped
		check.Fatal(t, node.SendRouted(ctx, 1, n.Number(to), linkproto.Packet{Type: linkproto.TypeWrite, Addr: 0x100, Data: []byte("from " + names[i])}))
		check.Fatal(t, node.Sync(ctx, 1))
	}
	for i, node := range nodes {
		from := names[(i+len(nodes)-1)%len(nodes)]
		for got := make([]byte, 7); string(got) != "from "+from; {
			check.Fatal(t, node.ReadBuffer(ctx, got, 0x100))
		}
		check.Fails(t, "a port", check.Err(node.CreatePort(1, hostdrv.Send)), hostdrv.ErrPort, "network")
	}
}

// TestCounts reads the counters of a switch that drops packets, and those of network interfaces with a router that forward them.
func TestCounts(t *testing.T) {
	for _, test := range []struct {
		rung, shape string
		size        []int
		node        string
		want        []string
	}{
		{cluster.RTL, "star", []int{2}, "s0", []string{"port 1, rx_packets", "port 1, router lost 3", "port 2, tx_packets 5"}},
		{cluster.Model, "star", []int{2}, "s0", []string{"port 1, rx_packets", "port 1, router lost 3", "port 2, tx_packets 5"}},
		{cluster.Model, "line", []int{3}, "n1", []string{"port 1, rx_packets", "port 1, router lost 3", "port 2, tx_packets"}},
	} {
		t.Run(test.rung+test.shape, func(t *testing.T) {
			n := beginOn(t, test.rung, test.shape, test.size, live.Options{Dir: dir(t)})
			_, targets := n.Targets()
			ctx := t.Context()
			node := check.Must(hostdrv.OpenNode(ctx, targets[0], hostdrv.Options{}, hostdrv.NodeOptions{}))(t)
			defer node.Close()
			write := linkproto.Packet{Type: linkproto.TypeWrite}
			for range 5 {
				check.Fatal(t, node.SendRouted(ctx, 1, n.Number(len(targets)-1), write))
			}
			for range 3 {
				check.Fatal(t, node.SendRouted(ctx, 1, 99, write))
			}
			check.Fatal(t, node.Sync(ctx, 1))
			var text strings.Builder
			for _, c := range check.Must(n.Counts(ctx, test.node))(t).Counters {
				fmt.Fprintln(&text, c.Name, c.Value)
			}
			check.Contains(t, "counters", text.String(), test.want...)
			at := len(targets) // the switch
			if test.node == "n1" {
				at = 1
			}
			check.Equal(t, "drops", check.Must(n.Drops(ctx))(t), []cluster.SwitchLook{{Node: at, Lost: 3}})
		})
	}
}

// TestForward has background traffic go over network interfaces that forward it.
func TestForward(t *testing.T) {
	n := beginOn(t, cluster.Model, "ring", []int{5}, live.Options{Traffic: 10})
	for look := n.Look(); slices.ContainsFunc(look.Cables, func(c cluster.CableLook) bool { return c.Ways[0].Frames < 20 || c.Ways[1].Frames < 20 }); look = n.Look() {
		time.Sleep(time.Millisecond)
	}
}

// TestTraffic turns background traffic on, and off again.
func TestTraffic(t *testing.T) {
	n := begin(t, 4, live.Options{Traffic: 20})
	share := func(from cluster.Look, clocks uint64) (load [4]float64) {
		now := from
		for ; now.Clocks < from.Clocks+clocks; now = n.Look() {
			time.Sleep(time.Millisecond)
		}
		for i, c := range now.Cables {
			load[i] = float64(c.Ways[0].Symbols-from.Cables[i].Ways[0].Symbols) / float64(now.Clocks-from.Clocks)
		}
		return load
	}
	began := n.Look()
	for ; slices.ContainsFunc(began.Cables, func(c cluster.CableLook) bool { return c.Ways[0].Frames == 0 }); began = n.Look() {
		time.Sleep(time.Millisecond)
	}
	for _, load := range share(began, 50_000) {
		if load == 0 || load > 0.4 { // less than 0.2 if the machine is busy: time goes on for others meanwhile
			t.Errorf("a network interface uses %v of its link, want 0.2", load)
		}
	}
	check.Equal(t, "percent", n.Traffic(), 20)
	check.Fatal(t, n.SetTraffic(0))
	for most := 1.0; most > 0.02; { // what waits at hosts still goes
		load := share(n.Look(), 20_000)
		most = slices.Max(load[:])
	}
	for _, percent := range []int{-1, 101} {
		check.Fails(t, "traffic", n.SetTraffic(percent), nil, "0 to 100")
	}
	alone := begin(t, 2, live.Options{})
	check.Equal(t, "without options", alone.Traffic(), 0)
}

// TestTrafficAfterCut cuts a cable under traffic and restores it: the traffic goes on.
func TestTrafficAfterCut(t *testing.T) {
	for _, rung := range []string{cluster.RTL, cluster.Model} {
		t.Run(rung, func(t *testing.T) {
			n := beginOn(t, rung, "star", []int{2}, live.Options{Traffic: 30})
			is := func(wanted func(c cluster.CableLook) bool) {
				for !wanted(n.Look().Cables[0]) {
					time.Sleep(time.Millisecond)
				}
			}
			for range 3 {
				from := n.Look().Cables[0].Ways[0].Frames
				is(func(c cluster.CableLook) bool { return c.Ways[0].Frames > from+10 && c.Ways[1].Frames > from+10 })
				check.Fatal(t, n.Cut(0, true))
				is(func(c cluster.CableLook) bool { return !c.Ways[0].Up && !c.Ways[1].Up })
				check.Fatal(t, n.Cut(0, false))
			}
		})
	}
}

// TestServed: two networks cannot have the same folder, and a folder is left empty.
func TestServed(t *testing.T) {
	where := dir(t)
	t.Run("", func(t *testing.T) {
		begin(t, 2, live.Options{Dir: where})
		top := check.Must(topology.Generate("star", []int{2}, 1))(t)
		c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Rung: cluster.Model}))(t)
		check.Fails(t, "the same folder", check.Err(live.Open(t.Context(), c, live.Options{Dir: where})), nil, "node n0", "alive")
	})
	for _, e := range check.Must(os.ReadDir(where))(t) {
		t.Errorf("%s is left", e.Name())
	}
	top := check.Must(topology.Generate("star", []int{2}, 1))(t)
	c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Rung: cluster.Model}))(t)
	long := where + "/" + strings.Repeat("x", 100)
	check.Fails(t, "a path that is too long", check.Err(live.Open(t.Context(), c, live.Options{Dir: long})), nil, "shorter")
}
