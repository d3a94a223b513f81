package testbench

import "testing"

func TestWatchdogCountsOnlyWhatStandsStill(t *testing.T) {
	var p progress
	for i := range uint64(100) {
		if p.stalled(2*i, 5) { // between runs
			t.Fatal("a bench that does not run is stalled")
		}
		for range 2 {
			if p.stalled(2*i+1, 5) { // short runs
				t.Fatal("a bench that runs again and again is stalled")
			}
		}
		if p.stalled(1, i) { // a long one
			t.Fatal("a bench whose time goes on is stalled")
		}
	}
	for i := range looks + 1 {
		if got := p.stalled(201, 7); got != (i == looks) {
			t.Errorf("look %d at what stands still: stalled %v", i, got)
		}
	}
}
