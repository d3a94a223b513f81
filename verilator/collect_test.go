package verilator_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

// TestCollector runs two models, one with data of its own after Start and one with data before it only.
func TestCollector(t *testing.T) {
	d := echo
	d.Coverage = true
	lib := build(t, d)
	var c verilator.Collector
	run := func(early, late uint64) {
		m := clocked(t, lib, verilator.Config{Seed: early})
		m.Poke("rst", 1)
		m.Poke("rx", early)
		m.Run(4)
		m.Poke("rst", 0)
		check.Fatal(t, c.Start(m))
		m.Poke("rx", early^late)
		m.Run(4)
		check.Fatal(t, c.Add(m))
	}
	counts := func() (reset uint64, toggles map[string]uint64) {
		toggles = map[string]uint64{}
		for _, p := range c.Points() {
			check.Equal(t, fmt.Sprintf("instance of %+v", p), p.Hierarchy, "")
			switch {
			case p.Kind == "toggle":
				toggles[p.What] += p.Count
			case p.Line == 28: // if (rst)
				reset += p.Count
			}
		}
		return reset, toggles
	}
	run(2, 0)
	first, toggles := counts()
	if toggles["rx[1]"] != 0 || first == 0 {
		t.Errorf("bit 1 moved before Start only and counts %d; the reset counts %d", toggles["rx[1]"], first)
	}
	run(0, 4)
	second, toggles := counts()
	if toggles["rx[1]"] != 0 || toggles["rx[2]"] != 1 || second != 2*first {
		t.Errorf("bit 1 counts %d, want 0; bit 2 counts %d, want 1; the resets of two models count %d, of one %d",
			toggles["rx[1]"], toggles["rx[2]"], second, first)
	}
}

func TestCollectorNeedsCoverage(t *testing.T) {
	m := start(t, build(t, echo), verilator.Config{})
	var c verilator.Collector
	check.Fails(t, "Start without Design.Coverage", c.Start(m), verilator.ErrNotBuilt)
	check.Fails(t, "Add without Design.Coverage", c.Add(m), verilator.ErrNotBuilt)
}
