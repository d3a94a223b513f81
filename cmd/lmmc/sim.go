package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/golden"
	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/testbench/suite"
	"github.com/stafflink/lmmc/verilator"
)

func simCommand(scenarios []suite.Scenario) *cli.Command {
	command := &cli.Command{
		Name:  "sim",
		Usage: "simulate the network interface against its model and check every byte",
		Description: "Runs scenarios, each with several seeds; --list lists them. A seed determines a run completely.\n" +
			"A failed run leaves a wave, and the output has the command that repeats it.\n" +
			"A run of all scenarios keeps its result in " + results.Dir + " for lmmc report, unless --seed, --wave, --rtl or --width is given.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "run only the scenario of this name, or those that match `REGEXP`"},
			&cli.IntFlag{Name: "seeds", Usage: "run each scenario with `N` seeds (default: its own number; 1 with --seed or --wave)"},
			&cli.Uint64Flag{Name: "seed", Usage: "begin with seed `N`", DefaultText: "1"},
			&cli.BoolFlag{Name: "wave", Usage: "write a wave of every run"},
			&cli.StringFlag{Name: "wave-dir", Usage: "write waves to folder `DIR`", Value: "build/waves"},
			&cli.StringFlag{Name: "rtl", Usage: "verify the modules in `DIR`, laid out like rtl/, instead of the built-in ones"},
			&cli.IntFlag{Name: "width", Usage: "give all network interfaces WIDTH `N`: 1, 4 or 8 bytes of packets a clock (default: each scenario's own)"},
			&cli.BoolFlag{Name: "coverage", Usage: "measure coverage of the RTL; runs take several times longer"},
			&cli.StringFlag{Name: "junit", Usage: "also write a JUnit report to `FILE`"},
			jsonFlag,
			&cli.BoolFlag{Name: "list", Usage: "list the scenarios and do nothing else"},
		}, campaignFlags()...),
	}
	names := collect(scenarios, func(s suite.Scenario) string { return s.Name })
	command.Action = func(ctx *cli.Context) error {
		if ctx.Bool("list") {
			return listScenarios(ctx, scenarios)
		}
		return sim(ctx, scenarios)
	}
	return completed(command, names...)
}

func listScenarios(ctx *cli.Context, scenarios []suite.Scenario) error {
	type row struct {
		Name  string `json:"name"`
		Seeds int    `json:"seeds"`
		Doc   string `json:"doc"`
	}
	return list(ctx, scenarios, []string{"test", ">seeds", "checks"}, func(s suite.Scenario) (row, []string) {
		return row{s.Name, max(s.Seeds, 1), s.Doc}, []string{s.Name, fmt.Sprint(max(s.Seeds, 1)), s.Doc}
	})
}

func sim(ctx *cli.Context, scenarios []suite.Scenario) error {
	options := suite.Options{
		Options:   campaignOptions(ctx),
		Scenarios: append([]suite.Scenario{}, scenarios...), // never nil, which would mean all
		Filter:    ctx.String("run"),
		Seeds:     ctx.Int("seeds"),
		Wave:      ctx.Bool("wave"),
		WaveDir:   ctx.String("wave-dir"),
		RTL:       ctx.String("rtl"),
		Width:     ctx.Int("width"),
	}
	if ctx.Bool("coverage") {
		if options.Wave {
			return usagef("--coverage and --wave exclude each other")
		}
		if options.Slurm != nil {
			return usagef("--coverage is collected on this machine only: leave out --launcher slurm")
		}
		options.Coverage = new(verilator.Collector)
	}
	if ctx.IsSet("seed") {
		seed := ctx.Uint64("seed")
		options.Seed = &seed
	}
	junit := openJUnit(ctx)
	defer junit.Close()

	progress := startTicker(ctx.App.ErrWriter, "building models, then running")
	options.Progress = func(p suite.Progress) {
		progress.set("%d of %d runs, %d failed, last %s seed %d", p.Done, p.Total, p.Failed, p.Last.Scenario, p.Last.Seed)
	}
	// A run is nearly always in its models, in C++. With no more of Go's processors than runs it waits for one behind many a call:
	// a quarter of the time.
	runtime.GOMAXPROCS(2 * runtime.GOMAXPROCS(0))
	report, err := suite.Execute(ctx.Context, options)
	progress.stop()
	if errors.Is(err, campaign.ErrShareDone) {
		return err
	}
	if errors.Is(err, suite.ErrOptions) {
		names := collect(scenarios, func(s suite.Scenario) string { return s.Name })
		return hinted(err, []string{options.Filter}, names)
	}
	err = errors.Join(err, junit.write(report.WriteJUnit))
	stamp, stampErr := newStamp(ctx, options.RTL, "verilator")
	err = errors.Join(err, stampErr)
	write := func(b *strings.Builder, _ suite.SimDocument) { writeReport(b, report) }
	err = errors.Join(err, finish(ctx, wholeSuite(options) && err == nil, "sim", report.Document(stamp), write))
	err = errors.Join(orFailed(err, report.Failed(), report.Passed()+report.Failed(), "runs"), junit.Close())
	if options.Coverage != nil && ctx.Err() == nil {
		err = errors.Join(err, try.Run(func() { coverage(ctx, options, report, stamp) }))
	}
	return err
}

// wholeSuite says whether what comes out is for the report: all scenarios, on the modules that the report is about.
func wholeSuite(o suite.Options) bool {
	return o.Filter == "" && o.Seed == nil && o.RTL == "" && o.Width == 0 && !o.Wave
}

// failuresShown bounds what is printed for one scenario; the others mostly tell the same.
const failuresShown = 3

// logShown is how many lines of a failure's log are printed; --junit and --json have more.
const logShown = 10

func writeReport(b *strings.Builder, report suite.Report) {
	t := table{names: []string{"test", ">seeds", ">cycles", ">packets", "result"}}
	var failures strings.Builder
	for _, r := range report.Results {
		if len(r.Runs) == 0 {
			t.add(r.Scenario.Name, "0", "", "", "not run")
			continue
		}
		verdict := "ok"
		if n := r.Failed(); n > 0 {
			verdict = fmt.Sprintf("FAIL (%d of %d)", n, len(r.Runs))
		} else {
			verdict += fromCache(r.Cached(), len(r.Runs))
		}
		stats := r.Stats()
		t.add(r.Scenario.Name, fmt.Sprint(len(r.Runs)), thousands(stats.Cycles), thousands(stats.Packets), verdict)
		shown := 0
		for _, run := range r.Runs {
			if run.Err == nil {
				continue
			}
			if shown++; shown > failuresShown {
				fmt.Fprintf(&failures, "\n%s fails with %d more seeds\n", r.Scenario.Name, r.Failed()-failuresShown)
				break
			}
			writeFailure(&failures, run)
		}
	}
	t.write(b)
	b.WriteString(failures.String())
	writeFunctional(b, report)
	fmt.Fprintf(b, "\n%d passed, %d failed in %s\n", report.Passed(), report.Failed(), duration(report.Elapsed))
	if n := report.Cached(); n > 0 {
		fmt.Fprintf(b, "cached: %d passed before and nothing that they follow from has changed; --again runs them\n", n)
	}
	if waves := report.Waves(); len(waves) == 0 {
		fmt.Fprintf(b, "waves: none; a failed run leaves one in %s, --wave records every run\n", report.WaveDir)
	} else {
		fmt.Fprintf(b, "waves: %d in %s, for gtkwave or surfer\n", len(waves), report.WaveDir)
	}
}

// unhitShown limits the missing cases that are named; the document has all.
const unhitShown = 10

func writeFunctional(b *strings.Builder, report suite.Report) {
	c := report.Functional()
	if c == nil {
		return
	}
	hits, bins := map[string]int{}, map[string]int{}
	for _, p := range c.Document() {
		group := golden.Group(p.Name)
		bins[group] += len(p.Bins)
		for _, bin := range p.Bins {
			hits[group] += int(min(bin.Hits, 1))
		}
	}
	var groups []string
	for _, g := range golden.Groups {
		groups = append(groups, fmt.Sprintf("%d of %d %s", hits[g], bins[g], g))
	}
	fmt.Fprintf(b, "\nfunctional coverage: %s\n", strings.Join(groups, ", "))
	unhit := c.Unhit()
	for _, name := range unhit[:min(len(unhit), unhitShown)] {
		fmt.Fprintf(b, "  missing: %s\n", name)
	}
	if n := len(unhit) - unhitShown; n > 0 {
		fmt.Fprintf(b, "  and %d more\n", n)
	}
}

func writeFailure(b *strings.Builder, run suite.Outcome) {
	fmt.Fprintf(b, "\nFAIL %s, seed %d, after %s cycles\n  %s\n", run.Scenario, run.Seed, thousands(run.Stats.Cycles),
		indented(run.Err.Error()))
	for _, line := range run.Log[max(0, len(run.Log)-logShown):] {
		fmt.Fprintf(b, "  | %s\n", strings.ReplaceAll(line, "\n", "\n  | "))
	}
	if run.Stats.Wave != "" {
		fmt.Fprintf(b, "  wave:  %s\n", run.Stats.Wave)
	}
	fmt.Fprintf(b, "  again: %s\n", run.Reproduce())
}
