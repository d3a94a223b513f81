// Package cluster simulates networks: the network interfaces and switches of a topology, joined by its cables, in lock-step on one clock.
//
// Every node is the RTL, compiled once for each kind. A network interface has a host in Go, which sends what Traffic asks for.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/routing"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

// Config describes a Cluster.
type Config struct {
	Topology *topology.Topology
	Routing  string // one of topology.Routings; "" is the topology's own
	Seed     uint64
	Threads  int // 0: 1
}

// Cluster is a network that runs. Close it.
type Cluster struct {
	Topology *topology.Topology
	Tables   *routing.Tables
	NIs      []*NI // in the topology's order
	Cycles   uint64

	ctx      context.Context
	peers    [][]int // by node and port
	nodes    []node
	switches []*netSwitch
	net      *verilator.Network
	hosts    []*ni.Host
	rng      *testbench.Rand
}

// NI is a network interface with its host.
type NI struct {
	*ni.Host
	Node int // index in Topology.Nodes
}

const (
	frames      = 64
	page        = 1024
	resetClocks = 64
	quantum     = 32 // clocks between two looks of the hosts at their ports
)

// Params are those of a network interface with so many links.
func Params(links int) rtl.Params {
	return rtl.Params{Links: links, Frames: frames, PageBytes: page, Routes: true}.WithDefaults()
}

// Open builds a network and brings its links up. When ctx ends, so does every run, with its error.
func Open(ctx context.Context, c Config) (*Cluster, error) {
	n := &Cluster{Topology: c.Topology, ctx: ctx, rng: testbench.NewRand(c.Seed).Split("cluster")}
	err := try.Run(func() {
		n.peers = peersOf(c.Topology)
		n.Tables = try.Get(routing.Build(c.Topology, c.Routing))
		try.OK(n.Tables.Check().Err())
		try.OK(n.runnable())
		n.build(c)
		n.start()
	})
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// runnable says what of the topology cannot be simulated yet.
func (n *Cluster) runnable() error {
	for i, node := range n.Topology.Nodes {
		if node.Rung != "" && node.Rung != "rtl" {
			return fmt.Errorf("cluster: node %s is to be %q: only rtl can be simulated in a network, leave its rung out", node.Name, node.Rung)
		}
		if node.Lanes > 1 {
			return fmt.Errorf("cluster: node %s has links of %d lanes: leave them out, a simulated link has one", node.Name, node.Lanes)
		}
		if node.Kind == topology.NI && n.forwards(i) {
			return fmt.Errorf("cluster: node %s would have to forward packets of others, which a network interface does not do yet: join it by switches", node.Name)
		}
	}
	for _, c := range n.Topology.Cables {
		if c.Lanes > 1 {
			return fmt.Errorf("cluster: cable %s has %d lanes: leave them out, a simulated link has one", n.Topology.CableName(c), c.Lanes)
		}
	}
	return nil
}

// forwards reports whether some way leads through a node: from a cable of its to another node than itself.
func (n *Cluster) forwards(node int) bool {
	for from := range n.Topology.Nodes {
		if from == node {
			continue
		}
		for dest := range n.Topology.Nodes {
			port, alternate := n.Tables.Route(from, dest)
			if dest != node && (n.peers[from][port] == node || n.peers[from][alternate] == node) {
				return true
			}
		}
	}
	return false
}

// peersOf are the nodes at the other ends of the cables, by node and port; -1 where there is none, as at port 0.
func peersOf(t *topology.Topology) (peers [][]int) {
	for _, node := range t.Nodes {
		peers = append(peers, slices.Repeat([]int{-1}, node.Ports+1))
	}
	for _, c := range t.Cables {
		for i, e := range c.Ends {
			peers[e.Node][e.Port] = c.Ends[1-i].Node
		}
	}
	return peers
}

// build makes the nodes, joins them by cables, and resets them.
func (n *Cluster) build(c Config) {
	b := builder{ctx: n.ctx, rng: n.rng, libraries: map[string]*verilator.Library{}}
	var models []*verilator.Model
	for i, node := range n.Topology.Nodes {
		if node.Kind == topology.Switch {
			s := &netSwitch{Node: i, rtlNode: b.open(switchDesign(node.Ports), node.Name, switchLines)}
			n.nodes = append(n.nodes, s)
			try.OK(s.Bind(&s.pins))
			n.switches = append(n.switches, s)
			models = append(models, s.Model)
		} else {
			p := Params(node.Ports)
			m := b.open(ni.Design(p), node.Name, p.Lines)
			n.nodes = append(n.nodes, m)
			rx, tx := p.Lines(0)
			host := try.Get(ni.NewHost(m.Model, rx, tx, p, uint8(1+n.rng.IntN(255))))
			n.NIs = append(n.NIs, &NI{Host: host, Node: i})
			n.hosts = append(n.hosts, host)
			models = append(models, m.Model)
		}
	}
	n.net = try.Get(verilator.NewNetwork(max(c.Threads, 1), models...))
	for _, c := range n.Topology.Cables {
		for i, from := range c.Ends {
			to := c.Ends[1-i]
			join(c, n.nodes[from.Node].socket(from.Port), n.nodes[to.Node].socket(to.Port), n.rng.Uint64())
		}
	}
	for _, node := range n.nodes {
		node.reset(true)
	}
	try.OK(n.net.Run(resetClocks))
	for _, node := range n.nodes {
		node.reset(false)
	}
}

// Close releases the models.
func (n *Cluster) Close() error {
	var errs []error
	if n.net != nil {
		errs = append(errs, n.net.Close())
	}
	for _, node := range n.nodes {
		errs = append(errs, node.Close())
	}
	return errors.Join(errs...)
}

// Run runs for at least so many clocks, in whole quanta, and serves the hosts.
func (n *Cluster) Run(clocks int) error {
	for done := 0; done < clocks; done += quantum {
		if err := n.ctx.Err(); err != nil {
			return err
		}
		if err := ni.Turn(n.net, quantum, n.hosts...); err != nil {
			return err
		}
		n.Cycles += quantum
	}
	return nil
}

// Until runs until done, for so many clocks at most.
func (n *Cluster) Until(limit int, what string, done func() bool) error {
	for start := n.Cycles; !done(); {
		if n.Cycles-start >= uint64(limit) {
			return &ni.Timeout{Since: start, Clocks: uint64(limit), What: what}
		}
		if err := n.Run(quantum); err != nil {
			return err
		}
	}
	return nil
}
