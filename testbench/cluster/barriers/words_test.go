package barriers_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster/barriers"
)

// TestWords: 32 nodes on a tree of switches of 16 ports, all in RTL. From the last that enters to the last that has left there are 150 clocks at most, and 180 while the
// network is saturated: words wait for no packet.
func TestWords(t *testing.T) {
	all := check.Must(barriers.MeasureWords(t.Context(), "tree 32", []float64{0, barriers.Saturating}, 8, testbench.TestSeed(t)))(t)
	for i, most := range []int{150, 180} {
		w := all[i]
		t.Logf("%+v", w)
		if check.Equal(t, "nodes", w.NIs, 32); w.Least < 4*7 || w.Median < w.Least || w.Most < w.Median || w.Most > most {
			t.Errorf("load %g: %d to %d clocks, want at least four cables of 7 symbols and %d at most", w.Load, w.Least, w.Most, most)
		}
	}
}
