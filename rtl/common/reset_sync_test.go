package common_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// Reset holds from configuration on, ends STRETCH+3 edges after its cause, and returns without a clock.
func TestResetSync(t *testing.T) {
	var p struct {
		Arst, Rst *bool `port:"*"`
	}
	m := start(t, "reset_sync", params{"STRETCH": "64"}, nil, &p)
	// released counts edges until rst is low.
	released := func() int {
		check.Fatal(t, m.Eval())
		for n := range 200 {
			if !*p.Rst {
				return n
			}
			step(t, m)
		}
		return -1
	}
	check.Equal(t, "edges of reset after configuration", released(), 67)
	for n := range 1000 {
		step(t, m)
		if *p.Rst {
			t.Fatalf("reset came back by itself after %d clocks", n+1)
		}
	}
	*p.Arst = true
	if err := m.Eval(); err != nil { // no clock
		t.Fatal(err)
	}
	if !*p.Rst {
		t.Error("reset waits for a clock")
	}
	step(t, m)
	*p.Arst = false
	check.Equal(t, "edges of reset after arst", released(), 67)
}

// sync_bit shows a bit two clocks after the one that took it, never sooner: the first flop may be metastable for a clock.
func TestSyncBit(t *testing.T) {
	var p struct {
		D, Q *bool `port:"*"`
	}
	r := random(t)
	m := start(t, "sync_bit", nil, nil, &p)
	var before, now bool
	for clock := range 200 {
		*p.D = often(r, 50)
		before, now = now, *p.D
		step(t, m)
		if clock > 0 && *p.Q != before {
			t.Fatalf("clock %d: q %v, d was %v a clock ago", clock, *p.Q, before)
		}
	}
}
