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

// Cabled is two network interfaces on one cable.
func Cabled() *topology.Topology {
	cable := topology.Link{Lanes: 1, Latency: 1}
	return &topology.Topology{
		Default: cable,
		Nodes:   []topology.Node{{Name: "n0", ID: 1, Kind: topology.NI, Ports: 1}, {Name: "n1", ID: 2, Kind: topology.NI, Ports: 1}},
		Cables:  []topology.Cable{{Ends: [2]topology.End{{Node: 0, Port: 1}, {Node: 1, Port: 1}}, Link: cable}},
	}
}

// star is two network interfaces on a switch.
func star() *topology.Topology { return try.Get(topology.Generate("star", []int{2}, 1)) }

// ports are the host's ports of two network interfaces in RTL.
type ports struct {
	*cluster.Cluster
	near, far *cluster.NI
}

func openPorts(ctx context.Context, t *topology.Topology, params rtl.Params) ports {
	c := try.Get(cluster.Open(ctx, cluster.Config{Topology: t, Rung: cluster.RTL, Seed: 1, Params: params}))
	return ports{c, c.NIs[0], c.NIs[1]}
}

// send sends a message of one packet.
func (p ports) send(from, to *cluster.NI, data []byte) {
	body := try.Get((&linkproto.Packet{Type: linkproto.TypeMessage, Data: data}).Append(nil))
	r := linkproto.Route{Via: 1, Dest: p.Topology.Nodes[to.Node].ID, Src: p.Topology.Nodes[from.Node].ID, Hops: linkproto.MaxHops, VL: 1, Packet: body,
		State: linkproto.VLState{Kind: linkproto.KindAck, Packet: true}.Byte()}
	raw := try.Get(r.Append(nil))
	try.OK(from.SendRaw(raw))
	from.Credit(1).Sent(len(raw))
}

// rest lets some time pass, so that nothing is under way, and messages meet the words of links anywhere.
func (p ports) rest(rng *testbench.Rand) {
	for range 300 + rng.IntN(200) {
		try.OK(p.Step())
	}
}

// Trips sends a message without bytes from the host's port of one of two network interfaces to that of the other and back, again and again, and returns how
// many clocks that takes, sorted. Hosts look at each clock, and answer at once.
func Trips(ctx context.Context, t *topology.Topology, count int) (clocks []int, err error) {
	err = try.Run(func() {
		p := openPorts(ctx, t, rtl.Params{})
		defer try.Finally(p.Close)
		back := false
		p.far.Routed = func(linkproto.Route, []byte) { p.send(p.far, p.near, nil) }
		p.near.Routed = func(linkproto.Route, []byte) { back = true }
		rng := testbench.NewRand(1)
		for range count {
			p.rest(rng)
			back = false
			start := p.Cycles
			p.send(p.near, p.far, nil)
			for !back {
				try.OK(p.Step())
			}
			clocks = append(clocks, int(p.Cycles-start))
		}
		slices.Sort(clocks)
	})
	return clocks, err
}
