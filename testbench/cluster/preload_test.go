package cluster_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// TestPreload: a network whose tables are preloaded has the tables that packets would have written, as its nodes answer themselves, and carries what one set up by
// packets does, in one process and in two.
func TestPreload(t *testing.T) {
	for _, test := range []struct {
		shape string
		size  []int
		links int
		rungs []string // of nodes in turn
	}{
		{"star", []int{3}, 1, []string{cluster.RTL}},
		{"hyper-crossbar", []int{2, 2}, 2, []string{cluster.RTL}},
		{"tree", []int{2, 2}, 1, []string{cluster.RTL, cluster.Model}},
		{"ring", []int{4}, 1, []string{cluster.Model, cluster.RTL}},
	} {
		t.Run(test.shape, func(t *testing.T) {
			top := check.Must(topology.Generate(test.shape, test.size, test.links))(t)
			for i := range top.Nodes {
				top.Nodes[i].Rung = test.rungs[i%len(test.rungs)]
			}
			for i := range top.Cables {
				top.Cables[i].Latency = 40
			}
			seed := testbench.TestSeed(t)
			var tables [3][]uint32
			var results [3]cluster.Result
			for i := range tables {
				config := cluster.Config{Topology: top, Seed: seed, Preload: i > 0}
				var workers inProcess
				if i == 2 {
					config.Parts = workers.parts(2)
				}
				c := check.Must(cluster.Open(t.Context(), config))(t)
				check.Equal(t, "preload", c.Setup.Preload, i > 0)
				if i > 0 && (c.Setup.Requests > 0 || c.Setup.Links > 2500) {
					t.Errorf("a preloaded network: %+v", c.Setup)
				}
				tables[i] = readTables(t, c)
				results[i] = check.Must(c.Carry(cluster.Traffic{Packets: 20, Bytes: 40, Pages: 5}))(t)
				results[i].Cycles = 0
				check.Fatal(t, c.Close())
				workers.running.Wait()
			}
			if !slices.ContainsFunc(tables[0], func(v uint32) bool { return v != 0 }) {
				t.Error("all tables are empty")
			}
			for i := 1; i < 3; i++ {
				check.Equal(t, fmt.Sprint("tables of ", i), tables[i], tables[0])
				check.Equal(t, fmt.Sprint("result of ", i), results[i], results[0])
			}
		})
	}
}

// readTables reads the numbers and tables of all routers by REG_READ: of switches by packets, of network interfaces by their hosts.
func readTables(t *testing.T, c *cluster.Cluster) (values []uint32) {
	t.Helper()
	regs := []linkproto.Reg{linkproto.RegNodeID, linkproto.GroupReg(0), linkproto.GroupReg(15), linkproto.RouteReg(0), linkproto.RouteReg(4095)}
	for _, node := range c.Topology.Nodes {
		regs = append(regs, linkproto.RouteReg(node.ID))
	}
	peers := c.Topology.Peers()
	for i, node := range c.Topology.Nodes {
		for _, reg := range regs {
			switch ni := slices.IndexFunc(c.NIs, func(n *cluster.NI) bool { return n.Node == i }); {
			case node.Kind == topology.Switch:
				at := slices.IndexFunc(c.NIs, func(n *cluster.NI) bool { return slices.Contains(peers[i][1:], n.Node) })
				if at < 0 {
					at = 0
				}
				values = append(values, askSwitch(t, c, c.NIs[at], node.ID, reg))
			case c.NIs[ni].Params.Router > 0:
				values = append(values, check.Must(c.Register(i, reg))(t))
			}
		}
	}
	return values
}

// askSwitch reads a register of a switch by a packet.
func askSwitch(t *testing.T, c *cluster.Cluster, from *cluster.NI, dest uint16, reg linkproto.Reg) (value uint32) {
	t.Helper()
	answer := manage(t, c, from, dest, linkproto.Packet{Type: linkproto.TypeRegRead, Tag: 7, Reg: reg})
	check.Equal(t, "answer", answer.Type, linkproto.TypeRegData)
	return answer.Value
}

// manage has a switch answer a request.
func manage(t *testing.T, c *cluster.Cluster, from *cluster.NI, dest uint16, request linkproto.Packet) (answer linkproto.Packet) {
	t.Helper()
	r := linkproto.Route{
		Via: 1, Dest: dest, Src: c.Topology.Nodes[from.Node].ID, Hops: linkproto.MaxHops, State: linkproto.RouteDatagram, Packet: check.Must(request.Append(nil))(t),
	}
	raw := check.Must(r.Append(nil))(t)
	came := false
	from.Routed = func(r linkproto.Route, _ []byte) {
		check.Fatal(t, answer.Decode(r.Packet))
		came = true
	}
	defer func() { from.Routed = nil }()
	check.Fatal(t, c.Until(10_000, "room", func() bool { return from.Credit(1).HasRoom(len(raw)) && from.SendRaw(raw) == nil }))
	from.Credit(1).Sent(len(raw))
	check.Fatal(t, c.Until(10_000, "an answer", func() bool { return came }))
	return answer
}
