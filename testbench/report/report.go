// Package report makes one page of what the commands of lmmc found: what was checked and with which result, first in a line, then in detail.
//
// The page is a single file that loads nothing: its styles and drawings are part of it. Load reads what package results keeps; what a command
// has not found yet, or found in other sources than those the page is about, is shown as such.
package report

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"sync"

	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/barriers"
	"github.com/stafflink/lmmc/testbench/cluster/messages"
	"github.com/stafflink/lmmc/testbench/cluster/sockets"
	"github.com/stafflink/lmmc/testbench/conformance"
	"github.com/stafflink/lmmc/testbench/figures"
	"github.com/stafflink/lmmc/testbench/mutate"
	"github.com/stafflink/lmmc/testbench/prove"
	"github.com/stafflink/lmmc/testbench/recordings"
	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/testbench/soak"
	"github.com/stafflink/lmmc/testbench/suite"
	"github.com/stafflink/lmmc/testbench/timing"
	"github.com/stafflink/lmmc/verilator"
)

// Input is what a page is made of. What is nil or empty has not been found yet.
type Input struct {
	// Stamp says when the page is made and what it is about.
	Stamp    results.Stamp
	Sim      *suite.SimDocument
	Bench    *figures.BenchDocument
	Coverage *suite.CoverageDocument
	Prove    *prove.Document
	Mutate   *mutate.Report
	Soak     *soak.Report
	Conform  *conformance.Report
	Network  *cluster.BenchDocument
	HXB      *cluster.HXBDocument
	Messages *messages.Document
	Sockets  *sockets.Document
	Barriers *barriers.Document // of lmmc net bench barriers
	LogP     *barriers.Document // of lmmc net logp
	Covered  *Covered           // of lmmc coverage
	// Curve, Stages and Diagrams are recorded for the page.
	Curve    []figures.SharePoint
	Stages   []recordings.Stage
	Diagrams []timing.Diagram
	// Unrecorded says why some of these are not there; "" when they are.
	Unrecorded string
}

// Load reads the documents in a folder. Those that are not there stay nil.
func Load(dir string) (Input, error) {
	var in Input
	var errs []error
	load(&errs, dir, "sim", &in.Sim)
	load(&errs, dir, "bench", &in.Bench)
	load(&errs, dir, "coverage", &in.Coverage)
	load(&errs, dir, "prove", &in.Prove)
	load(&errs, dir, "mutate", &in.Mutate)
	load(&errs, dir, "soak", &in.Soak)
	load(&errs, dir, "conform", &in.Conform)
	load(&errs, dir, "net-bench", &in.Network)
	load(&errs, dir, "net-hxb", &in.HXB)
	load(&errs, dir, "net-messages", &in.Messages)
	load(&errs, dir, "net-sockets", &in.Sockets)
	load(&errs, dir, "net-barriers", &in.Barriers)
	load(&errs, dir, "net-logp", &in.LogP)
	load(&errs, dir, "covered", &in.Covered)
	return in, errors.Join(errs...)
}

func load[T any](errs *[]error, dir, name string, document **T) {
	d := new(T)
	switch err := results.Read(dir, name, d); {
	case err == nil:
		*document = d
	case !errors.Is(err, results.ErrMissing):
		*errs = append(*errs, err)
	}
}

//go:embed page.html project.html style.css
var files embed.FS

var page = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"thousands": thousands, "percent": percent, "date": date, "figure": figureValue, "bound": bound, "scheme": scheme, "passing": passing, "seeds": seeds, "tally": tally, "excerpt": excerpt, "rate": rate, "code": code, "cases": cases, "elapsed": elapsed, "clean": clean, "short": short, "hxbMeasure": hxbMeasure, "hxbNumber": hxbNumber, "micro": micro,
}).ParseFS(files, "page.html", "project.html"))

// Write makes the page.
func (in Input) Write(w io.Writer) error {
	style, err := files.ReadFile("style.css")
	if err != nil {
		return err
	}
	sections := in.sections()
	v := view{Input: in, Style: template.CSS(style), Sections: sections, Verdict: verdict(sections)}
	v.Plots, v.Timing, v.Compared, v.Measured = in.plots(), in.drawings(), in.published(), in.barrierViews()
	if err := page.Execute(w, v); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// view is what the template sees.
type view struct {
	Input
	Style    template.CSS
	Sections map[string]section
	Verdict  result
	Plots    map[string]*drawing
	Timing   []diagram
	Compared []comparison
	Measured []barrierView
}

// Order lists the names of the sections of checks, as they follow each other on the page.
func (view) Order() []string { return order }

// Record simulates what the page shows beyond the documents: timing diagrams, latency by stage, payload share by size. What the RTL does not
// manage becomes part of the page, so that there is one also of a design that is broken; the error is returned all the same.
func (in *Input) Record(ctx context.Context) error {
	var failed [2]error
	var group sync.WaitGroup
	group.Go(func() { in.Diagrams, in.Stages, failed[0] = recordings.All(ctx) })
	in.Curve, failed[1] = figures.ShareCurve(ctx)
	group.Wait()
	err := errors.Join(failed[:]...)
	if err != nil && ctx.Err() == nil && !errors.Is(err, verilator.ErrTool) {
		in.Unrecorded = err.Error()
	}
	return err
}
