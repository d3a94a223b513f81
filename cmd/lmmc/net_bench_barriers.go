package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/barriers"
	"github.com/stafflink/lmmc/testbench/report/chart"
)

// netBenchBarriers measures barriers as the paper on MCD did.
func netBenchBarriers(ctx *cli.Context) error {
	for _, flag := range []string{"pattern", "load", "page", "width", "slots", "sample", "size", "links", "lanes", "latency", "threads", "routing"} {
		if ctx.IsSet(flag) {
			return usagef("--%s: net bench barriers measures what the paper did; it takes --samples, --seed, --svg and --json", flag)
		}
	}
	progress := startTicker(ctx.App.ErrWriter, "compilation")
	defer progress.stop()
	d := try.Get(barriers.Run(ctx.Context, cluster.RTL, barriers.Sizes, ctx.Int("samples"), ctx.Uint64("seed"), func(what string) { progress.set("%s", what) }))
	progress.stop()
	d.Stamp = try.Get(newStamp(ctx, "", "verilator"))
	if path := ctx.String("svg"); path != "" {
		try.OK(os.WriteFile(path, []byte(chart.File(720, d.Plot())), 0o666))
	}
	return finish(ctx, true, "net-barriers", d, writeBarriers)
}

func writeBarriers(b *strings.Builder, d barriers.Document) {
	t := table{names: []string{"algorithm", ">nodes", ">mean µs", ">clocks", ">least", ">most", ">LogP", ">off by %", ">MCD µs"}}
	clocks := func(v float64) string { return thousands(uint64(v + 0.5)) }
	for _, p := range d.Points {
		paper := "-"
		for _, other := range d.Papers {
			if other.Algorithm == p.Algorithm && other.Nodes == p.Nodes {
				paper = fmt.Sprint(other.Time)
			}
		}
		t.add(p.Algorithm, fmt.Sprint(p.Nodes), fmt.Sprintf("%.2f", p.Mean/barriers.Clock), clocks(p.Mean), clocks(p.Least), clocks(p.Most), clocks(p.Predicted),
			fmt.Sprintf("%.1f", 100*p.Error()), paper)
	}
	t.write(b)
	for i, m := range d.Models {
		fmt.Fprintf(b, "\nLogP of %d nodes, in clocks: o_s %.0f, L %.1f, o_r %.0f, g %.1f", barriers.Sizes[i], m.Send, m.Latency, m.Receive, m.Gap)
	}
	fmt.Fprintf(b, "\nallreduce of 8 bytes on %d nodes: %s clocks\n", barriers.Sizes[len(barriers.Sizes)-1], clocks(d.AllReduce))
	b.WriteString("\nRTL, two levels of switches, the drivers' virtual links, 125 MHz; the computers' own time is not in it. MCD: Fast Ethernet through a switch,\n" +
		"trees released by multicast, o_s 3, L 17.5, o_r 9.5 µs; there is no counterpart of its repeater hub.\n")
}
