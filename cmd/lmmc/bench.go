package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/figures"
	"github.com/stafflink/lmmc/testbench/results"
)

func benchCommand(all []figures.Figure) *cli.Command {
	command := &cli.Command{
		Name:      "bench",
		Usage:     "measure the figures and compare them with their limits, or measure a target",
		ArgsUsage: "[FIGURE...], or TARGET",
		Description: "Without names it measures all figures, those that a busy machine can spoil one after the other. Ratios are fractions, latencies are clock cycles,\n" +
			"rates are per second. A run without names keeps its result in " + results.Dir + " for lmmc report.\n\n" +
			"With a TARGET it measures throughput, round trips, ping-pong and the cost of page faults, in the target's time, with the\n" +
			"performance cases of lmmc conform. It overwrites the target's receive buffer and frame table. " + targetForms,
		Flags: []cli.Flag{
			jsonFlag,
			&cli.BoolFlag{Name: "quick", Usage: "measure rates with fewer repetitions, skip slow figures unless named, and do not fail when a rate misses its limit: the machine may be busy"},
			&cli.BoolFlag{Name: "list", Usage: "list the figures and do nothing else"},
		},
	}
	names := collect(all, func(f figures.Figure) string { return f.Name })
	command.Action = func(ctx *cli.Context) error {
		if slices.ContainsFunc(ctx.Args().Slice(), isTarget) {
			return benchTarget(ctx)
		}
		chosen, err := figures.Choose(all, ctx.Args().Slice()...)
		try.OK(hinted(err, ctx.Args().Slice(), names))
		if ctx.Bool("list") {
			return listFigures(ctx, chosen)
		}
		return bench(ctx, chosen)
	}
	return targetCommand(command, names...)
}

func listFigures(ctx *cli.Context, all []figures.Figure) error {
	type row struct {
		Name   string         `json:"name"`
		Unit   string         `json:"unit"`
		Must   *float64       `json:"must"`
		Aim    *float64       `json:"aim"`
		Better figures.Better `json:"better"`
		Doc    string         `json:"doc"`
	}
	return list(ctx, all, []string{"figure", "unit", ">must", ">aim", "measures"}, func(f figures.Figure) (row, []string) {
		return row{f.Name, f.Unit, f.Must, f.Aim, cmp.Or(f.Better, figures.Higher), f.Doc}, []string{f.Name, f.Unit, bound(f, f.Must), bound(f, f.Aim), f.Doc}
	})
}

func bench(ctx *cli.Context, all []figures.Figure) error {
	measuring := ctx.Context
	var left []string // out of a quick run
	if ctx.Bool("quick") {
		if !ctx.Args().Present() {
			all = slices.DeleteFunc(slices.Clone(all), func(f figures.Figure) bool {
				if f.Long {
					left = append(left, f.Name)
				}
				return f.Long
			})
		}
		measuring = figures.WithQuick(measuring)
	}
	progress := startTicker(ctx.App.ErrWriter, all[0].Name)
	var done atomic.Int32
	all = slices.Clone(all)
	for i := range all {
		f := all[i]
		all[i].Measure = func(ctx context.Context) (figures.Measurement, error) {
			progress.set("%d of %d figures, now %s", done.Load(), len(all), f.Name)
			return f.Measure(ctx)
		}
	}
	measured, err := figures.Measure(measuring, all, func(figures.Measured) { done.Add(1) })
	progress.stop()

	quick := ctx.Bool("quick")
	missed := 0
	for _, m := range measured {
		if !m.MeetsMust() && !(quick && m.Timed && m.Err == nil) {
			missed++
		}
		if m.Err != nil && ctx.Bool("json") {
			fmt.Fprintf(ctx.App.ErrWriter, "lmmc: %s: %v\n", m.Name, m.Err)
		}
	}
	document := figures.NewBenchDocument(try.Get(newStamp(ctx, "", "verilator")), quick, measured)
	document.Left = left
	write := func(b *strings.Builder, _ figures.BenchDocument) {
		writeBench(b, measured)
		if len(left) > 0 {
			fmt.Fprintf(b, "\nslow figures, not measured with --quick: %s\n", strings.Join(left, ", "))
		}
	}
	err = errors.Join(err, finish(ctx, !ctx.Args().Present() && err == nil, "bench", document, write))
	if err == nil && missed > 0 {
		return fmt.Errorf("%d of %d figures miss their limit", missed, len(measured))
	}
	return err
}

func writeBench(b *strings.Builder, measured []figures.Measured) {
	t := table{names: []string{"figure", ">value", "unit", ">must", ">aim", ">baseline", "result"}}
	notes := ""
	for _, m := range measured {
		value, baseline, note := "-", "-", m.Note
		if m.Err == nil {
			value = number(m.Value)
		} else {
			note = m.Err.Error()
		}
		if m.Baseline != nil {
			baseline = number(*m.Baseline)
		}
		t.add(m.Name, value, m.Unit, bound(m.Figure, m.Must), bound(m.Figure, m.Aim), baseline, string(m.Verdict()))
		if note != "" {
			notes += m.Name + ": " + note + "\n"
		}
	}
	t.write(b)
	if notes != "" {
		b.WriteString("\n" + notes)
	}
}

// bound writes a limit with its direction.
func bound(f figures.Figure, v *float64) string {
	switch {
	case v == nil:
		return "-"
	case f.Better == figures.Lower:
		return "<= " + number(*v)
	}
	return ">= " + number(*v)
}
