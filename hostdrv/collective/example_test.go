package collective_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// Three nodes of a simulated star make barriers by its switch, and add numbers by messages. Each member could be a program of its own.
func Example() {
	ctx := context.Background()
	top := try.Get(topology.Generate("star", []int{3}, 1))
	c := try.Get(cluster.Open(ctx, cluster.Config{Topology: top, Rung: cluster.Model, Barriers: true}))
	w := c.Programs()
	var nodes []*hostdrv.Node
	for i := range c.NIs {
		ni := try.Get(hostdrv.New(ctx, try.Get(w.Host(i)), hostdrv.Options{}))
		nodes = append(nodes, try.Get(hostdrv.Start(ctx, ni, hostdrv.NodeOptions{NoPorts: true})))
	}

	var work sync.WaitGroup
	for _, node := range nodes {
		work.Go(func() {
			g := try.Get(collective.Open(ctx, node, collective.Options{Members: []uint16{1, 2, 3}, Context: 9, Topology: top}))
			try.OK(g.Barrier(ctx))
			data := []byte{byte(g.Rank() + 1)}
			add := collective.Op{Size: 1, Combine: func(into, from []byte) { into[0] += from[0] }}
			try.OK(g.AllReduce(ctx, data, add))
			if g.Rank() == 0 {
				fmt.Printf("barriers by %s, the sum is %d\n", g.BarrierBy(), data[0])
			}
			try.OK(g.Close(ctx))
		})
	}
	work.Wait()

	for _, node := range nodes {
		try.OK(node.Close())
	}
	try.OK(w.Close())
	// Output: barriers by hardware, the sum is 6
}
