package routing

// routes are the ways of all routers to one destination, by their first ports, as a tree.
type routes struct {
	graph *graph
	dest  int32
	ports []uint8

	hops         []int32 // cables to the destination, -1 if no way leads there
	nis          []int32 // NIs whose way leads through a router, with itself
	some         []int32 // one of those, -1 if there is none
	enter, leave []int32 // numbers in a walk through the tree: those behind a router have entered it from enter[u] on and before leave[u]

	child, sibling []int32
}

func newRoutes(g *graph) *routes {
	r := &routes{graph: g}
	for _, list := range []*[]int32{&r.hops, &r.nis, &r.some, &r.enter, &r.leave, &r.child, &r.sibling} {
		*list = make([]int32, g.nodes)
	}
	return r
}

// load takes the ports to a destination.
func (r *routes) load(dest int, ports []uint8) {
	g := r.graph
	r.dest, r.ports = int32(dest), ports
	for u := range r.child {
		r.child[u], r.hops[u] = -1, -1
	}
	for u := range int32(g.nodes) {
		if next := g.next(u, ports[u]); next >= 0 && u != r.dest {
			r.sibling[u] = r.child[next]
			r.child[next] = u
		}
	}
	r.hops[dest] = 0
	r.open(r.dest)
	count := int32(0)
	for u := r.dest; ; {
		if r.enter[u] < 0 {
			r.enter[u] = count
			count++
		}
		if c := r.child[u]; c >= 0 { // down, and do not come back for it
			r.child[u] = r.sibling[c]
			r.hops[c] = r.hops[u] + 1
			r.open(c)
			u = c
			continue
		}
		r.leave[u] = count
		if u == r.dest {
			return
		}
		parent := g.next(u, ports[u])
		r.nis[parent] += r.nis[u]
		if r.some[parent] < 0 {
			r.some[parent] = r.some[u]
		}
		u = parent
	}
}

func (r *routes) open(u int32) {
	r.enter[u], r.nis[u], r.some[u] = -1, 0, -1
	if r.graph.nis[u] && u != r.dest {
		r.nis[u], r.some[u] = 1, u
	}
}

// avoids reports whether a way leads from router w to the destination, and not through router u.
func (r *routes) avoids(w, u int32) bool {
	return w >= 0 && r.hops[w] >= 0 && !(r.enter[u] <= r.enter[w] && r.enter[w] < r.leave[u])
}
