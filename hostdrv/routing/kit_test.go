package routing

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
)

// build makes the tables of a shape.
func build(t check.TB, shape string, size []int, links int, routing string) *Tables {
	t.Helper()
	return check.Must(Build(check.Must(topology.Generate(shape, size, links))(t), routing))(t)
}

// anyNetwork is a connected list of nodes and cables.
var anyNetwork = rapid.Custom(func(t *rapid.T) *topology.Topology {
	link := topology.Link{Lanes: 1, Latency: 1}
	n := &topology.Topology{Default: link}
	free := [][]int{}
	join := func(a, b int) {
		if len(free[a]) > 0 && len(free[b]) > 0 && a != b {
			n.Cables = append(n.Cables, topology.Cable{Ends: [2]topology.End{{Node: a, Port: free[a][0]}, {Node: b, Port: free[b][0]}}, Link: link})
			free[a], free[b] = free[a][1:], free[b][1:]
		}
	}
	nodes := rapid.IntRange(2, 12).Draw(t, "nodes")
	for i := range nodes {
		kind := topology.Kind(rapid.IntRange(0, 1).Draw(t, "kind"))
		node := topology.Node{Kind: kind, Name: fmt.Sprintf("x%d", i), ID: uint16(100 - i), Ports: 7}
		n.Nodes = append(n.Nodes, node)
		free = append(free, rapid.Permutation([]int{1, 2, 3, 4, 5, 6, 7}).Draw(t, "ports"))
		if i > 0 {
			to := rapid.IntRange(0, i-1).Draw(t, "to")
			for len(free[to]) == 0 { // some node has a port left
				to = (to + 1) % i
			}
			join(to, i)
		}
	}
	for range rapid.IntRange(0, 10).Draw(t, "more cables") {
		join(rapid.IntRange(0, nodes-1).Draw(t, "a"), rapid.IntRange(0, nodes-1).Draw(t, "b"))
	}
	return n
})

// network is a topology by the names of its ports: the port at the other end, and the cable.
type network struct {
	*topology.Topology
	other map[topology.End]topology.End
	cable map[topology.End]int
}

func networkOf(t *topology.Topology) network {
	n := network{t, map[topology.End]topology.End{}, map[topology.End]int{}}
	for i, c := range t.Cables {
		n.other[c.Ends[0]], n.other[c.Ends[1]] = c.Ends[1], c.Ends[0]
		n.cable[c.Ends[0]], n.cable[c.Ends[1]] = i, i
	}
	return n
}

// walk carries a packet, while a cable is cut unless that is -1, and returns how many cables it has passed, -1 if it is lost.
func (n network) walk(t *Tables, from, to, cut int) (hops int) {
	for u := from; u != to; hops++ {
		port, alternate := t.Route(u, to)
		out := topology.End{Node: u, Port: int(port)}
		if cable, there := n.cable[out]; there && cable == cut {
			out.Port = int(alternate)
		}
		next, there := n.other[out]
		if cable := n.cable[out]; !there || cable == cut || hops > len(n.Nodes) {
			return -1
		}
		u = next.Node
	}
	return hops
}

// deadlock is a cycle in what can wait for what, "" if there is none. It is found by other means than Check finds one.
func (n network) deadlock(t *Tables, trees ...*Tree) string {
	waits := map[topology.End]map[topology.End]bool{}
	add := func(holds, waitsFor topology.End) {
		if waits[holds] == nil {
			waits[holds] = map[topology.End]bool{}
		}
		waits[holds][waitsFor] = true
	}
	outs := func(u, d int) (ends []topology.End) {
		port, alternate := t.Route(u, d)
		for _, p := range []uint8{port, alternate} {
			out := topology.End{Node: u, Port: int(p)}
			if _, there := n.other[out]; there {
				ends = append(ends, out)
			}
		}
		return ends
	}
	for d := range n.Nodes {
		for u := range n.Nodes {
			for _, holds := range outs(u, d) {
				for _, onward := range outs(n.other[holds].Node, d) {
					add(holds, onward)
				}
			}
		}
	}
	for _, tree := range trees {
		n.carry(tree, tree.Sender, topology.End{}, add, map[int]int{})
	}
	state := map[topology.End]int{} // 1: being visited, 2: done
	var path []string
	var visit func(topology.End) string
	visit = func(e topology.End) string {
		path = append(path, n.EndName(e))
		defer func() { path = path[:len(path)-1] }()
		if state[e] == 1 {
			return strings.Join(path, " ")
		}
		if state[e] == 0 {
			state[e] = 1
			for next := range waits[e] {
				if found := visit(next); found != "" {
					return found
				}
			}
			state[e] = 2
		}
		return ""
	}
	for e := range waits {
		if found := visit(e); found != "" {
			return found
		}
	}
	return ""
}

// carry takes a packet of a tree on from a node, and counts where it comes to.
func (n network) carry(tree *Tree, u int, by topology.End, add func(holds, waitsFor topology.End), times map[int]int) {
	if times[u]++; times[u] > 1 {
		return
	}
	for p := range 16 {
		out := topology.End{Node: u, Port: p + 1}
		if tree.Ports[u]>>p&1 != 0 && out != by {
			if by.Port != 0 {
				add(n.other[by], out)
			}
			n.carry(tree, n.other[out].Node, n.other[out], add, times)
		}
	}
}
