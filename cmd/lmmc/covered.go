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
	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/verilator"
)

func coverageCommand() *cli.Command {
	return &cli.Command{
		Name:      "coverage",
		Usage:     "add up what the benches of any project covered",
		ArgsUsage: "DIR",
		Description: "DIR is where tests left their runs: LMMC_COVERAGE=DIR go test -count=1 ./... with an absolute DIR. Runs of several machines or seeds are files\n" +
			"of one folder. Shows each Verilog file's lines, branches and toggled bits, and the bins of Bench.Cover that were never hit.",
		Flags: []cli.Flag{
			jsonFlag,
			&cli.StringFlag{Name: "lcov", Usage: "also write lines and branches to `FILE` in LCOV's format, for editors, genhtml and CI", TakesFile: true},
		},
		Action: coverageAction,
	}
}

// coveredDocument is what lmmc coverage found.
type coveredDocument struct {
	Runs       int                       `json:"runs"`
	Files      []coveredFile             `json:"files"`
	Functional []testbench.CoveragePoint `json:"functional"`
}

// coveredFile counts the points of a Verilog file.
type coveredFile struct {
	File     string       `json:"file"`
	Lines    coveredTally `json:"lines"` // blocks of statements
	Branches coveredTally `json:"branches"`
	Toggles  coveredTally `json:"toggles"`
	Missed   []int        `json:"missed"` // lines at which a block or branch was not reached
}

type coveredTally struct {
	All int `json:"all"`
	Hit int `json:"hit"`
}

func (t coveredTally) String() string { return fmt.Sprintf("%d of %d", t.Hit, t.All) }

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
	d := coveredDocument{Runs: runs, Files: []coveredFile{}, Functional: sum.Functional}
	for _, p := range sum.Points {
		d.add(p)
	}
	return show(ctx, d, writeCovered)
}

func (d *coveredDocument) add(p verilator.Point) {
	if n := len(d.Files); n == 0 || d.Files[n-1].File != p.File {
		d.Files = append(d.Files, coveredFile{File: p.File, Missed: []int{}})
	}
	f := &d.Files[len(d.Files)-1]
	tally := &f.Lines
	switch p.Kind {
	case "toggle":
		tally = &f.Toggles
	case "branch":
		tally = &f.Branches
	}
	tally.All++
	if p.Count > 0 {
		tally.Hit++
	} else if n := len(f.Missed); p.Kind != "toggle" && (n == 0 || f.Missed[n-1] != p.Line) {
		f.Missed = append(f.Missed, p.Line)
	}
}

func writeCovered(b *strings.Builder, d coveredDocument) {
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
