package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/verilator"
)

// campaignFlags are those of commands whose runs are kept and can be spread over a cluster: see doc/regressions.md.
func campaignFlags() []cli.Flag {
	return append(keptFlags(),
		&cli.StringFlag{Name: "launcher", Usage: "run on `WHAT`: local (this machine) or slurm (a cluster)", Value: "local"},
		&cli.IntFlag{Name: "tasks", Usage: "with --launcher slurm, split the jobs into `N` tasks (default: 4 for each CPU of the cluster)"},
	)
}

var jobsFlag = &cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Usage: "run `N` jobs at a time (default: the number of CPUs)"}

// keptFlags are those of commands whose runs are kept.
func keptFlags() []cli.Flag {
	return []cli.Flag{
		jobsFlag,
		&cli.BoolFlag{Name: "again", Usage: "also run what passed before and has not changed"},
		&cli.StringFlag{Name: "store", Usage: "keep passed jobs in `DIR`, which all nodes of --launcher slurm must share (default: in the cache folder)"},
	}
}

// campaignOptions reads those flags.
func campaignOptions(ctx *cli.Context) campaign.Options {
	o := campaign.Options{Jobs: ctx.Int("jobs"), Again: ctx.Bool("again"), Store: ctx.String("store")}
	if o.Store == "" {
		o.Store = try.Get(verilator.CacheDir("results"))
	}
	o.Warn = func(text string) {
		clear := ""
		if isTerminal(ctx.App.ErrWriter) {
			clear = "\r\x1b[K" // what a ticker shows
		}
		fmt.Fprintf(ctx.App.ErrWriter, "%slmmc: %s\n", clear, text)
	}
	switch launcher := ctx.String("launcher"); {
	case launcher == "slurm":
		// What only the one who reports does is left out for the tasks.
		o.Slurm = &campaign.Slurm{Share: o.Store, Tasks: ctx.Int("tasks"), Args: arguments(ctx, "launcher", "tasks", "jobs", "again", "junit", "json"),
			Again: "go run ./cmd/lmmc " + quoteAll(arguments(ctx, "again"))}
	case launcher != "local" && launcher != "":
		try.OK(usagef("--launcher %s: want local or slurm", launcher))
	case ctx.IsSet("tasks"):
		try.OK(usagef("--tasks needs --launcher slurm"))
	}
	return o
}

// arguments returns those of the command that is running, but for some flags.
func arguments(ctx *cli.Context, without ...string) []string {
	all := []string{ctx.Command.Name}
	for _, flag := range ctx.Command.Flags {
		name := flag.Names()[0]
		if !ctx.IsSet(name) || slices.Contains(without, name) {
			continue
		}
		switch flag.(type) {
		case *cli.BoolFlag:
			if ctx.Bool(name) {
				all = append(all, "--"+name)
			}
		case *cli.StringSliceFlag:
			for _, value := range ctx.StringSlice(name) {
				all = append(all, "--"+name+"="+value)
			}
		case *cli.Float64SliceFlag:
			for _, value := range ctx.Float64Slice(name) {
				all = append(all, fmt.Sprintf("--%s=%v", name, value))
			}
		default:
			all = append(all, fmt.Sprintf("--%s=%v", name, ctx.Value(name)))
		}
	}
	if ctx.Args().Present() {
		all = append(append(all, "--"), ctx.Args().Slice()...)
	}
	return all
}

func quoteAll(args []string) string {
	return strings.Join(collect(args, func(a string) string {
		if strings.ContainsAny(a, " '\"\\$`*?[](){}|&;<>#~\n") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		return a
	}), " ")
}

// workerCommand does a task's share of a campaign on a cluster.
func workerCommand(c contents) *cli.Command {
	return &cli.Command{
		Name: campaign.WorkerCommand, Hidden: true, ArgsUsage: "DIR TASK",
		Usage: "for --launcher slurm: run the jobs of a task",
		Action: func(ctx *cli.Context) error {
			inner, args, err := campaign.OpenTask(ctx.Context, ctx.Args().Get(0), ctx.Args().Get(1))
			if err != nil {
				return err
			}
			err = newApp(ctx.App.Writer, ctx.App.ErrWriter, c).RunContext(inner, append([]string{"lmmc"}, args...))
			if errors.Is(err, campaign.ErrShareDone) {
				return nil
			}
			return fmt.Errorf("task %s of %s: %w", ctx.Args().Get(1), ctx.Args().Get(0), err)
		},
	}
}

// fromCache says how many of n results are those of earlier runs, as a part of a line.
func fromCache(cached, n int) string {
	switch cached {
	case 0:
		return ""
	case n:
		return " (cached)"
	}
	return fmt.Sprintf(" (%d of %d cached)", cached, n)
}
