package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// pingReport is what lmmc ping tells. Times are the target's.
type pingReport struct {
	Target string          `json:"target"`
	Link   int             `json:"link,omitempty"`
	Times  []time.Duration `json:"round_trips_ns"`
	Least  time.Duration   `json:"least_ns"`
	Mean   time.Duration   `json:"mean_ns"`
	Most   time.Duration   `json:"most_ns"`
}

func pingCommand() *cli.Command {
	return targetCommand(&cli.Command{
		Name:      "ping",
		Usage:     "measure round trips to a target, or to the far end of one of its links",
		ArgsUsage: "[TARGET]",
		Description: targetHelp + ".\nA round trip reads a register; with --link it is an empty remote write, its acknowledgement by the far network interface,\n" +
			"and the read of a register that counts losses. Times are the target's: clock cycles at the nominal rate in a simulation,\n" +
			"real time on a board.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "link", Usage: "ping the far end of link `N`"},
			&cli.IntFlag{Name: "count", Usage: "measure `N` round trips", Value: 4},
			&cli.DurationFlag{Name: "timeout", Usage: "fail if a round trip takes longer than `TIME` of the target's", Value: 100 * time.Millisecond},
			jsonFlag, recordFlag,
		},
		Action: onTarget(func(ctx *cli.Context, target string) error {
			if ctx.Duration("timeout") <= 0 {
				return usagef("--timeout %v: want a time above 0", ctx.Duration("timeout"))
			}
			return ping(ctx, target)
		}),
	})
}

func ping(c *cli.Context, target string) error {
	n := openTarget(c, target, hostdrv.Options{})
	defer try.Finally(n.Close)
	r := pingReport{Target: target, Link: c.Int("link")}
	once := pingNI
	if r.Link > 0 {
		try.OK(mustBeUp(c.Context, n.NI, r.Link))
		once = func(ctx context.Context, n *hostdrv.NI) error { return writeThrough(ctx, n, r.Link, 0, nil) } // changes nothing there
	}
	for i := range c.Int("count") {
		ctx, cancel := n.WithTimeout(c.Context, c.Duration("timeout"))
		start := n.Now()
		err := once(ctx, n.NI)
		took := n.Now() - start
		cancel()
		if err == nil && took > c.Duration("timeout") { // the answer came in the same step of the target's time as the deadline
			err = fmt.Errorf("took %v: %w", took, context.DeadlineExceeded)
		}
		try.Wrap(err, "round trip %d of %d", i+1, c.Int("count"))
		r.Times = append(r.Times, took)
		if !c.Bool("json") {
			try.Get(fmt.Fprintf(c.App.Writer, "%4d  %v\n", i+1, took))
		}
	}
	r.sum()
	try.OK(show(c, r, func(b *strings.Builder, r pingReport) {
		fmt.Fprintf(b, "least %v, mean %v, most %v of the target's time\n", r.Least, r.Mean, r.Most)
	}))
	return nil
}

// pingNI asks the NI something of which the answer is known.
func pingNI(ctx context.Context, n *hostdrv.NI) error {
	v, err := n.ReadRegister(ctx, linkproto.RegMagic)
	if err == nil && v != linkproto.Magic {
		err = fmt.Errorf("register MAGIC reads %#x, want %#x", v, uint32(linkproto.Magic))
	}
	return err
}

func (r *pingReport) sum() {
	r.Least, r.Most = slices.Min(r.Times), slices.Max(r.Times)
	total := time.Duration(0)
	for _, t := range r.Times {
		total += t
	}
	r.Mean = total / time.Duration(len(r.Times))
}
