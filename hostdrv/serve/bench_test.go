package serve_test

import (
	"context"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/internal/check"
)

// sharedPort connects a port from a client to the served node itself, or the other way round.
func sharedPort(b *testing.B, d hostdrv.Direction) *hostdrv.Window {
	dir := socket(b)
	own := check.Must(hostdrv.OpenNode(b.Context(), "model:?links=2&replay=32768&rx=32768", hostdrv.Options{}, hostdrv.NodeOptions{}))(b)
	l := check.Must(serve.Listen(dir, ""))(b)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- serve.Serve(ctx, own, l, serve.Options{}) }()
	b.Cleanup(func() { cancel(); <-ended; own.Close() })
	node := check.Must(hostdrv.OpenNode(ctx, "unix:"+dir, hostdrv.Options{}, hostdrv.NodeOptions{}))(b)
	b.Cleanup(func() { node.Close() })
	go func() {
		if r, err := own.Accept(ctx); err == nil {
			r.Accept()
		}
	}()
	w := check.Must(connected(ctx, node, d, ""))(b)
	return w
}

// BenchmarkWrite64 measures a 64-byte write by a client.
func BenchmarkWrite64(b *testing.B) {
	w := sharedPort(b, hostdrv.Send)
	data := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		check.Fatal(b, w.WritePage(b.Context(), data, 0))
	}
}

// BenchmarkRead64 measures a 64-byte read by a client, which asks nobody.
func BenchmarkRead64(b *testing.B) {
	w := sharedPort(b, hostdrv.Receive)
	data := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		check.Fatal(b, w.ReadPage(b.Context(), data, 0))
	}
}
