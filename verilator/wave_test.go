package verilator_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

func isFST(t *testing.T, path string) {
	t.Helper()
	data := check.Must(os.ReadFile(path))(t)
	// A header block: type 0, length 329, then times and counts; a value change block of type 8 or 5 must follow.
	if len(data) < 400 || data[0] != 0 || !bytes.Equal(data[1:9], []byte{0, 0, 0, 0, 0, 0, 1, 73}) {
		t.Fatalf("%s is no FST: % x", path, data[:min(len(data), 16)])
	}
}

func TestTrace(t *testing.T) {
	d := node
	d.Trace, d.Optimize = true, verilator.Quick
	m := clocked(t, build(t, d), verilator.Config{})
	for _, name := range []string{"a.fst", "b.fst"} {
		path := filepath.Join(t.TempDir(), name)
		check.Fatal(t, m.Trace(path))
		check.Fails(t, "two traces at once", m.Trace(path), nil)
		m.Run(50)
		check.Fatal(t, m.StopTrace())
		isFST(t, path)
	}
	check.Fails(t, "trace into a folder that is not there", m.Trace("/nonexistent/x.fst"), nil)
}

// A recording replays to the same outputs, from a checkpoint when the run was long, alone and out of a network.
func TestDumpWave(t *testing.T) {
	d := node
	d.Trace, d.Checkpoint, d.Optimize = true, true, verilator.Quick
	lib := build(t, d)
	for _, cycles := range []int{0, 1, 30, 1000} {
		var models []*verilator.Model
		var clocks []*verilator.Clock
		for i := range 2 {
			m := start(t, lib, verilator.Config{Seed: uint64(i), Record: 100})
			models, clocks = append(models, m), append(clocks, must(m.Clock("clk", 10, 0)))
		}
		for i := range 2 {
			must(verilator.Connect(verilator.LinkConfig{From: clocks[i], To: clocks[1-i], Output: "right", Input: "left", Latency: 1}))
		}
		net := must(verilator.NewNetwork(2, models...))
		for i := range cycles {
			models[0].Poke("id", uint64(i*i))
			models[1].Poke("rst", uint64(i>>8&1))
			check.Fatal(t, net.Run(1))
		}
		for _, m := range models {
			path := filepath.Join(t.TempDir(), "last.fst")
			before := must(m.Peek("state"))
			wave := check.Must(m.DumpWave(path))(t)
			isFST(t, path)
			if wave.To != uint64(cycles*10) || cycles >= 200 && wave.To-wave.From < 1000 || wave.To-wave.From > 2100 {
				t.Errorf("%d cycles: %+v", cycles, wave)
			}
			check.Equal(t, "state", must(m.Peek("state")), before)
		}
		net.Close()
	}
}

func TestCheckpoint(t *testing.T) {
	d := echo
	d.Checkpoint = true
	lib := build(t, d)
	a, b := start(t, lib, verilator.Config{Seed: 1}), start(t, lib, verilator.Config{Seed: 2})
	must(a.Clock("clk", 10, 0))
	must(b.Clock("clk", 10, 0))
	a.Poke("rst", 1)
	a.Run(3)
	a.Poke("rst", 0)
	a.Poke("rx", 5)
	a.Poke("rx_valid", 1)
	a.Run(2)
	saved := check.Must(a.Save())(t)
	check.Fatal(t, b.Restore(saved))
	for range 5 {
		for _, m := range []*verilator.Model{a, b} {
			m.Poke("rx", 9)
			check.Fatal(t, m.Step())
		}
		if x, y := must(a.Peek("tx")), must(b.Peek("tx")); x != y || a.Time() != b.Time() {
			t.Fatalf("%x at %d, %x at %d", x, a.Time(), y, b.Time())
		}
	}
	check.Equal(t, "states of equal models", must(b.Save()), must(a.Save()))
	check.Fails(t, "restore a byte less", b.Restore(saved[:len(saved)-1]), verilator.ErrCheckpoint)
	nonsense := []byte("nonsense that is long enough to have a header and more than that, and clocks")
	check.Fails(t, "Restore of nonsense", a.Restore(nonsense), verilator.ErrCheckpoint)
	if err := a.Step(); err != nil {
		t.Error("a refused checkpoint hurt the model:", err)
	}
}

func TestCoverage(t *testing.T) {
	d := echo
	d.Coverage = true
	lib := build(t, d)
	var paths []string
	for i := range 2 {
		m := clocked(t, lib, verilator.Config{})
		m.Poke("rst", uint64(i))
		m.Run(10)
		path := filepath.Join(t.TempDir(), "coverage.dat")
		check.Fatal(t, m.Coverage(path))
		paths = append(paths, path)
	}
	lines := map[int]uint64{}
	for i, path := range [][]string{paths[:1], paths} {
		points := check.Must(verilator.ReadCoverage(path...))(t)
		for _, p := range points {
			if p.Kind != "toggle" && p.Line == 28 { // if (rst)
				lines[i] += p.Count
			}
		}
	}
	if lines[0] == 0 && lines[1] == 0 || lines[1] <= lines[0] {
		t.Errorf("counts of the reset's line: %v", lines)
	}
}

// TestCheckpointOfNetwork: models, links and sources that are restored do as those that were saved, clock by clock.
func TestCheckpointOfNetwork(t *testing.T) {
	d := node
	d.Checkpoint, d.Optimize = true, verilator.Quick
	lib := build(t, d)
	type ring struct {
		models []*verilator.Model
		links  []*verilator.Link
		net    *verilator.Network
	}
	open := func() (r ring) {
		var clocks []*verilator.Clock
		for i := range 2 {
			m := start(t, lib, verilator.Config{Seed: uint64(i)})
			r.models, clocks = append(r.models, m), append(clocks, must(m.Clock("clk", 10, 0)))
		}
		for i := range 2 {
			r.links = append(r.links, must(verilator.Connect(verilator.LinkConfig{
				From: clocks[i], To: clocks[1-i], Output: "right", Input: "left", Latency: 3 + 4*i, BitErrorRate: 0.01, Seed: uint64(i)})))
		}
		r.net = must(verilator.NewNetwork(1, r.models...))
		t.Cleanup(func() { r.net.Close() })
		return r
	}
	state := func(r ring) (all [][]byte) {
		for i, m := range r.models {
			all = append(all, check.Must(m.Save())(t), check.Must(r.links[i].MarshalBinary())(t))
		}
		return all
	}
	a, b := open(), open()
	a.models[0].Poke("id", 5)
	check.Fatal(t, a.net.Run(100))
	check.Fatal(t, a.links[1].Unplug(3))
	check.Fatal(t, a.net.Run(5))
	saved := state(a)
	for i, m := range b.models {
		check.Fatal(t, b.links[i].UnmarshalBinary(saved[2*i+1]))
		check.Fatal(t, m.Restore(saved[2*i]))
	}
	for range 20 {
		check.Equal(t, "states", state(b), state(a))
		check.Fatal(t, a.net.Run(7))
		check.Fatal(t, b.net.Run(7))
	}
	check.Equal(t, "counts", b.links[0].Stats(), a.links[0].Stats())
	check.Fails(t, "a byte less", b.links[0].UnmarshalBinary(saved[1][1:]), verilator.ErrCheckpoint)
	check.Fails(t, "of another link", b.links[0].UnmarshalBinary(nil), verilator.ErrCheckpoint)
	check.Fatal(t, a.links[0].Inject(verilator.Fault{At: 1e6}))
	if _, err := a.links[0].MarshalBinary(); err == nil {
		t.Error("a link with planned faults is saved")
	}
}
