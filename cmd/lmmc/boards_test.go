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

// serveBoards serves two models, link 1 of the one cabled to link 2 of the other, until it is told to end. They keep what they hold while nobody
// drives them. Their targets are in the files named on the command line once they can be opened.
func serveBoards() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c := modelsim.Config{NIs: 2, Cables: []modelsim.Cable{{A: 0, LinkA: 1, B: 1, LinkB: 2}, {A: 0, LinkA: 2, B: 1, LinkB: 1}}}
	c.NI.Links = 2
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
