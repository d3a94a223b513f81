package routing

import (
	"runtime"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
)

// BenchmarkCheck builds and checks the tables of large networks.
func BenchmarkCheck(b *testing.B) {
	for _, c := range []struct {
		name, shape, routing string
		size                 []int
		links                int
	}{
		{"hyper-crossbar", "hyper-crossbar", "", []int{16, 16, 10}, 1},
		{"hyper-crossbar, two links", "hyper-crossbar", "", []int{16, 16, 10}, 2},
		{"hyper-crossbar, up-down", "hyper-crossbar", "up-down", []int{16, 16, 10}, 1},
		{"mesh", "mesh", "", []int{30, 30, 4}, 1},
		{"torus", "torus", "", []int{16, 16, 15}, 1},
		{"fat tree", "fat-tree", "", []int{6, 4}, 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			t := check.Must(topology.Generate(c.shape, c.size, c.links))(b)
			var report *Report
			for b.Loop() {
				report = check.Must(Build(t, c.routing))(b).Check()
				check.Error(b, report.Err())
			}
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			b.ReportMetric(float64(memory.Sys)/1e6, "MB")
			b.ReportMetric(float64(report.Alternates)/float64(report.Entries), "alternates/entry")
		})
	}
}
