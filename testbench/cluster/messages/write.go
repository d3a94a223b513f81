package messages

import (
	"context"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// Writes has the host of one of two network interfaces on a switch write so many bytes into the buffer of the other by a virtual link that these carry out,
// again and again, and returns how many clocks that takes, sorted: from the first symbol at the one's host port to the last byte in the other's memory.
func Writes(ctx context.Context, size, count int) (clocks []int, err error) {
	err = try.Run(func() {
		const vl = 1
		c := try.Get(cluster.Open(ctx, cluster.Config{
			Topology: try.Get(topology.Generate("star", []int{2}, 1)), Rung: cluster.RTL, Seed: 1, Virtual: 3, Params: rtl.Params{Frames: 1},
		}))
		defer try.Finally(c.Close)
		near, far := c.NIs[0], c.NIs[1]
		set := func(i *cluster.NI, r linkproto.Reg, value uint32) {
			try.Get(c.Ask(i, linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: r, Value: value}))
		}
		for _, i := range c.NIs {
			own, peer := uint32(0x12345678), far
			if i == far {
				own, peer = uint32(0x56781234), near
			}
			set(i, linkproto.VLRegPeer.Reg(vl), uint32(c.Topology.Nodes[peer.Node].ID))
			set(i, linkproto.VLRegNumber.Reg(vl), vl)
			set(i, linkproto.VLRegKey.Reg(vl), own)
			set(i, linkproto.VLRegStatus.Reg(vl), linkproto.VLOpen.In(1)|linkproto.VLUp.In(1))
			set(i, linkproto.FrameReg(0), linkproto.FrameValid.In(1)|linkproto.FrameVL.In(vl))
		}
		rng := testbench.NewRand(1)
		for range count {
			try.OK(c.Run(500 + rng.IntN(200)))
			write := try.Get((&linkproto.Packet{Type: linkproto.TypeWrite, Data: rng.Bytes(size)}).Append(nil))
			try.OK(near.SendRaw(try.Get((&linkproto.Packet{Type: linkproto.TypeVirtual, VL: vl, Data: write}).Append(nil))))
			clocks = append(clocks, try.Get(c.Flight(near, far, (size-1)/4)))
		}
		slices.Sort(clocks)
	})
	return clocks, err
}
