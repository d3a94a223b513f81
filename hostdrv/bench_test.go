package hostdrv_test

import (
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
)

// TestWriteAllocates holds that neither driver nor model allocates for a write. What a writer that waits for room needs is shared by the writes which then fit.
func TestWriteAllocates(t *testing.T) {
	check.Equal(t, "allocations a write", testing.AllocsPerRun(20_000, write64(t)), 0)
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
