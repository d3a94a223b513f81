package main

import (
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/testbench/suite"
)

// coverage says what the runs reached, and keeps it for the report if they were those of the whole suite. Only then holes are errors.
func coverage(ctx *cli.Context, options suite.Options, report suite.Report, stamp results.Stamp) {
	var modules fs.FS = rtl.FS
	if options.RTL != "" {
		modules = os.DirFS(options.RTL)
	}
	whole := wholeSuite(options)
	cases := report.Passed() + report.Failed()
	d := try.Get(suite.NewCoverageDocument(stamp, cases, options.Coverage.Points(), modules, whole && options.Seeds == 0))
	if c := report.Functional(); c != nil {
		d.Functional = c.Document()
	}
	if whole {
		try.OK(results.Write(results.Dir, "coverage", d))
	}
	if !ctx.Bool("json") {
		try.OK(show(ctx, d, writeCoverage))
	}
	code, _ := d.Sum()
	switch {
	case !whole:
	case len(d.Stale) > 0:
		try.Failf("testbench/suite/coverage.txt explains lines that are covered: remove\n  %s", strings.Join(d.Stale, "\n  "))
	case code.Open() > 0:
		try.Failf("%d blocks or branches were not reached: reach them, or explain them in testbench/suite/coverage.txt", code.Open())
	}
}

func writeCoverage(b *strings.Builder, d suite.CoverageDocument) {
	t := table{names: []string{"module", ">code", ">reached", ">explained", ">bits", ">toggled", ">explained"}}
	add := func(name string, code, toggles suite.Tally) {
		t.add(name, fmt.Sprint(code.All), fmt.Sprint(code.Hit), fmt.Sprint(code.Explained), fmt.Sprint(toggles.All), fmt.Sprint(toggles.Hit), fmt.Sprint(toggles.Explained))
	}
	for _, f := range d.Files {
		add(f.File, f.Code, f.Toggles)
	}
	code, toggles := d.Sum()
	add("all", code, toggles)
	b.WriteByte('\n')
	t.write(b)
	for _, f := range d.Files {
		for _, h := range f.Holes {
			if h.Reason != "" {
				continue
			}
			what := h.Signals
			if what == "" {
				what = h.Kind + ": " + strings.TrimSpace(h.Source[h.Line-h.First])
			}
			fmt.Fprintf(b, "not reached: %s:%d: %s\n", f.File, h.Line, what)
		}
	}
}
