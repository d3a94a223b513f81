package verilator_test

import (
	"iter"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

type counterPorts struct {
	Rst    *bool   `port:"rst"`
	Enable *bool   `port:"enable"`
	Step   *uint32 `port:"step"`
	Count  *uint32 `port:"count"`
}

func counting(b *testing.B) (*verilator.Model, counterPorts) {
	m := start(b, build(b, verilator.Design{Top: "counter", Sources: []string{"testdata/counter.v"}, Optimize: verilator.Full}), verilator.Config{})
	must(m.Clock("clk", 2, 0))
	var p counterPorts
	check.Fatal(b, m.Bind(&p))
	*p.Rst = true
	m.Run(2)
	*p.Rst, *p.Enable, *p.Step = false, true, 1
	return m, p
}

// One call a clock cycle.
func BenchmarkStep(b *testing.B) {
	m, _ := counting(b)
	for b.Loop() {
		check.Fatal(b, m.Step())
	}
}

// A coroutine that is resumed at every clock, reads one port and sets two.
func BenchmarkCoroutine(b *testing.B) {
	m, p := counting(b)
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		for {
			*p.Step = *p.Count&3 + 1
			*p.Enable = true
			if !yield(struct{}{}) {
				return
			}
		}
	})
	defer stop()
	for b.Loop() {
		next()
		check.Fatal(b, m.Step())
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mcycles/s")
}

// The loop in C++.
func BenchmarkRun(b *testing.B) {
	m, _ := counting(b)
	b.ResetTimer()
	check.Fatal(b, m.Run(uint64(b.N)))
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mcycles/s")
}
