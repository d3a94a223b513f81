package record_test

import (
	"io"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/internal/check"
)

// BenchmarkWrite64 is hostdrv's, recorded: the difference is what recording costs.
func BenchmarkWrite64(b *testing.B) {
	recorder := record.New(io.Discard)
	n := check.Must(hostdrv.Open(b.Context(), "model:?replay=32768&rx=32768", recorder.Options(hostdrv.Options{})))(b)
	defer n.Close()
	check.Fatal(b, n.SetFrame(b.Context(), 0, hostdrv.FrameEntry{Link: 1}))
	data := make([]byte, 64)
	b.ReportAllocs()
	b.SetBytes(64)
	for b.Loop() {
		check.Fatal(b, n.Write(b.Context(), 1, 0, data))
	}
}
