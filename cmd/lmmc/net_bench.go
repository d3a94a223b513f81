package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/report/chart"
	"github.com/stafflink/lmmc/testbench/results"
)

func netBenchCommand() *cli.Command {
	var patterns strings.Builder
	for _, p := range cluster.Patterns {
		fmt.Fprintf(&patterns, "\n%-18s %s", p[0], p[1])
	}
	return &cli.Command{
		Name:      "bench",
		Usage:     "offer a network more and more load, and measure what arrives and how late",
		ArgsUsage: "FILE | TOPOLOGY SIZE | hxb | messages | barriers | collectives | sockets",
		Description: "FILE is a topology file; TOPOLOGY SIZE are as of lmmc net topo, as in net bench star 16. Each host makes messages at random times, whether or not the\n" +
			"network takes them. A load is a share of what a link carries of such packets, as many as possible and nothing else. Latency is in clocks, from\n" +
			"the making of a message until all of it is in the receive buffer. A load is measured until three samples in a row agree. The result is kept\n" +
			"in " + results.Dir + " for lmmc report.\n\nnet bench hxb measures what tables 4 to 6 of the paper on PM/Ethernet-HXB have, and prints both;\n" +
			"net bench messages, rates and round trips of messages by their length, beside those of the papers on PM; net bench barriers,\n" +
			"as many barriers as --samples says (the paper has 100), by each algorithm on one and on two networks, and by hardware, of 2 to 32 nodes, beside LogP's\n" +
			"prediction and the paper on MCD; with --scale by the routers, on networks of 2 nodes and more;\n" +
			"net bench collectives, broadcasts and allreduces of 4 to 64 KB on 8 nodes, by each way that data can go;\n" +
			"net bench sockets, sockets and messages beside the kernel's TCP over lmmc ip, by the same two network interfaces, in real time, beside the\n" +
			"paper on sockets past the protocol stack. --samples is how often each has its turn. TCP takes root.\n\nPATTERN, where messages go, is one of" + patterns.String(),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "pattern", Usage: "send to where `PATTERN` says", Value: "uniform"},
			&cli.StringFlag{Name: "size", Usage: fmt.Sprintf("send messages of `BYTES`, or of LEAST-MOST bytes, %d to %d", cluster.MinMessage, cluster.MaxMessage), Value: "64-1500"},
			&cli.StringFlag{Name: "load", Usage: "offer `LOADS`, FROM:TO:STEP or a list, of a link", Value: "0.1:1:0.1"},
			&cli.IntFlag{Name: "page", Usage: "give network interfaces pages of `BYTES`; longer messages are several packets", Value: 2048},
			&cli.IntFlag{Name: "width", Usage: "build switches and network interfaces for `BYTES` a clock inside: 1, 4 or 8", Value: 1},
			&cli.IntFlag{Name: "slots", Usage: "build switches that keep `N` packets for each input, a power of two", Value: 8},
			&cli.IntFlag{Name: "sample", Usage: "take samples of `CLOCKS`", Value: 20_000},
			&cli.IntFlag{Name: "samples", Usage: "take `N` samples of a load at most, or measure N barriers (default: 10; barriers: 4, with --scale 11)"},
			&cli.BoolFlag{Name: "scale", Usage: "net bench barriers: measure barriers by the routers on stars, trees and hyper-crossbars, idle and saturated"},
			&cli.IntFlag{Name: "nodes", Usage: "net bench barriers: take networks of up to `N` nodes (default: 32; with --scale 64, and 2,560 at most)"},
			&cli.StringFlag{Name: "rung", Usage: "net bench barriers: nodes are `RUNG`: rtl, or model, which is faster", DefaultText: "rtl", Value: cluster.RTL},
			&cli.IntFlag{Name: "links", Usage: "make each connection of `N` cables beside each other (default: 1)"},
			&cli.IntFlag{Name: "lanes", Usage: "give each cable, and each host's, `N` lanes, 1 to 8; with more than one, nodes are as wide as that at least (default: 1)"},
			&cli.IntFlag{Name: "latency", Usage: "a symbol travels for `N` clocks (default: 1)"},
			preloadFlag,
			&cli.Uint64Flag{Name: "seed", Usage: "what is drawn at random follows from `SEED`", Value: 1},
			&cli.IntFlag{Name: "threads", Usage: "run on `N` threads, which changes no result", Value: 1},
			&cli.StringFlag{Name: "svg", Usage: "draw the curves to `FILE`, as SVG", TakesFile: true},
			routingFlag, jsonFlag,
		},
		Action: netBench,
	}
}

func netBench(ctx *cli.Context) error {
	if ctx.NArg() < 1 {
		return usagef("net bench takes a topology file, or a topology and its size, as in net bench star 16; see lmmc net bench --help")
	}
	for _, flag := range []string{"scale", "nodes", "rung"} {
		if ctx.IsSet(flag) && ctx.Args().First() != "barriers" {
			return usagef("--%s: it is for net bench barriers", flag)
		}
	}
	if ctx.NArg() == 1 && ctx.Args().First() == "hxb" {
		return netBenchHXB(ctx)
	}
	if ctx.NArg() == 1 && ctx.Args().First() == "messages" {
		return netBenchMessages(ctx)
	}
	if ctx.NArg() == 1 && ctx.Args().First() == "barriers" {
		return netBenchBarriers(ctx)
	}
	if ctx.NArg() == 1 && ctx.Args().First() == "collectives" {
		return netBenchCollectives(ctx)
	}
	if ctx.NArg() == 1 && ctx.Args().First() == "sockets" {
		return netBenchSockets(ctx)
	}
	name, t := networkOf(ctx)
	loads := loadsOf(ctx.String("load"))
	d := cluster.BenchDocument{
		Network: name, NIs: t.Count(topology.NI), Switches: t.Count(topology.Switch), Cables: len(t.Cables), Pattern: ctx.String("pattern"),
		Page: ctx.Int("page"), Slots: ctx.Int("slots"), Seed: ctx.Uint64("seed"),
	}
	d.Least, d.Most = sizesOf(ctx.String("size"))
	work := cluster.Workload{Pattern: d.Pattern, Least: d.Least, Most: d.Most, Sample: ctx.Int("sample"), Samples: or(ctx, "samples", 10)}
	config := cluster.Config{
		Topology: t, Routing: routingOf(ctx), Preload: ctx.Bool("preload"), Seed: d.Seed, Threads: ctx.Int("threads"), Params: cluster.BenchParams(d.Page, ctx.Int("width")),
		Slots: d.Slots, Arrivals: true,
	}
	if err := cmp.Or(work.Check(t), config.Check()); err != nil {
		return usagef("%s", strings.TrimPrefix(err.Error(), "cluster: "))
	}
	progress := startTicker(ctx.App.ErrWriter, "compilation")
	defer progress.stop()
	c := try.Get(cluster.Open(ctx.Context, config))
	defer try.Finally(c.Close)
	b := try.Get(c.NewBench(work))
	d.Bound, d.Senders, d.Lanes, d.Width = b.Bound, b.Senders, c.NIs[0].Params.Lanes, c.NIs[0].Params.Width
	for i, load := range loads {
		progress.set("load %g, %d of %d", load, i+1, len(loads))
		p, err := b.At(load)
		try.Wrap(err, "%s, seed %d, load %g", name, d.Seed, load)
		d.Points = append(d.Points, p)
	}
	progress.stop()
	d.Stamp = try.Get(newStamp(ctx, "", "verilator"))
	if path := ctx.String("svg"); path != "" {
		try.OK(os.WriteFile(path, []byte(chart.File(720, d.AcceptedPlot(), d.LatencyPlot())), 0o666))
	}
	return finish(ctx, true, "net-bench", d, writeNetBench)
}

// networkOf is the network that the command line names: a file, or a topology and its size.
func networkOf(ctx *cli.Context) (name string, t *topology.Topology) {
	words := ctx.Args().Slice()
	if len(words) > 1 || slices.ContainsFunc(topology.Shapes(), func(s topology.Shape) bool { return s.Name == words[0] }) {
		return strings.Join(words, " "), topologyOf(ctx, words)
	}
	for _, flag := range []string{"links", "lanes", "latency"} {
		if ctx.IsSet(flag) {
			try.OK(usagef("--%s is for a topology that is made; change the file instead", flag))
		}
	}
	return words[0], try.Get(topology.ReadFile(words[0]))
}

// sizesOf reads a size of messages, or the least and the most.
func sizesOf(text string) (least, most int) {
	low, high, ranges := strings.Cut(text, "-")
	if !ranges {
		high = low
	}
	least, err := strconv.Atoi(low)
	if err == nil {
		most, err = strconv.Atoi(high)
	}
	if err != nil {
		try.OK(usagef("--size %s: want bytes, as in 64, or the least and the most, as in 64-1500", text))
	}
	return least, most
}

// mostLoads bounds how many loads a command line may name.
const mostLoads = 100

// loadsOf reads loads: FROM:TO:STEP, or a list.
func loadsOf(text string) (loads []float64) {
	bad := func() {
		try.OK(usagef("--load %s: want FROM:TO:STEP, as in 0.1:1:0.1, or a list, as in 0.2,0.8, above 0 and up to %g", text, cluster.MaxLoad))
	}
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(v > 0 && v <= cluster.MaxLoad) {
			bad()
		}
		return v
	}
	if parts := strings.Split(text, ":"); len(parts) == 3 {
		from, to, step := number(parts[0]), number(parts[1]), number(parts[2])
		if from > to || (to-from)/step > mostLoads {
			bad()
		}
		for i := 0; from+float64(i)*step <= to+step/1000; i++ {
			loads = append(loads, from+float64(i)*step)
		}
		return loads
	}
	for _, part := range strings.Split(text, ",") {
		loads = append(loads, number(part))
	}
	return loads
}

// laneRate is that of a lane of a symbol a clock at 125 MHz, in bytes a second.
const laneRate = 125e6

func writeNetBench(b *strings.Builder, d cluster.BenchDocument) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "%-10s%s\n", name, fmt.Sprintf(format, args...))
	}
	line("network", "%s: network interfaces %d, switches %d, cables %d", d.Network, d.NIs, d.Switches, d.Cables)
	line("traffic", "%s, messages of %s, %d network interfaces send", d.Pattern, d.Sizes(), d.Senders)
	line("nodes", "pages of %d bytes; lanes of a link: %d; bytes a clock inside: %d; packets that switches keep for each input: %d", d.Page, d.Lanes, d.Width, d.Slots)
	line("bound", "%s %% of a link, by the busiest direction of a cable", loadText(d.Bound))
	b.WriteString("\n")
	t := table{names: []string{">offered %", ">accepted %", ">of bound %", ">MB/s", ">messages", ">mean", ">50 %", ">90 %", ">99 %", ">most", "state"}}
	for _, p := range d.Points {
		clocks := func(v int64) string { return thousands(uint64(v)) }
		t.add(loadText(p.Offered), loadText(p.Accepted), loadText(p.Accepted/d.Bound), fmt.Sprintf("%.1f", p.Payload*laneRate/1e6), thousands(uint64(p.Messages)),
			clocks(int64(p.Latency.Mean+0.5)), clocks(p.Latency.P50), clocks(p.Latency.P90), clocks(p.Latency.P99), clocks(p.Latency.Max), string(p.State))
	}
	t.write(b)
	b.WriteString("\nMB/s: payload of each network interface that sends, at 125 MHz. Latencies in clocks; of what is saturated they grow for as long as it goes on.\n")
}

func loadText(v float64) string { return fmt.Sprintf("%.1f", 100*v) }
