package bus_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/axi"
	"github.com/stafflink/lmmc/testbench/bus/dut"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/testbench/bus/wishbone"
	"github.com/stafflink/lmmc/verilator"
)

var wbRAM = verilator.Design{Top: "wb_ram", Sources: []string{"wishbone/testdata/wb_ram.v"}}

// Models drive buses of each design of a bench, those that set wires and those that leave them to the engine.
func TestInstances(t *testing.T) {
	b := testbench.New(t, wbRAM, testbench.Config{})
	twin := check.Must(b.Add(t.Context(), "twin", wbRAM))(t)
	pipe := check.Must(b.Add(t.Context(), "pipe", dut.Design("axi_pipe", nil)))(t)
	other := bus.Config{Instance: pipe}
	first := check.Must(wishbone.NewMaster(b, "wb", wishbone.Config{WordAddress: true}))(t)
	var found bus.Violation
	second := check.Must(wishbone.NewMaster(b, "wb", wishbone.Config{WordAddress: true,
		Config: bus.Config{Instance: twin, Violation: func(v bus.Violation) { found = v }}}))(t)
	m := check.Must(axi.NewMaster(b, "s_axi", axi.Config{Config: other}))(t)
	check.Must(axi.NewMonitor(b, "s_axi", axi.Config{Config: other}))(t)
	check.Must(axi.NewRAM(b, "m_axi", memory.New(0x1000), axi.Config{Config: other}))(t)
	for _, i := range []*testbench.Instance{&b.Instance, twin, pipe} {
		check.Fatal(t, i.Model().Poke("rst", 1))
	}
	check.Fatal(t, b.Step(3))
	for _, i := range []*testbench.Instance{&b.Instance, twin, pipe} {
		check.Fatal(t, i.Model().Poke("rst", 0))
	}
	b.Go("cpu", func(c *testbench.Task) {
		check.Error(t, first.Write(c, 4, 1))
		check.Error(t, second.Write(c, 4, 2))
		text := []byte("any bytes")
		check.Error(t, m.Write(c, 0x123, text))
		for want, w := range []*wishbone.Master{first, second} {
			got, err := w.Read(c, 4)
			check.Error(t, err)
			check.Equal(t, "word", got, uint64(want)+1)
		}
		got := make([]byte, len(text))
		check.Error(t, m.Read(c, 0x123, got))
		check.Equal(t, "bytes", bytes.Equal(got, text), true)
		check.Error(t, twin.Model().Poke("broken", 1))
	})
	check.Fatal(t, b.Run(1000))
	check.Fatal(t, b.Step(10))
	if found.Rule != wishbone.RuleNoCycle || !strings.HasPrefix(found.String(), "wishbone wb of twin, edge ") {
		t.Errorf("found %s", found)
	}
}

// An instance of another bench is refused.
func TestInstanceOfAnotherBench(t *testing.T) {
	b := testbench.New(t, wbRAM, testbench.Config{})
	other := testbench.New(t, wbRAM, testbench.Config{Name: "other"})
	_, err := wishbone.NewMaster(b, "wb", wishbone.Config{Config: bus.Config{Instance: &other.Instance}})
	check.Fails(t, "instance", err, nil, "Config.Instance belongs to bench other", "want one of bench TestInstanceOfAnotherBench")
}

// What models of buses count is part of the coverage of runs, under the names of the buses.
func TestCoverageOfRuns(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LMMC_COVERAGE", dir)
	for range 2 {
		t.Run("run", func(t *testing.T) {
			b := testbench.New(t, wbRAM, testbench.Config{})
			m := check.Must(wishbone.NewMaster(b, "wb", wishbone.Config{WordAddress: true}))(t)
			check.Fatal(t, b.Reset("rst", 3))
			b.Go("cpu", func(c *testbench.Task) { check.Error(t, m.Write(c, 4, 1)) })
			check.Fatal(t, b.Run(100))
		})
	}
	sum, runs, err := testbench.MergeCoverage(dir)
	check.Fatal(t, err)
	check.Equal(t, "runs", runs, 2)
	for _, p := range sum.Functional {
		if p.Name == "wishbone wb: access" {
			check.Equal(t, "bins", p.Bins, []testbench.CoverageBin{{Name: "read", Hits: 0}, {Name: "write", Hits: 2}})
			return
		}
	}
	t.Errorf("no accesses among %+v", sum.Functional)
}
