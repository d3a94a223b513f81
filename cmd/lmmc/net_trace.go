package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/live"
)

func netTraceCommand() *cli.Command {
	return &cli.Command{
		Name:      "trace",
		Usage:     "capture a cable of a network for Wireshark",
		ArgsUsage: "[FILE|DIR|URL]",
		Description: "FILE is a topology file: its network runs as with lmmc net run, until all traffic has come. DIR or URL is a network that lmmc net up runs (default:\n" +
			defaultNetDir() + "): the capture ends when interrupted, or after --clocks. Times are clocks, a nanosecond each. Wireshark takes packets apart with our\n" +
			"dissector: lmmc trace --dissector lmmc.lua; wireshark -X lua_script:lmmc.lua OUTPUT",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "cable", Usage: "capture the cable with `ENDS`, as in n0:1-s0:1; one of the two is enough"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the capture to `FILE`; - is standard output", TakesFile: true},
			&cli.BoolFlag{Name: "all", Usage: "also capture link state words that repeat the one before"},
			&cli.Uint64Flag{Name: "clocks", Usage: "of a network that runs, end after `N` clocks"},
			packetsFlag, sizeFlag, pagesFlag, rungFlag, seedFlag, threadsFlag, routingFlag,
		},
		Action: netTrace,
	}
}

func netTrace(ctx *cli.Context) error {
	if ctx.NArg() > 1 {
		return usagef("net trace takes one file, folder or URL; see lmmc net trace --help")
	}
	if ctx.String("cable") == "" || ctx.String("output") == "" {
		return usagef("net trace needs --cable and --output, as in --cable n0:1-s0:1 -o n0.pcapng")
	}
	from := cmp.Or(ctx.Args().First(), defaultNetDir())
	run, refused, why := traceFile, []string{"clocks"}, "a topology file ends by itself"
	if isRunning(from) {
		run, refused, why = traceRunning, []string{"packets", "size", "pages", "rung", "seed", "threads", "routing"}, "that network runs already"
	}
	for _, name := range refused {
		if ctx.IsSet(name) {
			return usagef("--%s is not for %s: %s", name, from, why)
		}
	}
	return withOutput(ctx, ctx.String("output"), func(w io.Writer) { run(ctx, from, w) })
}

// isRunning reports whether a place is that of a network that runs, and no topology file.
func isRunning(place string) bool {
	info, err := os.Stat(place)
	return strings.HasPrefix(place, "http://") || err != nil || !info.Mode().IsRegular()
}

// traceRunning captures a cable of a network of another process.
func traceRunning(ctx *cli.Context, place string, w io.Writer) {
	try.OK(live.NewClient(place).Capture(ctx.Context, ctx.String("cable"), ctx.Bool("all"), ctx.Uint64("clocks"), w))
}

// traceFile captures a cable of a network while it carries traffic.
func traceFile(ctx *cli.Context, file string, w io.Writer) {
	t := try.Get(topology.ReadFile(file))
	progress := startTicker(ctx.App.ErrWriter, "compilation")
	defer progress.stop()
	seed := ctx.Uint64("seed")
	c := try.Get(cluster.Open(ctx.Context, cluster.Config{
		Topology: t, Routing: routingOf(ctx), Seed: seed, Gates: boardGates, Rung: ctx.String("rung"), Threads: ctx.Int("threads"),
	}))
	defer try.Finally(c.Close)
	try.OK(c.Watch())
	buffered := bufio.NewWriter(w)
	stop := try.Get(live.Tap(c, try.Get(c.CableNamed(ctx.String("cable"))), ctx.Bool("all"), buffered))
	progress.set("traffic")
	_, err := c.Carry(trafficOf(ctx))
	try.OK(err, stop(), buffered.Flush())
	progress.stop()
	if ctx.String("output") != "-" {
		try.Get(fmt.Fprintf(ctx.App.Writer, "captured %s clocks to %s\n", thousands(c.Look().Clocks), ctx.String("output")))
	}
}
