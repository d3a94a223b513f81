package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/testbench/cluster/barriers"
)

// netBenchWords measures barriers that routers carry out, on networks of 2 to 2,560 nodes.
func netBenchWords(ctx *cli.Context) error {
	for _, flag := range []string{"svg", "rung"} {
		if ctx.IsSet(flag) {
			return usagef("--%s: net bench barriers --scale takes --nodes, --samples, --seed, --threads and --json", flag)
		}
	}
	most, count := or(ctx, "nodes", 64), or(ctx, "samples", 11)
	names := barriers.Networks(most)
	if len(names) == 0 || count < 1 {
		return usagef("--nodes %d, --samples %d: want networks of 2 nodes and more, and 1 barrier and more", most, count)
	}
	progress := startTicker(ctx.App.ErrWriter, "compilation")
	defer progress.stop()
	var d []barriers.Words
	var failed error
	for _, name := range names {
		words, err := barriers.MeasureWords(ctx.Context, name, []float64{0, barriers.Saturating}, count, ctx.Uint64("seed"), ctx.Int("threads"),
			func(what string) { progress.set("%s: %s", name, what) })
		if d = append(d, words...); err != nil {
			failed = fmt.Errorf("%s: %w", name, err)
			break
		}
	}
	progress.stop()
	return errors.Join(failed, show(ctx, d, func(b *strings.Builder, d []barriers.Words) {
		t := table{names: []string{"network", ">nodes", ">switches", "other traffic", ">filled", ">accepted", ">median clocks", ">least", ">most", ">median µs"}}
		for _, w := range d {
			traffic, filled, accepted := "none", "-", "-"
			if w.Load > 0 {
				traffic, filled, accepted = "saturating", thousands(uint64(w.Filled)), fmt.Sprintf("%.2f", w.Accepted)
			}
			t.add(w.Network, thousands(uint64(w.NIs)), fmt.Sprint(w.Switches), traffic, filled, accepted, fmt.Sprint(w.Median), fmt.Sprint(w.Least), fmt.Sprint(w.Most), fmt.Sprintf("%.2f", float64(w.Median)/barriers.Clock))
		}
		t.write(b)
		fmt.Fprintf(b, "\nFrom the last enter at a network interface to the last release at one, of %d barriers of all nodes, carried out by the routers in RTL; a µs is %g clocks.\n"+
			"Filled: clocks of the load before the first barrier, until what arrives, as a share of a link, grows no more.\n", count, barriers.Clock)
	}))
}
