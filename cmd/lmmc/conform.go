package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/conformance"
	"github.com/stafflink/lmmc/testbench/results"
)

// conformTarget is a model with links of all kinds: two that are cabled to each other, and one to itself.
const conformTarget = "model:?links=3&frames=8"

// transcripts is the folder for what went over the cable in cases that fail.
const transcripts = "build/transcripts"

func conformCommand() *cli.Command {
	command := &cli.Command{
		Name:      "conform",
		Usage:     "check that a target meets the requirements of a network interface",
		ArgsUsage: "[TARGET], or unix:PATH unix:PATH, or --diff TARGET TARGET",
		Description: "Runs cases, each of which checks a requirement; --list lists them, doc/conformance.md says where they come from.\n" +
			"TARGET is as for lmmc info, by default " + conformTarget + ". Its receive buffer and frame table are overwritten.\n" +
			"TARGET net:FILE?nodes=n0,n3 is two nodes of the network that a topology file describes, with a virtual link between them.\n" +
			"Two targets unix:PATH are nodes that lmmc serve or lmmc net up serves, for cases about ports; nobody else is to use ports of theirs.\n" +
			"Most cases need a link that is cabled to another link of the same network interface, or looped back; they are skipped\n" +
			"without one. A run of all cases keeps its result in " + results.Dir + ".\n" +
			"--diff runs one random script, chosen by --seed, on two targets step by step, and shows the first difference.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "run only the case of this name, or those that match `REGEXP`"},
			&cli.Uint64Flag{Name: "seed", Usage: "seed `N` of all random choices", Value: 1},
			&cli.IntFlag{Name: "effort", Usage: "do `N` times as much in each case", Value: 1},
			&cli.StringFlag{Name: "junit", Usage: "also write a JUnit report to `FILE`"},
			&cli.StringFlag{Name: "transcripts", Usage: "record the cable in failing cases, in folder `DIR`, for lmmc replay", Value: transcripts},
			jsonFlag,
			&cli.BoolFlag{Name: "list", Usage: "list the cases and do nothing else"},
			&cli.BoolFlag{Name: "diff", Usage: "compare two targets"},
			&cli.IntFlag{Name: "steps", Usage: "with --diff, run `N` steps", Value: conformance.DefaultSteps},
		}, campaignFlags()...),
	}
	names := collect(conformance.Cases(), func(c conformance.Case) string { return c.Name })
	command.Action = func(ctx *cli.Context) error {
		switch {
		case ctx.Bool("diff"):
			return conformDiff(ctx)
		case ctx.IsSet("steps"):
			return usagef("--steps needs --diff; for cases use --effort")
		case ctx.Bool("list"):
			return listCases(ctx)
		}
		return conform(ctx)
	}
	return targetCommand(command, names...)
}

// refuseOwn says what to run in a project whose design is no network interface.
func refuseOwn(target string) {
	name, _, _ := strings.Cut(strings.TrimPrefix(target, virtualScheme+":"), "?")
	for _, b := range try.Get(boards.LoadProject(os.DirFS("."))) {
		if target == "" || name == b.Name {
			try.OK(usagef("conform checks network interfaces, and the design of this project is none: lmmc loop vboard:%s runs the project's own check, %q; a network interface elsewhere is "+
				"lmmc conform TARGET", b.Name, b.Design.Check))
		}
	}
}

func listCases(ctx *cli.Context) error {
	cases := try.Get(conformance.Choose(conformance.Cases(), ctx.String("run")))
	type row struct {
		Name        string `json:"name"`
		Requirement string `json:"requirement"`
		Model       string `json:"model"`
		Source      string `json:"source"`
	}
	return list(ctx, cases, []string{"case", "requirement"}, func(c conformance.Case) (row, []string) {
		return row{c.Name, c.Requirement, c.Model, "doc/" + c.Source}, []string{c.Name, c.Requirement}
	})
}

func conform(ctx *cli.Context) error {
	refuseOwn(ctx.Args().First())
	target, peer := conformTarget, ""
	switch {
	case ctx.NArg() == 2 && isShared(ctx.Args().First()):
		target, peer = ctx.Args().First(), ctx.Args().Get(1)
	case ctx.Args().Present():
		target = targetArgument(ctx)
	}
	run := campaignOptions(ctx)
	run.Jobs = cmp.Or(run.Jobs, runtime.NumCPU())
	junit := openJUnit(ctx)
	defer junit.Close()

	options := conformance.Options{Peer: peer, Filter: ctx.String("run"), Seed: ctx.Uint64("seed"), Effort: ctx.Int("effort"), Options: run, Transcripts: ctx.String("transcripts")}
	report, err := executeCases(ctx, target, options)
	if report == nil || errors.Is(err, campaign.ErrShareDone) {
		return err
	}
	err = errors.Join(err, finish(ctx, options.Filter == "" && err == nil, "conform", report, writeConform))
	err = errors.Join(err, junit.write(report.WriteJUnit))
	return errors.Join(orFailed(err, report.Count(conformance.Fail), len(report.Results), "cases"), junit.Close())
}

// executeCases runs cases of the conformance suite and tells a terminal how far they are. The report is nil if the target could not be opened.
func executeCases(ctx *cli.Context, target string, options conformance.Options) (*conformance.Report, error) {
	progress := startTicker(ctx.App.ErrWriter, "opening "+target)
	options.Progress = func(p conformance.Progress) {
		progress.set("%d of %d cases, %d failed, now %s", p.Done, p.Total, p.Failed, p.Next)
	}
	report, err := conformance.Execute(ctx.Context, target, options)
	progress.stop()
	if errors.Is(err, conformance.ErrOptions) {
		names := collect(conformance.Cases(), func(c conformance.Case) string { return c.Name })
		err = hinted(err, []string{options.Filter}, names)
	}
	if report == nil {
		return nil, err
	}
	report.Stamp = try.Get(newStamp(ctx, "", "verilator"))
	return report, err
}

func writeConform(b *strings.Builder, r *conformance.Report) {
	writeTarget(b, r)
	t := table{names: []string{"case", "result", ">seconds", "requirement"}}
	for _, x := range r.Results {
		verdict := string(x.Verdict)
		if x.Cached {
			verdict += " (cached)"
		}
		t.add(x.Name, verdict, fmt.Sprintf("%.2f", x.Seconds), x.Requirement)
	}
	t.write(b)
	gap := "\n"
	for _, x := range r.Results {
		for _, m := range x.Measured {
			fmt.Fprintf(b, "%s%s: %v\n", gap, x.Name, m)
			gap = ""
		}
	}
	writeSkipped(b, r)
	writeFailures(b, r)
	fmt.Fprintf(b, "\n%d passed, %d failed, %d skipped in %.1f s\n", r.Count(conformance.Pass), r.Count(conformance.Fail), r.Count(conformance.Skip), r.Seconds)
}

// writeTarget says what the target is on which the cases ran, and how its cables go.
func writeTarget(b *strings.Builder, r *conformance.Report) {
	target := r.Target
	if r.Peer != "" {
		target += " and " + r.Peer
	}
	fmt.Fprintf(b, "%s  %d links, %d frames of %d bytes\n", target, r.Identity.Links, r.Identity.Frames, r.Identity.PageBytes)
	for _, l := range r.Links {
		fmt.Fprintf(b, "  %v\n", l)
	}
	b.WriteString("\n")
}

// writeSkipped says why cases cannot be done on the target.
func writeSkipped(b *strings.Builder, r *conformance.Report) {
	var reasons []string
	names := map[string][]string{}
	for _, x := range r.Results {
		if x.Verdict != conformance.Skip {
			continue
		}
		if names[x.Reason] == nil {
			reasons = append(reasons, x.Reason)
		}
		names[x.Reason] = append(names[x.Reason], x.Name)
	}
	gap := "\n"
	for _, why := range reasons {
		fmt.Fprintf(b, "%sskipped %s: %s\n", gap, strings.Join(names[why], ", "), why)
		gap = ""
	}
}

// writeFailures says of each case that failed why, and how to see it again.
func writeFailures(b *strings.Builder, r *conformance.Report) {
	for _, x := range r.Results {
		if x.Verdict == conformance.Fail {
			fmt.Fprintf(b, "\nFAIL %s: %s\n  %s\n  again:  %s\n", x.Name, x.Requirement, indented(x.Reason), x.Again)
			if x.Transcript != "" {
				fmt.Fprintf(b, "  replay: go run ./cmd/lmmc replay %s --target rtl:\n", x.Transcript)
			}
		}
	}
}
