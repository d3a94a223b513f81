package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
)

func netTopoCommand() *cli.Command {
	var shapes strings.Builder
	var names []string
	for _, s := range topology.Shapes() {
		names = append(names, s.Name)
		fmt.Fprintf(&shapes, "\n%-14s  SIZE: %s; %s", s.Name, s.Size, s.Doc)
	}
	return completed(&cli.Command{
		Name:      "topo",
		Usage:     "write a topology file, or draw one",
		ArgsUsage: "TOPOLOGY SIZE | FILE",
		Description: "A size is numbers, as in 16x16x10. The file goes to standard output, as in lmmc net topo star 4 > net.toml; what differs in a few nodes or cables\n" +
			"is added to it by hand (doc/network.md). With --draw the topology, or that of FILE, is drawn instead.\n\nTOPOLOGY is one of" + shapes.String(),
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "links", Usage: "make each connection of `N` cables beside each other (default: 1)"},
			&cli.IntFlag{Name: "lanes", Usage: "give each cable `N` lanes, 1 to 8 (default: 1)"},
			&cli.IntFlag{Name: "latency", Usage: "a symbol travels for `N` clocks (default: 1)"},
			&cli.Float64Flag{Name: "bit-error-rate", Usage: "cables damage this `SHARE` of bits, 0 to 1"},
			&cli.StringFlag{Name: "rung", Usage: "run nodes as `RUNG`: rtl, model, gates:BOARD, tcp:HOST:PORT or serial:PATH"},
			routingFlag,
			&cli.StringFlag{Name: "draw", Usage: "draw to `FILE`, as SVG", TakesFile: true},
		},
		Action: netTopo,
	}, names...)
}

func netTopo(ctx *cli.Context) error {
	words := ctx.Args().Slice()
	if len(words) == 0 {
		return usagef("net topo takes a topology and its size, or a file to --draw; see lmmc net topo --help")
	}
	generated := slices.ContainsFunc(topology.Shapes(), func(s topology.Shape) bool { return s.Name == words[0] })
	var t *topology.Topology
	if !generated && ctx.IsSet("draw") && len(words) == 1 {
		for _, flag := range []string{"links", "lanes", "latency", "bit-error-rate", "rung", "routing"} {
			if ctx.IsSet(flag) {
				return usagef("--%s is for a topology that is made; change the file instead", flag)
			}
		}
		t = try.Get(topology.ReadFile(words[0]))
	} else {
		t = topologyOf(ctx, words)
	}
	path := ctx.String("draw")
	if path == "" {
		return t.Write(ctx.App.Writer)
	}
	f := try.Get(os.Create(path))
	try.OK(t.Draw(f), f.Close())
	return nil
}

// topologyOf makes the topology that words and flags name.
func topologyOf(ctx *cli.Context, words []string) *topology.Topology {
	var size []int
	for _, number := range strings.FieldsFunc(strings.Join(words[1:], "x"), func(r rune) bool { return r == 'x' || r == ',' }) {
		n, err := strconv.Atoi(number)
		if err != nil {
			try.OK(usagef("size %q: want numbers, as in 16x16x10", number))
		}
		size = append(size, n)
	}
	flags := topology.Link{Lanes: max(ctx.Int("lanes"), 1), Latency: max(ctx.Int("latency"), 1), BitErrorRate: ctx.Float64("bit-error-rate")}
	t, err := topology.Generate(words[0], size, max(ctx.Int("links"), 1))
	if err == nil {
		t.Rung, t.Routing, t.Default = ctx.String("rung"), routingOf(ctx), flags
		for i := range t.Cables {
			t.Cables[i].Link = flags
		}
		err = t.Validate()
	}
	if err != nil {
		try.OK(usagef("net %s: %s", ctx.Command.Name, strings.TrimPrefix(err.Error(), "topology: ")))
	}
	return t
}
