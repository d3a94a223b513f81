package serve_test

import (
	"context"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/serve"
)

// sharedPort connects a port from a client to the served node itself, or the other way round.
func sharedPort(b *testing.B, d hostdrv.Direction) *hostdrv.Window {
	dir := socket(b)
	own, err := hostdrv.OpenNode(b.Context(), "model:?links=2&replay=32768&rx=32768", hostdrv.Options{}, hostdrv.NodeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	l, err := serve.Listen(dir, "")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- serve.Serve(ctx, own, l, serve.Options{}) }()
	b.Cleanup(func() { cancel(); <-ended; own.Close() })
	node, err := hostdrv.OpenNode(ctx, "unix:"+dir, hostdrv.Options{}, hostdrv.NodeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { node.Close() })
	go func() {
		if r, err := own.Accept(ctx); err == nil {
			r.Accept()
		}
	}()
	w, err := connected(ctx, node, d, "")
	if err != nil {
		b.Fatal(err)
	}
	return w
}

// BenchmarkWrite64 measures a 64-byte write by a client.
func BenchmarkWrite64(b *testing.B) {
	w := sharedPort(b, hostdrv.Send)
	data := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.WritePage(b.Context(), data, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead64 measures a 64-byte read by a client, which asks nobody.
func BenchmarkRead64(b *testing.B) {
	w := sharedPort(b, hostdrv.Receive)
	data := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.ReadPage(b.Context(), data, 0); err != nil {
			b.Fatal(err)
		}
	}
}
