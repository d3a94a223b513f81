package routing

import (
	"fmt"

	"github.com/stafflink/lmmc/hostdrv/topology"
)

// BarrierTree makes the tree of a barrier group: for each node the ports of the group, as PORTS of its register MEMBERS has them, bit 0 being the
// node itself. Nodes outside of the tree have 0. Its root is in the middle between the two members that are farthest from each other, or nearly so.
func BarrierTree(t *topology.Topology, members []int) (ports []uint32, err error) {
	ports = make([]uint32, len(t.Nodes))
	for _, m := range members {
		switch {
		case m < 0 || m >= len(t.Nodes) || t.Nodes[m].Kind != topology.NI:
			return nil, fmt.Errorf("routing: a barrier group: node number %d is no network interface: leave it out", m)
		case ports[m] != 0:
			return nil, fmt.Errorf("routing: a barrier group: %s is a member twice: name it once", t.Nodes[m].Name)
		}
		ports[m] = 1
	}
	if len(members) < 2 {
		return nil, fmt.Errorf("routing: a barrier group of %d members: want 2 or more", len(members))
	}
	a := waysTo(t, members[0]).farthest(members)
	b := waysTo(t, a)
	root := b.farthest(members)
	for half := b.distance[root] / 2; half > 0; half-- {
		root = b.up[root][0].Node
	}
	s := waysTo(t, root)
	for _, m := range members {
		if m != root && s.distance[m] == 0 {
			return nil, fmt.Errorf("routing: a barrier group: there is no way from %s to %s: join them by cables", t.Nodes[root].Name, t.Nodes[m].Name)
		}
		for u := m; u != root; {
			up, own := s.up[u][0], s.up[u][1]
			ports[up.Node] |= 1 << up.Port
			ports[u] |= 1 << own.Port
			u = up.Node
		}
	}
	return ports, nil
}

// ways are the shortest from all nodes to one: for each how long it is, and the first cable of it, with its far end first.
type ways struct {
	distance []int
	up       [][2]topology.End
}

// waysTo finds them.
func waysTo(t *topology.Topology, root int) ways {
	cables := make([][][2]topology.End, len(t.Nodes)) // by the node at the near end
	for _, c := range t.Cables {
		for i, e := range c.Ends {
			cables[e.Node] = append(cables[e.Node], [2]topology.End{e, c.Ends[1-i]})
		}
	}
	w := ways{make([]int, len(t.Nodes)), make([][2]topology.End, len(t.Nodes))}
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		for _, c := range cables[queue[0]] {
			if far := c[1].Node; far != root && w.distance[far] == 0 {
				w.distance[far], w.up[far] = w.distance[queue[0]]+1, c
				queue = append(queue, far)
			}
		}
	}
	return w
}

// farthest is the node among some that has the longest way.
func (w ways) farthest(nodes []int) int {
	far := nodes[0]
	for _, n := range nodes {
		if w.distance[n] > w.distance[far] {
			far = n
		}
	}
	return far
}
