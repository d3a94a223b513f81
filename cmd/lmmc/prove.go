package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/campaign"
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
	var names []string
	for _, p := range proofs.All("") {
		names = append(names, p.Name)
	}
	command.BashComplete = completeWith(command, names)
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
	return command
}

func listProofs(ctx *cli.Context, chosen []prove.Proof) error {
	type row struct {
		Module     string `json:"module"`
		Properties string `json:"properties"`
	}
	rows := []row{}
	t := table{names: []string{"proof", "properties"}}
	for _, p := range chosen {
		rows = append(rows, row{p.Name, p.Properties})
		t.add(p.Name, p.Properties)
	}
	if ctx.Bool("json") {
		return writeJSON(ctx.App.Writer, rows)
	}
	return t.write(ctx.App.Writer)
}

func proveAll(ctx *cli.Context) error {
	run, err := campaignOptions(ctx)
	if err != nil {
		return err
	}
	all, done, err := sources(ctx.String("rtl"))
	if err != nil {
		return err
	}
	defer done()
	chosen, err := proofs.Choose(all, ctx.Args().Slice()...)
	if err != nil {
		return err
	}

	progress := startTicker(ctx.App.ErrWriter, fmt.Sprintf("0 of %d proofs", len(chosen)))
	start := time.Now()
	found, err := prove.CheckAll(ctx.Context, chosen, prove.Options{
		Options: run, TraceDir: ctx.String("trace-dir"), Progress: func(p campaign.Progress, last prove.Result) {
			progress.set("%d of %d proofs, %d failed, last %s", p.Done, p.Total, p.Failed, last.Name)
		},
	})
	seconds := time.Since(start).Seconds()
	progress.stop()
	if err != nil {
		return err
	}

	stamp, err := newStamp(context.WithoutCancel(ctx.Context), ctx.String("rtl"), "yosys", "z3")
	document := prove.NewDocument(stamp, seconds, found)
	if whole := !ctx.Args().Present(); whole && err == nil {
		err = results.Write(results.Dir, "prove", document)
	}
	if ctx.Bool("json") {
		err = errors.Join(err, writeJSON(ctx.App.Writer, document))
	} else {
		err = errors.Join(err, writeProofs(ctx.App.Writer, document))
	}
	if err == nil && document.Failed > 0 {
		return fmt.Errorf("%d of %d proofs failed", document.Failed, len(found))
	}
	return err
}

// sources returns the proofs of the modules in dir, or of those built in, and what removes these again.
func sources(dir string) ([]prove.Proof, func(), error) {
	if dir != "" {
		return proofs.All(dir), func() {}, nil
	}
	dir, err := os.MkdirTemp("", "lmmc-rtl-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { os.RemoveAll(dir) }
	all, err := proofs.Extract(dir)
	if err != nil {
		remove()
	}
	return all, remove, err
}

func writeProofs(w io.Writer, d prove.Document) error {
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
	if err := t.write(w); err != nil {
		return err
	}
	for _, p := range d.Proofs {
		if p.Error != "" {
			fmt.Fprintf(w, "\nFAIL %s\n  %s\n", p.Module, p.Error)
		}
	}
	_, err := fmt.Fprintf(w, "\n%d proved%s, %d failed in %.1f s\n", d.Proved, fromCache(d.Cached, d.Proved), d.Failed, d.Seconds)
	return err
}
