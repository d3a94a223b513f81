package routing

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
)

// TestTree has trees for any members: packets come to each once, and all trees together with all routes deadlock nothing.
func TestTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tables *Tables
		links := rapid.IntRange(1, 2).Draw(t, "links")
		shape := rapid.SampledFrom([]string{"", "mesh", "torus", "fat-tree", "hyper-crossbar"}).Draw(t, "shape")
		switch shape {
		case "":
			tables = check.Must(Build(anyNetwork.Draw(t, "network"), ""))(t)
		case "fat-tree":
			tables = build(t, shape, []int{2, rapid.IntRange(1, 3).Draw(t, "levels")}, links, "")
		case "hyper-crossbar":
			tables = build(t, shape, rapid.SliceOfN(rapid.IntRange(2, 10), 1, 2).Draw(t, "size"), links, "") // some with two switches a line
		default:
			tables = build(t, shape, rapid.SliceOfN(rapid.IntRange(2, 4), 1, 3).Draw(t, "size"), 1, "")
		}
		n := networkOf(tables.Topology)
		var nis []int
		for i, node := range n.Nodes {
			if node.Kind == topology.NI {
				nis = append(nis, i)
			}
		}
		if len(nis) == 0 {
			t.Skip("no NIs")
		}
		var trees []*Tree
		for range rapid.IntRange(1, 3).Draw(t, "trees") {
			members := rapid.SliceOfDistinct(rapid.SampledFrom(nis), rapid.ID[int]).Draw(t, "members")
			tree := check.Must(tables.Tree(rapid.SampledFrom(nis).Draw(t, "sender"), members))(t)
			times := map[int]int{}
			n.carry(tree, tree.Sender, topology.End{}, func(topology.End, topology.End) {}, times)
			for _, m := range members {
				if times[m] == 0 {
					t.Errorf("nothing comes to member %s", n.Nodes[m].Name)
				}
			}
			for u, count := range times {
				if count != 1 {
					t.Errorf("packets come to %s %d times", n.Nodes[u].Name, count)
				}
			}
			trees = append(trees, tree)
		}
		check.Equal(t, "deadlock", n.deadlock(tables, trees...), "")
		report := tables.Check(trees...)
		check.Equal(t, "trees", report.Trees, len(trees))
		check.Equal(t, "cycle", len(report.Cycle), 0)
		check.Equal(t, "unreachable", report.Unreachable, 0)
	})
}

// TestBadTrees has Check find what is wrong with trees.
func TestBadTrees(t *testing.T) {
	tables := build(t, "ring", []int{4}, 1, "")
	around := &Tree{Sender: 0, Members: []int{1, 2, 3}, Ports: []uint16{3, 3, 3, 3}}
	report := tables.Check(around)
	check.Equal(t, "trees in the cycle", report.Cycle[0].Trees, []string{"n0"})
	check.Equal(t, "missing", report.Missing[0].Why, "the multicast tree leads there more than once")
	short := &Tree{Sender: 0, Members: []int{0, 1, 3}, Ports: []uint16{1, 1, 0, 0}}
	check.Equal(t, "missing", tables.Check(short).Missing, []Missing{{"n0", "n3", "the multicast tree does not lead there"}})

	star := build(t, "star", []int{4}, 1, "")
	check.Fails(t, "a switch as member", check.Err(star.Tree(0, []int{1, 4})), nil, "node number 4 is no network interface")
	tree := check.Must(star.Tree(2, []int{0, 2, 3}))(t)
	check.Equal(t, "masks", tree.Ports, []uint16{1, 0, 1, 1, 0b1101})
}
