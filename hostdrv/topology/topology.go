// Package topology says what is cabled to what in a network: network interfaces (NIs), switches and the cables between their ports.
//
// Generate makes the usual shapes, Read and Topology.Write have them in a file, and Topology.Draw draws them. Which way packets take is
// package routing's.
package topology

import (
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// Limits of nodes and links.
const (
	MaxID          = linkproto.MaxNode // highest number in packets; number 0 is no node
	MaxNodes       = MaxID
	MinSwitchPorts = 2
	MaxSwitchPorts = 16
	MaxNIPorts     = 7
	MaxLanes       = 8
)

// Kind is what a node is.
type Kind uint8

// The kinds of nodes. An NI with more than one link forwards packets, as a switch does.
const (
	NI Kind = iota
	Switch
)

var kinds = []string{NI: "ni", Switch: "switch"}

// String is the kind's name in files.
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// maxPorts is how many ports a node of this kind may have.
func (k Kind) maxPorts() int {
	if k == Switch {
		return MaxSwitchPorts
	}
	return MaxNIPorts
}

// minPorts is how many it has at least.
func (k Kind) minPorts() int {
	if k == Switch {
		return MinSwitchPorts
	}
	return 1
}

// Topology is a network. Validate says whether there can be such a one.
type Topology struct {
	// Shape is what it was generated as, one of Shapes, with Size and Links as given to Generate; "" if it is a list of nodes and cables. What
	// was added to a shape stands behind what was generated.
	Shape string
	Size  []int
	Links int

	Routing string // one of Routings; "" is the shape's own
	Rung    string // of the nodes that state none; "" leaves it to who runs the network
	Default Link   // of the cables that state nothing else

	Nodes  []Node
	Cables []Cable
}

// Node is an NI or a switch.
type Node struct {
	Kind  Kind
	Name  string // unique; letters, digits, '.', '_' and '-'
	ID    uint16 // unique number in packets, 1 to MaxID
	Ports int    // numbered from 1 on
	Lanes int    // of all its links; 0 leaves it to the cables
	Rung  string // what it is when the network runs: "rtl", "model", "gates:BOARD", or a target outside, "tcp:..." or "serial:..."; "" is the topology's

	// At is its place in the shape, nil if it was not generated. In a mesh, torus or hyper-crossbar (a line and a ring have one dimension) these
	// are its coordinates; of a switch of a hyper-crossbar, Across in the dimension whose line of NIs it joins. In trees the first is the level, 0 for
	// NIs, and the others are digits, the lowest first, that say which of its level it is.
	At []int
}

// Across is the coordinate of a switch of a hyper-crossbar in the dimension in which it joins NIs.
const Across = -1

// Link is what a cable is like.
type Link struct {
	Lanes        int     // 1 to MaxLanes
	Latency      int     // clocks that a symbol travels, 1 or more
	BitErrorRate float64 // share of bits that arrive wrong, 0 to 1
}

// End is a port of a node.
type End struct {
	Node int // index in Topology.Nodes
	Port int // from 1 on
}

// Cable connects two ports.
type Cable struct {
	Ends [2]End
	Link
}

// plainLink is a cable of which nothing was said.
var plainLink = Link{Lanes: 1, Latency: 1}

// Routings are the names of the ways to make tables from a topology. Package routing has them.
func Routings() []string { return []string{"dimension-order", "up-down", "fat-tree", "shortest"} }

// RoutingName is the routing that is meant: the stated one, or the shape's own.
func (t *Topology) RoutingName() string {
	if t.Routing != "" {
		return t.Routing
	}
	for _, s := range shapes {
		if s.Name == t.Shape {
			return s.Routing
		}
	}
	return "up-down"
}

// Find returns the index of the node of this name, and whether there is one.
func (t *Topology) Find(name string) (int, bool) {
	i := slices.IndexFunc(t.Nodes, func(n Node) bool { return n.Name == name })
	return i, i >= 0
}

// Count is how many nodes of a kind there are.
func (t *Topology) Count(kind Kind) (n int) {
	for _, node := range t.Nodes {
		if node.Kind == kind {
			n++
		}
	}
	return n
}

// Names are those of the nodes of a kind.
func (t *Topology) Names(kind Kind) (names []string) {
	for _, node := range t.Nodes {
		if node.Kind == kind {
			names = append(names, node.Name)
		}
	}
	return names
}

// Peers are the nodes at the other ends of the cables, by node and port; -1 where there is none, as at port 0.
func (t *Topology) Peers() (peers [][]int) {
	for _, node := range t.Nodes {
		peers = append(peers, slices.Repeat([]int{-1}, node.Ports+1))
	}
	for _, c := range t.Cables {
		for i, e := range c.Ends {
			peers[e.Node][e.Port] = c.Ends[1-i].Node
		}
	}
	return peers
}

// EndName writes an end as in files, NAME:PORT.
func (t *Topology) EndName(e End) string {
	if e.Node < 0 || e.Node >= len(t.Nodes) {
		return fmt.Sprintf("no node:%d", e.Port)
	}
	return fmt.Sprintf("%s:%d", t.Nodes[e.Node].Name, e.Port)
}

// CableName names a cable by its two ends.
func (t *Topology) CableName(c Cable) string {
	return t.EndName(c.Ends[0]) + " - " + t.EndName(c.Ends[1])
}
