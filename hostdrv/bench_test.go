package hostdrv_test

import (
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
)

// BenchmarkWrite64 measures a 64-byte write to a model; its time is that of the driver and of the model.
func BenchmarkWrite64(b *testing.B) {
	n, err := hostdrv.Open(b.Context(), "model:?replay=32768&rx=32768", hostdrv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	if err := n.SetFrame(b.Context(), 0, hostdrv.FrameEntry{Link: 1}); err != nil {
		b.Fatal(err)
	}
	data := make([]byte, 64)
	b.ReportAllocs()
	b.SetBytes(64)
	for b.Loop() {
		if err := n.Write(b.Context(), 1, 0, data); err != nil {
			b.Fatal(err)
		}
	}
}
