package routing

import (
	"errors"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/topology"
)

// fatTree goes up to the first switch above the destination, and then down. On the way up a switch of level l chooses by digit l of the
// destination's number (destination modulo k), so that all routes to an NI meet early, and different NIs share the switches above.
func fatTree(t *topology.Topology, g *graph) (way, error) {
	if t.Shape != "fat-tree" || slices.ContainsFunc(t.Nodes, func(n topology.Node) bool { return n.At == nil }) {
		return way{}, errors.New("it needs a fat tree without further nodes: choose another routing, such as up-down")
	}
	k := t.Size[0]
	// The ports that lead up, and down, to a node with each digit: that of the switch's level, or of the level below.
	up, down := make([]uint16, g.nodes*k), make([]uint16, g.nodes*k)
	for u := range int32(g.nodes) {
		for c := g.first[u]; c < g.first[u+1]; c++ {
			if w := g.peer[c]; w >= 0 {
				own, peer := t.Nodes[u].At, t.Nodes[w].At
				masks, digit := up, 0
				switch {
				case peer[0] < own[0]:
					masks, digit = down, peer[max(peer[0], 1)]
				case own[0] > 0:
					digit = peer[own[0]]
				}
				masks[int(u)*k+digit] |= bit(g.port(c))
			}
		}
	}
	fill := func(dest int, ports []uint8) {
		for u := range ports {
			if u == dest {
				continue
			}
			masks, digit := up, 0
			if !g.nis[u] {
				upwards, d, leads := fatTreeStep(t.Nodes[u].At, t.Nodes[dest].At, t.Size[1])
				if !leads {
					continue
				}
				if digit = d; !upwards {
					masks = down
				}
			}
			ports[u] = spread(masks[u*k+digit], dest/k)
		}
	}
	upwards := func(c int32) bool { return t.Nodes[g.peer[c]].At[0] > t.Nodes[g.from[c]].At[0] }
	return way{fill, func(in, out int32) bool { return upwards(in) || !upwards(out) }}, nil
}

// fatTreeStep says by which digit a switch sends up or down, and whether it leads to the destination: to a switch of its own level or below it may not.
func fatTreeStep(at, dest []int, levels int) (up bool, digit int, leads bool) {
	level := at[0]
	if dest[0] == 0 {
		// An NI has the digits of its switch behind a further one.
		return !slices.Equal(at[level:], dest[level+1:]), dest[level], true
	}
	if fixed := min(level, dest[0]); !slices.Equal(at[1:fixed], dest[1:fixed]) {
		return false, 0, false // only a switch below could change these
	}
	if level > dest[0] && slices.Equal(at[level:], dest[level:]) {
		return false, dest[level-1], true
	}
	if level == levels {
		return false, 0, false
	}
	return true, dest[level], true
}
