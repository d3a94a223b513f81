package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/testbench/soak"
)

func soakCommand() *cli.Command {
	return &cli.Command{
		Name:  "soak",
		Usage: "run links and networks under faults for any time and account for every packet",
		Description: "A round runs every kind of link under every kind of fault at several rates; --list lists them. Without --for, --packets\n" +
			"or --rounds it does one round, of a million packets. The seed determines a round and each run in it.\n" +
			"A failed run leaves a wave, and the output has the command that repeats it.\n" +
			"It keeps its result in " + results.Dir + " for lmmc report, unless --wave is given.",
		Flags: append([]cli.Flag{
			&cli.DurationFlag{Name: "for", Usage: "run for `TIME`, such as 2h or 90s"},
			&cli.StringFlag{Name: "packets", Usage: "run whole rounds until `N` packets have arrived, such as 1e8"},
			&cli.IntFlag{Name: "rounds", Usage: "run at most `N` rounds"},
			&cli.StringSliceFlag{Name: "links", Usage: "run only these kinds of link, `LINK,...`"},
			&cli.StringSliceFlag{Name: "faults", Usage: "inject only these kinds of fault, `FAULT,...`"},
			&cli.Float64SliceFlag{Name: "rate", Usage: "inject at these rates, `RATE,...`, instead of each fault's default"},
			&cli.Uint64Flag{Name: "seed", Usage: "begin with seed `N`, one more for each round", Value: 1},
			&cli.BoolFlag{Name: "wave", Usage: "write a wave of every run"},
			&cli.StringFlag{Name: "wave-dir", Usage: "write waves to folder `DIR`", Value: "build/waves"},
			&cli.StringFlag{Name: "rtl", Usage: "test the modules in `DIR`, laid out like rtl/, instead of the built-in ones"},
			jsonFlag,
			&cli.BoolFlag{Name: "list", Usage: "list the kinds of link and fault and do nothing else"},
		}, campaignFlags()...),
		Action: func(ctx *cli.Context) error {
			if ctx.Bool("list") {
				return listSoak(ctx)
			}
			return runSoak(ctx)
		},
	}
}

func listSoak(ctx *cli.Context) error {
	type row struct {
		What string `json:"what"`
		Name string `json:"name"`
		Doc  string `json:"doc"`
	}
	var rows []row
	for _, k := range soak.Links() {
		rows = append(rows, row{"link", k.Name, k.Doc})
	}
	for _, k := range soak.Faults() {
		rows = append(rows, row{"fault", k.Name, k.Doc})
	}
	return list(ctx, rows, []string{"", "name", "what it is"}, func(r row) (row, []string) { return r, []string{r.What, r.Name, r.Doc} })
}

func kindNames(kinds []soak.Kind) []string {
	return collect(kinds, func(k soak.Kind) string { return k.Name })
}

func runSoak(ctx *cli.Context) error {
	options := soak.Options{
		Options: campaignOptions(ctx),
		Links:   ctx.StringSlice("links"), Faults: ctx.StringSlice("faults"), Rates: ctx.Float64Slice("rate"), Seed: ctx.Uint64("seed"),
		Rounds: ctx.Int("rounds"), For: ctx.Duration("for"), Wave: ctx.Bool("wave"), WaveDir: ctx.String("wave-dir"),
		RTL: ctx.String("rtl"),
	}
	if ctx.IsSet("for") && options.For <= 0 {
		return usagef("--for %v: want a time above 0", options.For)
	}
	if text := ctx.String("packets"); text != "" {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n >= 1 && n <= 1e18) || n != math.Trunc(n) {
			return usagef("--packets %s: want a number of packets, such as 1000000 or 1e8", text)
		}
		options.Packets = uint64(n)
	}

	progress := startTicker(ctx.App.ErrWriter, "building models, then running")
	options.Progress = func(p soak.Progress) {
		progress.set("round %d, %s packets in %d runs, %d failed, last %v", p.Round, thousands(p.Packets), p.Runs, p.Failed, p.Last)
	}
	report, err := soak.Execute(ctx.Context, options)
	progress.stop()
	if errors.Is(err, campaign.ErrShareDone) {
		return err
	}
	if errors.Is(err, soak.ErrOptions) {
		return hinted(hinted(err, options.Links, kindNames(soak.Links())), options.Faults, kindNames(soak.Faults()))
	}
	var stampErr error
	report.Stamp, stampErr = newStamp(ctx, options.RTL, "verilator")
	err = errors.Join(err, stampErr, finish(ctx, !options.Wave && report.Runs > 0 && stampErr == nil, "soak", report, writeSoak))
	return orFailed(err, int(report.Failed), int(report.Runs), "runs")
}

func writeSoak(b *strings.Builder, report soak.Report) {
	t := table{names: []string{"link", "fault", ">rate", ">packets", ">injected", ">detected", ">recovered", ">median", ">99 %", ">most", ">reported", "result", "noticed by"}}
	for _, r := range report.Rows {
		if r.Runs == 0 {
			continue
		}
		verdict := "ok"
		if n := r.Lost + r.Wrong + r.Wedged; n > 0 {
			verdict = fmt.Sprintf("FAIL (%d of %d)", n, r.Runs)
		}
		cells := []string{r.Link, r.Fault, r.RateText()}
		for _, n := range []uint64{r.Packets, r.Injected, r.Detected, r.Recovered, r.RecoverP50, r.RecoverP99, r.RecoverMax, r.Reported} {
			cells = append(cells, thousands(n))
		}
		t.add(append(cells, verdict, noticed(r.Counters))...)
	}
	t.write(b)
	for _, f := range report.Failures {
		fmt.Fprintf(b, "\nFAIL %v, seed %d\n  %s\n", f.Case, f.Seed, indented(f.Error))
		if f.Wave != "" {
			fmt.Fprintf(b, "  wave:  %s\n", f.Wave)
		}
		fmt.Fprintf(b, "  again: %s\n", f.Again)
	}
	fmt.Fprintf(b, "\n%s packets in %d runs%s of %d rounds, seeds from %d, %v\n", thousands(report.Packets), report.Runs, fromCache(int(report.Cached), int(report.Runs)), report.Rounds, report.Seed,
		time.Duration(report.Seconds*float64(time.Second)).Round(100*time.Millisecond))
	b.WriteString("median, 99 % and most: clocks from the end of a fault to the end of the next packet that arrives in order; in a network, to all links up\n")
	fmt.Fprintf(b, "%d runs failed: a packet lost, damaged, duplicated or out of order, a wrong count, or a link that did not come back\n", report.Failed)
}

// noticed names the counters that moved most.
func noticed(counters map[string]uint64) string {
	names := slices.SortedFunc(maps.Keys(counters), func(a, b string) int {
		if counters[a] != counters[b] {
			return int(min(max(int64(counters[b])-int64(counters[a]), -1), 1))
		}
		return strings.Compare(a, b)
	})
	var s []string
	for _, name := range names[:min(len(names), 3)] {
		s = append(s, fmt.Sprintf("%s %s", name, thousands(counters[name])))
	}
	return strings.Join(s, ", ")
}
