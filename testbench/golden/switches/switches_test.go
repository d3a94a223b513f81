package switches

import (
	"errors"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/model"
)

func open(t *testing.T, p Program, seed uint64) *World {
	t.Helper()
	return check.Must(NewModel(p.Params, seed))(t)
}

// TestModelsAgree: two models of a switch, and of a network interface with a router, at different times, epochs and nonces are no different, and all cases
// come up.
func TestModelsAgree(t *testing.T) {
	missing := map[event]bool{}
	for _, p := range Points {
		for _, bin := range p.Bins {
			missing[event{p.Name, bin}] = true
		}
	}
	for seed := range uint64(4) {
		for _, p := range []Program{Draw(seed, Shapes, 8, 40), Draw(seed, Interfaces, 6, 40)} {
			packets, err := Check(p, open(t, p, 1), open(t, p, 2), func(point, bin string) { delete(missing, event{point, bin}) })
			if err != nil || packets < 100 {
				t.Fatalf("seed %d: %d packets, %v", seed, packets, err)
			}
			t.Logf("seed %d: %d packets", seed, packets)
		}
	}
	for e := range missing {
		t.Errorf("has not come up: %s: %s", e.point, e.bin)
	}
}

// TestDifferenceShows: a switch that does something else is found out.
func TestDifferenceShows(t *testing.T) {
	p := Draw(1, Shapes, 4, 30)
	tested := open(t, p, 1)
	left := 20
	tested.passed = func(o model.Passage) {
		if o.From > 1 && o.Ways > 1 {
			if left--; left == 0 {
				o.Packet[len(o.Packet)-1] ^= 1
			}
		}
	}
	_, err := Check(p, tested, open(t, p, 2), func(string, string) {})
	var d *Difference
	if !errors.As(err, &d) {
		t.Errorf("a damaged packet is no difference: %v", err)
	}
}
