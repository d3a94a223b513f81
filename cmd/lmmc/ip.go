package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/ip"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

func ipCommand() *cli.Command {
	commands := []*cli.Command{ipDownCommand(), ipUpCommand()}
	return &cli.Command{
		Name:        "ip",
		Usage:       "make a network interface of the kernel (TAP) whose IP packets go over the network",
		ArgsUsage:   "COMMAND",
		Description: "doc/ip.md describes addresses, offload and counters.",
		Subcommands: commands,
		Action:      wantsCommand("ip", commands),
	}
}

func ipUpCommand() *cli.Command {
	return targetCommand(&cli.Command{
		Name:      "up",
		Usage:     "make an interface, and pass its packets until interrupted or removed, or until a program has ended",
		ArgsUsage: "TARGET [-- PROGRAM ARGUMENT...]",
		Description: targetForms + sharedHelp + ".\nThe target must take routed packets, as those of lmmc net up do. Node N has in each prefix the address whose part for the host is N.\n" +
			"It takes CAP_NET_ADMIN. What it prints last are its counters.\n" +
			"With PROGRAM the interface is there while the program runs; nothing but the program's output is printed, and the exit code is the program's.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "addr", Usage: "have the node's address in `PREFIX`, as 10.0.0.0/24 or fd00::/64"},
			&cli.StringFlag{Name: "name", Usage: "call the interface `NAME`; %d in it is the first free number", Value: "lmmc%d"},
			&cli.IntFlag{Name: "mtu", Usage: "let a packet have `BYTES` (default: as many as fit)"},
			&cli.IntFlag{Name: "link", Usage: "send by link `N`", Value: 1},
			&cli.IntFlag{Name: "node", Usage: "give the network interface node id `N`, unless the target is shared"},
			&cli.StringFlag{Name: "peers", Usage: "send broadcasts and multicasts to nodes `LIST`, as 1-16 or 2,5 (default: drop them)"},
			&cli.BoolFlag{Name: "lo", Usage: "bring lo up as well, in a new network namespace"},
			jsonFlag,
		},
		Action: func(ctx *cli.Context) error {
			if ctx.NArg() == 0 {
				return usagef("ip up takes a target; see lmmc ip up --help")
			}
			o := ip.Options{Name: ctx.String("name"), MTU: ctx.Int("mtu"), Link: ctx.Int("link"), Peers: nodesOf(ctx.String("peers"))}
			for _, text := range ctx.StringSlice("addr") {
				p, err := netip.ParsePrefix(text)
				if err != nil {
					return usagef("--addr %s: want an address and its prefix, as 10.0.0.0/24", text)
				}
				o.Addresses = append(o.Addresses, p)
			}
			return ipUp(ctx, ctx.Args().First(), o, ctx.Args().Tail())
		},
	}, sharedTarget)
}

// nodesOf reads a list of nodes.
func nodesOf(list string) (nodes []uint16) {
	for part := range strings.SplitSeq(list, ",") {
		if part == "" {
			continue
		}
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, err := strconv.ParseUint(low, 10, 16)
		to, err2 := strconv.ParseUint(high, 10, 16)
		if err != nil || err2 != nil || from < 1 || to > linkproto.MaxNode || from > to {
			try.OK(usagef("--peers %s: want nodes, 1 to %d, as 1-16 or 2,5", list, linkproto.MaxNode))
		}
		for n := from; n <= to; n++ {
			nodes = append(nodes, uint16(n))
		}
	}
	return nodes
}

// ipReport is what lmmc ip up tells of an interface.
type ipReport struct {
	Name      string         `json:"name"`
	Node      uint16         `json:"node"`
	MTU       int            `json:"mtu"`
	Addresses []netip.Prefix `json:"addresses"`
	ip.Counts
}

func ipUp(ctx *cli.Context, target string, o ip.Options, command []string) error {
	var run *exec.Cmd
	if len(command) > 0 {
		if ctx.Bool("json") {
			return usagef("--json is for the counters, which are not printed with a program")
		}
		program, err := exec.LookPath(command[0])
		if err != nil {
			return usagef("%s: %v", command[0], err)
		}
		run = exec.Command(program, command[1:]...)
		run.Stdin, run.Stdout, run.Stderr = os.Stdin, ctx.App.Writer, ctx.App.ErrWriter
	}
	if ctx.Bool("lo") {
		try.OK(ip.Loopback())
	}
	node := try.Get(hostdrv.OpenNode(ctx.Context, target, hostdrv.Options{NodeID: uint16(ctx.Int("node"))}, hostdrv.NodeOptions{NoPorts: true}))
	defer try.Finally(node.Close)
	f := try.Get(ip.Up(ctx.Context, node, o))
	if run != nil {
		return ipRun(ctx, f, run)
	}
	r := ipReport{Name: f.Name(), Node: f.Node(), MTU: f.MTU(), Addresses: f.Addresses()}
	if !ctx.Bool("json") {
		try.Get(fmt.Fprintf(ctx.App.Writer, "interface %s: node %d, MTU %d, %v; up until interrupted\n", r.Name, r.Node, r.MTU, r.Addresses))
	}
	err := f.Run(ctx.Context)
	if ctx.Context.Err() != nil && errors.Is(err, context.Canceled) || errors.Is(err, ip.ErrGone) {
		err = nil // to be interrupted, or removed by ip down, is how it ends
	}
	r.Counts = f.Counts()
	return errors.Join(err, show(ctx, r, func(b *strings.Builder, r ipReport) {
		fmt.Fprintf(b, "packets   %s sent, %s received; %s cut into segments\n", thousands(r.Sent), thousands(r.Received), thousands(r.Cut))
		fmt.Fprintf(b, "answered  %s questions for neighbours\n", thousands(r.Answered))
		fmt.Fprintf(b, "dropped   %s to groups, %s foreign, %s too long, %s malformed, %s while down\n", thousands(r.Group), thousands(r.Foreign), thousands(r.TooLong), thousands(r.Malformed), thousands(r.Down))
	}))
}

// ipRun runs a program while an interface is there.
func ipRun(ctx *cli.Context, f *ip.Interface, run *exec.Cmd) error {
	during, cancel := context.WithCancel(context.WithoutCancel(ctx.Context)) // a program that is asked to end may have something to send
	defer cancel()
	ended := make(chan error, 1)
	lost, end := context.WithCancel(ctx.Context)
	defer end()
	go func() {
		ended <- f.Run(during)
		end()
	}()
	err := untilEnd(lost, run)
	cancel()
	if passed := <-ended; !errors.Is(passed, context.Canceled) {
		err = errors.Join(err, passed)
	}
	return err
}

func ipDownCommand() *cli.Command {
	return &cli.Command{
		Name:        "down",
		Usage:       "remove an interface; its lmmc ip up ends",
		ArgsUsage:   "NAME",
		Description: "It takes CAP_NET_ADMIN, and touches only interfaces that lmmc ip up has made.",
		Action: func(ctx *cli.Context) error {
			if ctx.NArg() != 1 {
				return usagef("ip down takes the name of one interface; see lmmc ip down --help")
			}
			return ip.Down(ctx.Args().First())
		},
	}
}
