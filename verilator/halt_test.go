package verilator_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

func TestHalts(t *testing.T) {
	lib := build(t, verilator.Design{Top: "halt", Sources: []string{"testdata/halt.v"}, Flags: []string{"-Wno-UNOPTFLAT"}})
	for how, want := range map[uint64]struct {
		is   error
		text string
	}{
		1: {verilator.ErrFinish, "halt.v:15"},
		2: {verilator.ErrStop, "$stop"},
		3: {verilator.ErrAssert, "three is 3"},
		4: {verilator.ErrAssert, "four"},
		5: {verilator.ErrFatal, "converge"},
		7: {verilator.ErrAssert, "halt.v:20"},
	} {
		var printed bytes.Buffer
		m := clocked(t, lib, verilator.Config{Name: "victim", Output: &printed})
		check.Fatal(t, m.Run(3))
		m.Poke("how", how)
		m.Poke("in", 1)
		err := m.Run(5)
		var halt *verilator.HaltError
		if !errors.As(err, &halt) || !strings.Contains(err.Error(), want.text) || !strings.Contains(err.Error(), "victim") {
			t.Errorf("how %d: %v, want %q", how, err, want.text)
			continue
		}
		check.Fails(t, fmt.Sprintf("how %d", how), err, want.is)
		m.Poke("how", 0)
		if err := m.Step(); (err != nil) != (how == 5) {
			t.Errorf("how %d: the step after: %v", how, err)
		}
	}
}

func TestOutputOfTheDesign(t *testing.T) {
	lib := build(t, verilator.Design{Top: "halt", Sources: []string{"testdata/halt.v"}, Flags: []string{"-Wno-UNOPTFLAT"}})
	var printed bytes.Buffer
	m := clocked(t, lib, verilator.Config{Output: &printed})
	m.Poke("how", 6)
	const n = 400_000 // enough to be handed over in parts
	check.Fatal(t, m.Run(n))
	check.Fatal(t, m.Step())
	check.Equal(t, "lines", strings.Count(printed.String(), "six\n"), n+1)
}

// A model with one clock and nothing attached runs in a loop of its own, and so does a single step.
func TestOutputOfTheFirstRun(t *testing.T) {
	lib := build(t, verilator.Design{Top: "halt", Sources: []string{"testdata/halt.v"}, Flags: []string{"-Wno-UNOPTFLAT"}})
	for name, run := range map[string]func(*verilator.Model) error{
		"Step": (*verilator.Model).Step,
		"Run":  func(m *verilator.Model) error { return m.Run(1) },
	} {
		var printed bytes.Buffer
		m := clocked(t, lib, verilator.Config{Output: &printed})
		m.Poke("how", 6)
		for n := 1; n <= 100; n++ {
			if err := run(m); err != nil {
				t.Fatal(name, err)
			}
			if got := printed.String(); got != strings.Repeat("six\n", n) {
				t.Fatalf("%s %d printed %q", name, n, got)
			}
		}
	}
}
