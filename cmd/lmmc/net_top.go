package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/live"
)

func netTopCommand() *cli.Command {
	return &cli.Command{
		Name:      "top",
		Usage:     "monitor a network that lmmc net up runs: nodes and cables, load, STOP, losses",
		ArgsUsage: "[DIR|URL]",
		Description: "DIR is the folder of the network's sockets (default: " + defaultNetDir() + "), URL that of its page. On a terminal it runs until q is pressed.\n" +
			"Elsewhere it prints one sample, as with --once, or with --json one sample a line until interrupted. Loads are shares of the clocks between two samples.",
		Flags: append(topFlags(),
			&cli.BoolFlag{Name: "drops", Usage: "ask all routers what they have dropped, which takes packets; switches that are models tell without"},
		),
		Action: netTop,
	}
}

func netTop(ctx *cli.Context) error {
	if ctx.NArg() > 1 {
		return usagef("net top takes one folder or URL; see lmmc net top --help")
	}
	interval, err := topInterval(ctx)
	if err != nil {
		return err
	}
	place := cmp.Or(ctx.Args().First(), defaultNetDir())
	w := &netWatcher{place: place, client: live.NewClient(place), drops: ctx.Bool("drops")}
	w.shape = try.Get(w.client.Shape(ctx.Context))
	w.shape.SVG = ""
	w.before, w.looked = try.Get(w.state(ctx.Context)), time.Now()
	return (&watching[netSample]{place, interval, w.sample, (*topView).renderNet}).run(ctx)
}

// netWatcher looks at a network now and then.
type netWatcher struct {
	place  string
	client *live.Client
	shape  live.Shape
	drops  bool // routers are asked for
	before live.State
	looked time.Time
}

func (w *netWatcher) sample(ctx context.Context) (netSample, error) {
	now, err := w.state(ctx)
	if err != nil {
		return netSample{}, err
	}
	if !w.same(now) {
		return netSample{}, fmt.Errorf("%s: another network runs there now: begin anew", w.place)
	}
	at := time.Now()
	s := sampledNet(w.place, w.shape, w.before, now, at.Sub(w.looked))
	w.before, w.looked = now, at
	return s, nil
}

// same reports whether a state is a later one of the same network.
func (w *netWatcher) same(now live.State) bool {
	node := func(a, b cluster.SwitchLook) bool { return a.Node == b.Node }
	return now.Clocks >= w.before.Clocks && len(now.Cables) == len(w.shape.Cables) && slices.EqualFunc(now.Switches, w.before.Switches, node)
}

func (w *netWatcher) state(ctx context.Context) (s live.State, err error) {
	var dropped []cluster.SwitchLook
	if w.drops {
		dropped, err = w.client.Drops(ctx)
	}
	if err == nil {
		s, err = w.client.State(ctx)
	}
	if w.drops {
		s.Switches = dropped
	}
	return s, err
}
