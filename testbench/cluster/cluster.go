// Package cluster simulates networks: the network interfaces and switches of a topology, joined by its cables, in lock-step on one clock.
//
// A node is RTL, compiled once for each kind, or a model in Go; both may be in one network. A network interface has a host in Go, which sends what
// Traffic asks for.
package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stafflink/lmmc/hostdrv/routing"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

// Config describes a Cluster.
type Config struct {
	Topology *topology.Topology
	Routing  string // one of topology.Routings; "" is the topology's own
	Manager  string // network interface that sets up the switches, as far as it reaches them, else the nearest does; "": the first, in large networks the nearest
	Gates    Gates  // of nodes with the rung gates:BOARD; nil: there are none
	Rung     string // of nodes for which the topology does not say one, of Rungs; "": RTL
	Seed     uint64
	Threads  int    // 0: 1; of each part
	Parts    *Parts // nil: all is simulated by this process
	Only     string // the one node to simulate, one that is outside for who simulates the others; "": all that are not outside
	Cable    string // with Only: the target that its cable leads to; "": its rung, at whose address a tcp: is waited for
	// Params are those of all network interfaces, but Links and Routes are the topology's. Switches have the same pages, buffers and width. What is 0 is
	// the default, with 64 frames.
	Params      rtl.Params
	Slots       int         // packets that a switch in RTL keeps for each of its inputs, a power of two; 0: 8
	Version     string      // of the program: with From, checkpoints of another are refused
	Checkpoints bool        // there are checkpoints of it, which compiles nodes in RTL so that they run slower
	From        *Checkpoint // continue this one, of a network with the same Config; nil: begin
	Arrivals    bool        // network interfaces in RTL tell what arrives, and their host ports have as many lanes as their links, for a Bench
	Preload     bool        // routing tables and the numbers of switches are set in the nodes' memories while the simulation stands still, as packets would set them
	Virtual     int         // logarithm to base 2 of the numbers of virtual links that network interfaces carry out; 0: none
	InSoftware  []string    // network interfaces that carry out none nevertheless
	Barriers    bool        // network interfaces and switches carry out barriers
	Waves       uint64      // clocks that DumpWaves can show of nodes in RTL; 0: none, which compiles and runs faster
	// Wrap, unless nil, returns what Programs runs, in place of the simulation that it is given: one that measures it.
	Wrap func(lockstep.Simulation) lockstep.Simulation
}

// Rungs that a node of a network can have.
const (
	RTL   = "rtl"   // Verilog, simulated by Verilator
	Model = "model" // the reference in Go
)

// Cluster is a network that runs. Close it.
type Cluster struct {
	Topology *topology.Topology
	Tables   *routing.Tables
	NIs      []*NI // in the topology's order
	Cycles   uint64
	Setup    Setup

	Between func() error // called every quantum while Carry sends; nil: nothing is

	haul      *haul // while Carry sends
	ctx       context.Context
	config    Config  // with its defaults
	peers     [][]int // by node and port
	nodes     []node
	cables    []cable         // in the topology's order
	chips     map[string]chip // by board
	pulled    []bool          // by node: its cables are out
	into      [][]*way        // by model: the ways to it, and from it
	from      [][]*way
	threads   int
	watch     watch
	switches  []switchNode
	nonces    []uint32 // theirs
	suspects  []int
	before    Account // what had passed at BeginAccount
	net       *verilator.Network
	hosts     []*ni.Host
	of        []int      // by node: the part that simulates it; nil: all is here
	here      int        // number of this part
	hostPorts []hostPort // in a part, of its network interfaces
	leaving   []*way     // in a part, from RTL to other parts
	group     *far       // of the coordinator; nil: nodes are here
	rng       *testbench.Rand
	outsiders []*outsider
	rate      float64   // of the slowest of them, symbols a second
	due       time.Time // when the clocks so far have passed there
}

// NI is a network interface with its host.
type NI struct {
	*ni.Host
	Node int // index in Topology.Nodes
}

const (
	defaultFrames = 64
	defaultSlots  = 8
	resetClocks   = 64
	quantum       = 32 // clocks between two looks of the hosts at their ports
)

func (c Config) withDefaults() Config {
	c.Params.Links, c.Params.Routes = 1, true
	c.Params.Frames = cmp.Or(c.Params.Frames, defaultFrames)
	c.Params, c.Slots = c.Params.WithDefaults(), cmp.Or(c.Slots, defaultSlots)
	return c
}

// Check says what is wrong with the parameters of nodes.
func (c Config) Check() error {
	c = c.withDefaults()
	switch page := c.Params.PageBytes; {
	case page < linkproto.MinPageBytes || page > linkproto.MaxPageBytes || page&(page-1) != 0:
		return fmt.Errorf("cluster: pages of %d bytes: want a power of two, %d to %d", page, linkproto.MinPageBytes, linkproto.MaxPageBytes)
	case c.Only != "" && c.Preload:
		return fmt.Errorf("cluster: node %s is alone and knows no tables to preload: whoever simulates the others preloads theirs", c.Only)
	case !slices.Contains(rtl.Widths, c.Params.Width):
		return fmt.Errorf("cluster: width %d: want 1, 4 or 8 bytes a clock", c.Params.Width)
	case c.Params.Contexts != 0 && c.Params.Width > 1:
		return fmt.Errorf("cluster: contexts of messages and width %d: network interfaces carry contexts out at width 1; leave contexts out, and the drivers do at any", c.Params.Width)
	case c.Slots < 2 || c.Slots&(c.Slots-1) != 0:
		return fmt.Errorf("cluster: switches of %d slots: want a power of two, 2 or more", c.Slots)
	}
	return nil
}

// params are those of a network interface. With more than one port it has a router, and with virtual links.
func (c Config) params(n topology.Node) rtl.Params {
	if !slices.Contains(c.InSoftware, n.Name) {
		c.Params.Virtual = c.Virtual
	}
	if c.Params.Virtual == 0 {
		c.Params.Contexts = 0
	}
	if n.Ports > 1 || c.Params.Virtual > 0 || c.Barriers {
		c.Params.Router = n.Ports
	}
	c.Params.Barriers = c.Barriers
	return c.Params
}

// Open builds a network and brings its links up. When ctx ends, so does every run, with its error.
func Open(ctx context.Context, c Config) (*Cluster, error) {
	if c.Only != "" {
		if err := try.Run(func() { c.Topology = alone(c.Topology, c) }); err != nil {
			return nil, err
		}
	}
	c, chips, err := c.withChips(ctx)
	if err != nil {
		return nil, err
	}
	c = c.withDefaults()
	n := newCluster(ctx, c)
	n.chips = chips
	err = try.Run(func() {
		try.OK(c.Check())
		n.Tables = try.Get(routing.Build(c.Topology, c.Routing))
		try.OK(n.Tables.Check().Err())
		try.OK(n.runnable(c))
		if c.From != nil {
			try.OK(c.From.fits(n.identity(c.From.Traffic)))
		}
		if c.Parts != nil {
			n.split(c)
		}
		n.build(c)
		if c.From != nil {
			try.OK(n.load(c.From))
			return
		}
		n.reset()
		n.start()
	})
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func newCluster(ctx context.Context, c Config) *Cluster {
	return &Cluster{Topology: c.Topology, ctx: ctx, config: c, threads: max(c.Threads, 1), rng: testbench.NewRand(c.Seed).Split("cluster"), peers: c.Topology.Peers()}
}

// rung is what a node is.
func (c Config) rung(n topology.Node) string { return cmp.Or(n.Rung, c.Rung, RTL) }

// build makes the nodes, joins them by cables, and resets them.
func (n *Cluster) build(c Config) {
	b := builder{ctx: n.ctx, waves: c.Waves, checkpoints: c.Checkpoints, libraries: map[string]*verilator.Library{}}
	for i, node := range n.Topology.Nodes {
		epoch, seed, nonce := uint8(1+n.rng.IntN(255)), n.rng.Uint64(), ni.Nonce(n.rng)
		if n.of != nil && n.of[i] != n.here {
			n.nodes = append(n.nodes, n.elsewhere(i, node, epoch))
			continue
		}
		n.nodes = append(n.nodes, n.make(&b, i, node, c, epoch, seed))
		if node.Kind == topology.Switch {
			n.nonces = append(n.nonces, nonce)
		}
	}
	if len(b.models) > 0 {
		n.net = try.Get(verilator.NewNetwork(n.threads, b.models...))
	}
	n.plug()
	n.pulled = make([]bool, len(n.nodes))
}

// reset resets all nodes.
func (n *Cluster) reset() {
	try.OK(n.hold(true))
	try.OK(clockwork{n}.Run(resetClocks))
	try.OK(n.hold(false))
}

// hold holds all nodes in reset, or lets them go.
func (n *Cluster) hold(held bool) error {
	if n.group != nil {
		return n.group.order(held, orderHold, orderRelease, 0)
	}
	for _, node := range n.nodes {
		node.reset(held)
	}
	if !held && n.config.Preload {
		if err := try.Run(n.preload); err != nil {
			return err
		}
	}
	if !held {
		for i, s := range n.switches {
			s.SetNonce(n.nonces[i])
		}
	}
	return nil
}

// make makes a node.
func (n *Cluster) make(b *builder, i int, node topology.Node, c Config, epoch uint8, seed uint64) node {
	rung, lanes := c.rung(node), n.lanes(i)
	board, netlist := c.gates(node)
	switch {
	case netlist:
		return n.makeChip(b, i, board, epoch, seed)
	case c.outside(node):
		return outsideNode{n.openOutsider(node.Name, rung)}
	case node.Kind == topology.Switch && rung == Model:
		s := openModelSwitch(node, withLanes(c.Params, lanes), epoch, c.Barriers)
		n.switches = append(n.switches, s)
		return s
	case node.Kind == topology.Switch:
		serial, oversample := n.serial(i)
		s := &netSwitch{rtlNode: b.open(c.switchDesign(node.Ports, lanes, serial, oversample), "", node.Name, seed, switchLines(lanes, serial))}
		s.serial = serial
		try.OK(s.Bind(&s.pins))
		n.switches = append(n.switches, s)
		return s
	}
	p := withLanes(c.params(node), lanes)
	if c.Arrivals {
		p.HostLanes = lanes
	}
	if rung == Model {
		m := openModelNI(p, epoch, c)
		if n.of != nil {
			n.hostPorts = append(n.hostPorts, &modelPort{m.Port(0)})
		} else {
			n.host(i, try.Get(ni.JoinHost(m.Port(0), p, epoch)))
		}
		return m
	}
	design, router := c.niDesign(p)
	m := &rtlNI{b.open(design, "", node.Name, seed, p.Lane), router}
	if n.of != nil {
		rx, tx := p.Lines(0)
		n.hostPorts = append(n.hostPorts, openPins(m.Model, rx, tx))
	} else {
		n.host(i, try.Get(ni.OpenHost(m.Model, m.clock, p, epoch)))
	}
	return m
}

// host gives a network interface its host.
func (n *Cluster) host(node int, h *ni.Host) {
	n.NIs = append(n.NIs, &NI{Host: h, Node: node})
	n.hosts = append(n.hosts, h)
}

// plug joins the nodes by their cables.
func (n *Cluster) plug() {
	into, from := make([][]*way, len(n.nodes)), make([][]*way, len(n.nodes))
	for _, c := range n.Topology.Cables {
		var as cable
		for i, a := range c.Ends {
			b := c.Ends[1-i]
			for lane := range c.Lanes {
				w := join(c, n.nodes[a.Node].socket(a.Port, lane), n.nodes[b.Node].socket(b.Port, lane), n.rng)
				as.ways[i] = append(as.ways[i], w)
				if w.from.end != nil {
					from[a.Node] = append(from[a.Node], w)
				}
				if w.to.end != nil {
					into[b.Node] = append(into[b.Node], w)
				}
			}
		}
		n.cables = append(n.cables, as)
	}
	unused := func(ways []*way) bool { return ways == nil }
	n.into, n.from = slices.DeleteFunc(into, unused), slices.DeleteFunc(from, unused)
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
	if n.group != nil {
		errs = append(errs, n.group.Close())
	}
	return errors.Join(errs...)
}

// Run runs for at least so many clocks, in whole quanta, and serves the hosts.
func (n *Cluster) Run(clocks int) error {
	for done := 0; done < clocks; done += quantum {
		if err := n.ctx.Err(); err != nil {
			return err
		}
		if err := ni.Turn(clockwork{n}, quantum, n.hosts...); err != nil {
			return err
		}
		n.Cycles += quantum
		n.ran()
	}
	return nil
}

// Step runs for a single clock, and has the hosts look at their ports. All nodes must be RTL.
func (n *Cluster) Step() error {
	if err := ni.Turn(clockwork{n}, 1, n.hosts...); err != nil {
		return err
	}
	n.Cycles++
	n.ran()
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
