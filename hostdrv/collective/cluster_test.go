package collective_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// openCluster opens nodes of a simulated star.
func openCluster(t *testing.T, n int, rung string) (nodes []*hostdrv.Node) {
	t.Helper()
	return openNodes(t, cluster.Config{Topology: check.Must(topology.Generate("star", []int{n}, 1))(t), Seed: 1, Rung: rung})
}

// openNodes opens nodes of a simulated network.
func openNodes(t *testing.T, config cluster.Config) []*hostdrv.Node {
	t.Helper()
	_, nodes := openWorld(t, config)
	return nodes
}

// openWorld is openNodes with their world.
func openWorld(t *testing.T, config cluster.Config) (w *cluster.World, nodes []*hostdrv.Node) {
	t.Helper()
	w, nodes, _ = openHosts(t, config)
	return w, nodes
}

// openHosts is openWorld with the transports of the nodes.
func openHosts(t *testing.T, config cluster.Config) (w *cluster.World, nodes []*hostdrv.Node, hosts []*lockstep.Host) {
	t.Helper()
	c := check.Must(cluster.Open(t.Context(), config))(t)
	w = c.Programs()
	t.Cleanup(func() { check.Error(t, w.Close()) })
	for i := range c.NIs {
		hosts = append(hosts, check.Must(w.Host(i))(t))
		ni := check.Must(hostdrv.New(t.Context(), hosts[i], hostdrv.Options{Seed: uint64(i + 1)}))(t)
		t.Cleanup(func() { check.Error(t, ni.Close()) })
		nodes = append(nodes, check.Must(hostdrv.Start(t.Context(), ni, hostdrv.NodeOptions{NoPorts: true}))(t))
	}
	return w, nodes, hosts
}

// joinCluster makes a group of nodes, or some of its members.
func joinCluster(t *testing.T, nodes []*hostdrv.Node, o collective.Options) (groups []*collective.Group) {
	t.Helper()
	if o.Members == nil {
		for _, node := range nodes {
			o.Members = append(o.Members, uint16(check.Must(node.ReadRegister(t.Context(), linkproto.RegNodeID))(t)))
		}
	}
	for i, node := range nodes {
		o.Seed = uint64(i + 1)
		groups = append(groups, check.Must(collective.Open(t.Context(), node, o))(t))
	}
	return groups
}

// TestCluster makes barriers of all algorithms and an allreduce over messages of simulated network interfaces.
func TestCluster(t *testing.T) {
	for _, test := range []struct {
		rung  string
		nodes int
		names []string
	}{{cluster.Model, 5, collective.Barriers()}, {cluster.RTL, 3, []string{"shuffle", "tree2", "tree2-multicast", "tree2-multicast"}}} {
		t.Run(test.rung, func(t *testing.T) {
			nodes := openCluster(t, test.nodes, test.rung)
			all := []hostdrv.GroupPorts{{Node: uint16(test.nodes + 1), Ports: 2<<test.nodes - 2}}
			check.Fatal(t, nodes[0].NI().MakeGroup(t.Context(), 3, all))
			for i, name := range test.names {
				groups := joinCluster(t, nodes, collective.Options{Barrier: name, Context: i + 1, Multicast: linkproto.MulticastBase + 3, Acknowledged: i%2 == 1})
				want(t, name, each(groups, func(g *collective.Group) error {
					data := []byte{byte(g.Rank() + 1), 0, 0, 0, 0, 0, 0, 0}
					for range 3 {
						if err := g.Barrier(t.Context()); err != nil {
							return err
						}
					}
					if err := g.AllReduce(t.Context(), data, sum); err != nil {
						return err
					}
					if n := g.Size(); int(data[0]) != n*(n+1)/2 {
						return fmt.Errorf("the sum is %d", data[0])
					}
					return g.Close(t.Context())
				}))
			}
		})
	}
}

// TestClusterMemberEnds: when a member's program ends, the others' barrier names it, within three times their patience; and they go on without it in a new group.
func TestClusterMemberEnds(t *testing.T) {
	const patience = 2 * time.Millisecond
	nodes := openCluster(t, 4, cluster.Model)
	groups := joinCluster(t, nodes, collective.Options{Barrier: "tree2", Context: 1, Patience: patience})
	want(t, "the first", each(groups, func(g *collective.Group) error { return g.Barrier(t.Context()) }))
	check.Fatal(t, groups[3].Close(t.Context()))
	start := nodes[0].NI().Now()
	for _, err := range each(groups[:3], func(g *collective.Group) error { return g.Barrier(t.Context()) }) {
		check.Fails(t, "without one", err, collective.ErrMember, "node 4")
	}
	if took := nodes[0].NI().Now() - start; took > 3*patience {
		t.Errorf("it took %v", took)
	}
	rest := joinCluster(t, nodes[:3], collective.Options{Context: 2})
	want(t, "the rest", each(rest, func(g *collective.Group) error { return g.Barrier(t.Context()) }))
}

// TestClusterLate: when a member begins an exchange late by the time of one of its two stages, all end later by about that: those that are ahead do not fill the cable of
// the one that waits for it.
func TestClusterLate(t *testing.T) {
	const late = 1
	_, nodes, hosts := openHosts(t, cluster.Config{Topology: check.Must(topology.Generate("star", []int{4}, 1))(t), Seed: 1, Rung: cluster.Model})
	groups := joinCluster(t, nodes, collective.Options{Way: collective.Exchange, Context: 1})
	allReduce := func(delay time.Duration) time.Duration {
		start := nodes[0].NI().Now()
		var over []func()
		for _, host := range hosts {
			over = append(over, host.Work())
		}
		want(t, "allreduce", each(groups, func(g *collective.Group) error {
			defer over[g.Rank()]()
			if g.Rank() == late {
				if err := nodes[late].NI().Sleep(t.Context(), delay); err != nil {
					return err
				}
			}
			return g.AllReduce(t.Context(), make([]byte, 32<<10), sum)
		}))
		return nodes[0].NI().Now() - start
	}
	allReduce(0) // brings virtual links up
	punctual := allReduce(0)
	if took := allReduce(punctual / 2); took > punctual*8/5 {
		t.Errorf("it took %v, without a member that is late %v", took, punctual)
	}
}
