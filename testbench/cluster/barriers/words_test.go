package barriers_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster/barriers"
)

// TestWords: 32 nodes on a tree of switches of 16 ports, all in RTL. From the last that enters to the last that has left there are 150 clocks at most, and 180 while the
// network is saturated: words wait for no packet.
func TestWords(t *testing.T) {
	all := check.Must(barriers.MeasureWords(t.Context(), "tree 32", []float64{0, barriers.Saturating}, 8, testbench.TestSeed(t), 1, func(string) {}))(t)
	for i, most := range []int{150, 180} {
		w := all[i]
		t.Logf("%+v", w)
		if check.Equal(t, "nodes", w.NIs, 32); w.Least < 4*7 || w.Median < w.Least || w.Most < w.Median || w.Most > most {
			t.Errorf("load %g: %d to %d clocks, want at least four cables of 7 symbols and %d at most", w.Load, w.Least, w.Most, most)
		}
	}
}

// TestNetworks: those with up to so many nodes, each of which has a barrier group and a name that is found.
func TestNetworks(t *testing.T) {
	for most, want := range map[int]int{1: 0, 2: 1, 16: 4, 31: 4, 64: 7, 256: 8, 2559: 8, math.MaxInt: 9} {
		if have := barriers.Networks(most); len(have) != want {
			t.Errorf("up to %d nodes: %q, want %d", most, have, want)
		}
	}
	_, err := barriers.MeasureWords(t.Context(), "star 3", []float64{0}, 1, 1, 1, func(string) {})
	if err == nil || !strings.Contains(err.Error(), `no network "star 3": want one of ["star 2" `) {
		t.Error(err)
	}
}
