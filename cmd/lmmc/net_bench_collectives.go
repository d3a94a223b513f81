package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/barriers"
)

// netBenchCollectives measures calls of a group by each way by which their data can go.
func netBenchCollectives(ctx *cli.Context) error {
	for _, flag := range []string{"pattern", "load", "page", "width", "slots", "sample", "samples", "links", "lanes", "latency", "routing", "svg"} {
		if ctx.IsSet(flag) {
			return usagef("--%s: net bench collectives measures broadcasts and allreduces on one switch; it takes --size, --seed, --threads and --json", flag)
		}
	}
	sizes := []int{4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10}
	if ctx.IsSet("size") {
		least, most := sizesOf(ctx.String("size"))
		if least != most || least < 1 || most > 1<<20 {
			return usagef("--size %s: want bytes, 1 to %d", ctx.String("size"), 1<<20)
		}
		sizes = []int{least}
	}
	progress := startTicker(ctx.App.ErrWriter, "compilation")
	defer progress.stop()
	const nodes = 8
	w := try.Get(barriers.Open(ctx.Context, try.Get(barriers.Tree(nodes)), cluster.RTL, nodes, ctx.Uint64("seed"), ctx.Int("threads")))
	defer try.Finally(w.Close)
	var d []barriers.Call
	for _, call := range []string{"broadcast", "allreduce"} {
		for _, bytes := range sizes {
			for _, way := range barriers.Ways[call] {
				progress.set("%s of %d bytes by %s", call, bytes, way)
				d = append(d, try.Get(w.Call(ctx.Context, barriers.Call{Call: call, Way: way, Nodes: nodes, Bytes: bytes}, 1)))
			}
		}
	}
	progress.stop()
	return show(ctx, d, func(b *strings.Builder, d []barriers.Call) {
		t := table{names: []string{"call", "way", ">nodes", ">bytes", ">clocks", ">µs"}}
		for _, c := range d {
			t.add(c.Call, c.Way, fmt.Sprint(c.Nodes), thousands(uint64(c.Bytes)), thousands(uint64(c.Clocks)), fmt.Sprintf("%.1f", c.Clocks/barriers.Clock))
		}
		t.write(b)
	})
}
