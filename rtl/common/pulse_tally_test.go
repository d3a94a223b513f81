package common_test

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// pulse_tally gives on every event, one a clock, of those for which it has room.
func TestPulseTally(t *testing.T) {
	for _, c := range []struct{ n, bits int }{{2, 2}, {5, 8}, {8, 3}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			var p struct {
				EventOut *bool  `port:"*"`
				Events   *uint8 `port:"*"`
			}
			b := moduletest.Open(t, "pulse_tally", params{"N": c.n, "BITS": c.bits}, &p)
			rng := b.Rand("events")
			waits, full := 0, 0
			for clock := range 20_000 {
				often := 0.1 // and much oftener now and then
				if clock/200%4 == 3 {
					often = 0.9
				}
				if *p.Events = 0; rng.Chance(often) {
					*p.Events = uint8(rng.IntN(1 << c.n))
				}
				waits = min(waits-min(waits, 1)+bits.OnesCount8(*p.Events), 1<<c.bits-1)
				if waits == 1<<c.bits-1 {
					full++
				}
				b.Step(1)
				check.Equal(t, fmt.Sprint("a pulse in clock ", clock), *p.EventOut, waits > 0)
			}
			if full < 100 {
				t.Errorf("as many as fit waited for %d clocks, want 100 at least", full)
			}
		})
	}
}
