package messages

import (
	"context"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// Cabled is two network interfaces on one cable.
func Cabled() *topology.Topology {
	cable := topology.Link{Lanes: 1, Latency: 1}
	return &topology.Topology{
		Default: cable,
		Nodes:   []topology.Node{{Name: "n0", ID: 1, Kind: topology.NI, Ports: 1}, {Name: "n1", ID: 2, Kind: topology.NI, Ports: 1}},
		Cables:  []topology.Cable{{Ends: [2]topology.End{{Node: 0, Port: 1}, {Node: 1, Port: 1}}, Link: cable}},
	}
}

// Trips sends a message without bytes from the host's port of one of two network interfaces to that of the other and back, again and again, and returns how
// many clocks that takes, sorted. Hosts look at each clock, and answer at once.
func Trips(ctx context.Context, t *topology.Topology, count int) (clocks []int, err error) {
	err = try.Run(func() {
		c := try.Get(cluster.Open(ctx, cluster.Config{Topology: t, Rung: cluster.RTL, Seed: 1}))
		defer try.Finally(c.Close)
		near, far := c.NIs[0], c.NIs[1]
		body := try.Get((&linkproto.Packet{Type: linkproto.TypeMessage}).Append(nil))
		send := func(from, to *cluster.NI) {
			r := linkproto.Route{Via: 1, Dest: t.Nodes[to.Node].ID, Src: t.Nodes[from.Node].ID, Hops: linkproto.MaxHops, VL: 1, Packet: body,
				State: linkproto.VLState{Kind: linkproto.KindAck, Packet: true}.Byte()}
			raw := try.Get(r.Append(nil))
			try.OK(from.SendRaw(raw))
			from.Credit(1).Sent(len(raw))
		}
		back := false
		far.Routed = func(linkproto.Route, []byte) { send(far, near) }
		near.Routed = func(linkproto.Route, []byte) { back = true }
		rng := testbench.NewRand(1)
		for range count {
			for range 300 + rng.IntN(200) {
				try.OK(c.Step())
			}
			back = false
			start := c.Cycles
			send(near, far)
			for !back {
				try.OK(c.Step())
			}
			clocks = append(clocks, int(c.Cycles-start))
		}
		slices.Sort(clocks)
	})
	return clocks, err
}
