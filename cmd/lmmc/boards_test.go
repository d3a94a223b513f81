package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/tcp"
	"github.com/stafflink/lmmc/testbench/modelsim"
)

// serveBoards serves models with two links in a ring, one for each file, link 2 of each cabled to link 1 of the next, until it is told to end. They keep what they hold while nobody
// drives them. Their targets are in the files named on the command line once they can be opened.
func serveBoards() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c := modelsim.Config{NIs: len(os.Args) - 1}
	for i := range c.NIs {
		c.Cables = append(c.Cables, modelsim.Cable{A: i, LinkA: 2, B: (i + 1) % c.NIs, LinkB: 1})
	}
	c.NI.Links, c.NI.Frames = 2, 8
	world, err := modelsim.New(c)
	if err != nil {
		panic(err)
	}
	var servers sync.WaitGroup
	for i, file := range os.Args[1:] {
		l, err := net.Listen("tcp", "localhost:0")
		if err != nil {
			panic(err)
		}
		servers.Go(func() {
			_ = tcp.Serve(ctx, l, func(context.Context) (hostdrv.Transport, error) { return world.Host(i) })
		})
		if err := os.WriteFile(file+".new", fmt.Appendf(nil, "tcp:%v", l.Addr()), 0o666); err != nil {
			panic(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			panic(err)
		}
	}
	servers.Wait()
	os.Exit(0)
}
