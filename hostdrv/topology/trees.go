package topology

import "slices"

func star(b *builder, size []int) { tree(b, []int{size[0], 1}) }

// tree makes a switch for each so many nodes of the level below, until one is left.
func tree(b *builder, size []int) {
	branches, levels := size[0], size[1]
	nis := 1
	for range levels {
		nis = min(nis*branches, MaxNodes+1)
	}
	var below []int
	for i := range nis {
		below = append(below, b.add(NI, 0, i))
	}
	for level := 1; level <= levels; level++ {
		var made []int
		for first := 0; first < len(below); first += branches {
			s := b.add(Switch, level, len(made))
			for _, n := range below[first : first+branches] {
				b.join(n, s, b.Links)
			}
			made = append(made, s)
		}
		below = made
	}
}

// fatTree makes a k-ary n-tree. The switches of a level are numbered by n-1 digits to the base k; a switch is cabled to those of the level above
// whose number differs at most in the digit of that level.
func fatTree(b *builder, size []int) {
	k, n := size[0], size[1]
	nis, width := 1, 1
	for range n {
		width, nis = nis, min(nis*k, MaxNodes+1)
	}
	for i := range nis {
		b.add(NI, append([]int{0}, digits(i, k, n)...)...)
	}
	below := make([]int, width)
	for i := range width {
		below[i] = b.add(Switch, append([]int{1}, digits(i, k, n-1)...)...)
		for j := range k {
			b.join(i*k+j, below[i], b.Links)
		}
	}
	step := 1 // what the digit counts
	for level := 2; level <= n; level++ {
		above := slices.Clone(below)
		for i := range width {
			above[i] = b.add(Switch, append([]int{level}, digits(i, k, n-1)...)...)
		}
		for i := range width {
			for j := range k {
				b.join(below[i], above[i+(j-i/step%k)*step], b.Links)
			}
		}
		below, step = above, step*k
	}
}
