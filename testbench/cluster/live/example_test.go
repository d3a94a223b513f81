package live_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/live"
)

// A network of models lives. Two programs, which could be in other processes, use its network interfaces: one writes into the receive buffer of the other's.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	dir := try.Get(os.MkdirTemp("", "lmmc"))
	defer os.RemoveAll(dir)
	c := try.Get(cluster.Open(ctx, cluster.Config{Topology: try.Get(topology.Generate("star", []int{3}, 1)), Rung: cluster.Model}))
	n := try.Get(live.Open(ctx, c, live.Options{Dir: dir}))
	ended := make(chan error)
	go func() { ended <- n.Run(ctx) }()
	_, targets := n.Targets()

	from := try.Get(hostdrv.OpenNode(ctx, targets[0], hostdrv.Options{}, hostdrv.NodeOptions{}))
	to := try.Get(hostdrv.OpenNode(ctx, targets[2], hostdrv.Options{}, hostdrv.NodeOptions{}))
	write := linkproto.Packet{Type: linkproto.TypeWrite, Addr: 0x400, Data: []byte("hello")}
	try.OK(from.SendRouted(ctx, 1, n.Number(2), write))
	buffer := make([]byte, 5)
	for string(buffer) != "hello" {
		try.OK(to.ReadBuffer(ctx, buffer, 0x400))
	}
	fmt.Printf("%s\n", buffer)

	try.OK(from.Close(), to.Close())
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		log.Print(err)
	}
	try.OK(n.Close())
	// Output: hello
}
