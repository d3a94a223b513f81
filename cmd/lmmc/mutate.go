package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/figures"
	"github.com/stafflink/lmmc/testbench/mutate"
	"github.com/stafflink/lmmc/testbench/results"
)

// rewriterCommand puts mutants into designs; tests under lmmc mutate run it.
func rewriterCommand() *cli.Command {
	return &cli.Command{
		Name: figures.RewriterCommand, Hidden: true, ArgsUsage: "PLAN",
		Usage: "for lmmc mutate: put mutants into the design on standard input",
		Action: func(ctx *cli.Context) error {
			return mutate.Rewrite(ctx.Context, ctx.Args().Slice(), os.Stdin)
		},
	}
}

func mutateCommand() *cli.Command {
	return &cli.Command{
		Name:      "mutate",
		Usage:     "mutate the modules and check that tests find each mutant",
		ArgsUsage: "[MODULE...]",
		Description: "Without names it mutates all modules. Run it in the root of a checkout, since it runs the modules' tests.\n" +
			"It prints each survivor with the command that tries it alone; rtl/equivalent.txt explains those that change nothing.\n" +
			"It keeps its result in " + results.Dir + " for lmmc report, unless --mutant or --survivors is given.\n" +
			"With --planted it tries the bugs planted by hand instead, all or those of the modules named or of MODULE/NAME.",
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: "count", Usage: "try `N` mutants", Value: 1000},
			&cli.Uint64Flag{Name: "seed", Usage: "choose mutants with seed `N`", Value: 1},
			&cli.StringSliceFlag{Name: "mutant", Usage: "try only mutant `NAME`, as printed for a survivor; may be repeated"},
			&cli.BoolFlag{Name: "survivors", Usage: "try only the survivors of the last run"},
			&cli.BoolFlag{Name: "trust", Usage: "take a mutant that rtl/equivalent.txt explains, and that its module's tests let live, for explained without more checks"},
			&cli.BoolFlag{Name: "planted", Usage: "try the bugs planted by hand, of testbench/mutate/planted, on the checks that must find them"},
			&cli.StringSliceFlag{Name: "scenario",
				Usage: "with --planted, try only scenario `NAME` of lmmc sim, on bugs for which none is named; may be repeated"},
			jsonFlag,
		}, keptFlags()...),
		Action: mutateModules,
	}
}

func mutateModules(ctx *cli.Context) error {
	self := try.Get(os.Executable())
	if ctx.Bool("planted") {
		return plantedBugs(ctx, self)
	}
	options := figures.Mutants(self)
	options.Modules, options.Count, options.Seed = ctx.Args().Slice(), ctx.Int("count"), ctx.Uint64("seed")
	options.Options, options.Trust = campaignOptions(ctx), ctx.Bool("trust")
	if ctx.IsSet("scenario") {
		return usagef("--scenario needs --planted")
	}
	names := ctx.StringSlice("mutant")
	if ctx.Bool("survivors") {
		var last mutate.Report
		try.OK(results.Read(results.Dir, "mutate", &last))
		for _, s := range last.Survivors {
			names = append(names, s.Mutant)
		}
		if len(names) == 0 {
			return errors.New("no mutant survived the last run")
		}
	}
	if len(names) > 0 && len(options.Modules) > 0 {
		return usagef("--mutant and --survivors name the modules: leave out %s", strings.Join(options.Modules, " "))
	}
	for _, name := range names {
		only, err := mutate.ParseMutant(name)
		if err != nil {
			return usagef("%v", err)
		}
		options.Only = append(options.Only, only)
	}
	options.Again = options.Again || options.Only != nil // to see what the tests say
	progress := startTicker(ctx.App.ErrWriter, "choosing mutants")
	options.Progress = progress.set
	report, err := mutate.Run(ctx.Context, options)
	progress.stop()
	if errors.Is(err, mutate.ErrOptions) {
		return usagef("%v", err)
	}
	if err != nil && report.Tried == 0 {
		return err
	}
	report.Stamp = try.Get(newStamp(ctx, "", "verilator", "yosys", "z3"))
	err = errors.Join(err, finish(ctx, options.Only == nil, "mutate", report, writeMutants))
	if err == nil && report.FallsShort(figures.LeastKilled) {
		err = fmt.Errorf("%d of %d mutants survive, too many for a sample of modules of whose mutants %.0f %% are killed",
			report.Survived, report.Killed+report.Survived, 100*figures.LeastKilled)
	}
	return err
}

func plantedBugs(ctx *cli.Context, self string) error {
	for _, name := range []string{"count", "seed", "mutant", "survivors", "trust"} {
		if ctx.IsSet(name) {
			return usagef("--planted and --%s exclude each other", name)
		}
	}
	options := figures.Planted(self)
	options.Modules, options.Scenarios = ctx.Args().Slice(), ctx.StringSlice("scenario")
	options.Options = campaignOptions(ctx)
	progress := startTicker(ctx.App.ErrWriter, "reading planted bugs")
	options.Progress = progress.set
	report, err := mutate.RunPlanted(ctx.Context, options)
	progress.stop()
	if errors.Is(err, mutate.ErrOptions) {
		return usagef("%v", err)
	}
	try.OK(err)
	report.Stamp = try.Get(newStamp(ctx, "", "verilator", "yosys", "z3"))
	err = finish(ctx, len(options.Modules)+len(options.Scenarios) == 0, "planted", report, writePlanted)
	return orFailed(err, report.Missed, report.Checks, "checks of planted bugs")
}

func writePlanted(b *strings.Builder, report mutate.PlantedReport) {
	t := table{names: []string{"bug", "kind", "found by", "not found by"}}
	for _, p := range report.Bugs {
		t.add(p.Module+"/"+p.Name, p.Kind, strings.Join(p.FoundBy, ", "), strings.Join(p.Missed, ", "))
	}
	t.write(b)
	fmt.Fprintf(b, "\n%d of %d planted bugs found, %d by lmmc sim; %d of %d checks find what they must%s; %.0f s\n",
		report.Found, report.Tried, report.FoundSim, report.Checks-report.Missed, report.Checks, fromCache(report.Cached, report.Checks), report.Seconds)
}

func writeMutants(b *strings.Builder, report mutate.Report) {
	t := table{names: []string{"module", ">mutants", ">killed", ">equivalent", ">explained", ">survived"}}
	for _, m := range report.Modules {
		t.add(m.Module, fmt.Sprint(m.Tried), fmt.Sprint(m.Killed), fmt.Sprint(m.Equivalent), fmt.Sprint(m.Explained), fmt.Sprint(m.Survived))
	}
	t.add("all", fmt.Sprint(report.Tried), fmt.Sprint(report.Killed), fmt.Sprint(report.Equivalent), fmt.Sprint(report.Explained), fmt.Sprint(report.Survived))
	t.write(b)
	for _, s := range report.Stages {
		verb := "killed"
		if s.Name == mutate.ProofStage {
			verb = "equivalent"
		}
		fmt.Fprintf(b, "\n%s: %d mutants, %d %s, %.0f s", s.Name, s.Tried, s.Killed, verb, s.Seconds)
	}
	b.WriteString("\n")
	for _, s := range report.Survivors {
		fmt.Fprintf(b, "\nsurvives: %s\n  %s: %s\n  again: %s\n", s.Mutant, s.Place(), s.Source, s.Again)
	}
	fmt.Fprintf(b, "\n%d of %d mutants killed (%d by time limit): %.1f %% of those that are not equivalent; %.0f s%s\n",
		report.Killed, report.Tried, report.TimedOut, 100*report.Share, report.Seconds, fromCache(report.Cached, report.Killed+report.Equivalent))
}
