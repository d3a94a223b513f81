package routing_test

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/routing"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
)

// TestBarrierTree: the cables of a group join all its members, nobody else's host is one, each cable is one at both its ends, and none is too many: there is
// one less than nodes. No member is farther from another than need be in a tree with its root in the middle.
func TestBarrierTree(t *testing.T) {
	for _, c := range []struct {
		shape   string
		size    []int
		members []int // by place; nil: all NIs
		longest int   // way between two members in the tree
	}{
		{"star", []int{4}, nil, 2},
		{"star", []int{16}, []int{3, 5}, 2},
		{"line", []int{7}, nil, 6},
		{"tree", []int{4, 2}, nil, 4},
		{"fat-tree", []int{2, 3}, nil, 6},
		{"ring", []int{8}, nil, 8},
		{"hyper-crossbar", []int{4, 4, 3}, nil, 12},
	} {
		t.Run(fmt.Sprint(c.shape, c.size), func(t *testing.T) {
			top := check.Must(topology.Generate(c.shape, c.size, 1))(t)
			if c.members == nil {
				for i, n := range top.Nodes {
					if n.Kind == topology.NI {
						c.members = append(c.members, i)
					}
				}
			}
			ports := check.Must(routing.BarrierTree(top, c.members))(t)
			hosts, nodes, cables := 0, 0, 0
			near := make([][]int, len(ports))
			for _, cable := range top.Cables {
				a, b := cable.Ends[0], cable.Ends[1]
				in := ports[a.Node]>>a.Port&1 != 0
				check.Equal(t, "the other end of "+top.CableName(cable), ports[b.Node]>>b.Port&1 != 0, in)
				if in {
					cables++
					near[a.Node], near[b.Node] = append(near[a.Node], b.Node), append(near[b.Node], a.Node)
				}
			}
			for _, p := range ports {
				hosts += int(p & 1)
				nodes += min(bits.OnesCount32(p), 1)
			}
			check.Equal(t, "members", hosts, len(c.members))
			check.Equal(t, "cables", cables, nodes-1)
			longest := 0
			for _, m := range c.members {
				check.Equal(t, "a member's own bit", ports[m]&1, 1)
				far := map[int]int{m: 0}
				for queue := []int{m}; len(queue) > 0; queue = queue[1:] {
					for _, n := range near[queue[0]] {
						if _, seen := far[n]; !seen {
							far[n] = far[queue[0]] + 1
							queue = append(queue, n)
						}
					}
				}
				for _, other := range c.members {
					way, joined := far[other]
					if !joined {
						t.Fatalf("%s and %s are not joined", top.Nodes[m].Name, top.Nodes[other].Name)
					}
					longest = max(longest, way)
				}
			}
			if longest > c.longest {
				t.Errorf("the longest way has %d cables, want %d at most", longest, c.longest)
			}
		})
	}
}

// TestBarrierTreeRefused: what is no group is refused by name.
func TestBarrierTreeRefused(t *testing.T) {
	top := check.Must(topology.Generate("star", []int{4}, 1))(t)
	s, _ := top.Find("s0")
	for want, members := range map[string][]int{
		fmt.Sprintf("node number %d is no network interface", s): {0, s},
		"n1 is a member twice":              {0, 1, 1},
		"a barrier group of 1 members":      {2},
		"node number 99 is no network inte": {0, 99},
	} {
		_, err := routing.BarrierTree(top, members)
		check.Contains(t, "error", fmt.Sprint(err), want)
	}
	apart := &topology.Topology{Nodes: []topology.Node{{Name: "a", ID: 1, Ports: 1}, {Name: "b", ID: 2, Ports: 1}}}
	_, err := routing.BarrierTree(apart, []int{0, 1})
	check.Contains(t, "error", fmt.Sprint(err), "no way from a to b")
}
