package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/conformance"
)

// shownSteps is how many steps of a transcript are printed; JSON has all.
const shownSteps = 10

func conformDiff(ctx *cli.Context) error {
	for _, name := range []string{"run", "effort", "junit", "list", "again", "launcher", "tasks"} {
		if ctx.IsSet(name) {
			return usagef("--%s cannot go with --diff, which runs no cases", name)
		}
	}
	if ctx.NArg() != 2 {
		return usagef("conform --diff takes two targets: lmmc conform --diff model: rtl:")
	}
	targets := [2]string{ctx.Args().Get(0), ctx.Args().Get(1)}
	options := conformance.CompareOptions{Seed: ctx.Uint64("seed"), Steps: ctx.Int("steps"), Transcripts: ctx.String("transcripts")}
	progress := startTicker(ctx.App.ErrWriter, "opening "+targets[0]+" and "+targets[1])
	options.Progress = func(done, total int) { progress.set("%d of %d steps, no difference", done, total) }
	c, err := conformance.Compare(ctx.Context, targets, options)
	progress.stop()
	try.OK(err)
	c.Stamp = try.Get(newStamp(ctx, "", "verilator"))
	try.OK(finish(ctx, true, "conform-diff", c, writeComparison))
	if c.Divergence != nil {
		return fmt.Errorf("%s and %s differ", targets[0], targets[1])
	}
	return nil
}

func writeComparison(b *strings.Builder, c *conformance.Comparison) {
	for i, target := range c.Targets {
		id := c.Identities[i]
		fmt.Fprintf(b, "%c: %s  %d links, %d frames of %d bytes\n", 'A'+i, target, id.Links, id.Frames, id.PageBytes)
	}
	fmt.Fprintf(b, "the script uses %d frames and these cables of both targets:\n", c.Frames)
	for _, way := range c.Ways {
		fmt.Fprintf(b, "  %s\n", way)
	}
	d := c.Divergence
	if d == nil {
		fmt.Fprintf(b, "\n%d steps, no difference, in %.1f s\n", c.Steps, c.Seconds)
		return
	}
	b.WriteString("\n")
	if skipped := len(d.Transcript) - shownSteps; skipped > 0 {
		fmt.Fprintf(b, "%d steps before these are equal; --json prints all\n", skipped)
	}
	t := table{names: []string{">step", "A and B are told to", "and say"}}
	for _, e := range d.Transcript[max(0, len(d.Transcript)-shownSteps) : len(d.Transcript)-1] {
		t.add(fmt.Sprint(e.Step), e.Do, e.Said[0])
	}
	last := d.Transcript[len(d.Transcript)-1]
	t.add(fmt.Sprint(last.Step), last.Do, "A: "+last.Said[0])
	t.add("", "", "B: "+last.Said[1])
	t.write(b)
	fmt.Fprintf(b, "\nFirst difference in step %d: %s\n  again:  %s\n", d.Step, d.What, c.Again)
	for i, name := range d.Recordings {
		if name != "" {
			fmt.Fprintf(b, "  replay: go run ./cmd/lmmc replay %s --target '%s'\n", name, c.Targets[1-i])
		}
	}
}
