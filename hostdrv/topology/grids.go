package topology

import "slices"

func mesh(b *builder, size []int) { b.meshOr(size, false) }

func torus(b *builder, size []int) { b.meshOr(size, true) }

// meshOr makes a mesh, or with its ends cabled a torus.
func (b *builder) meshOr(size []int, round bool) {
	stride := b.nodeGrid(size)
	nis := len(b.Nodes)
	for d, n := range size {
		for i := range nis {
			switch {
			case b.Nodes[i].At[d] < n-1:
				b.join(i, i+stride[d], b.Links)
			case round && n > 2: // two would be cabled twice
				b.join(i, i-(n-1)*stride[d], b.Links)
			}
		}
	}
}

// hyperCrossbar puts a switch across each line of NIs.
func hyperCrossbar(b *builder, size []int) {
	stride := b.nodeGrid(size)
	for d, n := range size {
		switches, cables := 1, b.Links
		if n*b.Links > MaxSwitchPorts {
			switches, cables = b.Links, 1
		}
		one := slices.Clone(size)
		one[d] = 1
		for range switches {
			grid(one, func(at []int) {
				first := 0
				for e, x := range at {
					first += x * stride[e]
				}
				at[d] = Across
				s := b.add(Switch, at...)
				for x := range n {
					b.join(first+x*stride[d], s, cables)
				}
			})
		}
	}
}
