package flowctl_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// newEndpoint makes an endpoint from a configuration that must be good.
func newEndpoint(t testing.TB, c flowctl.Config) *flowctl.Endpoint {
	t.Helper()
	return check.Must(flowctl.New(c))(t)
}

// BenchmarkLink moves full-size packets one way, and reports the time per symbol of one end's Emit and the other's
// Feed together.
func BenchmarkLink(b *testing.B) {
	for _, batch := range []int{1, 16, 256, 4096} {
		b.Run(fmt.Sprint("batch=", batch), func(b *testing.B) {
			x, y := newEndpoint(b, flowctl.Config{}), newEndpoint(b, flowctl.Config{})
			line := make([]linkproto.Symbol, batch)
			packet := make([]byte, x.Config().MaxPacket)
			binary.LittleEndian.PutUint16(packet[1:], uint16(len(packet)-linkproto.HeaderBytes))
			symbols := 0
			b.ReportAllocs()
			for b.Loop() {
				for x.Send(packet) == nil {
				}
				n := x.Emit(line)
				y.Feed(line[:n])
				symbols += n
				x.Feed(line[:y.Emit(line)])
				for y.Readable() > 0 {
					y.Receive()
				}
				x.Tick(batch)
				y.Tick(batch)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(symbols), "ns/symbol")
			b.SetBytes(int64(symbols / b.N))
		})
	}
}
