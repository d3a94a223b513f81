package topology

import (
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/internal/try"
)

// builder collects what a shape consists of. Its methods end by package try.
type builder struct {
	Topology
	named [2]int // nodes so far, by kind
}

// add adds a node at a place, and returns its index.
func (b *builder) add(kind Kind, at ...int) int {
	if len(b.Nodes) == MaxNodes {
		try.OK(failf("size", "size %s makes more than %d nodes, and a router's table has no more entries: make it smaller", sizeText(b.Size), MaxNodes))
	}
	name := fmt.Sprintf("%c%d", "ns"[kind], b.named[kind])
	b.named[kind]++
	b.Nodes = append(b.Nodes, Node{Kind: kind, Name: name, ID: uint16(len(b.Nodes) + 1), At: at})
	return len(b.Nodes) - 1
}

// join cables the next ports of two nodes, with so many cables.
func (b *builder) join(x, y, cables int) {
	for range cables {
		b.Nodes[x].Ports++
		b.Nodes[y].Ports++
		b.Cables = append(b.Cables, Cable{Ends: [2]End{{x, b.Nodes[x].Ports}, {y, b.Nodes[y].Ports}}, Link: plainLink})
	}
}

// grid calls visit with all places of a grid, the first dimension counting fastest. The place is visit's.
func grid(size []int, visit func(at []int)) {
	at := make([]int, len(size))
	for {
		visit(slices.Clone(at))
		d := 0
		for ; d < len(size); d++ {
			if at[d]++; at[d] < size[d] {
				break
			}
			at[d] = 0
		}
		if d == len(size) {
			return
		}
	}
}

// nodeGrid adds an NI at each place of a grid, and returns how far nodes are apart in each dimension.
func (b *builder) nodeGrid(size []int) (stride []int) {
	grid(size, func(at []int) { b.add(NI, at...) })
	stride, n := make([]int, len(size)), 1
	for d := range size {
		stride[d] = n
		n *= size[d]
	}
	return stride
}

// digits is a number's n digits to a base, the lowest first.
func digits(number, base, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = number % base
		number /= base
	}
	return list
}
