package barriers

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// Words are barriers that the routers of a network carry out, in RTL: clocks from the last member that enters at its network interface to the last that has left there. All nodes
// are members.
type Words struct {
	Network  string  `json:"network"`
	NIs      int     `json:"nis"`
	Switches int     `json:"switches"`
	Load     float64 `json:"load"`     // of uniform messages meanwhile, 0: none; above 1 they saturate the network
	Filled   int     `json:"filled"`   // clocks of that load before the first barrier, until what arrives grows no more
	Accepted float64 `json:"accepted"` // share of a link that arrives then
	Count    int     `json:"barriers"`
	Median   int     `json:"median"`
	Least    int     `json:"least"`
	Most     int     `json:"most"`
}

// Saturating is a load that no network carries.
const Saturating = 1.5

// Networks are the names of the networks with up to so many network interfaces that MeasureWords has.
func Networks(most int) (names []string) {
	for _, n := range networks {
		if n.topology().Count(topology.NI) <= most {
			names = append(names, n.name)
		}
	}
	return names
}

// network is one of Networks.
type network struct {
	name  string
	shape string // "": two levels of switches of 16 ports
	size  []int
}

func (n network) topology() *topology.Topology {
	if n.shape == "" {
		return TwoLevels(n.size[0])
	}
	return try.Get(topology.Generate(n.shape, n.size, 1))
}

var networks = []network{
	{"star 2", "star", []int{2}},
	{"star 4", "star", []int{4}},
	{"star 8", "star", []int{8}},
	{"star 16", "star", []int{16}},
	{"tree 32", "", []int{32}},
	{"tree 8 2", "tree", []int{8, 2}},
	{"hyper-crossbar 4 4 2", "hyper-crossbar", []int{4, 4, 2}},
	{"hyper-crossbar 8 8 4", "hyper-crossbar", []int{8, 8, 4}},
	{"hyper-crossbar 16 16 10", "hyper-crossbar", []int{16, 16, 10}},
}

// TwoLevels is a tree of switches of 16 ports with up to 45 network interfaces: a root, and below it as few as they need.
func TwoLevels(nis int) *topology.Topology {
	const ports = 16
	link := topology.Link{Lanes: 1, Latency: 1}
	t := &topology.Topology{Default: link, Nodes: []topology.Node{{Kind: topology.Switch, Name: "root", ID: 100, Ports: ports}}}
	leaves := (nis + ports - 2) / (ports - 1)
	join := func(a, b topology.End) {
		t.Cables = append(t.Cables, topology.Cable{Ends: [2]topology.End{a, b}, Link: link})
	}
	for leaf := 1; leaf <= leaves; leaf++ {
		t.Nodes = append(t.Nodes, topology.Node{Kind: topology.Switch, Name: fmt.Sprint("leaf", leaf), ID: uint16(100 + leaf), Ports: ports})
		join(topology.End{Node: leaf, Port: ports}, topology.End{Node: 0, Port: leaf})
	}
	for i := range nis {
		t.Nodes = append(t.Nodes, topology.Node{Kind: topology.NI, Name: fmt.Sprint("n", i), ID: uint16(1 + i), Ports: 1})
		join(topology.End{Node: 1 + leaves + i, Port: 1}, topology.End{Node: 1 + i%leaves, Port: 1 + i/leaves})
	}
	return t
}

// MeasureWords makes so many barriers on one of Networks at each of some loads. The number of threads changes no result. With an error come the loads measured before it. progress is told what is being done.
func MeasureWords(ctx context.Context, network string, loads []float64, count int, seed uint64, threads int, progress func(string)) (all []Words, err error) {
	return all, try.Run(func() {
		t := networkOf(network)
		progress("compilation")
		c := try.Get(cluster.Open(ctx, cluster.Config{
			Topology: t, Seed: seed, Threads: threads, Params: cluster.BenchParams(2048, 1), Barriers: true, Arrivals: true, Preload: true,
		}))
		defer try.Finally(c.Close)
		g := try.Get(c.NewBarrierGroup(0, 1, c.NIs))
		b := try.Get(c.NewBench(cluster.Workload{Pattern: "uniform", Least: 64, Most: 1500}))
		for i, load := range loads {
			w := Words{Network: network, NIs: t.Count(topology.NI), Switches: t.Count(topology.Switch), Load: load}
			w.measure(c, g, b, count, seed, progress)
			if all = append(all, w); load > 0 && i+1 < len(loads) { // an overloaded network takes long to run empty
				try.Get(b.End())
			}
		}
	})
}

func networkOf(name string) *topology.Topology {
	i := slices.IndexFunc(networks, func(n network) bool { return n.name == name })
	if i < 0 {
		try.Failf("barriers: there is no network %q: want one of %q", name, Networks(math.MaxInt))
	}
	return networks[i].topology()
}

// measure makes barriers, between which the hosts wait at random.
func (w *Words) measure(c *cluster.Cluster, g *cluster.BarrierGroup, b *cluster.Bench, count int, seed uint64, progress func(string)) {
	const pause = 64
	run, state := c.Run, "idle"
	if w.Load > 0 {
		run, state = b.Pass, "saturated"
		var err error
		w.Filled, w.Accepted, err = b.Fill(w.Load, func(clocks int, accepted float64) {
			progress(fmt.Sprintf("filled for %d clocks, %.2f of a link arrive", clocks, accepted))
		})
		try.OK(err)
	}
	rng := testbench.NewRand(seed)
	var took []int
	for i := range count {
		progress(fmt.Sprintf("%s, barrier %d of %d", state, i+1, count))
		try.OK(run(1 + rng.IntN(pause)))
		took = append(took, try.Get(g.Pass(run)))
	}
	slices.Sort(took)
	w.Count, w.Median, w.Least, w.Most = count, took[count/2], took[0], took[count-1]
}
