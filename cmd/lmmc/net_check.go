package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv/routing"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/internal/try"
)

var routingFlag = &cli.StringFlag{Name: "routing", Usage: "route by `NAME`: " + strings.Join(topology.Routings(), ", ") + " (default: the topology's own)"}

// routingOf is the routing that the command line names, "" if none.
func routingOf(ctx *cli.Context) string {
	name, all := ctx.String("routing"), topology.Routings()
	if name != "" && !slices.Contains(all, name) {
		try.OK(usagef("--routing %s: no such routing%s; there are %s", name, nearest.Hint(name, all), strings.Join(all, ", ")))
	}
	return name
}

func netCheckCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "check that a network cannot deadlock and that all nodes reach each other",
		ArgsUsage: "FILE",
		Description: "FILE is a topology file (doc/network.md). The tables of all routers are made, alternates for dead cables included, and what packets can wait for.\n" +
			"The exit code is 0 only if nothing can wait for itself, every network interface reaches every node, and every switch can answer.",
		Flags:  []cli.Flag{routingFlag, jsonFlag},
		Action: netCheck,
	}
}

// netReport is what net check prints.
type netReport struct {
	File    string  `json:"file"`
	Seconds float64 `json:"seconds"` // that it took
	OK      bool    `json:"ok"`
	*routing.Report
}

func netCheck(ctx *cli.Context) error {
	if ctx.NArg() != 1 {
		return usagef("net check takes one file; see lmmc net check --help")
	}
	r := netReport{File: ctx.Args().First()}
	way := routingOf(ctx)
	start := time.Now()
	tables := try.Get(routing.Build(try.Get(topology.ReadFile(r.File)), way))
	r.Report = tables.Check()
	r.Seconds = time.Since(start).Seconds()
	err := r.Err()
	r.OK = err == nil
	if err != nil {
		err = fmt.Errorf("%s: %w", r.File, err)
	}
	return errors.Join(show(ctx, r, writeNetReport), err)
}

// shownCuts is how many cables are named that lose pairs.
const shownCuts = 5

func writeNetReport(b *strings.Builder, r netReport) {
	count := func(n int) string { return thousands(uint64(n)) }
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "%-12s%s\n", name, fmt.Sprintf(format, args...))
	}
	line("network", "network interfaces %s, switches %s, cables %s", count(r.NIs), count(r.Switches), count(r.Cables))
	line("routing", "%s", r.Routing)
	if len(r.Cycle) == 0 {
		line("deadlock", "none: nothing can wait for itself")
	} else {
		line("deadlock", "possible: %d channels wait for each other, each for the next", len(r.Cycle))
	}
	for _, s := range r.Cycle {
		line("", "%s, packets for %s", s, someOf(s.Destinations, s.Count))
	}
	line("pairs", "%s of %s have a way", count(r.Pairs-r.Unreachable), count(r.Pairs))
	for _, m := range r.Missing {
		line("", "none from %s to %s: %s", m.From, m.To, m.Why)
	}
	line("hops", "%d at most, from %s to %s; a packet can make %d", r.Longest.Hops, cmp.Or(r.Longest.From, "-"), cmp.Or(r.Longest.To, "-"), routing.MaxHops)
	if r.Switches > 0 {
		line("answers", "a switch reaches %s to %s network interfaces", count(r.Answers[0]), count(r.Answers[1]))
	}
	line("alternates", "%s of %s table entries have one", count(r.Alternates), count(r.Entries))
	line("cut cables", "%s of %s can be cut, one at a time, and no network interfaces lose each other", count(r.Cables-len(r.Cuts)), count(r.Cables))
	for _, c := range r.Cuts[:min(shownCuts, len(r.Cuts))] {
		line("", "%s: %s pairs are lost: %s", c.Cable, count(c.Lost), someOf(c.Examples, c.Lost))
	}
	if more := len(r.Cuts) - shownCuts; more > 0 {
		line("", "%s more lose as many or fewer", count(more))
	}
	line("time", "%s", duration(time.Duration(r.Seconds*float64(time.Second))))
}

// someOf lists the first of so many.
func someOf(first []string, all int) string {
	text := strings.Join(first, ", ")
	if more := all - len(first); more > 0 {
		text += fmt.Sprintf(" and %s more", thousands(uint64(more)))
	}
	return text
}
