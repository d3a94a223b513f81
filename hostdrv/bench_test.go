package hostdrv_test

import (
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
)

// BenchmarkWrite64 measures a 64-byte write to a model; its time is that of the driver and of the model.
func BenchmarkWrite64(b *testing.B) {
	write := write64(b)
	b.ReportAllocs()
	b.SetBytes(64)
	for b.Loop() {
		write()
	}
}

// TestWriteAllocates holds that neither driver nor model allocates for a write. What a writer that waits for room needs is shared by the writes which then fit.
func TestWriteAllocates(t *testing.T) {
	if n := testing.AllocsPerRun(20_000, write64(t)); n != 0 {
		t.Errorf("%v allocations a write", n)
	}
}

// write64 opens a model, and returns what writes 64 bytes to it.
func write64(tb testing.TB) func() {
	n := check.Must(hostdrv.Open(tb.Context(), "model:?replay=32768&rx=32768", hostdrv.Options{}))(tb)
	tb.Cleanup(func() { n.Close() })
	check.Fatal(tb, n.SetFrame(tb.Context(), 0, hostdrv.FrameEntry{Link: 1}))
	data := make([]byte, 64)
	return func() {
		check.Fatal(tb, n.Write(tb.Context(), 1, 0, data))
	}
}
