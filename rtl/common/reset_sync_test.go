package common_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// Reset holds from configuration on, ends STRETCH+3 edges after its cause, and returns without a clock.
func TestResetSync(t *testing.T) {
	var p struct {
		Arst, Rst *bool `port:"*"`
	}
	b := moduletest.New(t, "reset_sync", params{"STRETCH": 64}, &p)
	// released counts edges until rst is low.
	released := func() int {
		check.Fatal(t, b.Model().Eval())
		for n := range 200 {
			if !*p.Rst {
				return n
			}
			b.Step(1)
		}
		return -1
	}
	check.Equal(t, "edges of reset after configuration", released(), 67)
	for n := range 1000 {
		b.Step(1)
		if *p.Rst {
			t.Fatalf("reset came back by itself after %d clocks", n+1)
		}
	}
	*p.Arst = true
	check.Fatal(t, b.Model().Eval()) // no clock
	if !*p.Rst {
		t.Error("reset waits for a clock")
	}
	b.Step(1)
	*p.Arst = false
	check.Equal(t, "edges of reset after arst", released(), 67)
}

// sync_bit shows a bit two clocks after the one that took it, never sooner: the first flop may be metastable for a clock.
func TestSyncBit(t *testing.T) {
	var p struct {
		D, Q *bool `port:"*"`
	}
	b := moduletest.New(t, "sync_bit", nil, &p)
	r := b.Rand("bits")
	var before, now bool
	for clock := range 200 {
		*p.D = r.Chance(0.5)
		before, now = now, *p.D
		b.Step(1)
		if clock > 0 && *p.Q != before {
			t.Fatalf("clock %d: q %v, d was %v a clock ago", clock, *p.Q, before)
		}
	}
}
