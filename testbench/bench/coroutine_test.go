package bench_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/bench"
)

func TestCoroutineRateDrivesTheDesign(t *testing.T) {
	rate, err := bench.CoroutineRate(t.Context(), 10_000)
	if err != nil || rate <= 0 {
		t.Fatalf("rate %f, %v", rate, err)
	}
}

func BenchmarkCoroutineRate(b *testing.B) {
	rate := check.Must(bench.CoroutineRate(b.Context(), uint64(b.N)))(b)
	b.ReportMetric(rate/1e6, "Mcycles/s")
}
