package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/golden"
	"github.com/stafflink/lmmc/testbench/scenarios/comparison"
	"github.com/stafflink/lmmc/testbench/stimulus"
	"github.com/stafflink/lmmc/testbench/suite"
)

func shrinkCommand() *cli.Command {
	return &cli.Command{
		Name:      "shrink",
		Usage:     "leave out of a failing program of scenario golden or coincidences what the failure does not need",
		ArgsUsage: "SEED|FILE",
		Description: "The program is that of a seed of scenario golden, or of --run, or one that a FILE holds. Rounds, packets and violations are left out for as long as it\n" +
			"fails in the same way; what is left is written to a file. --play plays a program as it is.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "the seed is one of `SCENARIO`: " + strings.Join(slices.Sorted(maps.Keys(comparison.Programs)), ", "), Value: "golden"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the shrunk program to `FILE` (default: build/programs/SCENARIO-SEED.json)"},
			&cli.DurationFlag{Name: "for", Usage: "take what has been reached after `TIME`", Value: 10 * time.Minute},
			&cli.BoolFlag{Name: "play", Usage: "play the program once, and shrink nothing"},
			&cli.StringFlag{Name: "wave", Usage: "with --play: write a wave of the whole run to `FILE`"},
			&cli.StringFlag{Name: "rtl", Usage: "try the modules in `DIR`, laid out like rtl/, instead of those built in"},
		},
		Action: shrink,
	}
}

func shrink(ctx *cli.Context) error {
	if ctx.NArg() != 1 {
		return usagef("shrink takes one seed or file; see lmmc shrink --help")
	}
	if ctx.IsSet("wave") && !ctx.Bool("play") {
		return usagef("--wave is for --play; see lmmc shrink --help")
	}
	p := try.Get(programOf(ctx.String("run"), ctx.Args().First()))
	play := func(p stimulus.Program, wave string) error {
		r := &suite.Run{Seed: p.Seed, Wave: wave, Log: func(string, ...any) {}}
		if dir := ctx.String("rtl"); dir != "" {
			r.RTL = os.DirFS(dir)
		}
		return comparison.Play(ctx.Context, r, p)
	}
	failed := play(p, ctx.String("wave"))
	switch {
	case errors.Is(failed, context.Canceled), ctx.Bool("play"):
		return failed
	case failed == nil:
		return fmt.Errorf("shrink: the program of %s does not fail: %s", ctx.Args().First(), p.Size())
	}
	limit, cancel := context.WithTimeout(ctx.Context, ctx.Duration("for"))
	defer cancel()
	small := stimulus.Shrink(limit, p, func(p stimulus.Program) bool {
		found := play(p, "")
		if golden.Alike(found, failed) {
			failed = found
			return true
		}
		return false
	})
	path := cmp.Or(ctx.String("output"), filepath.Join("build", "programs", fmt.Sprintf("%s-%d.json", ctx.String("run"), p.Seed)))
	try.OK(small.WriteFile(path))
	_, err := fmt.Fprintf(ctx.App.Writer, "was:   %s\nis:    %s\nfails: %v\nfile:  %s\nagain: go run ./cmd/lmmc shrink --play %s\n",
		p.Size(), small.Size(), failed, path, path)
	return errors.Join(err, ctx.Context.Err())
}

// programOf is the program of a seed of a scenario, or of a file.
func programOf(scenario, name string) (stimulus.Program, error) {
	seed, err := strconv.ParseUint(name, 10, 64)
	if err != nil {
		return stimulus.ReadFile(name)
	}
	program := comparison.Programs[scenario]
	if program == nil {
		return stimulus.Program{}, usagef("scenario %s plays no programs%s; see lmmc shrink --help", scenario, nearest.Hint(scenario, slices.Sorted(maps.Keys(comparison.Programs))))
	}
	return program(seed), nil
}
