package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/barriers"
	"github.com/stafflink/lmmc/testbench/report/chart"
)

func netLogPCommand() *cli.Command {
	return &cli.Command{
		Name:      "logp",
		Usage:     "measure a network's LogP parameters, and barriers beside what these predict",
		ArgsUsage: "FILE | TARGET TARGET...",
		Description: "FILE is a topology file (doc/network.md), whose network is simulated. TARGETs are network interfaces that are nodes of one network, such as those of lmmc net up:\n" +
			"times are real ones then, of this program. The parameters are o_s, L, o_r and the gap g for 2 nodes and more, and for messages by size lines that fit half of\n" +
			"a round trip and the gap, whose slope is G. Barriers are measured by each algorithm. The result is kept in build/results for lmmc report.",
		Flags: []cli.Flag{
			rungFlag, &cli.IntFlag{Name: "samples", Usage: "measure `N` barriers of each kind", Value: 10}, &cli.IntFlag{Name: "nodes", Usage: "use `N` nodes at most (default: all, and 64 at most)", Value: 64},
			&cli.StringFlag{Name: "svg", Usage: "draw the plots to `FILE`, as SVG", TakesFile: true}, seedFlag, threadsFlag, jsonFlag,
		},
		Action: netLogP,
	}
}

func netLogP(ctx *cli.Context) error {
	args := ctx.Args().Slice()
	if len(args) == 0 || ctx.Int("samples") < 1 || ctx.Int("nodes") < 2 {
		return usagef("net logp takes a topology file or two targets and more, --samples of 1 and more, --nodes of 2 and more; see lmmc net logp --help")
	}
	if len(args) > 1 {
		var nodes []*hostdrv.Node
		for i, target := range args {
			var node *hostdrv.Node
			if isShared(target) {
				node = openShared(ctx, target)
			} else {
				node = try.Get(hostdrv.OpenNode(ctx.Context, target, hostdrv.Options{NodeID: uint16(i + 1)}, hostdrv.NodeOptions{NoPorts: true}))
			}
			defer try.Finally(node.Close)
			nodes = append(nodes, node)
		}
		w := try.Get(barriers.Attach(ctx.Context, nodes))
		return runBarriers(ctx, w, barriers.Document{Network: strings.Join(args, " ")}, len(nodes), "net-logp", nil)
	}
	t := try.Get(topology.ReadFile(args[0]))
	n := min(ctx.Int("nodes"), t.Count(topology.NI))
	if n < 2 {
		return usagef("%s has %d network interfaces: want two and more", args[0], n)
	}
	w := try.Get(barriers.Open(ctx.Context, t, ctx.String("rung"), n, ctx.Uint64("seed"), ctx.Int("threads")))
	defer try.Finally(w.Close)
	return runBarriers(ctx, w, barriers.Document{Network: args[0], Rung: ctx.String("rung"), Seed: ctx.Uint64("seed")}, n, "net-logp", nil)
}

// netBenchBarriers measures barriers as the paper on MCD did.
func netBenchBarriers(ctx *cli.Context) error {
	for _, flag := range []string{"pattern", "load", "page", "width", "slots", "sample", "size", "links", "lanes", "latency", "routing"} {
		if ctx.IsSet(flag) {
			return usagef("--%s: net bench barriers measures what the paper did; it takes --scale, --nodes, --samples, --seed, --threads, --svg and --json", flag)
		}
	}
	if ctx.Bool("scale") {
		return netBenchWords(ctx)
	}
	if ctx.IsSet("nodes") {
		return usagef("--nodes: net bench barriers takes it with --scale; without, it measures 2 to 32 nodes")
	}
	const most = 32
	t := try.Get(barriers.Tree(most))
	w := try.Get(barriers.Open(ctx.Context, t, cluster.RTL, most, ctx.Uint64("seed"), ctx.Int("threads")))
	defer try.Finally(w.Close)
	hardware := func(d *barriers.Document, progress func(string)) {
		progress("compilation for barriers by hardware")
		h := try.Get(barriers.OpenHardware(ctx.Context, t, cluster.RTL, most, d.Seed, ctx.Int("threads")))
		defer try.Finally(h.Close)
		try.OK(h.RunHardware(ctx.Context, d, progress))
	}
	return runBarriers(ctx, w, barriers.Document{Network: "two levels of switches", Rung: cluster.RTL, Seed: ctx.Uint64("seed")}, most, "net-barriers", hardware)
}

// runBarriers measures on up to n nodes, and keeps what was found in a document that says of what. More, if there is one, adds to it.
func runBarriers(ctx *cli.Context, w *barriers.Network, of barriers.Document, n int, name string, more func(d *barriers.Document, progress func(string))) error {
	var nodes []int
	for size := 2; size < n; size *= 2 {
		nodes = append(nodes, size)
	}
	progress := startTicker(ctx.App.ErrWriter, "compilation")
	defer progress.stop()
	tell := func(what string) { progress.set("%s", what) }
	d := try.Get(w.Run(ctx.Context, append(nodes, n), ctx.Int("samples"), tell))
	d.Network, d.Rung, d.Seed = of.Network, of.Rung, of.Seed
	if more != nil {
		more(&d, tell)
	}
	progress.stop()
	d.Stamp = try.Get(newStamp(ctx, "", "verilator"))
	if path := ctx.String("svg"); path != "" {
		try.OK(os.WriteFile(path, []byte(chart.File(720, d.Plots()...)), 0o666))
	}
	return finish(ctx, true, name, d, writeBarriers)
}

func writeBarriers(b *strings.Builder, d barriers.Document) {
	t := table{names: []string{"algorithm", ">nodes", ">mean µs", ">clocks", ">least", ">most", ">LogP", ">off by %", ">MCD µs"}}
	clocks := func(v float64) string {
		if v < 0 { // of a line that fits badly
			return "-" + thousands(uint64(0.5-v))
		}
		return thousands(uint64(v + 0.5))
	}
	for _, p := range d.Points {
		paper := "-"
		for _, other := range d.Papers {
			if other.Algorithm == p.Algorithm && !p.Acknowledged && other.Nodes == p.Nodes {
				paper = fmt.Sprint(other.Time)
			}
		}
		name := p.Algorithm
		if p.Acknowledged {
			name += ", acknowledged"
		}
		logp, off := "-", "-"
		if p.Predicted != 0 {
			logp, off = clocks(p.Predicted), fmt.Sprintf("%.1f", 100*p.Error())
		}
		t.add(name, fmt.Sprint(p.Nodes), fmt.Sprintf("%.2f", p.Mean/barriers.Clock), clocks(p.Mean), clocks(p.Least), clocks(p.Most), logp, off, paper)
	}
	t.write(b)
	micro := func(v float64) string { return fmt.Sprintf("%.2f", v/barriers.Clock) }
	b.WriteString("\n")
	t = table{names: []string{">nodes", ">o_s µs", ">L µs", ">o_r µs", ">g µs", ">L clocks", ">g clocks"}}
	for i, m := range d.Models {
		t.add(fmt.Sprint(d.Nodes[i]), micro(m.Send), micro(m.Latency), micro(m.Receive), micro(m.Gap), fmt.Sprintf("%.1f", m.Latency), fmt.Sprintf("%.1f", m.Gap))
	}
	t.add("MCD", "3", "17.5", "9.5", "9", "-", "-")
	t.write(b)
	b.WriteString("\n")
	t = table{names: []string{">bytes", ">half a round trip", ">fit", ">gap", ">fit"}}
	for _, s := range d.Messages {
		t.add(thousands(uint64(s.Bytes)), clocks(s.Trip), clocks(d.HalfTrip(s.Bytes)), clocks(s.Gap), clocks(d.Gap.At(s.Bytes)))
	}
	t.write(b)
	fmt.Fprintf(b, "\nG is %.3f clocks a byte, and the line of gaps off by %.1f %% at most; half a round trip is %.1f clocks, %.3f for each byte of the first packet and G for\n"+
		"each beyond its %s bytes, off by %.1f %% at most.\n", d.Gap.PerByte, 100*d.Gap.Error, d.Trip.Base, d.Trip.PerByte, thousands(uint64(d.Packet)), 100*d.TripError())
	worst := d.Worst()
	fmt.Fprintf(b, "LogP's predictions are off by %.1f %% at most: %s, %d nodes. Allreduce of 8 bytes on %d nodes: %s clocks.\n",
		100*worst.Error(), worst.Algorithm, worst.Nodes, d.Nodes[len(d.Nodes)-1], clocks(d.AllReduce))
	if d.Rung == "" {
		b.WriteString("Times are real ones, of this program; a clock is 8 ns.\n")
	} else {
		fmt.Fprintf(b, "%s, the drivers' virtual links, 125 MHz; the computers' own time is not in it.\n", d.Rung)
	}
	b.WriteString("MCD: Fast Ethernet through a switch, trees released by multicast; there is no counterpart of its repeater hub.\n")
}
