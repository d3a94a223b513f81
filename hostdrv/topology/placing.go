package topology

import (
	"cmp"
	"math"
	"slices"
)

// places says where in a drawing the middle of each node's box is. Nodes that were added to a shape stand below it.
func (t *Topology) places(size point) []point {
	places := make([]point, len(t.Nodes))
	switch {
	case t.Shape == "line":
		t.placeLine(places, size)
	case t.gridded():
		t.placeGrid(places, size)
	case t.Shape == "tree" || t.Shape == "fat-tree":
		t.placeTree(places, size)
	default: // star, ring, list, more dimensions than three
		t.placeCircle(places, size)
		return places
	}
	low, left := math.Inf(-1), math.Inf(1)
	for i, n := range t.Nodes {
		if n.At != nil {
			low, left = max(low, places[i].y), min(left, places[i].x)
		}
	}
	column := 0.0
	for i, n := range t.Nodes {
		if n.At == nil {
			places[i] = point{left + column*(size.x+16), low + 3*size.y}
			column++
		}
	}
	return places
}

// gridded reports whether nodes are drawn by their coordinates.
func (t *Topology) gridded() bool {
	return slices.Contains([]string{"mesh", "torus", "hyper-crossbar"}, t.Shape) && len(t.Size) <= 3
}

// placeLine makes rows, to the right and back.
func (t *Topology) placeLine(places []point, size point) {
	const row = 16
	for i, n := range t.Nodes {
		if n.At != nil {
			x, y := n.At[0]%row, n.At[0]/row
			if y%2 == 1 {
				x = row - 1 - x
			}
			places[i] = point{float64(x) * (size.x + 24), float64(y) * (size.y + 28)}
		}
	}
}

// placeGrid makes rows and columns; the third dimension goes to the right and down. The switches of a line stand before its NIs, in the third
// dimension behind them.
func (t *Topology) placeGrid(places []point, size point) {
	planes := 1
	if len(t.Size) == 3 {
		planes = t.Size[2] + t.switchesOfLine()
	}
	deep := point{size.x + 12, size.y + 16}
	cell := point{deep.x*float64(planes) + 20, deep.y*float64(planes) + 14}
	before := map[[3]int]int{}
	for i, n := range t.Nodes {
		if n.At == nil {
			continue
		}
		var at [3]int
		copy(at[:], n.At)
		line := at
		for d, x := range n.At {
			switch {
			case x == Across && d == 2:
				at[d] = t.Size[d] + before[line]
			case x == Across:
				at[d] = -1 - before[line]
			}
		}
		if n.Kind == Switch {
			before[line]++
		}
		places[i] = point{float64(at[0])*cell.x + float64(at[2])*deep.x, float64(at[1])*cell.y + float64(at[2])*deep.y}
	}
}

// switchesOfLine is how many switches each line of a hyper-crossbar has at most.
func (t *Topology) switchesOfLine() int {
	if t.Shape != "hyper-crossbar" {
		return 0
	}
	return t.Links
}

// placeTree makes a row of each level, the NIs in the last.
func (t *Topology) placeTree(places []point, size point) {
	count := map[int]int{}
	for _, n := range t.Nodes {
		if n.At != nil {
			count[n.At[0]]++
		}
	}
	width := float64(count[0]) * (size.x + 10)
	height := max(3*size.y, width/10)
	placed := map[int]int{}
	for i, n := range t.Nodes {
		if n.At != nil {
			level := n.At[0]
			places[i] = point{width * (float64(placed[level]) + 0.5) / float64(count[level]), -height * float64(level)}
			placed[level]++
		}
	}
}

// placeCircle puts switches on a circle, and NIs on another one around it, each near the first switch that it is cabled to.
func (t *Topology) placeCircle(places []point, size point) {
	near := make([]int, len(t.Nodes))
	for _, c := range t.Cables {
		for side, e := range c.Ends {
			if other := c.Ends[1-side].Node; t.Nodes[other].Kind == Switch && near[e.Node] == 0 {
				near[e.Node] = other + 1
			}
		}
	}
	var circles [2][]int // by kind
	for i, n := range t.Nodes {
		circles[n.Kind] = append(circles[n.Kind], i)
	}
	slices.SortStableFunc(circles[NI], func(a, b int) int { return cmp.Compare(near[a], near[b]) })
	apart := math.Hypot(size.x, size.y) + 10
	inner := 0.0
	for _, kind := range []Kind{Switch, NI} {
		nodes := circles[kind]
		radius := inner
		if len(nodes) > 1 {
			radius = max(inner, apart/2/math.Sin(math.Pi/float64(len(nodes))))
		}
		for i, n := range nodes {
			turn := 2*math.Pi*float64(i)/float64(len(nodes)) - math.Pi/2
			places[n] = point{radius * math.Cos(turn), radius * math.Sin(turn)}
		}
		if len(nodes) > 0 {
			inner = radius + apart + 20
		}
	}
}

// bend is the way of a cable between two nodes, so much beside the straight one. Where that would lead below other nodes of the line it goes beside it.
func (t *Topology) bend(places []point, size point, nodes [2]int, shift float64) []point {
	from, to := places[nodes[0]], places[nodes[1]]
	a, b := t.Nodes[nodes[0]], t.Nodes[nodes[1]]
	if t.gridded() && a.At != nil && b.At != nil {
		if d := apart(a.At, b.At); len(d) > 0 && d[0] < 2 && (b.Kind == Switch || a.At[d[0]]+1 != b.At[d[0]]) {
			aside := [2]point{{0, -size.y/2 - 4 - shift}, {-size.x/2 - 4 - shift, 0}}[d[0]]
			across := [2]point{{shift, 0}, {0, shift}}[d[0]]
			return []point{from.plus(across), from.plus(aside).plus(across), to.plus(aside).plus(across), to.plus(across)}
		}
	}
	length := math.Hypot(to.x-from.x, to.y-from.y)
	beside := point{(from.y - to.y) / length * shift, (to.x - from.x) / length * shift}
	return []point{from.plus(beside), to.plus(beside)}
}

// apart are the indices in which two places differ.
func apart(a, b []int) (at []int) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			at = append(at, i)
		}
	}
	return at
}
