package routing

import (
	"math/bits"

	"github.com/stafflink/lmmc/hostdrv/topology"
)

// graph is a network by its channels. A channel is a port as what sends: one direction of a cable.
type graph struct {
	nodes int
	nis   []bool
	first []int32 // a node's channels begin there, one a port; one more for the end
	from  []int32 // by channel: the node that sends
	peer  []int32 // the node that receives, -1 where no cable is
	back  []int32 // the other direction of its cable
	cable []int32 // index in Topology.Cables
}

func newGraph(t *topology.Topology) *graph {
	g := &graph{nodes: len(t.Nodes)}
	for i, n := range t.Nodes {
		g.nis = append(g.nis, n.Kind == topology.NI)
		g.first = append(g.first, int32(len(g.from)))
		for range n.Ports {
			g.from = append(g.from, int32(i))
			g.peer = append(g.peer, -1)
			g.back = append(g.back, -1)
			g.cable = append(g.cable, -1)
		}
	}
	g.first = append(g.first, int32(len(g.from)))
	for i, c := range t.Cables {
		a, b := g.at(c.Ends[0]), g.at(c.Ends[1])
		g.peer[a], g.peer[b] = int32(c.Ends[1].Node), int32(c.Ends[0].Node)
		g.back[a], g.back[b] = b, a
		g.cable[a], g.cable[b] = int32(i), int32(i)
	}
	return g
}

func (g *graph) at(e topology.End) int32 { return g.channel(int32(e.Node), uint8(e.Port)) }

func (g *graph) channel(node int32, port uint8) int32 { return g.first[node] + int32(port) - 1 }

// port is a channel's port of the node that sends.
func (g *graph) port(channel int32) uint8 { return uint8(channel - g.first[g.from[channel]] + 1) }

// ports are how many a node has.
func (g *graph) ports(node int32) uint8 { return uint8(g.first[node+1] - g.first[node]) }

// next is the node to which a router's port leads, -1 if it has no such port or no cable is there.
func (g *graph) next(node int32, port uint8) int32 {
	if port == 0 || port > g.ports(node) {
		return -1
	}
	return g.peer[g.channel(node, port)]
}

// bit is a port in a mask of ports; none for port 0.
func bit(port uint8) uint16 { return uint16(uint32(1) << port >> 1) }

// spread chooses one of the ports of a mask by the destination, 0 from none: cables between the same nodes share what goes to different nodes.
func spread(mask uint16, number int) uint8 {
	if mask == 0 {
		return 0
	}
	for range number % bits.OnesCount16(mask) {
		mask &= mask - 1
	}
	return uint8(bits.TrailingZeros16(mask)) + 1
}
