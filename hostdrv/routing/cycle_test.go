package routing

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
)

// TestCycleBehindOthers: a cycle is found behind however many channels that lie between two cycles: here on a line, by which packets go one way from a ring to another. Its nodes come first.
func TestCycleBehindOthers(t *testing.T) {
	const line, ring = starts + 10, 5
	link := topology.Link{Lanes: 1, Latency: 1}
	n := &topology.Topology{Default: link}
	for i := range line + 2*ring {
		n.Nodes = append(n.Nodes, topology.Node{Name: fmt.Sprint("x", i), ID: uint16(i + 1)})
	}
	join := func(a, b int) {
		n.Nodes[a].Ports++
		n.Nodes[b].Ports++
		n.Cables = append(n.Cables, topology.Cable{Ends: [2]topology.End{{Node: a, Port: n.Nodes[a].Ports}, {Node: b, Port: n.Nodes[b].Ports}}, Link: link})
	}
	for i := range line - 1 {
		join(i, i+1)
	}
	for k, end := range []int{0, line - 1} {
		first := line + k*ring
		join(end, first)
		for i := range ring {
			join(first+i, first+(i+1)%ring)
		}
	}
	tables := check.Must(Build(n, ""))(t)
	clear(tables.ports)
	clear(tables.alternates)
	way := func(nodes ...int) { // by which packets go to the last one
		dest := nodes[len(nodes)-1]
		ports, _ := tables.to(dest)
		for i, at := range nodes[:len(nodes)-1] {
			ports[at] = spread(tables.graph.portsTo(int32(at), int32(nodes[i+1])), 0)
		}
	}
	across := []int{line + ring - 1, line}
	for i := range line {
		across = append(across, i)
	}
	way(append(across, line+ring, line+ring+1)...)
	for k := range 2 {
		for i := range ring {
			first := line + k*ring
			way(first+i, first+(i+1)%ring, first+(i+2)%ring)
		}
	}
	report := tables.Check()
	check.Equal(t, "channels that wait for each other", len(report.Cycle), ring)
	verifyCycle(t, networkOf(n), tables, report.Cycle)
	check.Fails(t, "the network", report.Err(), nil, "packets can deadlock")
}
