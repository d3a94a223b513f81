package routing

import (
	"math"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/topology"
)

// starts is from how many channels a short cycle is looked for.
const starts = 64

// cycle is a short one of the channels that can wait for each other, none if there is no cycle.
func (c *checking) cycle(trees []*Tree) []Step {
	g := c.graph
	waits := c.waits(trees)
	var best []int32
	for i, from := range inCycles(g, waits) {
		if i >= starts && best != nil { // those between two cycles are in none
			break
		}
		if found := shortestCycle(g, waits, from); best == nil || found != nil && len(found) < len(best) {
			best = found
		}
	}
	steps := []Step{}
	for i, channel := range best {
		steps = append(steps, c.step(channel, best[(i+1)%len(best)], trees))
	}
	return steps
}

// inCycles are channels in cycles, or on the way from one cycle to another.
func inCycles(g *graph, waits []uint16) []int32 {
	before, after := make([][]int32, len(waits)), make([][]int32, len(waits))
	for c := range int32(len(waits)) {
		eachWait(g, waits, c, func(next int32) {
			after[c] = append(after[c], next)
			before[next] = append(before[next], c)
		})
	}
	out := trim(before, after)
	for c, is := range trim(after, before) {
		out[c] = out[c] || is
	}
	var left []int32
	for c, is := range out {
		if !is {
			left = append(left, int32(c))
		}
	}
	return left
}

// trim takes out what nothing comes before, again and again, and says what is out.
func trim(before, after [][]int32) (out []bool) {
	out = make([]bool, len(before))
	count := make([]int, len(before))
	var free []int32
	for c := range before {
		if count[c] = len(before[c]); count[c] == 0 {
			free = append(free, int32(c))
		}
	}
	for len(free) > 0 {
		c := free[len(free)-1]
		free = free[:len(free)-1]
		out[c] = true
		for _, next := range after[c] {
			if count[next]--; count[next] == 0 {
				free = append(free, next)
			}
		}
	}
	return out
}

// shortestCycle is the shortest one through a channel, nil if there is none.
func shortestCycle(g *graph, waits []uint16, from int32) []int32 {
	previous := make([]int32, len(waits))
	for c := range previous {
		previous[c] = math.MinInt32
	}
	queue := []int32{from}
	for i := 0; i < len(queue) && previous[from] < 0; i++ {
		eachWait(g, waits, queue[i], func(next int32) {
			if previous[next] < 0 {
				previous[next] = queue[i]
				queue = append(queue, next)
			}
		})
	}
	if previous[from] < 0 {
		return nil
	}
	cycle := []int32{from}
	for c := previous[from]; c != from; c = previous[c] {
		cycle = append(cycle, c)
	}
	slices.Reverse(cycle[1:])
	return cycle
}

// step says which packets hold a channel and wait for the next.
func (c *checking) step(channel, next int32, trees []*Tree) Step {
	g := c.graph
	u, w := g.from[channel], g.peer[channel]
	port, onward := g.port(channel), g.port(next)
	end := func(node int32, port uint8) string {
		return c.Topology.EndName(topology.End{Node: int(node), Port: int(port)})
	}
	s := Step{From: end(u, port), To: end(w, g.port(g.back[channel]))}
	for d := range g.nodes {
		ports, alternates := c.to(d)
		if d == int(u) || d == int(w) || ports[u] != port && alternates[u] != port || ports[w] != onward && alternates[w] != onward {
			continue
		}
		if s.Count++; s.Count <= few {
			s.Destinations = append(s.Destinations, c.name(int32(d)))
		}
	}
	for _, tree := range trees {
		held := false
		tree.each(g, func(c int32, port uint8) { held = held || c == channel && port == onward })
		if held {
			s.Trees = append(s.Trees, c.name(int32(tree.Sender)))
		}
	}
	return s
}
