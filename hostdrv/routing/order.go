package routing

import (
	"cmp"
	"math/bits"
	"slices"
)

// order is what waits for what, and an order of channels in which nothing waits for an earlier one. It stays so while waits are added, by the method of
// Pearce and Kelly: only channels between the two ends of a new wait change places.
type order struct {
	graph   *graph
	waits   []uint16 // by channel: the ports of its receiver that a packet in it may wait for
	refused []uint16 // those which would close a cycle
	place   []int32  // of a channel in the order

	seen, stack []int32 // by channel: the search that has met it last
	search      int32
}

// newOrder returns nil if there is no order.
func newOrder(g *graph, waits []uint16) *order {
	n := len(g.from)
	o := &order{graph: g, waits: waits, refused: make([]uint16, n), place: make([]int32, n), seen: make([]int32, n)}
	before := make([]int32, n)
	for c := range int32(n) {
		o.after(c, func(next int32) { before[next]++ })
	}
	var free []int32
	for c := range int32(n) {
		if before[c] == 0 {
			free = append(free, c)
		}
	}
	placed := int32(0)
	for ; len(free) > 0; placed++ {
		c := free[len(free)-1]
		free = free[:len(free)-1]
		o.place[c] = placed
		o.after(c, func(next int32) {
			if before[next]--; before[next] == 0 {
				free = append(free, next)
			}
		})
	}
	if placed < int32(n) {
		return nil
	}
	return o
}

// after calls visit with the channels that a packet in channel c may wait for.
func (o *order) after(c int32, visit func(int32)) { eachWait(o.graph, o.waits, c, visit) }

func eachWait(g *graph, waits []uint16, c int32, visit func(int32)) {
	for mask := waits[c]; mask != 0; mask &= mask - 1 {
		visit(g.first[g.peer[c]] + int32(bits.TrailingZeros16(mask)))
	}
}

// before calls visit with the channels in which a packet may wait for channel c.
func (o *order) before(c int32, visit func(int32)) {
	u, port := o.graph.from[c], bit(o.graph.port(c))
	for other := o.graph.first[u]; other < o.graph.first[u+1]; other++ {
		if in := o.graph.back[other]; in >= 0 && o.waits[in]&port != 0 {
			visit(in)
		}
	}
}

// add has packets in channel c wait for a port of its receiver, unless that would close a cycle. It reports whether they now may.
func (o *order) add(c int32, port uint8) bool {
	if o.waits[c]&bit(port) != 0 {
		return true
	}
	if o.refused[c]&bit(port) != 0 {
		return false
	}
	to := o.graph.channel(o.graph.peer[c], port)
	if o.place[c] > o.place[to] && !o.move(c, to) {
		o.refused[c] |= bit(port)
		return false
	}
	o.waits[c] |= bit(port)
	return true
}

// move puts channel c before channel to, unless something leads from there to c.
func (o *order) move(c, to int32) bool {
	later := o.collect(to, o.after, func(place int32) bool { return place <= o.place[c] })
	if o.seen[c] == o.search {
		return false
	}
	earlier := o.collect(c, o.before, func(place int32) bool { return place >= o.place[to] })
	byPlace := func(a, b int32) int { return cmp.Compare(o.place[a], o.place[b]) }
	slices.SortFunc(later, byPlace)
	slices.SortFunc(earlier, byPlace)
	moved := slices.Concat(earlier, later)
	var places []int32
	for _, m := range moved {
		places = append(places, o.place[m])
	}
	slices.Sort(places)
	for i, m := range moved {
		o.place[m] = places[i]
	}
	return true
}

// collect returns what leads on from a channel, among places that are within bounds.
func (o *order) collect(from int32, onward func(int32, func(int32)), within func(int32) bool) (met []int32) {
	o.search++
	o.seen[from] = o.search
	o.stack = append(o.stack[:0], from)
	visit := func(next int32) {
		if o.seen[next] != o.search && within(o.place[next]) {
			o.seen[next] = o.search
			o.stack = append(o.stack, next)
		}
	}
	for len(o.stack) > 0 {
		c := o.stack[len(o.stack)-1]
		o.stack = o.stack[:len(o.stack)-1]
		met = append(met, c)
		onward(c, visit)
	}
	return met
}
