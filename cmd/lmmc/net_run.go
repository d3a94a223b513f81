package main

import (
	"fmt"
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
		Usage:     "run a network in simulation, with traffic between all network interfaces",
		ArgsUsage: "FILE",
		Description: "FILE is a topology file (doc/network.md). Nodes run as RTL or as models in Go, as their rung says. Each network interface sends remote writes, and PAGEs that trap, to others drawn at\n" +
			"random. The exit code is 0 only if each write has come to its place, and each PAGE has trapped once.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "packets", Usage: "each network interface sends `N` packets", Value: 100},
			&cli.IntFlag{Name: "size", Usage: "a remote write has `BYTES` of data", Value: 64},
			&cli.UintFlag{Name: "pages", Usage: "`PERCENT` of the packets are PAGEs", Value: 5},
			&cli.StringFlag{Name: "rung", Usage: "nodes for which FILE says none are `RUNG`: rtl or model", Value: cluster.RTL},
			&cli.Uint64Flag{Name: "seed", Usage: "what is drawn at random follows from `SEED`", Value: 1},
			&cli.IntFlag{Name: "threads", Usage: "run on `N` threads, which changes no result", Value: 1},
			routingFlag, jsonFlag,
		},
		Action: netRun,
	}
}

// netRunReport is what net run prints.
type netRunReport struct {
	File     string  `json:"file"`
	Seed     uint64  `json:"seed"`
	NIs      int     `json:"nis"`
	Switches int     `json:"switches"`
	Cables   int     `json:"cables"`
	Start    uint64  `json:"start_cycles"` // until all links were up
	Seconds  float64 `json:"seconds"`      // that the traffic took
	cluster.Result
}

func netRun(ctx *cli.Context) error {
	if ctx.NArg() != 1 {
		return usagef("net run takes one file, as lmmc net topo makes one; see lmmc net run --help")
	}
	if p := ctx.Uint("pages"); p > 100 {
		return usagef("--pages %d: want 0 to 100 percent", p)
	}
	r := netRunReport{File: ctx.Args().First(), Seed: ctx.Uint64("seed")}
	t := try.Get(topology.ReadFile(r.File))
	r.NIs, r.Switches, r.Cables = t.Count(topology.NI), t.Count(topology.Switch), len(t.Cables)
	progress := startTicker(ctx.App.ErrWriter, "compilation")
	defer progress.stop()
	c := try.Get(cluster.Open(ctx.Context, cluster.Config{Topology: t, Routing: routingOf(ctx), Rung: ctx.String("rung"), Seed: r.Seed, Threads: ctx.Int("threads")}))
	defer try.Finally(c.Close)
	r.Start = c.Cycles
	progress.set("traffic")
	start := time.Now()
	result, err := c.Carry(cluster.Traffic{Packets: ctx.Int("packets"), Bytes: ctx.Int("size"), Pages: int(ctx.Uint("pages"))})
	if err != nil {
		return fmt.Errorf("%s, seed %d: %w", r.File, r.Seed, err)
	}
	r.Seconds, r.Result = time.Since(start).Seconds(), result
	progress.stop()
	return show(ctx, r, writeNetRun)
}

func writeNetRun(b *strings.Builder, r netRunReport) {
	count := func(n int) string { return thousands(uint64(n)) }
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "%-10s%s\n", name, fmt.Sprintf(format, args...))
	}
	line("network", "network interfaces %s, switches %s, cables %s, all links up after %s clocks", count(r.NIs), count(r.Switches), count(r.Cables), thousands(r.Start))
	line("writes", "%s of %s bytes in all, each at its place", count(r.Writes), count(r.Bytes))
	line("pages", "%s, each trapped once", count(r.Pages))
	line("time", "%s clocks, %s, %s clocks a second", thousands(r.Cycles), duration(time.Duration(r.Seconds*float64(time.Second))), thousands(uint64(float64(r.Cycles)/r.Seconds)))
}
