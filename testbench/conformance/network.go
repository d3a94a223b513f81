package conformance

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// NetworkScheme is that of targets which are two nodes of a simulated network, with a virtual link between them: net:FILE?nodes=n0,n3&rung=model&virtual=3&contexts=2. FILE is a topology
// file; without nodes they are its first and last network interface, without rung those for which FILE says none are RTL. With virtual, the logarithm to base 2 of how many
// virtual links there can be, network interfaces carry them out, and with contexts, that of how many contexts of messages, these too.
const NetworkScheme = "net"

// networkFrames is how many frames the receive buffers have.
const networkFrames = 8

// network is a simulated network with a network interface under test, and another one that its ports lead to.
type network struct {
	world *cluster.World
	ends  [2]int      // places in Cluster.NIs: of the one under test, and of the other
	hops  int         // links from one to the other
	via   int         // the link of the first that leads into the network
	at    int         // and of the other
	far   *hostdrv.NI // the other, nil if it has no driver
	lives uint64      // drivers that it has had
}

// plugNetwork opens the network of a target.
func plugNetwork(ctx context.Context, text string) (l *line, err error) {
	err = try.Run(func() { l = openNetwork(ctx, text) })
	return l, err
}

func openNetwork(ctx context.Context, text string) *line {
	file, rest, _ := strings.Cut(text, "?")
	query, err := url.ParseQuery(rest)
	for name, values := range query {
		if !slices.Contains([]string{"nodes", "rung", "virtual", "contexts"}, name) || len(values) != 1 {
			try.Failf("%w %s:%s: want nodes=NAME,NAME, rung=RUNG, virtual=BITS and contexts=BITS, once each", hostdrv.ErrTarget, NetworkScheme, text)
		}
	}
	if err != nil {
		try.Failf("%w: %w", hostdrv.ErrTarget, err)
	}
	virtual, contexts := bitsOf(query, "virtual", linkproto.MaxVLBits), bitsOf(query, "contexts", linkproto.MaxContextBits)
	if contexts > 0 && virtual == 0 {
		try.Failf("%w: contexts=%d without virtual=BITS: they go by virtual links that network interfaces carry out", hostdrv.ErrTarget, contexts)
	}
	top := try.Get(topology.ReadFile(file))
	nodes := pairOf(top, query.Get("nodes"))
	c := try.Get(cluster.Open(ctx, cluster.Config{
		Topology: top, Rung: query.Get("rung"), Seed: 1, Params: rtl.Params{Frames: networkFrames, Contexts: contexts}, Preload: true, Virtual: virtual,
	}))
	n := &network{world: c.Programs(), hops: hops(top, nodes)}
	for i, node := range nodes {
		n.ends[i] = slices.IndexFunc(c.NIs, func(ni *cluster.NI) bool { return ni.Node == node })
	}
	n.via, n.at = c.Link(c.NIs[n.ends[0]], nodes[1]), c.Link(c.NIs[n.ends[1]], nodes[0])
	host, err := n.world.Host(n.ends[0])
	try.OK(err)
	return &line{transport: host, network: n}
}

// bitsOf is an option that is the logarithm to base 2 of how many there are, or 0.
func bitsOf(query url.Values, name string, most int) int {
	text := query.Get(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		try.Failf("%w: %s=%s: want 1 to %d", hostdrv.ErrTarget, name, text, most)
	}
	return n
}

// pairOf finds two network interfaces by their names.
func pairOf(t *topology.Topology, names string) (nodes [2]int) {
	if names == "" {
		var all []int
		for i, n := range t.Nodes {
			if n.Kind == topology.NI {
				all = append(all, i)
			}
		}
		if len(all) < 2 {
			try.Failf("%w: two nodes of a network are tried, and this one has %d network interfaces: add some", hostdrv.ErrTarget, len(all))
		}
		return [2]int{all[0], all[len(all)-1]}
	}
	pair := strings.Split(names, ",")
	if len(pair) != 2 || pair[0] == pair[1] {
		try.Failf("%w: nodes=%s: want two of the network, as in nodes=n0,n3", hostdrv.ErrTarget, names)
	}
	for i, name := range pair {
		at, ok := t.Find(name)
		if !ok || t.Nodes[at].Kind != topology.NI {
			try.Failf("%w: nodes=%s: the network has no network interface %q", hostdrv.ErrTarget, names, name)
		}
		nodes[i] = at
	}
	return nodes
}

// hops is how many cables there are between two nodes.
func hops(t *topology.Topology, nodes [2]int) (n int) {
	peers, reached, last := t.Peers(), map[int]bool{nodes[0]: true}, nodes[:1]
	for ; !reached[nodes[1]]; n++ {
		var next []int
		for _, at := range last {
			for _, peer := range peers[at] {
				if peer >= 0 && !reached[peer] {
					reached[peer] = true
					next = append(next, peer)
				}
			}
		}
		last = next
	}
	return n
}

// node is one of the two nodes.
func (n *network) node(end int) topology.Node {
	c := n.world.Cluster
	return c.Topology.Nodes[c.NIs[n.ends[end]].Node]
}

// links are those that a node of the NI under test has for its ports.
func (n *network) links() []Link {
	return []Link{{Link: 2, Up: true, Node: n.node(1).Name, Hops: n.hops}}
}

// enter gives the other network interface a new driver.
func (n *network) enter(ctx context.Context, seed uint64) {
	try.OK(n.leave())
	host := try.Get(n.world.Host(n.ends[1]))
	n.lives++
	n.far = try.Get(hostdrv.New(ctx, host, hostdrv.Options{Seed: seed<<8 + n.lives + 1<<7}))
}

// leave ends the other's driver.
func (n *network) leave() (err error) {
	if n.far != nil {
		err = n.far.Close()
		n.far = nil
	}
	return err
}

// networkNode is node for nodes of a network.
func (b *bench) networkNode(ctx context.Context, frames int) *node {
	nw := b.line.network
	nw.enter(ctx, b.seed)
	n := &node{bench: b, frames: frames}
	start := func(ni *hostdrv.NI, peer int) (*hostdrv.Node, int) {
		number := nw.node(peer).ID
		grants := []int{frames}
		if id := ni.Identity(); !id.Has(linkproto.FeatureRouter) { // its cable is a link too
			grants = append(make([]int, id.Links), frames)
		}
		node := try.Get(hostdrv.Start(ctx, ni, hostdrv.NodeOptions{Peers: []hostdrv.Peer{{Node: number}}, Frames: grants, Seed: b.rng.Uint64()}))
		return node, try.Get(node.LinkTo(number))
	}
	n.Node, n.via = start(b.ni, 1)
	n.far, n.at = start(nw.far, 0)
	return n
}

// between calls do with the network, while no time passes.
func (n *network) between(do func(*cluster.Cluster) error) {
	try.OK(n.world.Between(func() error { return do(n.world.Cluster) }))
}

// damage has a share of the bits arrive wrong by all cables.
func (n *network) damage(rate float64) {
	n.between(func(c *cluster.Cluster) error {
		for i, cable := range c.Topology.Cables {
			for way := range cable.Ends {
				for lane := range cable.Lanes {
					if err := c.DamageLane(cluster.LaneWay{Cable: i, Way: way, Lane: lane}, rate); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// pull pulls all cables of one of the two nodes, or plugs them in again.
func (n *network) pull(end int, out bool) {
	n.between(func(c *cluster.Cluster) error { return c.Pull(c.NIs[n.ends[end]].Node, out) })
}

// network is the one that the target is in.
func (b *bench) network() *network {
	if b.line.network == nil {
		skipf("needs two nodes of a network that this program simulates (%s:FILE)", NetworkScheme)
	}
	return b.line.network
}
