package routing

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/topology"
)

// few is how many examples are named.
const few = 3

// Check goes through tables and multicast trees, and trusts nothing that has made them.
func (t *Tables) Check(trees ...*Tree) *Report {
	if t.nodes() == 0 {
		return &Report{Routing: t.Routing, Missing: []Missing{}, Cuts: []Cut{}}
	}
	g, top := t.graph, t.Topology
	c := &checking{Tables: t, answers: make([]int, g.nodes), lost: make([]Cut, len(top.Cables)), report: &Report{
		Routing: t.Routing, NIs: top.Count(topology.NI), Switches: top.Count(topology.Switch), Cables: len(top.Cables), Trees: len(trees), Missing: []Missing{}, Cuts: []Cut{},
	}}
	r := newRoutes(g)
	for d := range g.nodes {
		ports, alternates := t.to(d)
		r.load(d, ports)
		c.ways(r)
		if g.nis[d] {
			c.cuts(r, alternates)
		}
	}
	for _, tree := range trees {
		c.tree(tree)
	}
	c.finish()
	c.report.Cycle = c.cycle(trees)
	return c.report
}

type checking struct {
	*Tables
	report  *Report
	answers []int // by switch: NIs that it reaches
	lost    []Cut // by cable
}

func (c *checking) name(u int32) string { return c.Topology.Nodes[u].Name }

// ways counts what reaches a destination.
func (c *checking) ways(r *routes) {
	g, report := c.graph, c.report
	for u, hops := range r.hops {
		if int32(u) == r.dest {
			continue
		}
		port, alternate := c.Route(u, int(r.dest))
		if port != 0 {
			report.Entries++
		}
		if alternate != 0 {
			report.Alternates++
		}
		switch {
		case !g.nis[u]:
			if hops > 0 && g.nis[r.dest] {
				c.answers[u]++
			}
			continue
		case hops < 0:
			c.missing(int32(u), r.dest, c.why(int32(u), int(r.dest)))
		case int(hops) > report.Longest.Hops:
			report.Longest = Longest{int(hops), c.name(int32(u)), c.name(r.dest)}
		}
		report.Pairs++
	}
}

func (c *checking) missing(from, to int32, why string) {
	c.report.Unreachable++
	if len(c.report.Missing) < few {
		c.report.Missing = append(c.report.Missing, Missing{c.name(from), c.name(to), why})
	}
}

// why says where packets from u get stuck, or in which loop they go.
func (c *checking) why(u int32, dest int) string {
	met := map[int32]int{}
	var way []int32
	for {
		if first, loop := met[u]; loop {
			text := "a loop: "
			for _, n := range way[first:] {
				text += c.name(n) + ", "
			}
			return text + c.name(u)
		}
		met[u] = len(way)
		way = append(way, u)
		port, _ := c.Route(int(u), dest)
		next := c.graph.next(u, port)
		if next < 0 {
			return fmt.Sprintf("node %s has no way on", c.name(u))
		}
		u = next
	}
}

// cuts adds up what each cable loses of what goes to a destination: all that comes to its end, unless the alternate leads around it.
func (c *checking) cuts(r *routes, alternates []uint8) {
	g := c.graph
	for u := range int32(g.nodes) {
		if u == r.dest || r.hops[u] < 0 || r.nis[u] == 0 || alternates[u] != r.ports[u] && r.avoids(g.next(u, alternates[u]), u) {
			continue
		}
		cut := &c.lost[g.cable[g.channel(u, r.ports[u])]]
		cut.Lost += int(r.nis[u])
		if len(cut.Examples) < few {
			cut.Examples = append(cut.Examples, c.name(r.some[u])+" -> "+c.name(r.dest))
		}
	}
}

// tree checks that a multicast tree reaches its members, and nobody twice.
func (c *checking) tree(tree *Tree) {
	times := tree.each(c.graph, func(int32, uint8) {})
	for _, m := range tree.Members {
		if m != tree.Sender {
			c.report.Pairs++
			if times[m] == 0 {
				c.missing(int32(tree.Sender), int32(m), "the multicast tree does not lead there")
			}
		}
	}
	for u, n := range times {
		if n > 1 {
			c.missing(int32(tree.Sender), int32(u), "the multicast tree leads there more than once")
		}
	}
}

func (c *checking) finish() {
	report := c.report
	for i, cut := range c.lost {
		if cut.Lost > 0 {
			cut.Cable = c.Topology.CableName(c.Topology.Cables[i])
			report.Cuts = append(report.Cuts, cut)
		}
	}
	slices.SortStableFunc(report.Cuts, func(a, b Cut) int { return cmp.Compare(b.Lost, a.Lost) })
	least := report.NIs
	for u, n := range c.answers {
		if !c.graph.nis[u] {
			least = min(least, n)
			report.Answers = [2]int{least, max(report.Answers[1], n)}
		}
	}
}
