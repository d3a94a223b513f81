package cluster

import (
	"testing"

	"github.com/stafflink/lmmc/testbench"
)

// TestRareErrors: bits arrive wrong as rarely as is said, also once in more than 2^32.
func TestRareErrors(t *testing.T) {
	const draws = 1000
	for _, rate := range []float64{1e-3, 1e-9, 1e-12} {
		l, mean := newLine(1, rate, testbench.NewRand(1)), 0.0
		for range draws {
			mean += float64(l.gap()) / draws
		}
		if share := mean * rate; share < 0.9 || share > 1.1 {
			t.Errorf("rate %g: %g bits between two errors on average", rate, mean)
		}
	}
}
