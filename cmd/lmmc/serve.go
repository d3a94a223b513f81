package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/capture"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/hostdrv/transport/tcp"
)

func serveCommand() *cli.Command {
	return &cli.Command{
		Name:      "serve",
		Usage:     "let several programs use a target together, or one by TCP",
		ArgsUsage: "[TARGET]",
		Description: "Programs of the same user open it as unix:PATH and create, accept and use ports; when one ends, its ports are deleted.\n" +
			"With --tcp it serves the NI as a whole instead, to one program after the other, which opens it as tcp:HOST:PORT.\n" +
			"It prints what to open as soon as that is possible, and ends when it is interrupted.\n\n" + targetHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "socket", Usage: "serve at `PATH`", DefaultText: hostdrv.DefaultSocket(), TakesFile: true},
			&cli.StringFlag{Name: "group", Usage: "let the members of `GROUP` in as well"},
			&cli.IntFlag{Name: "clients", Usage: "serve at most `N` programs at a time", Value: 64},
			&cli.IntFlag{Name: "ports", Usage: "let each have at most `N` ports", Value: 1024},
			&cli.StringFlag{Name: "tcp", Usage: "serve the NI as a whole at `HOST:PORT`; port 0 stands for a free one"},
			&cli.BoolFlag{Name: "public", Usage: "let other machines in by --tcp, which asks nobody who they are"},
			&cli.DurationFlag{Name: "reopen", Usage: "when the target has gone away, look for it for `TIME`, such as 1h, and go on if it kept what it held"},
			recordFlag,
		},
		Action: func(ctx *cli.Context) error {
			target, err := targetArgument(ctx)
			if err != nil {
				return err
			}
			if ctx.Int("clients") < 1 || ctx.Int("ports") < 1 {
				return usagef("--clients and --ports want numbers above 0")
			}
			if ctx.Duration("reopen") < 0 {
				return usagef("--reopen wants a time, such as 1h")
			}
			if ctx.IsSet("tcp") {
				err = serveTCP(ctx, target)
			} else {
				err = serveSocket(ctx, target)
			}
			if ctx.Context.Err() != nil && errors.Is(err, context.Canceled) {
				err = nil // to be interrupted is how it ends
			}
			return err
		},
	}
}

func serveSocket(ctx *cli.Context, target string) (err error) {
	if ctx.Bool("public") {
		return usagef("--public belongs to --tcp; a socket lets in this user's programs, and those of a --group")
	}
	path := ctx.String("socket")
	if path == "" {
		path = hostdrv.DefaultSocket()
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return err
	}
	l, err := serve.Listen(path, ctx.String("group")) // a second server is to leave the target alone
	if err != nil {
		return err
	}
	tap := capture.NewTap(target)
	n, err := openTarget(ctx, target, tap.Options(hostdrv.Options{Reopen: ctx.Duration("reopen")}))
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	node, err := hostdrv.Start(ctx.Context, n.NI, hostdrv.NodeOptions{})
	if err == nil {
		_, err = fmt.Fprintf(ctx.App.Writer, "%s is served: open %s:%s\n", target, hostdrv.SharedScheme, path)
	}
	if err != nil {
		return errors.Join(err, l.Close())
	}
	log := slog.New(slog.NewTextHandler(ctx.App.ErrWriter, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}}))
	return serve.Serve(ctx.Context, node, l, serve.Options{Clients: ctx.Int("clients"), Ports: ctx.Int("ports"), Tap: tap, Log: log})
}

func serveTCP(ctx *cli.Context, target string) (err error) {
	for _, name := range []string{"socket", "group", "clients", "ports", "reopen"} {
		if ctx.IsSet(name) {
			return usagef("--%s does not go with --tcp", name)
		}
	}
	address, err := loopbackOnly("tcp", ctx.String("tcp"), ctx.Bool("public"))
	if err != nil {
		return err
	}
	first, err := hostdrv.Dial(ctx.Context, target) // says now what is wrong with it, and compiles what is to be compiled
	if err != nil {
		return err
	}
	if err := first.Close(); err != nil {
		return err
	}
	dial := func(ctx context.Context) (hostdrv.Transport, error) { return hostdrv.Dial(ctx, target) }
	if path := ctx.String("record"); path != "" {
		recorder, err := record.Create(path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, recorder.Close()) }()
		dial = func(ctx context.Context) (hostdrv.Transport, error) {
			t, err := hostdrv.Dial(ctx, target)
			if err != nil {
				return nil, err
			}
			return recorder.Wrap(t, record.Header{Target: target}), nil
		}
	}
	l, err := new(net.ListenConfig).Listen(ctx.Context, "tcp", address)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(ctx.App.Writer, "%s is served: open tcp:%s\n", target, l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	return tcp.Serve(ctx.Context, l, dial)
}

// loopbackOnly is the address that a flag gives. It refuses an address that other machines reach, unless they are meant to.
func loopbackOnly(flag, text string, public bool) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return "", usagef("--%s %s: want HOST:PORT: %v", flag, text, err)
	}
	if public {
		return text, nil
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return "", usagef("--%s %s: other machines could reach that; say --public if they are to", flag, text)
	}
	return net.JoinHostPort(host, port), nil
}
