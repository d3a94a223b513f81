package figures

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/internal/try"
)

var servedFigures = []Figure{
	{Name: "served_write_64", Doc: "CPU time for a 64-byte write to a port by a program that shares the NI through a socket, server and driver included, " +
		"as a multiple of one by the program that has the NI; without that of the NI, a model",
		Must: new(3.0), Aim: new(2.0), Better: Lower, Timed: true, Long: true, Measure: steps(servedWrite64)},
}

// servedWrite64 has the same node write by itself and for a client, in turn.
func servedWrite64(ctx context.Context) Measurement {
	writes := either(ctx, 50_000, 20_000)
	meter := &metered{}
	own := try.Get(hostdrv.OpenNode(ctx, "model:?links=1&replay=32768&rx=32768", hostdrv.Options{
		Wrap: func(_ string, t hostdrv.Transport) hostdrv.Transport { meter.Transport = t; return meter }}, hostdrv.NodeOptions{}))
	defer try.Finally(own.Close)
	dir := try.Get(os.MkdirTemp("", "lmmc"))
	defer try.Finally(func() error { return os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	l := try.Get(serve.Listen(socket, ""))
	serving, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- serve.Serve(serving, own, l, serve.Options{}) }()
	defer try.Finally(func() error {
		stop()
		if ended := <-served; !errors.Is(ended, context.Canceled) {
			return ended
		}
		return nil
	})
	client := try.Get(hostdrv.OpenNode(ctx, hostdrv.SharedScheme+":"+socket, hostdrv.Options{}, hostdrv.NodeOptions{}))
	defer try.Finally(client.Close)
	var windows [2]*hostdrv.Window
	for i, node := range []*hostdrv.Node{own, client} {
		windows[i], _ = loopedPort(ctx, node)
	}
	net := func() time.Duration { return cpuTime() - time.Duration(meter.used.Load()) }
	var costs, walls [len(windows)][]float64
	var ratios []float64
	data := make([]byte, 64)
	for range rounds(ctx) {
		for i, w := range windows {
			began, used := time.Now(), net()
			for range writes {
				try.OK(w.WritePage(ctx, data, 0))
			}
			try.OK(w.Sync(ctx))
			costs[i] = append(costs[i], float64(net()-used)/float64(writes))
			walls[i] = append(walls[i], float64(time.Since(began))/float64(writes))
		}
		ratios = append(ratios, costs[1][len(costs[1])-1]/costs[0][len(costs[0])-1])
	}
	return Measurement{Value: Median(ratios), Note: fmt.Sprintf("median of %d pairs of %d writes; %.0f ns, of %.0f ns by whose NI it is; with the NI %.0f ns of wall time, of %.0f ns",
		len(ratios), writes, Median(costs[1]), Median(costs[0]), Median(walls[1]), Median(walls[0]))}
}
