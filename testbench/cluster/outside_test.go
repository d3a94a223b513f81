package cluster_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	_ "github.com/stafflink/lmmc/hostdrv/transport/serial" // targets serial:
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/serialtest"
)

// outside opens a star of three network interfaces, of which the last is outside, at a target, and that network interface, whose cable leads to another.
func outside(t *testing.T, rung, target, cable string) (near, far *cluster.Cluster) {
	t.Helper()
	top := check.Must(topology.Generate("star", []int{3}, 1))(t)
	top.Nodes[2].Rung = target
	config := cluster.Config{Topology: top, Rung: rung, Seed: testbench.TestSeed(t)}
	only := config
	only.Only, only.Cable, only.Rung = "n2", cable, cluster.Model
	far = check.Must(cluster.Open(t.Context(), only))(t)
	t.Cleanup(func() { check.Error(t, far.Close()) })
	near = check.Must(cluster.Open(t.Context(), config))(t)
	t.Cleanup(func() { check.Error(t, near.Close()) })
	return near, far
}

// TestOutside: datagrams go both ways between a network and a node outside, by TCP and by serial ports that are cabled to each other.
func TestOutside(t *testing.T) {
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	check.Fatal(t, l.Close())
	a, pathA := serialtest.Pty(t)
	b, pathB := serialtest.Pty(t)
	go io.Copy(a, b)
	go io.Copy(b, a)
	for _, test := range []struct{ rung, target, cable string }{
		{cluster.Model, "tcp:" + l.Addr().String(), ""},
		{cluster.RTL, fmt.Sprintf("serial:%s?baud=1000000", pathA), fmt.Sprintf("serial:%s?baud=1000000", pathB)},
	} {
		t.Run(test.rung, func(t *testing.T) {
			near, far := outside(t, test.rung, test.target, test.cable)
			r := testbench.NewRand(testbench.TestSeed(t))
			// cross sends datagrams from one network interface to another until one has come.
			cross := func(in *cluster.Cluster, from *cluster.NI, source uint16, out *cluster.Cluster, to *cluster.NI, dest uint16) {
				t.Helper()
				data := r.Bytes(300)
				write := linkproto.Packet{Type: linkproto.TypeWrite, Addr: 1024, Data: data}
				route := linkproto.Route{Via: 1, Dest: dest, Src: source, Hops: 1, State: linkproto.RouteDatagram, Packet: check.Must(write.Append(nil))(t)}
				for range 1000 { // the link may not be up yet
					if packet := check.Must(route.Append(nil))(t); from.Credit(1).HasRoom(len(packet)) && from.SendRaw(packet) == nil {
						from.Credit(1).Sent(len(packet))
					}
					for range 50 {
						check.Fatal(t, in.Run(64))
						check.Fatal(t, out.Run(64))
					}
					a := check.Must(out.Ask(to, linkproto.Packet{Type: linkproto.TypeBufRead, Addr: 1024, Count: 300}))(t)
					if bytes.Equal(a.Data, data) {
						return
					}
				}
				t.Fatal("nothing comes")
			}
			cross(near, near.NIs[0], 1, far, far.NIs[0], 3)
			cross(far, far.NIs[0], 3, near, near.NIs[1], 2)
			check.Equal(t, "nodes outside", [2]int{near.Outsiders(), far.Outsiders()}, [2]int{1, 1})
			result := check.Must(near.Carry(cluster.Traffic{Packets: 3, Bytes: 20}))(t)
			check.Equal(t, "writes among the others", result.Writes, 6)
		})
	}
}
