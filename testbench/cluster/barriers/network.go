package barriers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/hostdrv/routing"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/rtlsim"
)

// Network is a network whose nodes have drivers.
type Network struct {
	Algorithms []collective.Algorithm // that are measured, at first all

	members []member
	nis     []*hostdrv.NI // of a simulation
	world   world         // nil: time is real
	tick    float64       // of the world, in clocks
	begun   time.Time
	context int // of messages, the last one that was used

	topology  *topology.Topology       // whose routers carry barriers out; nil: they do not
	way       func(from, to int) []int // cables between switches from one member to another, in each network; nil: nobody knows
	multicast uint16                   // address of the group by which the first node reaches all others; 0: there is none
}

// world is a simulation.
type world interface {
	Ticks() uint64
	Close() error
}

// member is a node with its driver.
type member struct {
	end
	second end // in the second network, if there is one
}

// end is a member's network interface.
type end struct {
	node   *hostdrv.Node
	number uint16
	ni     *hostdrv.NI    // of a simulation
	host   *lockstep.Host // of a simulation
}

// OpenTwo opens two simulated networks like t, side by side, of which all nodes are members, with a network interface in both.
func OpenTwo(ctx context.Context, t *topology.Topology, rung string, seed uint64, threads int) (*Network, error) {
	return open(ctx, cluster.Config{Topology: t, Rung: rung, Seed: seed, Threads: threads}, t.Count(topology.NI), 2)
}

// Open opens a simulated network, of which n nodes have drivers.
func Open(ctx context.Context, t *topology.Topology, rung string, n int, seed uint64, threads int) (*Network, error) {
	return open(ctx, cluster.Config{Topology: t, Rung: rung, Seed: seed, Threads: threads}, n, 1)
}

// OpenHardware is Open of a network whose routers carry barriers out. It has no multicasts.
func OpenHardware(ctx context.Context, t *topology.Topology, rung string, n int, seed uint64, threads int) (*Network, error) {
	return open(ctx, cluster.Config{Topology: t, Rung: rung, Seed: seed, Threads: threads, Barriers: true}, n, 1)
}

func open(ctx context.Context, config cluster.Config, n, networks int) (*Network, error) {
	w := &Network{Algorithms: collective.Algorithms}
	config.Params = cluster.BenchParams(2048, 1)
	t, seed := config.Topology, config.Seed
	var all []*cluster.Cluster
	err := try.Run(func() {
		for range networks {
			all = append(all, try.Get(cluster.Open(ctx, config)))
		}
		world := cluster.Together(all...)
		w.world, w.tick = world, 1
		c := all[0]
		w.members = make([]member, n)
		var places []int // in the topology
		for i := range n * networks {
			at := i % n * len(c.NIs) / n
			host := try.Get(world.Host(i/n*len(c.NIs) + at))
			ni := try.Get(hostdrv.New(ctx, host, hostdrv.Options{Seed: seed + uint64(i)}))
			w.nis = append(w.nis, ni)
			e := end{ni: ni, host: host, number: c.Topology.Nodes[c.NIs[at].Node].ID, node: try.Get(hostdrv.Start(ctx, ni, hostdrv.NodeOptions{NoPorts: true}))}
			if i >= n {
				w.members[i-n].second = e
				continue
			}
			w.members[i].end = e
			places = append(places, c.NIs[at].Node)
		}
		peers := t.Peers()
		w.way = func(from, to int) []int { return ways(c.Tables, peers, places[from], places[to]) }
		if config.Barriers {
			w.topology = t
			return
		}
		if slices.ContainsFunc(t.Nodes, func(n topology.Node) bool { return n.Kind == topology.NI && n.Ports > 1 }) {
			return // whose routers other programs would have to tell of a group
		}
		const group = 1
		var switches []hostdrv.GroupPorts
		for i, ports := range try.Get(c.Tables.Tree(places[0], places)).Ports {
			if t.Nodes[i].Kind == topology.Switch && ports != 0 {
				switches = append(switches, hostdrv.GroupPorts{Node: t.Nodes[i].ID, Ports: uint32(ports) << 1})
			}
		}
		try.OK(w.members[0].ni.MakeGroup(ctx, group, switches))
		w.multicast = linkproto.MulticastBase + group
	})
	switch {
	case err == nil:
		return w, nil
	case w.world != nil:
		err = errors.Join(err, w.Close())
	case len(all) > 0:
		err = errors.Join(err, all[0].Close())
	}
	return nil, err
}

// ways are the cables between routers by which packets go from one node to another, each by the node and port at which they leave. The first and the last cable are the nodes' own.
func ways(t *routing.Tables, peers [][]int, from, to int) (cables []int) {
	for at := from; ; {
		port, _ := t.Route(at, to)
		next := peers[at][port]
		if next == to {
			return cables
		}
		if at != from {
			cables = append(cables, at<<8|int(port))
		}
		at = next
	}
}

// Tree is a network of up to 64 nodes: one switch up to 16, else switches of four nodes each, and one above them.
func Tree(n int) (*topology.Topology, error) {
	const each = 4
	if n <= topology.MaxSwitchPorts {
		return topology.Generate("star", []int{n}, 1)
	}
	leaves := (n + each - 1) / each
	t := &topology.Topology{Default: topology.Link{Lanes: 1, Latency: 1}}
	add := func(kind topology.Kind, name string, ports int) int {
		t.Nodes = append(t.Nodes, topology.Node{Kind: kind, Name: name, ID: uint16(len(t.Nodes) + 1), Ports: ports})
		return len(t.Nodes) - 1
	}
	join := func(a, b topology.End) {
		t.Cables = append(t.Cables, topology.Cable{Ends: [2]topology.End{a, b}, Link: t.Default})
	}
	for i := range n {
		add(topology.NI, fmt.Sprint("n", i), 1)
	}
	root := add(topology.Switch, "root", leaves)
	for l := range leaves {
		leaf := add(topology.Switch, fmt.Sprint("s", l), each+1)
		join(topology.End{Node: leaf, Port: each + 1}, topology.End{Node: root, Port: l + 1})
		for i := l * each; i < min((l+1)*each, n); i++ {
			join(topology.End{Node: i, Port: 1}, topology.End{Node: leaf, Port: 1 + i%each})
		}
	}
	return t, t.Validate()
}

// Attach makes a network of nodes whose targets are elsewhere. Time is real there, and a clock is 8 ns. The nodes stay the caller's.
func Attach(ctx context.Context, nodes []*hostdrv.Node) (*Network, error) {
	w := &Network{Algorithms: collective.Algorithms, begun: time.Now()}
	for _, node := range nodes {
		number, err := node.ReadRegister(ctx, linkproto.RegNodeID)
		if err != nil {
			return nil, err
		}
		w.members = append(w.members, member{end: end{node: node, number: uint16(number)}})
	}
	return w, nil
}

// Close ends the network.
func (w *Network) Close() error {
	if w.world == nil {
		return nil
	}
	for _, ni := range w.nis {
		ni.Close()
	}
	return w.world.Close()
}

// numbers are those of the first n nodes.
func (w *Network) numbers(n int) (list []uint16) {
	for _, m := range w.members[:n] {
		list = append(list, m.number)
	}
	return list
}

// clock is the time in clocks, the same for all members.
func (w *Network) clock() float64 {
	if w.world == nil {
		return time.Since(w.begun).Seconds() * rtlsim.Rate
	}
	return float64(w.world.Ticks()) * w.tick
}

// networks is how many networks there are.
func (w *Network) networks() int {
	if w.members[0].second.node != nil {
		return 2
	}
	return 1
}

// pause has a member wait for so many clocks.
func (w *Network) pause(ctx context.Context, i int, clocks float64) error {
	d := time.Duration(clocks / rtlsim.Rate * 1e9)
	if w.world == nil {
		time.Sleep(d)
		return ctx.Err()
	}
	return w.members[i].ni.Sleep(ctx, d)
}

// each runs what the first n nodes do, on one network in no time of a simulation but what they wait for. That ends by package try; then the context of the others ends.
func (w *Network) each(ctx context.Context, n int, do func(ctx context.Context, i int)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var work sync.WaitGroup
	for i := range n {
		over := func() {}
		if w.world != nil && w.networks() == 1 {
			over = w.members[i].host.Work()
		}
		work.Go(func() {
			defer over()
			if err := try.Run(func() { do(ctx, i) }); err != nil {
				cancel(fmt.Errorf("node %d: %w", w.members[i].number, err))
			}
		})
	}
	work.Wait()
	return context.Cause(ctx)
}
