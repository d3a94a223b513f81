package routing

import "fmt"

// Tree is how the packets of one sender reach all members of a multicast group.
type Tree struct {
	Sender  int
	Members []int // those that it reaches; the sender may be one

	// Ports is a mask for each node: bit 0 is port 1. A packet of the group leaves by all of these ports but the one by which it came. Nodes outside of
	// the tree have none.
	Ports []uint16
}

// Tree makes a tree. Its branches follow the routes to the members, or those from the members to the sender backwards, so that what waits for what still
// keeps an order, together with the tables and all trees made before. Not for several goroutines at once.
func (t *Tables) Tree(sender int, members []int) (*Tree, error) {
	for _, n := range append([]int{sender}, members...) {
		if n < 0 || n >= t.nodes() || !t.graph.nis[n] {
			return nil, fmt.Errorf("routing: a multicast tree: node number %d is no network interface: leave it out", n)
		}
	}
	if t.order == nil {
		return nil, fmt.Errorf("routing: a multicast tree by %s: its routes can deadlock already: choose another routing", t.Routing)
	}
	names := t.Topology.Nodes
	for _, grow := range []func(*grown, int32) bool{(*grown).towards, (*grown).backwards} {
		g := &grown{tables: t, in: make([]int32, len(names)), tree: &Tree{Sender: sender, Members: members, Ports: make([]uint16, len(names))}}
		for u := range g.in {
			g.in[u] = -1
		}
		whole := true
		for _, m := range members {
			whole = whole && (m == sender || grow(g, int32(m)))
		}
		g.tree.each(t.graph, func(c int32, port uint8) { whole = whole && t.order.add(c, port) })
		if whole {
			return g.tree, nil
		}
	}
	return nil, fmt.Errorf("routing: by %s no multicast tree from node %s keeps the network free of deadlock: choose another routing, such as up-down", t.Routing, names[sender].Name)
}

// grown is a tree to which members are added.
type grown struct {
	tables *Tables
	tree   *Tree
	in     []int32 // by node: the channel by which packets come, -1 if none
}

// towards follows the route to a member from where that leaves the tree for the last time.
func (g *grown) towards(member int32) bool {
	graph := g.tables.graph
	var way []int32
	for u := int32(g.tree.Sender); u != member; {
		port, _ := g.tables.Route(int(u), int(member))
		w := graph.next(u, port)
		if w < 0 || len(way) == graph.nodes {
			return false
		}
		if way = append(way, graph.channel(u, port)); g.in[w] >= 0 {
			way = way[:0]
		}
		u = w
	}
	for _, c := range way {
		g.branch(c)
	}
	return true
}

// backwards follows the route from a member to the sender, and enters that the other way round.
func (g *grown) backwards(member int32) bool {
	graph := g.tables.graph
	for u := member; int(u) != g.tree.Sender && g.in[u] < 0; {
		port, _ := g.tables.Route(int(u), g.tree.Sender)
		w := graph.next(u, port)
		if w < 0 {
			return false
		}
		g.branch(graph.back[graph.channel(u, port)])
		u = w
	}
	return true
}

// branch makes a channel part of the tree.
func (g *grown) branch(c int32) {
	graph := g.tables.graph
	g.in[graph.peer[c]] = c
	g.tree.Ports[graph.from[c]] |= bit(graph.port(c))
	g.tree.Ports[graph.peer[c]] |= bit(graph.port(graph.back[c]))
}

// each calls visit with the channels of a tree, and the ports by which their receivers send on. It returns how many times packets come to each node.
func (t *Tree) each(g *graph, visit func(c int32, port uint8)) (times []int) {
	times = make([]int, g.nodes)
	times[t.Sender] = 1
	type arrival struct {
		at int32
		by uint16
	}
	for queue := []arrival{{at: int32(t.Sender)}}; len(queue) > 0; queue = queue[1:] {
		u := queue[0].at
		for mask := t.Ports[u] &^ queue[0].by; mask != 0; mask &= mask - 1 {
			c := g.channel(u, spread(mask, 0))
			w := g.peer[c]
			by := bit(g.port(g.back[c]))
			for onward := t.Ports[w] &^ by; onward != 0; onward &= onward - 1 {
				visit(c, spread(onward, 0))
			}
			if times[w]++; times[w] == 1 {
				queue = append(queue, arrival{w, by})
			}
		}
	}
	return times
}
