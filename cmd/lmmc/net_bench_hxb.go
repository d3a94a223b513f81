package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// netBenchHXB measures tables of a paper.
func netBenchHXB(ctx *cli.Context) error {
	for _, flag := range []string{"pattern", "size", "load", "page", "width", "slots", "sample", "samples", "links", "lanes", "latency", "threads", "svg", "routing"} {
		if ctx.IsSet(flag) {
			return usagef("--%s: net bench hxb measures what the paper did; it takes --seed and --json", flag)
		}
	}
	progress := startTicker(ctx.App.ErrWriter, "compilation")
	defer progress.stop()
	d := cluster.HXBDocument{Seed: ctx.Uint64("seed")}
	d.Rows = try.Get(cluster.MeasureHXB(ctx.Context, d.Seed, func(what string) { progress.set("%s", what) }))
	progress.stop()
	d.Stamp = try.Get(newStamp(ctx, "", "verilator"))
	return finish(ctx, true, "net-hxb", d, writeHXB)
}

func writeHXB(b *strings.Builder, d cluster.HXBDocument) {
	t := table{names: []string{"table", ">dimensions", ">links", "measure", ">published", ">this network", "", "unit"}}
	for _, r := range d.Rows {
		number, measure, unit, per := "-", "bandwidth", "MB/s", "bytes a clock"
		if r.RoundTrip {
			measure, unit, per = "round trip", "µs", "clocks"
		}
		if r.Table > 0 {
			number = fmt.Sprint(r.Table)
		}
		published := "-"
		if r.Published > 0 {
			published = fmt.Sprintf("%.4g", r.Published)
		}
		t.add(number, fmt.Sprint(r.Dimensions), fmt.Sprint(r.Links), measure, published, fmt.Sprintf("%.4g", r.Value), fmt.Sprintf("%.4g %s", r.Clocks, per), unit)
	}
	t.write(b)
	b.WriteString("\nPublished: PM/Ethernet-HXB, tables 4 to 6. This network: links of a dimension are lanes of one link, a symbol a clock on each, 125 MHz;\n" +
		"1,500-byte messages both ways at once; round trips of 8 bytes, from host's cable to receive buffer and back, without the hosts' own time.\n")
}
