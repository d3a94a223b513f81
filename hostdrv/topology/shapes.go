package topology

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/internal/try"
)

// Shape is a kind of network that Generate makes.
type Shape struct {
	Name    string
	Size    string // what the numbers of its size are
	Routing string // one of Routings, unless another is stated
	Doc     string

	numbers  int // how many a size has; 0: any, but at least one
	least    int // of each number
	generate func(b *builder, size []int)
}

var shapes = []Shape{
	{Name: "line", Size: "NIs", Routing: "dimension-order", Doc: "NIs in a row, each cabled to the next", numbers: 1, least: 2, generate: mesh},
	{Name: "ring", Size: "NIs", Routing: "up-down", Doc: "a line whose ends are cabled too", numbers: 1, least: 3, generate: torus},
	{Name: "mesh", Size: "NIs in each dimension", Routing: "dimension-order", Doc: "a line in each dimension", least: 2, generate: mesh},
	{Name: "torus", Size: "NIs in each dimension", Routing: "up-down", Doc: "a ring in each dimension; where that is two NIs, a line", least: 2, generate: torus},
	{Name: "star", Size: "NIs", Routing: "up-down", Doc: "NIs on one switch", numbers: 1, least: 2, generate: star},
	{Name: "tree", Size: "branches of a switch, levels of switches", Routing: "up-down", Doc: "a tree of switches whose leaves are NIs", numbers: 2, least: 1, generate: tree},
	{Name: "fat-tree", Size: "k, levels of switches n", Routing: "fat-tree", Doc: "k-ary n-tree: each switch has k links up and k down", numbers: 2, least: 1, generate: fatTree},
	{Name: "hyper-crossbar", Size: "NIs in each dimension", Routing: "dimension-order", Doc: "a switch for each line of NIs in each dimension; NIs forward from one dimension to the next", least: 2, generate: hyperCrossbar},
}

// Shapes are what Generate makes.
func Shapes() []Shape { return slices.Clone(shapes) }

func shapeNames() (names []string) {
	for _, s := range shapes {
		names = append(names, s.Name)
	}
	return names
}

// sizeText writes a size as in 16x16x10.
func sizeText(size []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(size), " ", "x"), "[]")
}

// Generate makes the network of a shape. Each of its connections is so many cables beside each other as links says; where a switch of a
// hyper-crossbar has too few ports for that, each link has a switch of its own. NIs come first, as n0, n1 and so on, then switches, as s0 and so on;
// the first dimension counts fastest. IDs count from 1. Errors are of type *Error.
func Generate(shape string, size []int, links int) (*Topology, error) {
	i := slices.IndexFunc(shapes, func(s Shape) bool { return s.Name == shape })
	if i < 0 {
		return nil, failf("topology", "no topology %q%s; there are %s", shape, nearest.Hint(shape, shapeNames()), strings.Join(shapeNames(), ", "))
	}
	s := shapes[i]
	if len(size) == 0 {
		return nil, failf("size", "a %s has a size, and none is given: want %s", s.Name, s.Size)
	}
	if s.numbers != 0 && len(size) != s.numbers {
		return nil, failf("size", "size %s does not fit a %s: want %s", sizeText(size), s.Name, s.Size)
	}
	for _, n := range size {
		if n < s.least || n > MaxNodes {
			return nil, failf("size", "size %s: a %s takes numbers of %d to %d: %s", sizeText(size), s.Name, s.least, MaxNodes, s.Size)
		}
	}
	if links < 1 || links > MaxSwitchPorts {
		return nil, failf("links", "links = %d: want 1 to %d", links, MaxSwitchPorts)
	}
	b := &builder{Topology: Topology{Shape: s.Name, Size: slices.Clone(size), Links: links, Default: plainLink}}
	if err := try.Run(func() { s.generate(b, size) }); err != nil {
		return nil, err
	}
	for i, n := range b.Nodes {
		if limit := n.Kind.maxPorts(); n.Ports > limit {
			return nil, failf("size", "a %s of size %s with links = %d needs %s with %d ports, and there are at most %d: make it smaller",
				shape, sizeText(size), links, article(n.Kind), n.Ports, limit)
		}
		b.Nodes[i].Ports = max(n.Ports, n.Kind.minPorts())
	}
	return &b.Topology, nil
}

func article(k Kind) string {
	if k == Switch {
		return "a switch"
	}
	return "an NI"
}
