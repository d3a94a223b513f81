package soak

import (
	"maps"
	"slices"
)

// histogram counts values exactly.
type histogram map[uint64]uint64

func (h histogram) merge(other histogram) {
	for v, n := range other {
		h[v] += n
	}
}

func (h histogram) count() (n uint64) {
	for _, of := range h {
		n += of
	}
	return n
}

// quantiles returns the least values that these shares (0 to 1, ascending) of all values do not exceed; zeros without any.
func (h histogram) quantiles(shares ...float64) []uint64 {
	found := make([]uint64, len(shares))
	total, seen, next := float64(h.count()), uint64(0), 0
	for _, v := range slices.Sorted(maps.Keys(h)) {
		for seen += h[v]; next < len(shares) && float64(seen) >= shares[next]*total; next++ {
			found[next] = v
		}
	}
	return found
}
