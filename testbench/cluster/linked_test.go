package cluster_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/ni"
)

// TestLinked: what is of a virtual link, and a datagram with a MESSAGE, comes from host to host whole and in order, whatever is in it, over a cable, a switch and the router of a network
// interface, and another datagram between is carried out.
func TestLinked(t *testing.T) {
	for _, network := range []struct {
		shape   string
		nodes   int
		to      int  // the NI to which the first one sends, and from which it is sent to
		routers bool // these have one
	}{{"cable", 2, 1, false}, {"star", 2, 1, false}, {"line", 3, 2, false}, {"ring", 4, 2, true}} {
		for _, rung := range []string{cluster.RTL, cluster.Model} {
			t.Run(network.shape+" "+rung, func(t *testing.T) {
				cable := topology.Link{Lanes: 1, Latency: 1}
				top := &topology.Topology{
					Default: cable,
					Nodes:   []topology.Node{{Name: "n0", ID: 1, Kind: topology.NI, Ports: 1}, {Name: "n1", ID: 2, Kind: topology.NI, Ports: 1}},
					Cables:  []topology.Cable{{Ends: [2]topology.End{{Node: 0, Port: 1}, {Node: 1, Port: 1}}, Link: cable}},
				}
				if network.shape != "cable" {
					top = check.Must(topology.Generate(network.shape, []int{network.nodes}, 1))(t)
				}
				seed := testbench.TestSeed(t)
				t.Logf("seed %d", seed)
				c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Rung: rung, Seed: seed}))(t)
				t.Cleanup(func() { check.Error(t, c.Close()) })
				pair := [2]*cluster.NI{c.NIs[0], c.NIs[network.to]}
				check.Equal(t, "the NIs have routers", pair[0].Params.Router > 0, network.routers)
				rng := testbench.NewRand(seed)
				var want, have [2][][]byte
				for end, from := range pair {
					to := pair[1-end]
					to.Routed = func(_ linkproto.Route, raw []byte) { have[end] = append(have[end], bytes.Clone(raw)) }
					for i := range 24 {
						r := linkproto.Route{Via: 1, Dest: id(c, to), Src: id(c, from), Hops: linkproto.MaxHops, State: uint8(rng.IntN(linkproto.RouteDatagram)),
							VL: uint16(rng.Uint32()), Next: uint8(rng.Uint32()), Seq: uint8(i)}
						r.Packet = rng.Bytes(testbench.Pick(rng, 0, 1, rng.IntN(100), linkproto.MaxPacket(from.Params.PageBytes)))
						message := i%4 == 3
						if message {
							p := linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: rng.Uint32(), Rest: uint32(i)}
							p.Data = rng.Bytes(testbench.Pick(rng, 0, rng.IntN(100), linkproto.MaxPacket(from.Params.PageBytes)-p.Size()))
							r.State, r.VL, r.Next, r.Seq, r.Packet = linkproto.RouteDatagram, 0, 0, 0, check.Must(p.Append(nil))(t)
						}
						raw := check.Must(r.Append(nil))(t)
						if !message {
							copy(raw[len(raw)-linkproto.CRCBytes:], rng.Bytes(linkproto.CRCBytes))
						}
						check.Fatal(t, c.Until(100_000, "room", func() bool {
							return from.Credit(1).HasRoom(len(raw)) && !errors.Is(from.SendRaw(raw), ni.ErrBusy)
						}))
						from.Credit(1).Sent(len(raw))
						raw[linkproto.RoutePathAt] = 0
						want[end] = append(want[end], raw)
					}
					check.Fatal(t, c.Send(from, to, linkproto.Packet{Type: linkproto.TypeWrite}))
				}
				check.Fatal(t, c.Until(100_000, "the packets", func() bool { return len(have[0])+len(have[1]) >= len(want[0])+len(want[1]) }))
				check.Fatal(t, c.Run(5000))
				for end, packets := range have {
					for _, raw := range packets {
						raw[linkproto.RoutePathAt] = 0 // hops are counted
					}
					check.Equal(t, fmt.Sprintf("what came from %d", end), fmt.Sprintf("%x", packets), fmt.Sprintf("%x", want[end]))
				}
				for _, i := range pair {
					bad := check.Must(c.Ask(i, linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.CounterReg(1, linkproto.CntBadPacket)}))(t)
					check.Equal(t, "bad packets", bad.Value, 0)
				}
			})
		}
	}
}

func id(c *cluster.Cluster, i *cluster.NI) uint16 { return c.Topology.Nodes[i.Node].ID }
