package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/boards"
	gates "github.com/stafflink/lmmc/boards/sim"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/barriers"
	"github.com/stafflink/lmmc/testbench/report/chart"
	"github.com/stafflink/lmmc/testbench/rtlsim"
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
			&cli.StringFlag{Name: "rung", Usage: "nodes for which FILE says none are `RUNG`: rtl, model, or of two that are cabled to each other vboard:BOARD or gates:BOARD", Value: cluster.RTL},
			&cli.IntFlag{Name: "samples", Usage: "measure `N` barriers of each kind", Value: 10}, &cli.IntFlag{Name: "nodes", Usage: "use `N` nodes at most (default: all, and 64 at most)", Value: 64},
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
		return runBarriers(ctx, w, barriers.Document{Network: strings.Join(args, " ")}, len(nodes))
	}
	t := try.Get(topology.ReadFile(args[0]))
	n := min(ctx.Int("nodes"), t.Count(topology.NI))
	if n < 2 {
		return usagef("%s has %d network interfaces: want two and more", args[0], n)
	}
	w := openBarriers(ctx, t, n)
	defer try.Finally(w.Close)
	return runBarriers(ctx, w, barriers.Document{Network: args[0], Rung: ctx.String("rung"), Seed: ctx.Uint64("seed")}, n)
}

// openBarriers opens a network, of boards if its nodes are such.
func openBarriers(ctx *cli.Context, t *topology.Topology, n int) *barriers.Network {
	seed, threads, rung := ctx.Uint64("seed"), ctx.Int("threads"), cmp.Or(t.Nodes[0].Rung, ctx.String("rung"))
	kind, board, _ := strings.Cut(rung, ":")
	if kind != "gates" && kind != "vboard" {
		return try.Get(barriers.Open(ctx.Context, t, ctx.String("rung"), n, seed, threads))
	}
	for _, node := range t.Nodes {
		if other := cmp.Or(node.Rung, ctx.String("rung")); other != rung {
			try.Failf("node %s has the rung %s, and the first one %s: net logp takes boards of one kind only", node.Name, other, rung)
		}
	}
	c := try.Get(boards.Named(board))
	chip := rtlsim.Chip{Hz: c.MHz * 1e6}
	if kind == "gates" {
		chip.Design = try.Get(gates.Gates(ctx.Context, c))
	}
	return try.Get(barriers.OpenBoards(ctx.Context, t, c.Params(), chip, seed, threads))
}

// netBenchBarriers measures barriers as the paper on MCD did.
func netBenchBarriers(ctx *cli.Context) error {
	for _, flag := range []string{"pattern", "load", "page", "width", "slots", "sample", "size", "links", "lanes", "latency", "routing"} {
		if ctx.IsSet(flag) {
			return usagef("--%s: net bench barriers measures what the paper did; it takes --scale, --nodes, --rung, --samples, --seed, --threads, --svg and --json", flag)
		}
	}
	if ctx.Bool("scale") {
		return netBenchWords(ctx)
	}
	const limit = 64
	most, count := or(ctx, "nodes", 32), or(ctx, "samples", 4)
	if most < 2 || most > limit || count < 1 {
		return usagef("--nodes %d, --samples %d: want 2 to %d nodes, and 1 barrier and more", most, count, limit)
	}
	b := barriers.Bench{Nodes: doubled(most), Count: count, Rung: ctx.String("rung"), Seed: ctx.Uint64("seed"), Threads: ctx.Int("threads")}
	return keepBarriers(ctx, "net-barriers", func(progress func(string)) (barriers.Document, error) { return b.Paper(ctx.Context, progress) })
}

// or is a number that was given, or another one.
func or(ctx *cli.Context, flag string, other int) int {
	if ctx.IsSet(flag) {
		return ctx.Int(flag)
	}
	return other
}

// doubled are 2, 4, 8 and so on, and n.
func doubled(n int) (nodes []int) {
	for size := 2; size < n; size *= 2 {
		nodes = append(nodes, size)
	}
	return append(nodes, n)
}

// runBarriers measures a network on up to n nodes, for a document that says of what.
func runBarriers(ctx *cli.Context, w *barriers.Network, of barriers.Document, n int) error {
	return keepBarriers(ctx, "net-logp", func(progress func(string)) (barriers.Document, error) {
		d, err := w.Run(ctx.Context, doubled(n), ctx.Int("samples"), progress)
		d.Network, d.Rung, d.Seed = of.Network, of.Rung, of.Seed
		return d, err
	})
}

// keepBarriers keeps what was found.
func keepBarriers(ctx *cli.Context, name string, measure func(progress func(string)) (barriers.Document, error)) error {
	progress := startTicker(ctx.App.ErrWriter, "compilation")
	defer progress.stop()
	d := try.Get(measure(func(what string) { progress.set("%s", what) }))
	progress.stop()
	d.Stamp = try.Get(newStamp(ctx, "", "verilator"))
	if path := ctx.String("svg"); path != "" {
		try.OK(os.WriteFile(path, []byte(chart.File(720, d.Plots()...)), 0o666))
	}
	return finish(ctx, true, name, d, writeBarriers)
}

func writeBarriers(b *strings.Builder, d barriers.Document) {
	t := table{names: []string{"algorithm", ">nodes", ">networks", ">mean µs", ">clocks", ">least", ">most", ">alone", ">LogP", ">off by %", ">MCD µs"}}
	var far []string
	clocks := func(v float64) string {
		if v < 0 { // of a line that fits badly
			return "-" + thousands(uint64(0.5-v))
		}
		return thousands(uint64(v + 0.5))
	}
	for _, p := range d.Points {
		paper := "-"
		for _, other := range d.Papers {
			if other.Algorithm == p.Algorithm && !p.Acknowledged && p.Networks == 1 && other.Nodes == p.Nodes {
				paper = fmt.Sprint(other.Time)
			}
		}
		name := p.Algorithm
		if p.Acknowledged {
			name += ", acknowledged"
		}
		alone, logp, off := "-", "-", "-"
		if p.Predicted != 0 {
			alone, logp, off = clocks(p.Alone), clocks(p.Predicted), fmt.Sprintf("%.1f", 100*p.Error())
		}
		if p.Error() > barriers.Bound {
			far = append(far, fmt.Sprintf("%s of %d nodes by networks: %d", name, p.Nodes, p.Networks))
		}
		t.add(name, fmt.Sprint(p.Nodes), fmt.Sprint(p.Networks), fmt.Sprintf("%.2f", p.Mean/barriers.Clock), clocks(p.Mean), clocks(p.Least), clocks(p.Most), alone, logp, off, paper)
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
	fmt.Fprintf(b, "LogP's predictions are off by %.1f %% at most: %s, %d nodes, networks: %d. Allreduce of 8 bytes on %d nodes: %s clocks.\n",
		100*worst.Error(), worst.Algorithm, worst.Nodes, worst.Networks, d.Nodes[len(d.Nodes)-1], clocks(d.AllReduce))
	if d.Rung != "" {
		b.WriteString("Alone is LogP's prediction if no two messages shared a cable between switches; LogP's own has them wait there, and the switch serve its inputs in turn.\n")
	}
	if len(far) > 0 {
		why := "the symbols of links' words, how full a switch's slots are,\nand that acknowledgements of multicasts meet one later barrier and miss another"
		if d.Rung == "" {
			why = "acknowledgements, and what else the processors do:\nleast and most say how far barriers differ among themselves, and --samples has more of them"
		}
		fmt.Fprintf(b, "Off by more than %.0f %%: %s. What it leaves out: %s.\n", 100*barriers.Bound, strings.Join(far, ", "), why)
	}
	if d.Rung == "" {
		b.WriteString("Times are real ones, of this program; a clock is 8 ns.\n")
	} else if strings.Contains(d.Rung, ":") {
		fmt.Fprintf(b, "%s: two boards, their hosts at UARTs, the drivers' virtual links; a clock is 8 ns; the computers' own time is not in it.\n", d.Rung)
	} else {
		fmt.Fprintf(b, "%s, the drivers' virtual links, 125 MHz; the computers' own time is not in it.\n", d.Rung)
	}
	b.WriteString("MCD: Fast Ethernet through a switch, trees released by multicast; there is no counterpart of its repeater hub.\n")
}
