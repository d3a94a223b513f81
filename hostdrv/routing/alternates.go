package routing

import (
	"cmp"
	"slices"
)

// addAlternates gives each router and destination another port, where there is one behind which the packet does not come back to the router, and where what
// may then wait for what keeps an order. Of several it takes the shortest way.
func (t *Tables) addAlternates() {
	g := t.graph
	r := newRoutes(g)
	var candidates []uint8
	for d := range g.nodes {
		ports, alternates := t.to(d)
		r.load(d, ports)
		for u := range int32(g.nodes) {
			if int(u) == d || r.hops[u] < 0 {
				continue
			}
			candidates = candidates[:0]
			for p := uint8(1); p <= g.ports(u); p++ {
				if p != ports[u] && r.avoids(g.next(u, p), u) {
					candidates = append(candidates, p)
				}
			}
			slices.SortStableFunc(candidates, func(a, b uint8) int { return cmp.Compare(r.hops[g.next(u, a)], r.hops[g.next(u, b)]) })
			for _, p := range candidates {
				if t.allow(u, p, r, alternates) {
					alternates[u] = p
					break
				}
			}
		}
	}
}

// allow reports whether a router may have an alternate port to the destination of r: what arrives at the router may wait for it, and what has gone by it for the
// next router's ports.
func (t *Tables) allow(u int32, port uint8, r *routes, alternates []uint8) bool {
	g, o := t.graph, t.order
	for c := g.first[u]; c < g.first[u+1]; c++ {
		from, in := g.peer[c], g.back[c]
		if from < 0 || from == r.dest || r.hops[from] < 0 {
			continue
		}
		if p := g.port(in); (r.ports[from] == p || alternates[from] == p) && !o.add(in, port) {
			return false
		}
	}
	out := g.channel(u, port)
	w := g.peer[out]
	if w == r.dest {
		return true
	}
	return o.add(out, r.ports[w]) && (alternates[w] == 0 || o.add(out, alternates[w]))
}

// waits says for each channel which ports of its receiver a packet in it may wait for, by the tables and by multicast trees. Each router sends packets to
// all destinations that it has ports for.
func (t *Tables) waits(trees []*Tree) []uint16 {
	g := t.graph
	waits := make([]uint16, len(g.from))
	for d := range g.nodes {
		ports, alternates := t.to(d)
		for u := range int32(g.nodes) {
			if int(u) == d {
				continue
			}
			for _, p := range [2]uint8{ports[u], alternates[u]} {
				if w := g.next(u, p); w >= 0 && int(w) != d {
					waits[g.channel(u, p)] |= bit(ports[w]) | bit(alternates[w])
				}
			}
		}
	}
	for _, tree := range trees {
		tree.each(g, func(c int32, port uint8) { waits[c] |= bit(port) })
	}
	return waits
}
