package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/boards/virtual/usbip"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/hostdrv/transport/tcp"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/model"
	"github.com/stafflink/lmmc/testbench/modelsim"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/rtlsim"
)

// serveBoards serves models with two links in a ring, one for each file, link 2 of each cabled to link 1 of the next, until it is told to end. They keep what they hold while nobody
// drives them. Their targets are in the files named on the command line once they can be opened.
func serveBoards() {
	c := modelsim.Config{NIs: len(os.Args) - 1}
	for i := range c.NIs {
		c.Cables = append(c.Cables, modelsim.Cable{A: i, LinkA: 2, B: (i + 1) % c.NIs, LinkB: 1})
	}
	c.NI.Links, c.NI.Frames = 2, 8
	untilTold(func(ctx context.Context, servers *sync.WaitGroup) {
		world := try.Get(modelsim.New(c))
		for i, file := range os.Args[1:] {
			write(file, serveBoard(ctx, servers, world, i))
		}
	})
}

// serveTwoLinks is serveBoards for virtual boards with the parameters of hx8k/two-link, whose UARTs are behind USB/IP.
func serveTwoLinks() {
	files := os.Args[1:]
	var cables []ni.Cable
	for i := range files {
		cables = append(cables, ni.Cable{A: i, LinkA: 2, B: (i + 1) % len(files), LinkB: 1})
	}
	untilTold(func(ctx context.Context, servers *sync.WaitGroup) {
		rack := try.Get(rtlsim.NewRack(len(files), cables))
		var exports []usbip.Export
		for i := range files {
			fpga := try.Get(rack.Dial(ctx, i, "rtl:?links=2&frames=4&page=512&replay=1024&rx=1024"))
			board := try.Get(virtual.New(virtual.Config{Kind: "hx8k", Serial: fmt.Sprint("V", i+1), FPGA: fpga}))
			servers.Go(func() { _ = board.Run(ctx) })
			exports = append(exports, usbip.Export{BusID: fmt.Sprint("1-", i+1), Device: board.Device()})
		}
		l := try.Get(net.Listen("tcp", "localhost:0"))
		servers.Go(func() { _ = usbip.Serve(ctx, l, exports, nil) })
		for i, file := range files {
			write(file, fmt.Sprintf("vboard://%v/%s", l.Addr(), exports[i].BusID))
		}
	})
}

// serveMixed serves the network of uplink.txtar: at the sockets of the first two files nodes whose network interfaces carry out virtual links, which it drives itself; at the third's
// target the uplink behind them; and as serveBoards does three more in a ring.
func serveMixed() {
	c := modelsim.Config{NIs: len(os.Args) - 1, Cables: []modelsim.Cable{
		{A: 0, LinkA: 2, B: 1, LinkB: 1}, {A: 1, LinkA: 2, B: 2, LinkB: 1}, {A: 3, LinkA: 2, B: 4, LinkB: 1}, {A: 4, LinkA: 2, B: 5, LinkB: 1}, {A: 5, LinkA: 2, B: 3, LinkB: 1},
	}}
	c.NI.Links, c.NI.Frames = 2, 8
	carries := model.Config{Links: 1, Frames: 8, Router: 2, Virtual: 3}
	c.Each = map[int]model.Config{0: carries, 1: carries, 2: {Links: 1, Frames: 8, Routes: true}}
	ways := []map[uint16]uint32{{2: 2, 3: 2, 4: 2, 5: 2}, {1: 1, 3: 2, 4: 2, 5: 2}}
	untilTold(func(ctx context.Context, servers *sync.WaitGroup) {
		world := try.Get(modelsim.New(c))
		for i, file := range os.Args[1:] {
			if i >= len(ways) {
				write(file, serveBoard(ctx, servers, world, i))
				continue
			}
			n := try.Get(hostdrv.Open(ctx, serveBoard(ctx, servers, world, i), hostdrv.Options{NodeID: uint16(i + 1)})) // so that time passes for it as for the others
			var o hostdrv.NodeOptions
			for to, port := range ways[i] {
				try.OK(n.WriteRegister(ctx, linkproto.RouteReg(to), port))
				o.Peers = append(o.Peers, hostdrv.Peer{Node: to})
			}
			node, l := try.Get(hostdrv.Start(ctx, n, o)), try.Get(serve.Listen(file, ""))
			servers.Go(func() {
				if err := serve.Serve(ctx, node, l, serve.Options{}); !errors.Is(err, context.Canceled) {
					panic(err)
				}
			})
		}
	})
}

// untilTold runs servers until the program is told to end, and ends it.
func untilTold(start func(context.Context, *sync.WaitGroup)) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var servers sync.WaitGroup
	if err := try.Run(func() { start(ctx, &servers) }); err != nil {
		panic(err)
	}
	servers.Wait()
	os.Exit(0)
}

// serveBoard returns the target of one of the network's.
func serveBoard(ctx context.Context, servers *sync.WaitGroup, world *modelsim.Network, i int) string {
	l := try.Get(net.Listen("tcp", "localhost:0"))
	servers.Go(func() {
		_ = tcp.Serve(ctx, l, func(context.Context) (hostdrv.Transport, error) { return world.Host(i) })
	})
	return fmt.Sprintf("tcp:%v", l.Addr())
}

// write makes a file that is whole when it is there.
func write(file, text string) {
	try.OK(os.WriteFile(file+".new", []byte(text), 0o666))
	try.OK(os.Rename(file+".new", file))
}
