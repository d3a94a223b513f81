package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster/sockets"
	"github.com/stafflink/lmmc/testbench/report/chart"
)

// netBenchHostCommand is a host of lmmc net bench sockets.
func netBenchHostCommand() *cli.Command {
	return &cli.Command{
		Name: sockets.HostCommand, Hidden: true, ArgsUsage: "TARGET NODE WAY...",
		Usage: "for lmmc net bench sockets: be a host, as standard input says",
		Action: func(ctx *cli.Context) error {
			return sockets.Serve(ctx.Context, ctx.Args().Slice(), ctx.App.Reader, ctx.App.Writer)
		},
	}
}

// netBenchSockets measures sockets beside TCP.
func netBenchSockets(ctx *cli.Context) error {
	for _, flag := range []string{"pattern", "load", "page", "width", "slots", "sample", "links", "lanes", "latency", "threads", "routing"} {
		if ctx.IsSet(flag) {
			return usagef("--%s: net bench sockets measures two models on a switch; it takes --size, --samples, --seed, --svg and --json", flag)
		}
	}
	o := sockets.Options{Ways: sockets.Ways, Sizes: sockets.Sizes, Rounds: or(ctx, "samples", 10), Opened: 20, Calls: true, Seed: ctx.Uint64("seed"), Lmmc: try.Get(os.Executable())}
	if ctx.IsSet("size") {
		least, most := sizesOf(ctx.String("size"))
		if least < 1 || most != least || most > sockets.Largest {
			return usagef("--size %s: want bytes of a write, 1 to %d", ctx.String("size"), sockets.Largest)
		}
		o.Sizes = []int{least}
	}
	if o.Rounds < 1 {
		return usagef("--samples %d: want 1 at least", o.Rounds)
	}
	progress := startTicker(ctx.App.ErrWriter, "start")
	defer progress.stop()
	o.Progress = func(what string) { progress.set("%s", what) }
	d, err := sockets.Measure(ctx.Context, o)
	if errors.Is(err, sockets.ErrNamespace) {
		o.Ways = []sockets.Way{sockets.Ours, sockets.Messages}
		noTCP := err.Error()
		d, err = sockets.Measure(ctx.Context, o)
		d.NoTCP = noTCP
	}
	try.OK(err)
	progress.stop()
	d.Stamp = try.Get(newStamp(ctx, "", ""))
	if path := ctx.String("svg"); path != "" {
		try.OK(os.WriteFile(path, []byte(chart.File(720, d.Plot())), 0o666))
	}
	return finish(ctx, true, "net-sockets", d, writeSockets)
}

func writeSockets(b *strings.Builder, d sockets.Document) {
	t := table{names: []string{">bytes", "way", ">median µs", ">10 %", ">90 %", ">99 %", ">hosts' µs", ">MB/s", ">hosts' ns/B", ">drivers' ns/B", ">calls"}}
	µs := func(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/1e3) }
	for _, p := range d.Points {
		calls := "-"
		if p.Calls > 0 {
			calls = fmt.Sprintf("%.2f", p.Calls)
		}
		t.add(thousands(uint64(p.Bytes)), string(p.Way), µs(p.Median), µs(p.P10), µs(p.P90), µs(p.P99), µs(p.TripCPU), fmt.Sprintf("%.2f", p.Rate/1e6),
			fmt.Sprintf("%.1f", p.CPU), fmt.Sprintf("%.1f", p.Driver), calls)
	}
	for _, p := range d.Papers {
		t.add(thousands(uint64(p.Bytes)), p.Name, µs(p.RoundTrip))
	}
	t.write(b)
	for _, o := range d.Opened {
		fmt.Fprintf(b, "\n%-8s  %.0f connections a second opened and closed, one after the other, median %s µs", o.Way, o.Rate, µs(o.Median))
	}
	if d.NoTCP != "" {
		fmt.Fprintf(b, "\n%s", d.NoTCP)
	}
	b.WriteString("\n\nReal time, two models on a switch, simulated as fast as they go; all ways by the same pair, in turn. Round trips; then writes one way. Hosts' CPU time: programs,\n" +
		"kernel and lmmc ip of both hosts; drivers': those of both network interfaces and their servers, which turn as long as the simulation does.\n" +
		"Calls: system calls of both hosts for each write one way, as strace counts them. Published: Nakai et al., computers with Myrinet and 100Base-TX.\n")
}
