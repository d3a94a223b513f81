package main

import (
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/testbench/conformance"
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
	err = errors.Join(err, finish(ctx, err == nil, "bench-target", report, writeMeasured))
	return orFailed(err, report.Count(conformance.Fail), len(report.Results), "measurements")
}

func writeMeasured(b *strings.Builder, r *conformance.Report) {
	writeTarget(b, r)
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
	t.write(b)
	writeSkipped(b, r)
	writeFailures(b, r)
}
