package routing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
)

// TestUpDown has any network routed up and down: all nodes reach all, nothing deadlocks, and Check says so.
func TestUpDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := networkOf(anyNetwork.Draw(t, "network"))
		tables := check.Must(Build(n.Topology, "up-down"))(t)
		for from := range n.Nodes {
			for to := range n.Nodes {
				if n.walk(tables, from, to, -1) < 0 {
					t.Errorf("no way from %s to %s", n.Nodes[from].Name, n.Nodes[to].Name)
				}
			}
		}
		check.Equal(t, "deadlock", n.deadlock(tables), "")
		if n.Count(topology.NI) > 1 || n.Count(topology.Switch) == 0 {
			check.Fatal(t, tables.Check().Err())
		}
	})
}

// TestCheckAgrees compares what Check says of any tables with packets that are carried one by one, also while each of the cables is cut.
func TestCheckAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := networkOf(anyNetwork.Draw(t, "network"))
		tables := check.Must(Build(n.Topology, rapid.SampledFrom([]string{"up-down", "shortest"}).Draw(t, "routing")))(t)
		for range rapid.IntRange(0, 4).Draw(t, "spoilt") {
			list := rapid.SampledFrom([][]uint8{tables.ports, tables.alternates}).Draw(t, "list")
			list[rapid.IntRange(0, len(list)-1).Draw(t, "entry")] = rapid.Uint8Range(0, 7).Draw(t, "port")
		}
		for i := range len(n.Nodes) { // a destination has no way to itself
			tables.ports[i*len(n.Nodes)+i], tables.alternates[i*len(n.Nodes)+i] = 0, 0
		}
		report := tables.Check()
		check.Equal(t, "a cycle is reported", len(report.Cycle) > 0, n.deadlock(tables) != "")
		verifyCycle(t, n, tables, report.Cycle)
		lost := map[string]int{}
		unreachable, longest := 0, 0
		for from := range n.Nodes {
			for to := range n.Nodes {
				if n.Nodes[from].Kind != topology.NI || from == to {
					continue
				}
				hops := n.walk(tables, from, to, -1)
				longest = max(longest, hops)
				if hops < 0 {
					unreachable++
				}
				for c := range n.Cables {
					if hops >= 0 && n.Nodes[to].Kind == topology.NI && n.walk(tables, from, to, c) < 0 {
						lost[n.CableName(n.Cables[c])]++
					}
				}
			}
		}
		check.Equal(t, "unreachable", report.Unreachable, unreachable)
		check.Equal(t, "longest", report.Longest.Hops, longest)
		have := map[string]int{}
		for _, cut := range report.Cuts {
			have[cut.Cable] = cut.Lost
		}
		check.Equal(t, "lost pairs by cable", have, lost)
	})
}

// verifyCycle holds each step of a cycle to the tables.
func verifyCycle(t check.TB, n network, tables *Tables, cycle []Step) {
	t.Helper()
	for i, step := range cycle {
		from, to, onward := n.end(t, step.From), n.end(t, step.To), n.end(t, cycle[(i+1)%len(cycle)].From)
		check.Equal(t, "other end of "+step.From, n.other[from], to)
		check.Equal(t, "node behind "+step.To, onward.Node, to.Node)
		if step.Count == 0 || len(step.Destinations) == 0 {
			t.Errorf("no destination takes step %v", step)
		}
		for _, name := range step.Destinations {
			d, _ := n.Find(name)
			for _, hop := range []topology.End{from, onward} {
				if port, alternate := tables.Route(hop.Node, d); int(port) != hop.Port && int(alternate) != hop.Port {
					t.Errorf("packets for %s do not leave by %s", name, n.EndName(hop))
				}
			}
		}
	}
}

func (n network) end(t check.TB, name string) topology.End {
	node, port, _ := strings.Cut(name, ":")
	i, known := n.Find(node)
	if !known {
		t.Errorf("no node %q", node)
	}
	e := topology.End{Node: i}
	fmt.Sscan(port, &e.Port)
	return e
}

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		shape, routing string
		size           []int
		links          int
		hops           int
		alternates     int // of 100 entries, at least
	}{
		{"line", "", []int{5}, 1, 4, 0},
		{"line", "", []int{5}, 2, 4, 100},
		{"ring", "", []int{6}, 1, 5, 20},
		{"mesh", "", []int{4, 3}, 1, 5, 25},
		{"mesh", "", []int{3, 3, 3}, 1, 6, 30},
		{"mesh", "up-down", []int{3, 3, 3}, 1, 6, 50},
		{"torus", "", []int{4, 4}, 1, 6, 70},
		{"torus", "dimension-order", []int{3, 3}, 1, 2, 10},
		{"star", "", []int{8}, 1, 2, 0},
		{"star", "", []int{8}, 2, 2, 90},
		{"tree", "", []int{3, 2}, 1, 4, 0},
		{"fat-tree", "", []int{3, 3}, 1, 6, 20},
		{"fat-tree", "", []int{2, 3}, 2, 6, 90},
		{"fat-tree", "up-down", []int{2, 3}, 1, 8, 15},
		{"hyper-crossbar", "", []int{4}, 1, 2, 0},
		{"hyper-crossbar", "", []int{4, 4}, 1, 5, 0},
		{"hyper-crossbar", "", []int{3, 4, 2}, 1, 7, 0},
		{"hyper-crossbar", "", []int{3, 4, 2}, 2, 7, 90},
		{"hyper-crossbar", "", []int{9, 9}, 2, 5, 60}, // two switches a line
		{"hyper-crossbar", "up-down", []int{3, 3, 3}, 1, 10, 35},
		{"hyper-crossbar", "shortest", []int{4}, 1, 2, 0},
	} {
		t.Run(strings.TrimSpace(fmt.Sprint(c.shape, c.size, c.links, " ", c.routing)), func(t *testing.T) {
			tables := build(t, c.shape, c.size, c.links, c.routing)
			n := networkOf(tables.Topology)
			check.Equal(t, "deadlock", n.deadlock(tables), "")
			report := tables.Check()
			check.Fatal(t, report.Err())
			if report.Longest.Hops > c.hops {
				t.Errorf("a way of %d hops, want at most %d", report.Longest.Hops, c.hops)
			}
			if share := 100 * report.Alternates / report.Entries; share < c.alternates {
				t.Errorf("%d %% of entries have alternates, want at least %d", share, c.alternates)
			}
		})
	}
}

// TestDimensionOrder takes hyper-crossbars of any size, whose switches are reached against the order.
func TestDimensionOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SliceOfN(rapid.IntRange(2, 5), 1, 3).Draw(t, "size")
		tables := build(t, "hyper-crossbar", size, rapid.IntRange(1, 2).Draw(t, "links"), "")
		check.Equal(t, "deadlock", networkOf(tables.Topology).deadlock(tables), "")
		check.Fatal(t, tables.Check().Err())
	})
}

// TestCycles plants routes that can deadlock.
func TestCycles(t *testing.T) {
	for _, c := range []struct {
		shape, routing string
		size           []int
		steps          int
	}{
		{"ring", "shortest", []int{5}, 5},
		{"ring", "shortest", []int{12}, 12},
		{"ring", "dimension-order", []int{6}, 6},
		{"torus", "dimension-order", []int{5, 5}, 5},
		{"torus", "dimension-order", []int{8, 2, 7}, 7},
	} {
		t.Run(fmt.Sprint(c.shape, c.size, " ", c.routing), func(t *testing.T) {
			tables := build(t, c.shape, c.size, 1, c.routing)
			report := tables.Check()
			check.Equal(t, "steps", len(report.Cycle), c.steps)
			verifyCycle(t, networkOf(tables.Topology), tables, report.Cycle)
			check.Fails(t, "Err", report.Err(), nil, "packets can deadlock")
			check.Equal(t, "alternates", report.Alternates, 0)
			check.Fails(t, "Tree", check.Err(tables.Tree(0, []int{1})), nil, "can deadlock already")
		})
	}
}

func TestReports(t *testing.T) {
	long := build(t, "line", []int{70}, 1, "").Check()
	check.Equal(t, "longest", long.Longest, Longest{69, "n69", "n0"})
	check.Fails(t, "long line", long.Err(), nil, "a way has 69 hops, and a packet makes at most 62")

	tables := build(t, "line", []int{4}, 1, "")
	tables.ports[0*4+1] = 2 // n1 sends what is for n0 to n2
	tables.ports[3*4+2] = 0
	report := tables.Check()
	check.Equal(t, "missing", report.Missing, []Missing{
		{"n1", "n0", "a loop: n1, n2, n1"}, {"n2", "n0", "a loop: n2, n1, n2"}, {"n3", "n0", "a loop: n2, n1, n2"},
	})
	check.Fails(t, "loop", report.Err(), nil, "6 of 12 pairs have no way")

	star := build(t, "star", []int{3}, 1, "").Check()
	check.Equal(t, "cuts of a star", star.Cuts[0], Cut{"n0:1 - s0:1", 4, []string{"n2 -> n0", "n0 -> n1", "n0 -> n2"}})
	check.Equal(t, "answers", star.Answers, [2]int{3, 3})
	check.Equal(t, "answers of a hyper-crossbar", build(t, "hyper-crossbar", []int{4, 3}, 1, "").Check().Answers, [2]int{3, 12})
}

func TestBuildRefuses(t *testing.T) {
	ring := check.Must(topology.Generate("ring", []int{4}, 1))(t)
	check.Fails(t, "no routing", check.Err(Build(ring, "updown")), nil, `no routing "updown"`)
	check.Fails(t, "fat tree", check.Err(Build(ring, "fat-tree")), nil, "needs a fat tree")
	tree := check.Must(topology.Generate("tree", []int{2, 2}, 1))(t)
	check.Fails(t, "dimension order", check.Err(Build(tree, "dimension-order")), nil, "needs the coordinates")
	ring.Nodes[3].At = nil
	check.Fails(t, "further node", check.Err(Build(ring, "dimension-order")), nil, "node n3 has no coordinates")
	ring.Cables = ring.Cables[:2]
	check.Fails(t, "in parts", check.Err(Build(ring, "")), nil, "no way leads")
	for _, name := range topology.Routings() {
		if !slices.ContainsFunc(routings, func(r namedRouting) bool { return r.name == name }) {
			t.Errorf("routing %s is not there", name)
		}
	}
}

// TestSpread holds that what goes to different nodes uses all cables between the same two.
func TestSpread(t *testing.T) {
	tables := build(t, "line", []int{4}, 3, "")
	used := map[uint8]bool{}
	for d := 1; d < 4; d++ {
		port, _ := tables.Route(0, d)
		used[port] = true
	}
	check.Equal(t, "ports used", len(used), 3)
	check.Equal(t, "of none", spread(0, 5), 0)
	check.Equal(t, "the last", spread(0x8001, 3), 16)
}
