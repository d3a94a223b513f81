package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
)

func netRunCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "run a network in simulation, with traffic between all network interfaces, or with a program at each",
		ArgsUsage: "FILE [-- PROGRAM ARGUMENT...]",
		Description: "FILE is a topology file (doc/network.md). Nodes run as RTL or as models in Go, as their rung says. Each network interface sends remote\n" +
			"writes, and PAGEs that trap, to others drawn at random. The exit code is 0 only if each write has come to its place, and each PAGE has trapped once.\n\n" +
			"With PROGRAM there is no such traffic, and the program runs once for each network interface, with LMMC_NODE set to its name, LMMC_NUMBER to its number,\n" +
			"LMMC_NODES to the names of all, and LMMC_TARGET to what it opens, as in lmmc info $LMMC_TARGET. Its output is printed behind the name. The exit code is 1\n" +
			"if one fails, and when interrupted all are ended: lmmc net run star.toml -- sh -c 'lmmc write $LMMC_TARGET node1@0x100=\"hello\"'",
		Flags:  slices.Concat(partsFlags(), waveFlags(), checkpointFlags(), []cli.Flag{packetsFlag, sizeFlag, pagesFlag, rungFlag, managerFlag, portsFlag, barriersFlag, preloadFlag, netnsFlag, addrFlag, seedFlag, threadsFlag, routingFlag, jsonFlag}),
		Action: netRun,
	}
}

// Flags of commands that run a network with traffic.
var (
	packetsFlag = &cli.IntFlag{Name: "packets", Usage: "each network interface sends `N` packets", Value: 100}
	sizeFlag    = &cli.IntFlag{Name: "size", Usage: "a remote write has `BYTES` of data", Value: 64}
	pagesFlag   = &cli.UintFlag{Name: "pages", Usage: "`PERCENT` of the packets are PAGEs", Value: 5}
	rungFlag    = &cli.StringFlag{Name: "rung", Usage: "nodes for which FILE says none are `RUNG`: rtl or model", Value: cluster.RTL}
	managerFlag = &cli.StringFlag{Name: "manager", Usage: "network interface `NAME` sets up the switches by packets, as far as it reaches them (default: the first)"}
	portsFlag   = &cli.BoolFlag{Name: "ports", Usage: "give programs ports to all other nodes, over virtual links, in place of the receive buffer and SendRouted"}
	preloadFlag = &cli.BoolFlag{Name: "preload", Usage: "set routing tables in the memories of the simulated nodes, instead of by packets; for large networks"}
	seedFlag    = &cli.Uint64Flag{Name: "seed", Usage: "what is drawn at random follows from `SEED`", Value: 1}
	threadsFlag = &cli.IntFlag{Name: "threads", Usage: "run on `N` threads, which changes no result", Value: 1}
)

// trafficOf is the traffic that the flags ask for.
func trafficOf(ctx *cli.Context) cluster.Traffic {
	p := ctx.Uint("pages")
	if p > 100 {
		try.OK(usagef("--pages %d: want 0 to 100 percent", p))
	}
	return cluster.Traffic{Packets: ctx.Int("packets"), Bytes: ctx.Int("size"), Pages: int(p)}
}

// netRunReport is what net run prints.
type netRunReport struct {
	File     string        `json:"file"`
	Seed     uint64        `json:"seed"`
	NIs      int           `json:"nis"`
	Switches int           `json:"switches"`
	Cables   int           `json:"cables"`
	Setup    cluster.Setup `json:"setup"`
	Clocks   uint64        `json:"clocks"`  // simulated since, with reading the receive buffers before and after
	Seconds  float64       `json:"seconds"` // that these took
	cluster.Result
}

func netRun(ctx *cli.Context) error {
	if ctx.NArg() < 1 {
		return usagef("net run takes a file, as lmmc net topo makes one; see lmmc net run --help")
	}
	if program := ctx.Args().Tail(); len(program) > 0 {
		for _, name := range []string{"packets", "size", "pages", "json", "parts", "save", "restore"} {
			if ctx.IsSet(name) {
				return usagef("--%s is not for a program, which makes its own traffic", name)
			}
		}
		netPrograms(ctx, ctx.Args().First(), program)
		return nil
	}
	for _, name := range []string{"ports", "barriers", "netns", "addr"} {
		if ctx.IsSet(name) {
			return usagef("--%s is for programs, as in net run --%[1]s FILE -- PROGRAM", name)
		}
	}
	traffic := trafficOf(ctx)
	r := netRunReport{File: ctx.Args().First(), Seed: ctx.Uint64("seed")}
	t := try.Get(topology.ReadFile(r.File))
	r.NIs, r.Switches, r.Cables = t.Count(topology.NI), t.Count(topology.Switch), len(t.Cables)
	progress := startTicker(ctx.App.ErrWriter, "compilation")
	defer progress.stop()
	split, wait := partsOptions(ctx)
	defer wait()
	if split != nil && ctx.IsSet("wave") {
		return usagef("--wave is for a network in one process: leave out --parts, which changes no result")
	}
	config := cluster.Config{
		Topology: t, Routing: routingOf(ctx), Rung: ctx.String("rung"), Manager: ctx.String("manager"), Preload: ctx.Bool("preload"),
		Seed: r.Seed, Threads: ctx.Int("threads"), Parts: split,
		Gates: boardGates,
	}
	if ctx.IsSet("wave") {
		config.Waves = uint64(ctx.Int("wave-clocks"))
	}
	keep := keeperOf(ctx)
	config.Version, config.Checkpoints = try.Get(programVersion()), keep != nil || ctx.IsSet("restore")
	restored(ctx, &config, &traffic)
	r.Seed = config.Seed
	c := try.Get(cluster.Open(ctx.Context, config))
	defer try.Finally(c.Close)
	r.Setup = c.Setup
	progress.set("traffic")
	start, begun := time.Now(), c.Cycles
	if keep != nil {
		c.Between = func() error { return keep.look(c) }
	}
	carry := c.Resume
	if config.From == nil {
		carry = func() (cluster.Result, error) { return c.Carry(traffic) }
	}
	result, err := carry()
	if err != nil {
		return fmt.Errorf("%s, seed %d: %w%s", r.File, r.Seed, err, wavesOf(ctx, c, keep))
	}
	if keep != nil && keep.saved == 0 {
		return fmt.Errorf("no checkpoint was saved: all packets were sent at clock %s, so --at or --every must be less", thousands(c.Cycles))
	}
	r.Clocks, r.Seconds, r.Result = c.Cycles-begun, time.Since(start).Seconds(), result
	progress.stop()
	return show(ctx, r, writeNetRun)
}

func waveFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "wave", Usage: "when it fails, write waves of the nodes concerned to `DIR`; compiles and runs slower", TakesFile: true},
		&cli.IntFlag{Name: "wave-clocks", Usage: "with --wave: waves of the last `N` clocks at least", Value: 200_000},
	}
}

// wavesOf writes the waves of a failed run, and says where they are, or how to get some.
func wavesOf(ctx *cli.Context, c *cluster.Cluster, keep *keeper) string {
	if !ctx.IsSet("wave") {
		again, without := []string{"run", "--wave=waves"}, []string{"json", "parts", "launcher", "save", "at", "every"}
		if keep != nil && keep.saved > 0 && !ctx.IsSet("parts") { // only what has passed since; waves are of one process
			again, without = append(again, "--restore="+keep.last()), append(without, "restore")
		}
		return "\nwaves of the nodes concerned: go run ./cmd/lmmc net " + quoteAll(append(again, arguments(ctx, without...)[1:]...))
	}
	files, err := c.DumpWaves(ctx.String("wave"))
	if err != nil {
		return fmt.Sprintf("\nno waves: %v", err)
	}
	return "\nwaves: " + strings.Join(files, ", ")
}

// setupText says how the switches were set up.
func setupText(s cluster.Setup) string {
	by := strings.Join(s.Managers, ", ")
	if n := len(s.Managers); n > 3 {
		by = fmt.Sprintf("%d network interfaces", n)
	}
	return fmt.Sprintf("%s clocks, by %s, %s requests, %s of them again", thousands(s.Cycles), by, thousands(uint64(s.Requests)), thousands(uint64(s.Repeats)))
}

func writeNetRun(b *strings.Builder, r netRunReport) {
	count := func(n int) string { return thousands(uint64(n)) }
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "%-10s%s\n", name, fmt.Sprintf(format, args...))
	}
	line("network", "network interfaces %s, switches %s, cables %s, all links up after %s clocks", count(r.NIs), count(r.Switches), count(r.Cables), thousands(r.Setup.Links))
	switch {
	case r.Setup.Preload:
		line("set-up", "routing tables preloaded")
	case len(r.Setup.Managers) > 0:
		line("set-up", "%s", setupText(r.Setup))
	}
	line("writes", "%s of %s bytes in all, each at its place", count(r.Writes), count(r.Bytes))
	line("pages", "%s, each trapped once", count(r.Pages))
	line("time", "%s clocks", thousands(r.Cycles))
	line("speed", "%s clocks in %s, with reading all receive buffers: %s a second", thousands(r.Clocks), duration(time.Duration(r.Seconds*float64(time.Second))), thousands(uint64(float64(r.Clocks)/r.Seconds)))
}
