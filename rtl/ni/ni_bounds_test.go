package ni_test

import (
	"testing"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// Every run of bytes, of every length at every offset around the ends of a page, ends where it does, and is told from one that leaves the page.
func TestBounds(t *testing.T) {
	for _, page := range []int{512, 8192} {
		var p struct {
			Load, Fits         *bool   `port:"*"`
			First, Count, Last *uint16 `port:"*"`
			Less               *uint8  `port:"*"`
		}
		b := moduletest.New(t, "ni_bounds", params{"PAGE_BYTES": page}, &p)
		rng := b.Rand("runs")
		for range 20_000 {
			less := testbench.Pick(rng, 1, 5, 7)
			count := testbench.Pick(rng, 0, 1, rng.IntN(16), rng.IntN(page), page-8)
			first := testbench.Pick(rng, 0, rng.IntN(page), page-1, max(page-count, 0)%page, (max(page-count, 0)+1)%page)
			*p.Load, *p.Count, *p.Less = false, uint16(count+less-1), uint8(less)
			b.Step(1)
			*p.Load, *p.First = true, uint16(first)
			*p.Count = uint16(rng.IntN(2 * page))
			b.Step(1)
			*p.Load, *p.First = false, uint16(rng.IntN(page))
			b.Step(uint64(rng.IntN(3)))
			settle(t, b)
			if last, fits := (first+count-1+page)%page, first+count <= page; int(*p.Last) != last || *p.Fits != fits {
				t.Fatalf("page of %d bytes, %d from %d on: last %d, fits %v; want %d, %v", page, count, first, *p.Last, *p.Fits, last, fits)
			}
		}
	}
}
