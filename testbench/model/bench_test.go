package model_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/model"
)

// BenchmarkWrites measures how fast a model takes remote writes of 1000 bytes in, link layer and all.
func BenchmarkWrites(b *testing.B) {
	bench := open(&testing.T{}, model.Config{})
	bench.grant(1, 1)
	raw := check.Must((&linkproto.Packet{Type: linkproto.TypeWrite, Addr: 1024, Data: make([]byte, 1000)}).Append(nil))(b)
	b.SetBytes(1000)
	line := make([]linkproto.Symbol, 256)
	port, end := bench.ni.Port(1), bench.ends[1]
	for sent := 0; sent < b.N; {
		for end.Send(raw) == nil {
			sent++
		}
		port.Feed(line[:end.Emit(line)])
		end.Feed(line[:port.Emit(line)])
		end.Tick(len(line))
		port.Tick(len(line))
	}
}
