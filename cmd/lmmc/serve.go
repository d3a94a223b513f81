package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/capture"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/hostdrv/transport/tcp"
	"github.com/stafflink/lmmc/internal/try"
)

func serveCommand() *cli.Command {
	return &cli.Command{
		Name:      "serve",
		Usage:     "share a target among programs, or offer it over TCP",
		ArgsUsage: "[TARGET]",
		Description: "Programs of the same user open it as unix:PATH and create, accept and use ports; when a program ends, its ports are deleted.\n" +
			"With --tcp it serves the whole network interface to one program at a time, which opens it as tcp:HOST:PORT.\n" +
			"It prints the target to open once it is ready, and runs until interrupted.\n\n" + targetHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "socket", Usage: "serve at `PATH`", DefaultText: hostdrv.DefaultSocket(), TakesFile: true},
			&cli.StringFlag{Name: "group", Usage: "also admit members of `GROUP`"},
			&cli.IntFlag{Name: "clients", Usage: "admit at most `N` programs at a time", Value: 64},
			&cli.IntFlag{Name: "ports", Usage: "allow each program at most `N` ports", Value: 1024},
			&cli.IntFlag{Name: "node", Usage: "give the network interface node id `N`, 1 to 65535, which its neighbours see (default: keep the one it has)"},
			&cli.StringFlag{Name: "network", Usage: "open ports to all other nodes of the network in topology `FILE`, whose programs relay for each other", TakesFile: true},
			&cli.StringFlag{Name: "name", Usage: "with --network: it is node `NAME`, cabled as FILE says"},
			&cli.StringFlag{Name: "peers", Usage: "with --network: have ports to nodes `LIST` only, as 1-3 or 2,5"},
			&cli.StringFlag{Name: "uplink", Usage: "with --network: the node's port behind its links is `TARGET`, a second network interface of this machine, with ROUTES"},
			&cli.StringFlag{Name: "tcp", Usage: "serve the whole network interface at `HOST:PORT`; port 0 picks a free one"},
			&cli.BoolFlag{Name: "public", Usage: "admit other machines by --tcp, which has no authentication"},
			&cli.DurationFlag{Name: "reopen", Usage: "when the target disconnects, try to reopen it for `TIME`, such as 1h, and resume if it kept its state"},
			recordFlag,
		},
		Action: onTarget(func(ctx *cli.Context, target string) error {
			if n := ctx.Int("node"); ctx.IsSet("node") && (n < 1 || n > math.MaxUint16) {
				return usagef("--node %d: want 1 to %d", n, math.MaxUint16)
			}
			if ctx.Duration("reopen") < 0 {
				return usagef("--reopen: want a time, such as 1h")
			}
			do := serveSocket
			if ctx.IsSet("tcp") {
				do = serveTCP
			}
			err := try.Run(func() { do(ctx, target) })
			if ctx.Context.Err() != nil && errors.Is(err, context.Canceled) {
				err = nil // to be interrupted is how it ends
			}
			return err
		}),
	}
}

func serveSocket(ctx *cli.Context, target string) {
	if ctx.Bool("public") {
		try.OK(usagef("--public needs --tcp; a socket admits this user and --group"))
	}
	at := networkPlaceOf(ctx)
	path := try.Get(filepath.Abs(cmp.Or(ctx.String("socket"), hostdrv.DefaultSocket())))
	l := try.Get(serve.Listen(path, ctx.String("group"))) // a second server is to leave the target alone
	tap := capture.NewTap(target)
	var n *opened
	var err error
	if err := try.Run(func() {
		n = openTarget(ctx, target, tap.Options(hostdrv.Options{Reopen: ctx.Duration("reopen"), NodeID: at.number}))
	}); err != nil {
		try.OK(err, l.Close())
	}
	defer try.Finally(n.Close)
	awaitLinks(ctx.Context, n.NI)
	if target := ctx.String("uplink"); target != "" {
		if at.uplink, err = hostdrv.Open(ctx.Context, target, hostdrv.Options{NodeID: at.number}); err != nil {
			try.OK(err, l.Close())
		}
		defer try.Finally(at.uplink.Close)
	}
	node, err := at.start(ctx, n.NI)
	if err == nil {
		defer try.Finally(node.Close) // before the uplink
		_, err = fmt.Fprintf(ctx.App.Writer, "serving %s: open %s:%s\n", target, hostdrv.SharedScheme, path)
	}
	if err != nil {
		try.OK(err, l.Close())
	}
	log := slog.New(slog.NewTextHandler(ctx.App.ErrWriter, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}}))
	try.OK(serve.Serve(ctx.Context, node, l, serve.Options{Clients: ctx.Int("clients"), Ports: ctx.Int("ports"), Tap: tap, Log: log}))
}

func serveTCP(ctx *cli.Context, target string) {
	for _, name := range []string{"socket", "group", "clients", "ports", "reopen", "node", "network", "name", "peers", "uplink"} {
		if ctx.IsSet(name) {
			try.OK(usagef("--%s cannot go with --tcp", name))
		}
	}
	address := loopbackOnly("tcp", ctx.String("tcp"), ctx.Bool("public"))
	first := try.Get(hostdrv.Dial(ctx.Context, target)) // says now what is wrong with it, and compiles what is to be compiled
	try.OK(first.Close())
	dial := func(ctx context.Context) (hostdrv.Transport, error) { return hostdrv.Dial(ctx, target) }
	if path := ctx.String("record"); path != "" {
		recorder := try.Get(record.Create(path))
		defer try.Finally(recorder.Close)
		dial = func(ctx context.Context) (hostdrv.Transport, error) {
			t, err := hostdrv.Dial(ctx, target)
			if err != nil {
				return nil, err
			}
			return recorder.Wrap(t, record.Header{Target: target}), nil
		}
	}
	l := try.Get(new(net.ListenConfig).Listen(ctx.Context, "tcp", address))
	if _, err := fmt.Fprintf(ctx.App.Writer, "serving %s: open tcp:%s\n", target, l.Addr()); err != nil {
		try.OK(err, l.Close())
	}
	try.OK(tcp.Serve(ctx.Context, l, dial))
}

// loopbackOnly is the address that a flag gives. It refuses an address that other machines reach, unless they are meant to.
func loopbackOnly(flag, text string, public bool) string {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		try.OK(usagef("--%s %s: want HOST:PORT: %v", flag, text, err))
	}
	if public {
		return text
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		try.OK(usagef("--%s %s: other machines could connect; add --public to allow it", flag, text))
	}
	return net.JoinHostPort(host, port)
}
