package verilator_test

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

func build(t testing.TB, d verilator.Design) *verilator.Library {
	t.Helper()
	return check.Must(verilator.Build(context.Background(), d))(t)
}

func start(t testing.TB, lib *verilator.Library, c verilator.Config) *verilator.Model {
	t.Helper()
	m := check.Must(lib.New(c))(t)
	t.Cleanup(func() {
		check.Error(t, m.Close())
	})
	return m
}

// clocked is start for a model with one clock.
func clocked(t testing.TB, lib *verilator.Library, c verilator.Config) *verilator.Model {
	t.Helper()
	m := start(t, lib, c)
	must(m.Clock("clk", 10, 0))
	return m
}

// reset holds a model in reset for some cycles.
func reset(m *verilator.Model, cycles uint64) {
	m.Poke("rst", 1)
	m.Run(cycles)
	m.Poke("rst", 0)
}

// runUntil runs until a condition holds, or ends the test.
func runUntil(t testing.TB, m *verilator.Model, cycles uint64, until verilator.Until) {
	t.Helper()
	if stop, err := m.RunUntil(cycles, until); err != nil || stop.Reason != verilator.Condition {
		t.Fatal(stop, err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var echo = verilator.Design{Top: "echo", Sources: []string{"testdata/echo.v"}}

// Whatever the throttles, what goes in comes out, in order, once, and frames keep their ends.
func TestStreamKeepsEverything(t *testing.T) {
	lib := build(t, echo)
	rapid.Check(t, func(r *rapid.T) {
		m := must(lib.New(verilator.Config{Seed: rapid.Uint64().Draw(r, "seed")}))
		defer m.Close()
		must(m.Clock("clk", 2, 0))
		in, out := verilator.Stream("s"), verilator.Stream("m")
		in.Throttle, out.Throttle = rapid.Float64Range(0, 0.9).Draw(r, "in"), rapid.Float64Range(0, 0.9).Draw(r, "out")
		in.Depth, out.Depth = rapid.IntRange(1, 20).Draw(r, "in depth"), rapid.IntRange(1, 20).Draw(r, "out depth")
		in.Seed, out.Seed = 1, 2
		source, sink := must(m.Source(in)), must(m.Sink(out))
		check.Fatal(r, m.Poke("rst", 1))
		m.Run(2)
		m.Poke("rst", 0)
		sink.Discard()
		want := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) verilator.Beat {
			return verilator.Beat{Data: uint64(rapid.Uint16().Draw(r, "data")), Last: rapid.Bool().Draw(r, "last")}
		}), 0, 60).Draw(r, "beats")
		var got []verilator.Beat
		for sent, turns := 0, 0; len(got) < len(want); turns++ {
			if turns > 10000 {
				r.Fatalf("stuck after %d of %d", len(got), len(want))
			}
			sent += source.Write(want[sent:])
			check.Fatal(r, m.Run(uint64(1+turns%3)))
			for b, ok := sink.Get(); ok; b, ok = sink.Get() {
				if b.Cycle == 0 {
					r.Fatal("no cycle")
				}
				b.Cycle = 0
				got = append(got, b)
			}
		}
		m.Run(20)
		check.Equal(r, "beats that came twice", sink.Len(), 0)
		check.Equal(r, "beats", got, want)
	})
}

func TestSymbolsAtAnOffset(t *testing.T) {
	m := clocked(t, build(t, echo), verilator.Config{})
	idle := new(uint64(0x1BC))
	tx := must(m.Source(verilator.Channel{Data: "rx[17:9]", Valid: "rx_valid", Idle: idle}))
	rx := must(m.Sink(verilator.Channel{Data: "tx[17:9]", Idle: idle}))
	m.Poke("rx[8:0]", 0x1BC)
	m.Run(3)
	rx.Discard()
	for i := range uint64(5) {
		tx.Put(0x100+i, false)
	}
	runUntil(t, m, 100, rx.Has(5))
	beats := make([]verilator.Beat, 10)
	n := rx.Read(beats)
	check.Equal(t, "symbols", n, 5)
	for i, b := range beats[:n] {
		if b.Data != uint64(0x100+i) || b.Cycle != beats[0].Cycle+uint64(i) {
			t.Errorf("symbol %d: %+v", i, b)
		}
	}
	m.Run(50)
	check.Equal(t, "symbols stored of idles", rx.Len(), 0)
}

func TestFrames(t *testing.T) {
	m := clocked(t, build(t, echo), verilator.Config{})
	source, sink := must(m.Source(verilator.Stream("s"))), must(m.Sink(verilator.Stream("m")))
	reset(m, 1)
	sink.Discard()
	source.Send([]byte("hello"))
	source.Send([]byte("you"))
	runUntil(t, m, 100, sink.Ended(2))
	for _, want := range []string{"hello", "you"} {
		if got, ok := sink.Frame(nil); !ok || string(got) != want {
			t.Errorf("got %q %v, want %q", got, ok, want)
		}
	}
	if _, ok := sink.Frame(nil); ok {
		t.Error("a third frame")
	}
}
