package routing

import (
	"math"

	"github.com/stafflink/lmmc/hostdrv/topology"
)

// upDown routes on any connected network: packets go up, towards a root, and then down, and never up again, so that no channel waits for itself.
// Of two neighbours that one is up that is nearer to the root. A router from which a destination can be reached by going down sends it down, also where
// another way is shorter: which way the packet has come does not matter then.
func upDown(_ *topology.Topology, g *graph) (way, error) {
	rank := rankFrom(g, root(g)) // down is where it is larger
	byRank := make([]int32, g.nodes)
	for u, r := range rank {
		byRank[r] = int32(u)
	}
	const never = math.MaxInt32 / 2
	far := make([]int32, g.nodes)
	up := func(c int32) bool { return rank[g.peer[c]] < rank[g.from[c]] }
	fill := func(dest int, ports []uint8) {
		closest := func(u int32, upwards bool) (mask uint16, distance int32) {
			distance = never
			for c := g.first[u]; c < g.first[u+1]; c++ {
				w := g.peer[c]
				if w < 0 || upwards != up(c) {
					continue
				}
				if there := far[w] + 1; there < distance {
					mask, distance = 0, there
				}
				if far[w]+1 == distance && distance < never {
					mask |= bit(g.port(c))
				}
			}
			return mask, distance
		}
		for i := g.nodes - 1; i >= 0; i-- {
			u := byRank[i]
			if far[u] = 0; int(u) != dest {
				var mask uint16
				mask, far[u] = closest(u, false)
				ports[u] = spread(mask, dest)
			}
		}
		for _, u := range byRank {
			if far[u] == never {
				var mask uint16
				mask, far[u] = closest(u, true)
				ports[u] = spread(mask, dest)
			}
		}
	}
	return way{fill, func(in, out int32) bool { return up(in) || !up(out) }}, nil
}

// rankFrom numbers the nodes as they are met when going away from a root.
func rankFrom(g *graph, root int32) []int32 {
	rank := make([]int32, g.nodes)
	for u := range rank {
		rank[u] = -1
	}
	queue := append(make([]int32, 0, g.nodes), root)
	rank[root] = 0
	for i := 0; i < len(queue); i++ {
		u := queue[i]
		for c := g.first[u]; c < g.first[u+1]; c++ {
			if w := g.peer[c]; w >= 0 && rank[w] < 0 {
				rank[w] = int32(len(queue))
				queue = append(queue, w)
			}
		}
	}
	return rank
}

// root is a node in the middle: no other has a shorter way to the node that is farthest from it, and of those it has the most ports.
func root(g *graph) int32 {
	best, least := int32(0), int32(math.MaxInt32)
	far := make([]int32, g.nodes)
	queue := make([]int32, 0, g.nodes)
	for u := range int32(g.nodes) {
		queue = distances(g, u, far, queue)
		farthest := far[queue[len(queue)-1]]
		if farthest < least || farthest == least && g.ports(u) > g.ports(best) {
			best, least = u, farthest
		}
	}
	return best
}

// distances sets how many cables each node is away from one, and returns the nodes, the nearest first.
func distances(g *graph, from int32, far, queue []int32) []int32 {
	for u := range far {
		far[u] = -1
	}
	far[from] = 0
	queue = append(queue[:0], from)
	for i := 0; i < len(queue); i++ {
		u := queue[i]
		for _, w := range g.peer[g.first[u]:g.first[u+1]] {
			if w >= 0 && far[w] < 0 {
				far[w] = far[u] + 1
				queue = append(queue, w)
			}
		}
	}
	return queue
}

// shortest takes a way with the fewest cables, whatever waits for what.
func shortest(_ *topology.Topology, g *graph) (way, error) {
	far := make([]int32, g.nodes)
	var queue []int32
	return way{fill: func(dest int, ports []uint8) {
		queue = distances(g, int32(dest), far, queue)
		for _, u := range queue[1:] {
			var mask uint16
			for c := g.first[u]; c < g.first[u+1]; c++ {
				if w := g.peer[c]; w >= 0 && far[w] < far[u] {
					mask |= bit(g.port(c))
				}
			}
			ports[u] = spread(mask, dest)
		}
	}}, nil
}
