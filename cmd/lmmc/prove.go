package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/proofs"
	"github.com/stafflink/lmmc/testbench/prove"
	"github.com/stafflink/lmmc/testbench/results"
)

func proveCommand() *cli.Command {
	command := &cli.Command{
		Name:      "prove",
		Usage:     "prove properties of the modules for every sequence of inputs",
		ArgsUsage: "[NAME...]",
		Description: "Without names it runs all proofs; a name without its size stands for all sizes. A refuted proof leaves a\n" +
			"counterexample, and the output names the assertion that fails. A run without names keeps its result in\n" +
			results.Dir + " for lmmc report.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "trace-dir", Usage: "write counterexamples to folder `DIR`", Value: "build/traces"},
			&cli.StringFlag{Name: "rtl", Usage: "prove the modules in `DIR`, laid out like rtl/, instead of the built-in ones"},
			jsonFlag,
			&cli.BoolFlag{Name: "list", Usage: "list the proofs and do nothing else"},
		}, campaignFlags()...),
	}
	names := collect(proofs.All(""), func(p prove.Proof) string { return p.Name })
	command.Action = func(ctx *cli.Context) error {
		chosen, err := proofs.Choose(proofs.All(""), ctx.Args().Slice()...)
		if err != nil {
			return hinted(usagef("%v", err), ctx.Args().Slice(), names)
		}
		if ctx.Bool("list") {
			return listProofs(ctx, chosen)
		}
		return proveAll(ctx)
	}
	return completed(command, names...)
}

func listProofs(ctx *cli.Context, chosen []prove.Proof) error {
	type row struct {
		Module     string `json:"module"`
		Properties string `json:"properties"`
	}
	return list(ctx, chosen, []string{"proof", "properties"}, func(p prove.Proof) (row, []string) {
		return row{p.Name, p.Properties}, []string{p.Name, p.Properties}
	})
}

func proveAll(ctx *cli.Context) error {
	run := campaignOptions(ctx)
	all, done := sources(ctx.String("rtl"))
	defer done()
	chosen := try.Get(proofs.Choose(all, ctx.Args().Slice()...))

	progress := startTicker(ctx.App.ErrWriter, fmt.Sprintf("0 of %d proofs", len(chosen)))
	start := time.Now()
	found, err := prove.CheckAll(ctx.Context, chosen, prove.Options{
		Options: run, TraceDir: ctx.String("trace-dir"), Progress: func(p campaign.Progress, last prove.Result) {
			progress.set("%d of %d proofs, %d failed, last %s", p.Done, p.Total, p.Failed, last.Name)
		},
	})
	seconds := time.Since(start).Seconds()
	progress.stop()
	try.OK(err)

	stamp, err := newStamp(ctx, ctx.String("rtl"), "yosys", "z3")
	document := prove.NewDocument(stamp, seconds, found)
	err = errors.Join(err, finish(ctx, !ctx.Args().Present() && err == nil, "prove", document, writeProofs))
	return orFailed(err, document.Failed, len(found), "proofs")
}

// sources returns the proofs of the modules in dir, or of those built in, and what removes these again.
func sources(dir string) ([]prove.Proof, func()) {
	if dir != "" {
		return proofs.All(dir), func() {}
	}
	dir = try.Get(os.MkdirTemp("", "lmmc-rtl-"))
	remove := func() { os.RemoveAll(dir) }
	all, err := proofs.Extract(dir)
	if err != nil {
		remove()
	}
	try.OK(err)
	return all, remove
}

func writeProofs(b *strings.Builder, d prove.Document) {
	t := table{names: []string{"proof", "method", ">depth", ">time", "result", "properties"}}
	for _, p := range d.Proofs {
		depth, verdict := "-", p.Result
		if p.Depth > 0 {
			depth = fmt.Sprint(p.Depth)
		}
		if verdict != "proved" {
			verdict = "FAIL"
		} else if p.Cached {
			verdict += " (cached)"
		}
		t.add(p.Module, string(p.Method), depth, fmt.Sprintf("%.1f s", p.Seconds), verdict, p.Properties)
	}
	t.write(b)
	for _, p := range d.Proofs {
		if p.Error != "" {
			fmt.Fprintf(b, "\nFAIL %s\n  %s\n", p.Module, p.Error)
		}
	}
	fmt.Fprintf(b, "\n%d proved%s, %d failed in %.1f s\n", d.Proved, fromCache(d.Cached, d.Proved), d.Failed, d.Seconds)
}
