package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/live"
)

func netUpCommand() *cli.Command {
	return &cli.Command{
		Name:      "up",
		Usage:     "run a network in simulation for programs to use, and to look at in a browser",
		ArgsUsage: "FILE",
		Description: "FILE is a topology file (doc/network.md). Programs of the same user open network interface n0 as unix:DIR/n0; so do lmmc info, read, write, top and\n" +
			"trace. Time passes as fast as the simulation goes while something is under way, and slowly otherwise. It runs until interrupted.",
		Flags: []cli.Flag{
			dirFlag("make the sockets in `DIR`"),
			&cli.StringFlag{Name: "http", Usage: "show the network on a live page at `HOST:PORT`; port 0 picks a free one"},
			&cli.BoolFlag{Name: "public", Usage: "admit other machines by --http, which has no authentication"},
			&cli.StringFlag{Name: "node", Usage: "simulate only node `NAME`, whose rung is tcp:HOST:PORT, where it waits for its cable, or serial:PATH"},
			&cli.StringFlag{Name: "cable", Usage: "with --node: the node's cable is `TARGET`, serial:PATH or tcp:HOST:PORT, in place of its rung", TakesFile: true},
			&cli.UintFlag{Name: "traffic", Usage: "each network interface sends writes to others, `PERCENT` of its link"},
			portsFlag, barriersFlag, rungFlag, managerFlag, preloadFlag, seedFlag, threadsFlag, routingFlag,
		},
		Action: netUp,
	}
}

// dirFlag is for the folder of a network's sockets.
func dirFlag(usage string) *cli.StringFlag {
	return &cli.StringFlag{Name: "dir", Usage: usage, DefaultText: defaultNetDir(), TakesFile: true}
}

// defaultNetDir is where the sockets of a network are unless said otherwise.
func defaultNetDir() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "lmmc-net")
	}
	return filepath.Join(os.TempDir(), "lmmc-net-"+strconv.Itoa(os.Getuid()))
}

// openLive builds the network of a topology file, and starts its nodes.
func openLive(ctx *cli.Context, file, dir string, log *slog.Logger) *live.Network {
	t := try.Get(topology.ReadFile(file))
	progress := startTicker(ctx.App.ErrWriter, "compilation")
	defer progress.stop()
	seed := ctx.Uint64("seed")
	c := try.Get(cluster.Open(ctx.Context, cluster.Config{
		Topology: t, Routing: routingOf(ctx), Manager: ctx.String("manager"), Seed: seed, Rung: ctx.String("rung"), Threads: ctx.Int("threads"),
		Gates: boardGates, Preload: ctx.Bool("preload"), Barriers: ctx.Bool("barriers"), Only: ctx.String("node"), Cable: ctx.String("cable"),
	}))
	return try.Get(live.Open(ctx.Context, c, live.Options{Dir: dir, Ports: ctx.Bool("ports"), Traffic: int(ctx.Uint("traffic")), Seed: seed, Log: log}))
}

func netUp(ctx *cli.Context) error {
	if ctx.NArg() != 1 {
		return usagef("net up takes one file, as lmmc net topo makes one; see lmmc net up --help")
	}
	if p := ctx.Uint("traffic"); p > 100 {
		return usagef("--traffic %d: want 0 to 100 percent", p)
	}
	if ctx.IsSet("cable") && !ctx.IsSet("node") {
		return usagef("--cable is for --node, the one whose cable it is")
	}
	address := ""
	if ctx.IsSet("http") {
		address = loopbackOnly("http", ctx.String("http"), ctx.Bool("public"))
	}
	log := slog.New(slog.NewTextHandler(ctx.App.ErrWriter, nil))
	dir := cmp.Or(ctx.String("dir"), defaultNetDir())
	n := openLive(ctx, ctx.Args().First(), dir, log)
	defer try.Finally(n.Close)
	running, cancel := context.WithCancelCause(ctx.Context)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel(nil)
	serveHTTP := func(l net.Listener, all bool) {
		server := http.Server{Handler: n.Handler(all), ReadHeaderTimeout: 10 * time.Second}
		work.Go(func() {
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				cancel(err)
			}
		})
		context.AfterFunc(running, func() { server.Close() })
	}
	control := try.Get(n.ListenControl())
	defer os.Remove(filepath.Join(dir, live.Control))
	serveHTTP(control, false)
	if address != "" {
		l := try.Get(new(net.ListenConfig).Listen(running, "tcp", address))
		serveHTTP(l, ctx.Bool("public"))
		try.Get(fmt.Fprintf(ctx.App.Writer, "network shown at http://%s/\n", l.Addr()))
	}
	_, targets := n.Targets()
	try.Get(fmt.Fprintf(ctx.App.Writer, "serving %s: open %s\n", ctx.Args().First(), someOf(targets[:min(len(targets), 4)], len(targets))))
	if err := n.Run(running); ctx.Context.Err() == nil {
		return err
	}
	return nil // to be interrupted is how it ends
}
