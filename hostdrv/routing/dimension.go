package routing

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/topology"
)

// dimensionOrder corrects the coordinates of a packet one by one, the first dimension first: what waits for a channel of a dimension holds one of the same or
// an earlier dimension.
//
// A switch of a hyper-crossbar is reached from the NI at coordinate 0 of its line, or from others of its line if the packet is there anyway. That is against the
// order, but a packet that turns at coordinate 0 leaves it, so that what waits for it does not turn there again. The other way there is nothing alike: a
// switch answers those NIs that it reaches in order, among them those that it joins.
func dimensionOrder(t *topology.Topology, g *graph) (way, error) {
	dimensions := len(t.Size)
	if !slices.Contains([]string{"line", "ring", "mesh", "torus", "hyper-crossbar"}, t.Shape) {
		return way{}, errors.New("it needs the coordinates of a mesh, torus or hyper-crossbar: choose another routing, such as up-down")
	}
	for _, n := range t.Nodes {
		if n.At == nil {
			return way{}, fmt.Errorf("node %s has no coordinates, since it was added to the %s: choose another routing, such as up-down", n.Name, t.Shape)
		}
	}
	round := t.Shape == "ring" || t.Shape == "torus"
	// The ports that lead on in each dimension, upwards and downwards; a switch leads both ways.
	towards := make([][2]uint16, g.nodes*dimensions)
	for i, n := range t.Nodes {
		for p := uint8(1); p <= g.ports(int32(i)); p++ {
			peer := g.next(int32(i), p)
			if peer < 0 {
				continue
			}
			for d, x := range t.Nodes[peer].At {
				masks := &towards[i*dimensions+d]
				switch step := x - n.At[d]; {
				case n.At[d] == topology.Across || step == 0:
				case x == topology.Across:
					masks[0] |= bit(p)
					masks[1] |= bit(p)
				case step == 1 || step < -1:
					masks[0] |= bit(p)
				default:
					masks[1] |= bit(p)
				}
			}
		}
	}
	fill := func(dest int, ports []uint8) {
		target := slices.Clone(t.Nodes[dest].At)
		for d, x := range target {
			target[d] = max(x, 0) // that end of a switch's line
		}
		for u := range ports {
			switch mask := g.portsTo(int32(u), int32(dest)); {
			case u == dest:
			case mask != 0:
				ports[u] = spread(mask, dest)
			case g.nis[u]:
				d := firstApart(t.Nodes[u].At, target)
				ports[u] = spread(towards[u*dimensions+d][direction(t.Nodes[u].At[d], target[d], t.Size[d], round)], dest)
			default:
				ports[u] = spread(leaving(t, g, int32(u), target), dest)
			}
		}
	}
	if round {
		return way{fill: fill}, nil // its rings break the rule
	}
	return way{fill, func(in, out int32) bool {
		before, after := crossed(t, g, in), crossed(t, g, out)
		return before < after || before == after && (!g.nis[g.peer[in]] || straight(t, g, in, out, before))
	}}, nil
}

// crossed is the dimension of a channel.
func crossed(t *topology.Topology, g *graph, c int32) int {
	return firstApart(t.Nodes[g.from[c]].At, t.Nodes[g.peer[c]].At)
}

// straight reports whether two channels of a mesh lead the same way along dimension d.
func straight(t *topology.Topology, g *graph, in, out int32, d int) bool {
	x, y, z := t.Nodes[g.from[in]].At[d], t.Nodes[g.peer[in]].At[d], t.Nodes[g.peer[out]].At[d]
	return x != topology.Across && y-x == z-y
}

// portsTo are the ports that lead straight to a node.
func (g *graph) portsTo(from, to int32) (mask uint16) {
	for c := g.first[from]; c < g.first[from+1]; c++ {
		if g.peer[c] == to {
			mask |= bit(g.port(c))
		}
	}
	return mask
}

// firstApart is the first dimension in which places differ. An NI that is at the target of a switch is cabled to it.
func firstApart(at, target []int) int {
	for d := range at {
		if at[d] != target[d] {
			return d
		}
	}
	return 0
}

// direction is 0 for upwards, and 1 for downwards.
func direction(from, to, size int, round bool) int {
	if up := (to - from + size) % size; round && 2*up > size || !round && to < from {
		return 1
	}
	return 0
}

// leaving are the ports of a switch to NIs at the coordinate of a target; none if an earlier dimension is not that of the target.
func leaving(t *topology.Topology, g *graph, u int32, target []int) (mask uint16) {
	across := slices.Index(t.Nodes[u].At, topology.Across)
	if !slices.Equal(t.Nodes[u].At[:across], target[:across]) {
		return 0
	}
	for c := g.first[u]; c < g.first[u+1]; c++ {
		if n := g.peer[c]; n >= 0 && t.Nodes[n].At[across] == target[across] {
			mask |= bit(g.port(c))
		}
	}
	return mask
}
