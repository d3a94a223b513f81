package collective_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// openNetwork opens the nodes of a simulated network whose routers carry out barriers.
func openNetwork(t *testing.T, rung, shape string, size ...int) (*cluster.World, []*hostdrv.Node) {
	t.Helper()
	return openWorld(t, cluster.Config{Topology: check.Must(topology.Generate(shape, size, 1))(t), Seed: 1, Rung: rung, Barriers: true})
}

const patience, silence = time.Millisecond, 8 * time.Millisecond

// joinHardware makes a group of nodes with barriers by hardware.
func joinHardware(t *testing.T, top *topology.Topology, nodes []*hostdrv.Node, context int) []*collective.Group {
	t.Helper()
	return joinCluster(t, nodes, collective.Options{Topology: top, Barrier: collective.Hardware, Context: context, Patience: patience, Silence: silence})
}

// barriers has each member make barriers, and look that nobody leaves one before all are in it.
func barriers(ctx context.Context, rounds int) func(g *collective.Group) error {
	var entered atomic.Int64
	return func(g *collective.Group) error {
		for round := range rounds {
			entered.Add(1)
			if err := g.Barrier(ctx); err != nil {
				return err
			}
			if in := int(entered.Load()); in < (round+1)*g.Size() {
				return fmt.Errorf("it has left barrier %d with %d of %d in it", round, in, (round+1)*g.Size())
			}
		}
		return nil
	}
}

func closed(t *testing.T, groups []*collective.Group) {
	t.Helper()
	want(t, "close", each(groups, func(g *collective.Group) error { return g.Close(t.Context()) }))
}

// TestHardware makes barriers by the routers of networks of all kinds, other calls between them, and several groups beside each other. If nobody says how barriers are to be
// made, they are by hardware.
func TestHardware(t *testing.T) {
	for _, test := range []struct {
		rung, shape string
		size        []int
	}{
		{cluster.Model, "tree", []int{3, 2}}, {cluster.Model, "fat-tree", []int{2, 3}}, {cluster.Model, "ring", []int{5}}, {cluster.Model, "hyper-crossbar", []int{2, 2, 2}},
		{cluster.RTL, "star", []int{3}},
	} {
		t.Run(fmt.Sprint(test.rung, " ", test.shape, test.size), func(t *testing.T) {
			w, nodes := openNetwork(t, test.rung, test.shape, test.size...)
			var all [][]*collective.Group
			for i := range 3 {
				all = append(all, joinCluster(t, nodes, collective.Options{Topology: w.Cluster.Topology, Context: i + 1, Patience: patience}))
			}
			for _, groups := range all {
				run := barriers(t.Context(), 5)
				want(t, "barriers", each(groups, func(g *collective.Group) error {
					data := []byte{1, 0, 0, 0, 0, 0, 0, 0}
					if err := run(g); err != nil {
						return err
					}
					if err := g.AllReduce(t.Context(), data, sum); err != nil {
						return err
					}
					if int(data[0]) != g.Size() || g.BarrierBy() != collective.Hardware {
						return fmt.Errorf("the sum is %d, barriers by %s", data[0], g.BarrierBy())
					}
					return g.Barrier(t.Context())
				}))
			}
			for _, groups := range all {
				closed(t, groups)
			}
		})
	}
}

// TestHardwareMissing: where a network interface, or a switch, carries out no barriers, members do them by messages, or all say who cannot if they must not.
func TestHardwareMissing(t *testing.T) {
	star := check.Must(topology.Generate("star", []int{3}, 1))(t)
	plain := openNodes(t, cluster.Config{Topology: star, Seed: 1, Rung: cluster.Model})
	w, nodes := openNetwork(t, cluster.Model, "ring", 4)
	ring := w.Cluster.Topology
	for _, test := range []struct {
		name  string
		top   *topology.Topology
		nodes []*hostdrv.Node
		text  string
	}{
		{"network interfaces", star, plain, "node 1: carries out no barriers: the network interface"},
		{"one that is no member", ring, []*hostdrv.Node{nodes[0], nodes[2]}, "is on the way between members"},
	} {
		t.Run(test.name, func(t *testing.T) {
			groups := joinCluster(t, test.nodes, collective.Options{Topology: test.top, Context: 1, Patience: patience})
			want(t, "by messages", each(groups, barriers(t.Context(), 2)))
			check.Contains(t, "way", groups[0].BarrierBy(), "dissemination")
			for _, err := range each(joinHardware(t, test.top, test.nodes, 2), barriers(t.Context(), 1)) {
				check.Fails(t, "by hardware", err, collective.ErrHardware, test.text)
			}
		})
	}
	check.Fails(t, "no topology", check.Err(collective.Open(t.Context(), nodes[0], collective.Options{Members: members(2), Barrier: collective.Hardware, Context: 3})), collective.ErrOption, "Options.Topology")
	check.Fails(t, "not in the topology", check.Err(collective.Open(t.Context(), nodes[0], collective.Options{Members: []uint16{1, 77}, Topology: ring, Context: 3})), collective.ErrOption, "is node 77")
	check.Fails(t, "over another transport", check.Err(collective.Over(newFake(1, 1).ends[0], 1, collective.Options{Members: members(1), Barrier: collective.Hardware, Topology: ring})), collective.ErrOption, "Open")
}

// twice makes two barriers: the first may come to its end, if what happens meanwhile comes late.
func twice(t *testing.T, g *collective.Group) error {
	if err := g.Barrier(t.Context()); err != nil {
		return err
	}
	return g.Barrier(t.Context())
}

// TestHardwareFails: what keeps a barrier by hardware from ending is said by all members, with who and what; another group goes on, and so do the rest in a new group.
func TestHardwareFails(t *testing.T) {
	const root = 7 // switch of which the others have no need
	for _, test := range []struct {
		name string
		rung string
		last func(t *testing.T, w *cluster.World, nodes []*hostdrv.Node, g *collective.Group) error // of the last member, in place of more barriers
		text string                                                                                 // of the others
	}{
		{"its program ends", cluster.Model, func(t *testing.T, _ *cluster.World, _ []*hostdrv.Node, g *collective.Group) error {
			return g.Close(t.Context())
		}, "node 4: "},
		{"its context ends", cluster.Model, func(t *testing.T, _ *cluster.World, nodes []*hostdrv.Node, g *collective.Group) error {
			limit, cancel := nodes[3].WithTimeout(t.Context(), patience/2)
			defer cancel()
			<-limit.Done()
			check.Fails(t, "its barrier", g.Barrier(limit), context.DeadlineExceeded)
			return nil
		}, "node 4: it gave up"},
		{"its host dies within the barrier", cluster.Model, func(t *testing.T, _ *cluster.World, nodes []*hostdrv.Node, g *collective.Group) error {
			limit, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- g.Barrier(limit) }()
			err := nodes[3].NI().Close()
			cancel()
			<-ended
			return err
		}, "node 4: "},
		{"it makes another call", cluster.Model, func(t *testing.T, _ *cluster.World, _ []*hostdrv.Node, g *collective.Group) error {
			check.Fails(t, "another call", g.AllGather(t.Context(), nil, nil), collective.ErrMember)
			return nil
		}, "is allgather"},
		{"a switch is reset", cluster.RTL, func(t *testing.T, _ *cluster.World, nodes []*hostdrv.Node, g *collective.Group) error {
			for number := range linkproto.BarrierGroups {
				reg := linkproto.BarrierRegMembers.Reg(number)
				have, err := nodes[3].NI().ReadRemote(t.Context(), 1, root, reg)
				if err == nil {
					err = nodes[3].NI().WriteRemote(t.Context(), 1, root, reg, linkproto.BarrierGeneration.In(linkproto.BarrierGeneration.Of(have)))
				}
				if err != nil {
					return err
				}
			}
			check.Fails(t, "its barrier", twice(t, g), nil)
			return nil
		}, "does not have barrier group"},
		{"a cable between switches is cut", cluster.Model, func(t *testing.T, w *cluster.World, nodes []*hostdrv.Node, g *collective.Group) error {
			top := w.Cluster.Topology
			cut := slices.IndexFunc(top.Cables, func(c topology.Cable) bool {
				return top.Nodes[c.Ends[0].Node].ID >= root || top.Nodes[c.Ends[1].Node].ID >= root
			})
			if err := w.Between(func() error { return w.Cluster.Cut(cut, true) }); err != nil {
				return err
			}
			check.Fails(t, "its barrier", twice(t, g), nil)
			return w.Between(func() error { return w.Cluster.Cut(cut, false) })
		}, "does not answer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, nodes := openNetwork(t, test.rung, "tree", 2, 2)
			top := w.Cluster.Topology
			others := joinHardware(t, top, nodes[:2], 9)
			want(t, "others", each(others, barriers(t.Context(), 1)))
			groups := joinHardware(t, top, nodes, 1)
			want(t, "the first", each(groups, barriers(t.Context(), 1)))
			start := nodes[0].NI().Now()
			for rank, err := range each(groups, func(g *collective.Group) error {
				if g.Rank() == 3 {
					return test.last(t, w, nodes, g)
				}
				return twice(t, g)
			}) {
				if rank < 3 {
					check.Fails(t, fmt.Sprint("member ", rank), err, nil, test.text)
				} else {
					check.Error(t, err)
				}
			}
			const silent = 3 * time.Millisecond // until a switch is taken for one
			if took := nodes[0].NI().Now() - start; took > 4*patience+silent {
				t.Errorf("it took %v", took)
			}
			closed(t, groups[:3])
			rest := joinHardware(t, top, nodes[:3], 2)
			want(t, "the rest", each(rest, barriers(t.Context(), 3)))
			want(t, "others go on", each(others, barriers(t.Context(), 2)))
		})
	}
}

// TestHardwareWaits: a member that is there and does not enter is named when the others' contexts end.
func TestHardwareWaits(t *testing.T) {
	w, nodes := openNetwork(t, cluster.Model, "tree", 2, 2)
	groups := joinHardware(t, w.Cluster.Topology, nodes, 1)
	want(t, "the first", each(groups, barriers(t.Context(), 1)))
	limit, cancel := nodes[0].WithTimeout(t.Context(), 5*patience)
	defer cancel()
	err := groups[0].Barrier(limit)
	check.Fails(t, "a barrier without the others", err, context.DeadlineExceeded, "waiting for node", "node 2 (n1)")
}

// TestHardwareSilent: members that are there and do not enter are named at all others within Options.Silence and two patiences, and hear of it when they enter. The rest make a new group.
func TestHardwareSilent(t *testing.T) {
	w, nodes := openNetwork(t, cluster.Model, "tree", 2, 2)
	groups := joinHardware(t, w.Cluster.Topology, nodes, 1)
	want(t, "the first", each(groups, barriers(t.Context(), 1)))
	start := nodes[0].NI().Now()
	const text = "node 3: it is there and has not entered barrier 2, nor have nodes [4]"
	for rank, err := range each(groups[:2], func(g *collective.Group) error { return g.Barrier(t.Context()) }) {
		check.Fails(t, fmt.Sprint("member ", rank), err, collective.ErrMember, text)
	}
	if took := nodes[0].NI().Now() - start; took < silence || took > silence+2*patience {
		t.Errorf("it took %v", took)
	}
	for rank, err := range each(groups[2:], func(g *collective.Group) error { return twice(t, g) }) {
		check.Fails(t, fmt.Sprint("silent member ", rank), err, collective.ErrMember, text)
	}
	closed(t, groups)
	want(t, "the rest", each(joinHardware(t, w.Cluster.Topology, nodes[:2], 2), barriers(t.Context(), 3)))
}

// TestHardwareDisagree: members that have other topologies, or one that has none, are told so.
func TestHardwareDisagree(t *testing.T) {
	w, nodes := openNetwork(t, cluster.Model, "star", 3)
	other := check.Must(topology.Generate("tree", []int{2, 2}, 1))(t)
	for context, its := range map[int]*topology.Topology{1: nil, 2: other} {
		groups := joinCluster(t, nodes[:2], collective.Options{Members: members(3), Topology: w.Cluster.Topology, Context: context, Patience: patience})
		groups = append(groups, joinCluster(t, nodes[2:], collective.Options{Members: members(3), Topology: its, Context: context, Patience: patience})...)
		for _, err := range each(groups, func(g *collective.Group) error { return g.Barrier(t.Context()) }) {
			check.Fails(t, "the barrier", err, collective.ErrMember, "other members, lengths, root or algorithm")
		}
	}
}

// TestHardwareAtOnce: of groups that are made in the same instant, and look at the same number first, one claims it at the switch that both need, and the other one takes another number: both
// make barriers.
func TestHardwareAtOnce(t *testing.T) {
	w, nodes := openNetwork(t, cluster.Model, "star", 8)
	top := w.Cluster.Topology
	options := func(context int, pair []uint16) collective.Options {
		return collective.Options{Topology: top, Barrier: collective.Hardware, Context: context, Patience: patience, Members: pair}
	}
	pairs := map[int][][]uint16{} // disjoint ones, by the number at which they begin
	for a := uint16(1); a <= 8; a++ {
		for b := uint16(1); b <= 8; b++ {
			pair := []uint16{a, b}
			if a == b {
				continue
			}
			first := check.Must(collective.First(options(1, pair)))(t)
			if !slices.ContainsFunc(pairs[first], func(other []uint16) bool {
				return slices.ContainsFunc(other, func(n uint16) bool { return n == a || n == b })
			}) {
				pairs[first] = append(pairs[first], pair)
			}
		}
	}
	var same [][]uint16
	for _, some := range pairs {
		if len(some) > len(same) {
			same = some
		}
	}
	if len(same) < 2 {
		t.Fatalf("no two groups begin at one number: %v", pairs)
	}
	var groups [2][]*collective.Group
	for i, pair := range same[:2] {
		for _, n := range pair {
			groups[i] = append(groups[i], check.Must(collective.Open(t.Context(), nodes[n-1], options(1+i, pair)))(t))
		}
	}
	runs := [2]func(*collective.Group) error{barriers(t.Context(), 3), barriers(t.Context(), 3)}
	want(t, "barriers", each(slices.Concat(groups[:]...), func(g *collective.Group) error {
		if slices.Contains(groups[0], g) {
			return runs[0](g)
		}
		return runs[1](g)
	}))
	for _, g := range slices.Concat(groups[:]...) {
		check.Equal(t, "barriers by", g.BarrierBy(), collective.Hardware)
	}
	closed(t, slices.Concat(groups[:]...))
}
