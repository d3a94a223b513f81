package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

func netBarrierCommand() *cli.Command {
	return targetCommand(&cli.Command{
		Name:      "barrier",
		Usage:     "make barriers with the other nodes of a network, by its routers or by messages",
		ArgsUsage: "FILE [TARGET]",
		Description: "FILE is the topology file of the network. TARGET is a network interface of it, as in unix:net/n0 (default: $LMMC_TARGET, as lmmc net run has it).\n" +
			"The command runs at each member and ends when all have made all barriers: lmmc net run --barriers star.toml -- lmmc net barrier star.toml.\n" +
			"Barriers are by hardware where the network was started with --barriers, and else by messages. The first one, which sets them up, is not measured.\n" +
			"Times are real ones, as this program sees them; doc/collectives.md has those of the network.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "members", Usage: "network interfaces `NAMES`, as in n0,n1, are the group (default: all)"},
			&cli.StringFlag{Name: "by", Usage: "make barriers by `WAY`: " + collective.Hardware + ", " + strings.Join(collective.Barriers(), ", ") + " (default: hardware if it is there)"},
			&cli.IntFlag{Name: "count", Usage: "make `N` barriers", Value: 10},
			&cli.IntFlag{Name: "context", Usage: fmt.Sprintf("use context `N` of messages, %d to %d", message.FirstContext, message.LastContext), Value: 1},
			&cli.DurationFlag{Name: "timeout", Usage: "give up a member that says nothing for `TIME` of the target's", Value: time.Second},
			jsonFlag,
		},
		Action: netBarrier,
	}, sharedTarget)
}

// barrierReport is what lmmc net barrier prints.
type barrierReport struct {
	Target  string          `json:"target"`
	Node    uint16          `json:"node"` // its number
	Members int             `json:"members"`
	By      string          `json:"by"`
	Times   []time.Duration `json:"barriers_ns"`
	Least   time.Duration   `json:"least_ns"`
	Mean    time.Duration   `json:"mean_ns"`
	Most    time.Duration   `json:"most_ns"`
}

func netBarrier(ctx *cli.Context) error {
	args := ctx.Args().Slice()
	target := os.Getenv("LMMC_TARGET")
	if len(args) > 1 {
		target = args[1]
	}
	if len(args) < 1 || len(args) > 2 || target == "" {
		return usagef("net barrier takes a topology file and a target, as in net.toml unix:net/n0; see lmmc net barrier --help")
	}
	o := barrierOptions(ctx, args[0])
	var node *hostdrv.Node
	if isShared(target) {
		node = openShared(ctx, target)
	} else {
		node = try.Get(hostdrv.OpenNode(ctx.Context, target, hostdrv.Options{}, hostdrv.NodeOptions{NoPorts: true}))
	}
	defer try.Finally(node.Close)
	number := try.Get(node.ReadRegister(ctx.Context, linkproto.RegNodeID))
	g := try.Get(collective.Open(ctx.Context, node, o))
	defer try.Finally(func() error { return g.Close(ctx.Context) })
	try.OK(g.Barrier(ctx.Context))
	var took pingReport
	for range ctx.Int("count") {
		start := time.Now()
		try.OK(g.Barrier(ctx.Context))
		took.Times = append(took.Times, time.Since(start))
	}
	took.sum()
	r := barrierReport{target, uint16(number), g.Size(), g.BarrierBy(), took.Times, took.Least, took.Mean, took.Most}
	return show(ctx, r, func(b *strings.Builder, r barrierReport) {
		fmt.Fprintf(b, "node %d: %d barriers of %d members by %s: least %v, mean %v, most %v, real time\n", r.Node, len(r.Times), r.Members, r.By, r.Least, r.Mean, r.Most)
	})
}

// barrierOptions are those of the group that the command line names.
func barrierOptions(ctx *cli.Context, file string) collective.Options {
	ways := append([]string{collective.Hardware}, collective.Barriers()...)
	by, patience := ctx.String("by"), ctx.Duration("timeout")
	switch n := ctx.Int("context"); {
	case by != "" && !slices.Contains(ways, by):
		try.OK(usagef("--by %q%s: there are %s", by, nearest.Hint(by, ways), strings.Join(ways, ", ")))
	case ctx.Int("count") < 1:
		try.OK(usagef("--count %d: want 1 or more", ctx.Int("count")))
	case n < message.FirstContext || n > message.LastContext:
		try.OK(usagef("--context %d: want %d to %d", n, message.FirstContext, message.LastContext))
	case patience <= 0:
		try.OK(usagef("--timeout %v: want a time above 0", patience))
	}
	o := collective.Options{Topology: try.Get(topology.ReadFile(file)), Barrier: by, Context: ctx.Int("context"), Patience: patience}
	names := strings.Split(ctx.String("members"), ",")
	for _, n := range o.Topology.Nodes {
		if n.Kind == topology.NI && (!ctx.IsSet("members") || slices.Contains(names, n.Name)) {
			o.Members = append(o.Members, n.ID)
		}
	}
	if ctx.IsSet("members") && len(o.Members) != len(names) {
		try.OK(usagef("--members %s: want names of network interfaces in %s, each once", ctx.String("members"), file))
	}
	return o
}

var barriersFlag = &cli.BoolFlag{Name: "barriers", Usage: "build routers that carry out barriers, also in network interfaces with one cable; RTL takes cables of one lane"}
