package main

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/try"
)

func topCommand() *cli.Command {
	return targetCommand(&cli.Command{
		Name:      "top",
		Usage:     "monitor a target: links, requests, flow control, ports and paging",
		ArgsUsage: "[TARGET]",
		Description: "On a terminal it runs until q is pressed. Elsewhere it prints one sample, as with --once, or with --json one sample a line\n" +
			"until interrupted. Rates are per second of the target's time, between two samples. Current problems are red.\n\n" + targetHelp + sharedHelp,
		Flags:  append(topFlags(), recordFlag),
		Action: onTarget(runTop),
	}, sharedTarget)
}

func runTop(ctx *cli.Context, target string) error {
	interval, err := topInterval(ctx)
	if err != nil {
		return err
	}
	n := openReporter(ctx, target)
	defer try.Finally(n.Close)
	try.OK(try.Get(watchTarget(ctx.Context, target, n, interval)).run(ctx))
	return nil
}

// watchTarget begins to look at a target.
func watchTarget(ctx context.Context, target string, n reporter, interval time.Duration) (*watching[topSample], error) {
	before, err := n.Report(ctx)
	looked := time.Now()
	return &watching[topSample]{target, interval, func(ctx context.Context) (s topSample, err error) {
		r, err := n.Report(ctx)
		if err != nil {
			return s, err
		}
		now := time.Now()
		s = sampled(target, before, r, now.Sub(looked))
		before, looked = r, now
		return s, nil
	}, (*topView).render}, err
}
