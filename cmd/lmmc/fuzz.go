package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/testbench/fuzz"
)

func fuzzCommand() *cli.Command {
	return &cli.Command{
		Name:      "fuzz",
		Usage:     "fuzz what decodes bytes from outside",
		ArgsUsage: "[NAME...]",
		Description: "Without names it runs all fuzz tests of the checkout; a name stands for all that contain it. Run it in the root of a\n" +
			"checkout. An input that fails is kept in testdata/fuzz beside its test, where go test tries it from then on.",
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "time", Usage: "fuzz each for `TIME`", Value: 30 * time.Second},
			&cli.BoolFlag{Name: "list", Usage: "list the tests and do nothing else"},
			jsonFlag, jobsFlag,
		},
		Action: fuzzAll,
	}
}

func fuzzAll(ctx *cli.Context) error {
	if each := ctx.Duration("time"); each < time.Second {
		return usagef("--time %v: want 1s or more", each)
	}
	options := campaignOptions(ctx)
	options.Fatal = []error{fuzz.ErrGo}
	progress := startTicker(ctx.App.ErrWriter, "looking for fuzz tests")
	defer progress.stop()
	all, err := fuzz.List(ctx.Context, "./...")
	if err != nil {
		return fmt.Errorf("%w(lmmc fuzz runs in the root of a checkout)", err)
	}
	if len(all) == 0 {
		return errors.New("there are no fuzz tests here: run lmmc fuzz in the root of a checkout")
	}
	tests, err := chooseFuzz(all, ctx.Args().Slice())
	if err != nil {
		return err
	}
	if ctx.Bool("list") {
		return list(ctx, tests, []string{"test", "package"}, func(t fuzz.Test) (fuzz.Test, []string) { return t, []string{t.Name, t.Package} })
	}
	failed := 0
	step := func(p campaign.Progress, r campaign.Result[fuzz.Result]) error {
		progress.set("%d of %d fuzz tests, %d failed, last %s", p.Done, p.Total, p.Failed, r.Value.Name)
		failed = p.Failed
		return nil
	}
	run, err := campaign.Run(ctx.Context, fuzz.Jobs(tests, ctx.Duration("time")), options, step)
	progress.stop()
	results := []fuzz.Result{}
	for _, r := range run {
		if r.Done {
			results = append(results, r.Value)
		}
	}
	return orFailed(errors.Join(err, show(ctx, results, writeFuzz)), failed, len(tests), "fuzz tests")
}

// chooseFuzz returns the tests whose names contain one of some; all for none.
func chooseFuzz(all []fuzz.Test, names []string) (tests []fuzz.Test, err error) {
	if len(names) == 0 {
		return all, nil
	}
	found := map[string]bool{}
	for _, t := range all {
		chosen := false
		for _, name := range names {
			if strings.Contains(t.String(), name) {
				chosen, found[name] = true, true
			}
		}
		if chosen {
			tests = append(tests, t)
		}
	}
	for _, name := range names {
		if !found[name] {
			there := collect(all, func(t fuzz.Test) string { return strings.TrimPrefix(t.Name, "Fuzz") })
			return nil, hinted(usagef("no fuzz test is called %s; lmmc fuzz --list", name), []string{name}, there)
		}
	}
	return tests, nil
}

func writeFuzz(b *strings.Builder, results []fuzz.Result) {
	t := table{names: []string{"test", ">inputs", ">new", "result", "package"}}
	for _, r := range results {
		verdict := "passed"
		if r.Failure != "" {
			verdict = "FAIL"
		}
		t.add(r.Name, fmt.Sprint(r.Inputs), fmt.Sprint(r.New), verdict, r.Package)
	}
	t.write(b)
	for _, r := range results {
		if r.Failure != "" {
			fmt.Fprintf(b, "\n%s\n", r.Failure)
		}
	}
}
