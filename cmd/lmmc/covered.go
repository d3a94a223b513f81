package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/report"
	"github.com/stafflink/lmmc/testbench/results"
)

func coverageCommand() *cli.Command {
	return &cli.Command{
		Name:      "coverage",
		Usage:     "add up what the benches of any project covered",
		ArgsUsage: "DIR",
		Description: "DIR is where tests left their runs: LMMC_COVERAGE=DIR go test -count=1 ./... with an absolute DIR. Runs of several machines or seeds are files\n" +
			"of one folder. Shows each Verilog file's lines, branches and toggled bits, and the bins of Bench.Cover that were never hit, and keeps them for lmmc report.",
		Flags: []cli.Flag{
			jsonFlag,
			&cli.StringFlag{Name: "lcov", Usage: "also write lines and branches to `FILE` in LCOV's format, for editors, genhtml and CI", TakesFile: true},
		},
		Action: coverageAction,
	}
}

func coverageAction(ctx *cli.Context) error {
	if ctx.NArg() != 1 {
		return usagef("coverage takes one DIR; see lmmc coverage --help")
	}
	sum, runs, err := testbench.MergeCoverage(ctx.Args().First())
	try.OK(err)
	here := try.Get(os.Getwd())
	for i, p := range sum.Points {
		if path, err := filepath.Rel(here, p.File); err == nil && filepath.IsAbs(p.File) && !strings.HasPrefix(path, "..") {
			sum.Points[i].File = path
		}
	}
	if file := ctx.String("lcov"); file != "" {
		var text bytes.Buffer
		try.OK(sum.Points.WriteLCOV(&text))
		try.OK(results.WriteFile(file, text.Bytes()))
	}
	d := report.NewCovered(try.Get(newStamp(ctx, "", "verilator")), sum, runs)
	try.OK(results.Write(results.Dir, "covered", d))
	return show(ctx, d, writeCovered)
}

func writeCovered(b *strings.Builder, d *report.Covered) {
	t := table{names: []string{"file", ">lines", ">branches", ">bits toggled"}}
	for _, f := range d.Files {
		t.add(f.File, f.Lines.String(), f.Branches.String(), f.Toggles.String())
	}
	fmt.Fprintf(b, "%d runs\n\n", d.Runs)
	t.write(b)
	for _, f := range d.Files {
		for _, line := range f.Missed {
			fmt.Fprintf(b, "not reached: %s:%d\n", f.File, line)
		}
	}
	for _, p := range d.Functional {
		for _, bin := range p.Bins {
			if bin.Hits == 0 {
				fmt.Fprintf(b, "not hit: %s: %s\n", p.Name, bin.Name)
			}
		}
	}
}
