package record_test

import (
	"io"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/record"
)

// BenchmarkWrite64 is hostdrv's, recorded: the difference is what recording costs.
func BenchmarkWrite64(b *testing.B) {
	recorder := record.New(io.Discard)
	n, err := hostdrv.Open(b.Context(), "model:?replay=32768&rx=32768", recorder.Options(hostdrv.Options{}))
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
