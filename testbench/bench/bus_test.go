package bench_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bench"
)

func TestAxisRateMovesFrames(t *testing.T) {
	for _, wave := range []testbench.Wave{testbench.WaveNever, testbench.WaveOnFailure} {
		if rate := check.Must(bench.AxisRate(t.Context(), 10_000, wave))(t); rate <= 0 {
			t.Errorf("rate %f", rate)
		}
	}
}

func BenchmarkAxisRate(b *testing.B) {
	rate := check.Must(bench.AxisRate(b.Context(), uint64(b.N), testbench.WaveNever))(b)
	b.ReportMetric(rate/1e6, "Mcycles/s")
}

func BenchmarkAxisRecorded(b *testing.B) {
	rate := check.Must(bench.AxisRate(b.Context(), uint64(b.N), testbench.WaveOnFailure))(b)
	b.ReportMetric(rate/1e6, "Mcycles/s")
}

func TestAXIBeatsMovesData(t *testing.T) {
	if rate := check.Must(bench.AXIBeats(t.Context(), 80_000))(t); rate <= 0 {
		t.Errorf("rate %f", rate)
	}
}

func BenchmarkAXIBeats(b *testing.B) {
	rate := check.Must(bench.AXIBeats(b.Context(), uint64(b.N)))(b)
	b.ReportMetric(rate/1e6, "Mbeats/s")
}
