package topology

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// sort is what nodes have in common that a summary draws as one.
type sort struct {
	row   int // 0 for NIs, and the level of a switch above
	part  string
	kind  Kind
	ports int
}

func (t *Topology) sortOf(n Node) sort {
	s := sort{kind: n.Kind, ports: n.Ports}
	switch {
	case n.Kind == NI:
	case n.At == nil:
		s.row = 1
	case t.Shape == "hyper-crossbar":
		s.row, s.part = 1, fmt.Sprintf("across dimension %d", slices.Index(n.At, Across)+1)
	default: // a tree
		s.row, s.part = n.At[0], fmt.Sprintf("of level %d", n.At[0])
	}
	return s
}

// summary has a box for all nodes of a sort, and a line for all cables between two of them.
func (t *Topology) summary() drawing {
	nodes, among, between := map[sort]int{}, map[sort]int{}, map[[2]sort]int{}
	for _, n := range t.Nodes {
		nodes[t.sortOf(n)]++
	}
	compare := func(a, b sort) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.part, b.part), cmp.Compare(a.ports, b.ports))
	}
	for _, c := range t.Cables {
		pair := [2]sort{t.sortOf(t.Nodes[c.Ends[0].Node]), t.sortOf(t.Nodes[c.Ends[1].Node])}
		slices.SortFunc(pair[:], compare)
		if between[pair]++; pair[0] == pair[1] {
			among[pair[0]]++
		}
	}
	const width, across, up = 190, 240, 130
	sorts := slices.SortedFunc(maps.Keys(nodes), compare)
	inRow, placed := map[int]int{}, map[int]int{}
	for _, s := range sorts {
		inRow[s.row]++
	}
	var d drawing
	places := map[sort]point{}
	for _, s := range sorts {
		p := point{across * (float64(placed[s.row]) - float64(inRow[s.row]-1)/2), -up * float64(s.row)}
		placed[s.row]++
		places[s] = p
		thing := "network interface"
		if s.kind == Switch {
			thing = "switch"
		}
		lines := []string{counted(nodes[s], thing), counted(s.ports, "port") + " each"}
		if s.part != "" {
			lines = slices.Insert(lines, 1, s.part)
		}
		if n := among[s]; n > 0 {
			lines = append(lines, counted(n, "cable")+" among them")
		}
		d.boxes = append(d.boxes, box{p, point{width, lineStep*float64(len(lines)) + 14}, s.kind, lines, lines[0]})
	}
	for _, pair := range slices.SortedFunc(maps.Keys(between), func(a, b [2]sort) int { return cmp.Or(compare(a[0], b[0]), compare(a[1], b[1])) }) {
		if pair[0] != pair[1] {
			text := counted(between[pair], "cable")
			d.wires = append(d.wires, wire{[]point{places[pair[0]], places[pair[1]]}, text, text})
		}
	}
	return d
}
