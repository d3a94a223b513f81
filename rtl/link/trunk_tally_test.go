package link_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// trunk_tally gives on every event, one a clock.
func TestTrunkTally(t *testing.T) {
	var p struct {
		Rst, EventOut *bool  `port:"*"`
		Events        *uint8 `port:"*"`
	}
	b := moduletest.Open(t, "trunk_tally", params{"N": 5}, &p)
	rng := b.Rand("events")
	in, out := 0, 0
	for range 20_000 {
		*p.Events = 0
		if rng.Chance(0.2) {
			*p.Events = uint8(rng.IntN(32))
		}
		for k := range 5 {
			in += int(*p.Events >> k & 1)
		}
		b.Step(1)
		if *p.EventOut {
			out++
		}
	}
	*p.Events = 0
	for range 300 {
		b.Step(1)
		if *p.EventOut {
			out++
		}
	}
	check.Equal(t, "events", out, in)
}
