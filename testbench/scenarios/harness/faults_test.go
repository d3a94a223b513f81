package harness

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// However many cuts a plan has, a WORD_TIMER without one comes before 3 WORD_TIMER have passed.
func TestFaultPlanSilence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const timer = 4096
		n := rapid.IntRange(1, 200).Draw(t, "faults")
		rng := testbench.NewRand(rapid.Uint64().Draw(t, "seed"))
		plan := FaultPlan(rng, rtl.Params{WordTimer: timer}, 1000, n, rapid.IntRange(1, 200_000).Draw(t, "span"))
		if len(plan) != n {
			t.Fatalf("%d faults, want %d", len(plan), n)
		}
		silent := []uint64{} // clocks without a word, in order, as ends of stretches
		for _, f := range plan {
			if f.Kind == verilator.Cut && f.Cycles > 0 {
				silent = append(silent, f.At<<32|(f.At+f.Cycles))
			}
		}
		slices.Sort(silent)
		var since, end uint64
		for i, s := range silent {
			from, to := s>>32, s&(1<<32-1)
			if i == 0 || from > end+timer {
				since = from
			}
			if end = max(end, to); end-since > 2*timer {
				t.Fatalf("no word from clock %d to %d", since, end)
			}
		}
	})
}
