// Package routing makes the tables by which routers of a network forward packets, and checks them before anything runs.
//
// A router is a switch, or a network interface (NI). For each destination, which may be a switch too, its table has a port and an alternate
// port, which is taken while the cable in the first is dead. The routers of a network never wait for software, so only packets can wait for each other: a
// packet holds a channel, which is one direction of a cable, and waits for the next. Such waiting ends if no channel can wait for itself in the end, and that is
// what Check is about.
package routing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/linkproto"
)

// MaxHops is how many cables a packet can pass.
const MaxHops = linkproto.MaxHops

// Tables are the tables of all routers of a network. Nodes are named by their index in Topology.Nodes.
type Tables struct {
	Topology *topology.Topology
	Routing  string // one of topology.Routings

	graph *graph
	// By destination and then router, since all work goes by destination: the port is ports[destination*nodes+router].
	ports, alternates []uint8
	// The order of channels that the routes keep, also those of trees made so far; nil if they keep none.
	order *order
}

// Build makes tables by a routing, one of topology.Routings; "" is the topology's own. There are tables also where routes may deadlock, as by
// "shortest" on a ring: Check says so, and they have no alternates.
func Build(t *topology.Topology, routing string) (*Tables, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	routing = cmp.Or(routing, t.RoutingName())
	g := newGraph(t)
	i := slices.IndexFunc(routings, func(r namedRouting) bool { return r.name == routing })
	if i < 0 {
		names := topology.Routings()
		return nil, fmt.Errorf("routing: no routing %q%s; there are %s", routing, nearest.Hint(routing, names), strings.Join(names, ", "))
	}
	way, err := routings[i].prepare(t, g)
	if err != nil {
		return nil, fmt.Errorf("routing: %s: %w", routing, err)
	}
	nodes := len(t.Nodes)
	tables := &Tables{Topology: t, Routing: routing, graph: g, ports: make([]uint8, nodes*nodes), alternates: make([]uint8, nodes*nodes)}
	for d := range nodes {
		ports, _ := tables.to(d)
		way.fill(d, ports)
	}
	waits := tables.waits(nil)
	way.addKept(g, waits)
	if tables.order = newOrder(g, waits); tables.order != nil {
		tables.addAlternates()
	}
	return tables, nil
}

// namedRouting is a way to make tables.
type namedRouting struct {
	name    string
	prepare func(*topology.Topology, *graph) (way, error)
}

var routings = []namedRouting{{"dimension-order", dimensionOrder}, {"up-down", upDown}, {"fat-tree", fatTree}, {"shortest", shortest}}

// way is a routing on one network.
type way struct {
	fill func(dest int, ports []uint8) // sets the ports to a destination, by router; they are 0 before
	// keeps says whether packets may wait for a channel in another by the rule of the routing, whether or not a route does. So multicast trees find room
	// where alternates take all that is left. Nil: there is no such rule.
	keeps func(in, out int32) bool
}

// addKept adds what may wait for what by the rule of the routing. A packet does not go back to where it comes from.
func (w way) addKept(g *graph, waits []uint16) {
	for in := range int32(len(waits)) {
		if w.keeps == nil || g.peer[in] < 0 {
			continue
		}
		for out := g.first[g.peer[in]]; out < g.first[g.peer[in]+1]; out++ {
			if g.peer[out] >= 0 && g.peer[out] != g.from[in] && w.keeps(in, out) {
				waits[in] |= bit(g.port(out))
			}
		}
	}
}

// Route returns the port by which a router sends packets to a destination, and the alternate. 0 is none: there is no way, or the router is the
// destination, or either is no node.
func (t *Tables) Route(router, dest int) (port, alternate uint8) {
	n := t.nodes()
	if router < 0 || router >= n || dest < 0 || dest >= n {
		return 0, 0
	}
	i := dest*n + router
	return t.ports[i], t.alternates[i]
}

// nodes is how many nodes there are: none in tables that Build has not made.
func (t *Tables) nodes() int {
	if t.graph == nil {
		return 0
	}
	return t.graph.nodes
}

// to are the ports to a destination, by router.
func (t *Tables) to(dest int) (ports, alternates []uint8) {
	n := t.nodes()
	return t.ports[dest*n : (dest+1)*n], t.alternates[dest*n : (dest+1)*n]
}
