package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/testbench/conformance"
	"github.com/stafflink/lmmc/testbench/results"
)

// isTarget tells a target from the name of a figure, which has no colon.
func isTarget(argument string) bool { return strings.Contains(argument, ":") }

// benchTarget measures a target by those cases of the conformance suite that measure.
func benchTarget(ctx *cli.Context) error {
	if ctx.NArg() != 1 {
		return usagef("bench takes one target or the names of figures, not both; see lmmc bench --help")
	}
	for _, name := range []string{"quick", "list"} {
		if ctx.IsSet(name) {
			return usagef("--%s is for figures; %s is a target", name, ctx.Args().First())
		}
	}
	report, err := executeCases(ctx, ctx.Args().First(), conformance.Options{Filter: "^performance/", Transcripts: transcripts})
	if report == nil {
		return err
	}
	if err == nil {
		err = results.Write(results.Dir, "bench-target", report)
	}
	if ctx.Bool("json") {
		err = errors.Join(err, writeJSON(ctx.App.Writer, report))
	} else {
		err = errors.Join(err, writeMeasured(ctx.App.Writer, report))
	}
	if n := report.Count(conformance.Fail); err == nil && n > 0 {
		return fmt.Errorf("%d of %d measurements failed", n, len(report.Results))
	}
	return err
}

func writeMeasured(w io.Writer, r *conformance.Report) error {
	var b strings.Builder
	writeTarget(&b, r)
	t := table{names: []string{"case", "measured", ">value", "unit"}}
	for _, x := range r.Results {
		for _, m := range x.Measured {
			value, unit := m.Value, m.Unit
			if unit == "" {
				value, unit = 100*value, "%"
			}
			t.add(strings.TrimPrefix(x.Name, "performance/"), m.Name, number(value), unit)
		}
	}
	if err := t.write(&b); err != nil {
		return err
	}
	writeSkipped(&b, r)
	writeFailures(&b, r)
	_, err := io.WriteString(w, b.String())
	return err
}
