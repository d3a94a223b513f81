package verilator_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

var lookup = verilator.Design{
	Top: "lookup", Sources: []string{"testdata/lookup.v"}, Inside: []string{"g_half[0].mem", "g_half[1].mem", "clocks", "twice"}, Trace: true, Checkpoint: true,
}

// TestInside: registers and memories inside a design are set and read, each model's its own, and a wave of what follows can be had.
func TestInside(t *testing.T) {
	lib := build(t, lookup)
	var squares, cubes []uint64
	for i := range uint64(16) {
		squares, cubes = append(squares, i*i%32), append(cubes, i*i*i%32)
	}
	var p struct {
		At    *uint8  `port:"at"`
		Found *uint16 `port:"found"`
		Since *uint32 `port:"since"`
	}
	m, other := start(t, lib, verilator.Config{Seed: 1, Record: 100}), start(t, lib, verilator.Config{Seed: 1})
	check.Fatal(t, m.Bind(&p))
	for _, m := range []*verilator.Model{m, other} {
		must(m.Clock("clk", 2, 0))
		check.Fatal(t, m.Run(3))
	}
	before := must(other.Look("g_half[0].mem"))
	check.Fatal(t, m.Load(map[string][]uint64{"g_half[0].mem": squares, "g_half[1].mem": cubes, "clocks": {1000}, "twice": {1 << 20}}))
	for at := range squares {
		*p.At = uint8(at)
		check.Fatal(t, m.Run(1))
		check.Equal(t, fmt.Sprint("found at ", at), uint64(*p.Found), squares[at]|cubes[at]<<5)
	}
	check.Equal(t, "registers", int(*p.Since), (1000+len(squares))^(1<<20+2*len(squares)))
	check.Equal(t, "the memory", must(m.Look("g_half[1].mem")), cubes)
	if slices.Equal(before, squares) || !slices.Equal(must(other.Look("g_half[0].mem")), before) {
		t.Error("what is loaded into one model stands in another")
	}
	must(m.DumpWave(filepath.Join(t.TempDir(), "x.fst")))

	check.Fails(t, "a word too few", m.Load(map[string][]uint64{"g_half[0].mem": squares[1:]}), nil)
	check.Fails(t, "a word too wide", m.Load(map[string][]uint64{"clocks": {1 << 32}}), nil)
	check.Fails(t, "what the design does not name", m.Load(map[string][]uint64{"since": {1}}), verilator.ErrNotBuilt)
	check.Fatal(t, m.Close())
	_, err := m.Look("clocks")
	check.Fails(t, "closed", err, verilator.ErrClosed)
	d := lookup
	d.Inside = []string{"g_half[2].mem"}
	_, err = verilator.Build(t.Context(), d)
	check.Fails(t, "what is not there", err, nil)
}
