package cluster_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/routing"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// barrierPrograms opens nodes of a tree of switches with 4 network interfaces, whose hosts are drivers of this test, or programs beside a server each.
func barrierPrograms(t *testing.T, rung string, shared bool) (*cluster.World, []*hostdrv.Node) {
	t.Helper()
	config := cluster.Config{Topology: check.Must(topology.Generate("tree", []int{2, 2}, 1))(t), Seed: 1, Rung: rung, Barriers: true}
	if rung == mixed {
		config.Rung = cluster.RTL
		for i := range config.Topology.Nodes {
			if i%2 != 0 {
				config.Topology.Nodes[i].Rung = cluster.Model
			}
		}
	}
	w, nis := openPrograms(t, config)
	var nodes []*hostdrv.Node
	if shared {
		connect := served(t, nis)
		for i := range nis {
			nodes = append(nodes, connect(i))
		}
		return w, nodes
	}
	for _, n := range nis {
		nodes = append(nodes, check.Must(hostdrv.Start(t.Context(), n, hostdrv.NodeOptions{NoPorts: true}))(t))
	}
	return w, nodes
}

// groupsOf are what the members, by their place among the network interfaces, are to open of a group. The first one makes it.
func groupsOf(t *testing.T, w *cluster.World, number int, generation uint8, members ...int) (groups []hostdrv.BarrierGroup) {
	t.Helper()
	c := w.Cluster
	var nodes []int
	for _, m := range members {
		nodes = append(nodes, c.NIs[m].Node)
	}
	ports := check.Must(routing.BarrierTree(c.Topology, nodes))(t)
	var switches []hostdrv.BarrierSwitch
	for i, node := range c.Topology.Nodes {
		if node.Kind == topology.Switch && ports[i] != 0 {
			switches = append(switches, hostdrv.BarrierSwitch{Node: node.ID, Ports: ports[i]})
		}
	}
	for i, n := range nodes {
		groups = append(groups, hostdrv.BarrierGroup{Number: number, Generation: generation, Ports: ports[n], Switches: switches, Make: i == 0})
	}
	return groups
}

// openBarriers opens a group at its members.
func openBarriers(t *testing.T, w *cluster.World, nodes []*hostdrv.Node, number int, generation uint8, members ...int) (group []*hostdrv.Barrier) {
	t.Helper()
	for i, g := range groupsOf(t, w, number, generation, members...) {
		group = append(group, check.Must(nodes[members[i]].OpenBarrier(t.Context(), g))(t))
	}
	return group
}

// together has all members do something, each in a goroutine of its own.
func together(group []*hostdrv.Barrier, do func(member int, b *hostdrv.Barrier) error) (errs []error) {
	errs = make([]error, len(group))
	var work sync.WaitGroup
	for i, b := range group {
		work.Go(func() { errs[i] = do(i, b) })
	}
	work.Wait()
	return errs
}

// wantRounds has a group make barriers, and wants nobody to leave one that not all have entered.
func wantRounds(t *testing.T, group []*hostdrv.Barrier, rounds int) {
	t.Helper()
	var entered atomic.Int64
	for member, err := range together(group, func(_ int, b *hostdrv.Barrier) error {
		for round := range rounds {
			entered.Add(1)
			if err := b.Enter(t.Context()); err != nil {
				return err
			}
			if err := b.Wait(t.Context()); err != nil {
				return err
			}
			if in := int(entered.Load()); in < (round+1)*len(group) {
				return fmt.Errorf("it has left barrier %d with %d of %d in it", round, in, (round+1)*len(group))
			}
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("member %d: %v", member, err)
		}
	}
}

// closeAll ends a group.
func closeAll(t *testing.T, group []*hostdrv.Barrier) {
	t.Helper()
	for _, err := range together(group, func(_ int, b *hostdrv.Barrier) error { return b.Close(t.Context()) }) {
		check.Error(t, err)
	}
}

// TestBarrierDriver: drivers and programs beside a server make barriers by their network interfaces, several groups at once, through more phases than a register counts, and
// the numbers of groups that are closed are free again.
func TestBarrierDriver(t *testing.T) {
	for _, c := range []struct {
		rung   string
		shared bool
		groups int
	}{{cluster.Model, false, linkproto.BarrierGroups}, {cluster.Model, true, 3}, {cluster.RTL, false, 2}, {mixed, true, 1}} {
		t.Run(fmt.Sprint(c.rung, " shared ", c.shared), func(t *testing.T) {
			w, nodes := barrierPrograms(t, c.rung, c.shared)
			var groups [][]*hostdrv.Barrier
			for i := range c.groups {
				members := [][]int{{0, 1, 2, 3}, {1, 2}, {3, 2, 0}}[i%3]
				groups = append(groups, openBarriers(t, w, nodes, i, uint8(i%16), members...))
			}
			var work sync.WaitGroup
			for i, group := range groups {
				rounds := 2
				if i == 0 && c.rung == cluster.Model {
					rounds = 20
				}
				work.Go(func() { wantRounds(t, group, rounds) })
			}
			work.Wait()
			free, _, err := nodes[2].FreeBarriers(t.Context(), 0xF0000003, nil)
			check.Fatal(t, err)
			check.Equal(t, "free numbers", free, uint32(0xF0000003)&^uint32(1<<c.groups-1))
			for _, group := range groups {
				closeAll(t, group)
			}
			switches := groupsOf(t, w, 0, 0, 0, 1, 2, 3)[0].Switches
			free, generation, err := nodes[3].FreeBarriers(t.Context(), 1, []uint16{switches[0].Node, switches[1].Node, switches[2].Node})
			check.Fatal(t, err)
			check.Equal(t, "free numbers when groups are closed", free, 1)
			check.Equal(t, "a generation that was not there", generation, 1)
			wantRounds(t, openBarriers(t, w, nodes, 0, generation, 0, 3), 2)
		})
	}
}

// TestBarrierDriverRefuses: what is wrong with a group, or with its use, is said; other groups go on.
func TestBarrierDriverRefuses(t *testing.T) {
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprint("shared ", shared), func(t *testing.T) {
			w, nodes := barrierPrograms(t, cluster.Model, shared)
			ctx := t.Context()
			other := openBarriers(t, w, nodes, 7, 0, 0, 1, 2, 3)
			good := groupsOf(t, w, 3, 1, 0, 1)
			for what, c := range map[string]struct {
				change func(g *hostdrv.BarrierGroup)
				is     error
				text   string
			}{
				"no member":          {func(g *hostdrv.BarrierGroup) { g.Ports = 2 }, hostdrv.ErrRange, "no member of barrier group 3"},
				"alone":              {func(g *hostdrv.BarrierGroup) { g.Ports = 1 }, hostdrv.ErrRange, "lead to no other member"},
				"no such group":      {func(g *hostdrv.BarrierGroup) { g.Number = 32 }, hostdrv.ErrRange, "no barrier group 32, want 0 to 31"},
				"no such generation": {func(g *hostdrv.BarrierGroup) { g.Generation = 16 }, hostdrv.ErrRange, "generation 16"},
				"a switch twice":     {func(g *hostdrv.BarrierGroup) { g.Switches = append(g.Switches, g.Switches[0]) }, hostdrv.ErrRange, "want each once"},
				"a port of the NI":   {func(g *hostdrv.BarrierGroup) { g.Ports = 5 }, hostdrv.ErrRange, "has ports 0x1 of 0x5"},
				"a port of a switch": {func(g *hostdrv.BarrierGroup) {
					g.Switches = []hostdrv.BarrierSwitch{{Node: g.Switches[0].Node, Ports: 1 << 16}}
				}, hostdrv.ErrBarrier, "it has ports 0x0 of 0x10000"},
				"no switch":                 {func(g *hostdrv.BarrierGroup) { g.Switches = []hostdrv.BarrierSwitch{{Node: 999, Ports: 6}} }, hostdrv.ErrNoAnswer, "switch 999"},
				"a number that has a group": {func(g *hostdrv.BarrierGroup) { g.Number = 7 }, hostdrv.ErrLimit, "another program has it"},
			} {
				g := good[0]
				g.Switches = append([]hostdrv.BarrierSwitch(nil), g.Switches...)
				c.change(&g)
				check.Fails(t, what, check.Err(nodes[0].OpenBarrier(ctx, g)), c.is, c.text)
			}
			group := []*hostdrv.Barrier{check.Must(nodes[0].OpenBarrier(ctx, good[0]))(t), check.Must(nodes[1].OpenBarrier(ctx, good[1]))(t)}
			check.Fails(t, "to wait before entering", group[0].Wait(ctx), hostdrv.ErrBarrier, "enter first")
			check.Fatal(t, group[0].Enter(ctx))
			check.Fails(t, "to enter twice", group[0].Enter(ctx), hostdrv.ErrBarrier, "entered phase 1 before")
			limit, cancel := nodes[0].WithTimeout(ctx, 100*time.Microsecond)
			defer cancel()
			check.Fails(t, "a member that does not enter", group[0].Wait(limit), context.DeadlineExceeded, "waiting for")
			states := check.Must(group[0].States(ctx))(t)
			check.Equal(t, "states", len(states), 2)
			check.Equal(t, "ports of the switch that have said the next phase", states[1].Entered, 2)
			check.Fatal(t, group[1].Enter(ctx))
			check.Fatal(t, group[0].Wait(ctx))
			closeAll(t, group)
			check.Fails(t, "a closed group", group[0].Enter(ctx), hostdrv.ErrClosed)
			check.Fails(t, "a zero group", new(hostdrv.Barrier).Wait(ctx), hostdrv.ErrClosed)
			wantRounds(t, other, 2)
		})
	}
}

// TestBarrierDriverLoses: a group that a switch, or a network interface, does not have any more is told from one whose members do not enter, and is made anew without the member that died.
func TestBarrierDriverLoses(t *testing.T) {
	w, nodes := barrierPrograms(t, cluster.Model, false)
	ctx := t.Context()
	group := openBarriers(t, w, nodes, 3, 1, 0, 1, 2, 3)
	wantRounds(t, group, 1)
	at := groupsOf(t, w, 3, 1, 0, 1, 2, 3)[0].Switches[1].Node
	check.Fatal(t, nodes[0].NI().WriteRemote(ctx, 1, at, linkproto.BarrierRegMembers.Reg(3), linkproto.BarrierGeneration.In(1)))
	for _, s := range check.Must(group[2].States(ctx))(t) {
		check.Equal(t, fmt.Sprint("lost by node ", s.Node), s.Lost, s.Node == at)
	}
	check.Fatal(t, nodes[1].WriteRegister(ctx, linkproto.BarrierRegMembers.Reg(3), linkproto.BarrierGeneration.In(1)))
	check.Fatal(t, group[1].Enter(ctx))
	check.Fails(t, "a group that the network interface has lost", group[1].Wait(ctx), hostdrv.ErrBarrierLost, "make the group anew")
	for _, b := range group[:3] {
		check.Fatal(t, b.Dissolve(ctx))
	}
	wantRounds(t, openBarriers(t, w, nodes, 3, 2, 0, 1, 2), 3)
}

// TestBarrierProgramDies: a group ends with its program, which waits in a barrier, and the next program has its number.
func TestBarrierProgramDies(t *testing.T) {
	w, nis := openPrograms(t, cluster.Config{Topology: check.Must(topology.Generate("star", []int{2}, 1))(t), Seed: 1, Rung: cluster.Model, Barriers: true})
	connect := served(t, nis)
	far, watch := connect(1), connect(0)
	for generation := range uint8(3) {
		near := connect(0)
		group := openBarriers(t, w, []*hostdrv.Node{near, far}, 0, generation, 0, 1)
		wantRounds(t, group, 1)
		check.Fatal(t, group[0].Enter(t.Context()))
		ended := make(chan error)
		go func() { ended <- group[0].Wait(t.Context()) }()
		check.Fatal(t, near.Close())
		check.Fails(t, "a wait of a program that ends", <-ended, hostdrv.ErrClosed)
		check.Fatal(t, group[1].Dissolve(t.Context()))
		for free := uint32(0); free == 0; {
			var err error
			free, _, err = watch.FreeBarriers(t.Context(), 1, nil)
			check.Fatal(t, err)
		}
	}
}

// TestBarrierDriverSame: who makes a group that there is already, with the same number, generation and ports, is refused, and harms it not.
func TestBarrierDriverSame(t *testing.T) {
	w, nodes := barrierPrograms(t, cluster.Model, false)
	group := openBarriers(t, w, nodes, 3, 1, 0, 1)
	again := groupsOf(t, w, 3, 1, 0, 1)[0]
	check.Fails(t, "the same once more", check.Err(nodes[2].OpenBarrier(t.Context(), again)), hostdrv.ErrBarrier, "use another generation")
	for _, s := range check.Must(group[0].States(t.Context()))(t) {
		if s.Lost {
			t.Fatalf("node %d has lost the group", s.Node)
		}
	}
	wantRounds(t, group, 2)
	closeAll(t, group)
}

// TestBarrierDriverCancelled: a group that is closed with a context that has ended does not stay at the switches.
func TestBarrierDriverCancelled(t *testing.T) {
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprint("shared ", shared), func(t *testing.T) {
			w, nodes := barrierPrograms(t, cluster.Model, shared)
			group := openBarriers(t, w, nodes, 3, 1, 0, 1)
			wantRounds(t, group, 1)
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			for _, b := range group {
				_ = b.Close(ended) // which may say that others may not have heard
			}
			for i, node := range nodes {
				var switches []uint16
				for _, s := range groupsOf(t, w, 3, 1, 0, 1)[0].Switches {
					switches = append(switches, s.Node)
				}
				free, _, err := node.FreeBarriers(t.Context(), 1<<3, switches)
				check.Fatal(t, err)
				check.Equal(t, fmt.Sprint("free at network interface ", i), free, 1<<3)
			}
		})
	}
}
