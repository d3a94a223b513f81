// Package netmgmt sets up the switches of a network by routed packets, from network interfaces (NIs) that manage them.
//
// A switch begins without a number, and takes every packet as its own. So switches are set up outwards: Plan says by whom, in which order and with
// what, and Setup is the state machine that does it. It has no clock, goroutine or I/O: its user sends the packets that it asks for, gives it those that
// come, and says what time it is.
package netmgmt

import (
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/routing"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/linkproto"
)

// Plan says how the switches of a network are set up. Nodes are named by their index in Topology.Nodes.
type Plan struct {
	Topology *topology.Topology
	Steps    []Step // one for each switch, each behind those that it needs
}

// Step is how a switch is set up.
type Step struct {
	Switch  int
	Manager int   // NI that sets it up
	Needs   []int // switches through which its requests and answers go
	Hops    int   // routers between the two
	Ways    []Entry
	Rest    []Entry
}

// Entry is one of a routing table.
type Entry struct {
	Dest            int // node
	Port, Alternate uint8
}

// NewPlan plans the set-up of all switches with their tables. Each is managed by the first of these NIs that reaches it and is reached by it, or, if none
// does, by the nearest NI.
//
// Of a table it takes what packets can need: entries for all NIs to which some NI's packets come by there, and for switches on the way from their
// managers. Ways are those that requests and answers take; they have no alternates, since those could lead to a switch that has no number yet. The Rest
// is for when all switches have their Ways.
func NewPlan(t *routing.Tables, managers ...int) (*Plan, error) { return newPlan(t, false, managers) }

// NewOpenPlan is NewPlan with entries by which all NIs reach all switches, as far as there are ways, and are answered: groups of barriers are set up
// by their members.
func NewOpenPlan(t *routing.Tables, managers ...int) (*Plan, error) {
	return newPlan(t, true, managers)
}

func newPlan(t *routing.Tables, all bool, managers []int) (*Plan, error) {
	p := &planner{Tables: t, peers: t.Topology.Peers(), ways: make([]map[int]bool, len(t.Topology.Nodes))}
	steps := map[int]*Step{}
	for s, node := range t.Topology.Nodes {
		if node.Kind != topology.Switch {
			continue
		}
		step, err := p.step(s, managers)
		if err != nil {
			return nil, err
		}
		steps[s] = step
	}
	for s, step := range steps {
		for dest := range p.ways[s] {
			step.Ways = append(step.Ways, Entry{Dest: dest, Port: p.port(s, dest)})
		}
		slices.SortFunc(step.Ways, func(a, b Entry) int { return a.Dest - b.Dest })
	}
	p.addRest(steps, all)
	plan := &Plan{Topology: t.Topology}
	done := map[int]bool{}
	for len(done) < len(steps) {
		before := len(done)
		for s := range t.Topology.Nodes {
			step := steps[s]
			if step == nil || done[s] || slices.ContainsFunc(step.Needs, func(n int) bool { return !done[n] }) {
				continue
			}
			plan.Steps = append(plan.Steps, *step)
			done[s] = true
		}
		if len(done) == before {
			return nil, fmt.Errorf("netmgmt: %s: their requests and answers go through each other, so none can be first: name NIs next to them as managers", p.names(steps, done))
		}
	}
	return plan, nil
}

// Most is how many requests the manager sends that has most to send, if none is lost.
func (p *Plan) Most() (most int) {
	by := map[int]int{}
	for _, s := range p.Steps {
		by[s.Manager] += 2 + len(s.Ways) + len(s.Rest)
		most = max(most, by[s.Manager])
	}
	return most
}

// planner is what NewPlan works on.
type planner struct {
	*routing.Tables
	peers [][]int
	ways  []map[int]bool // by switch: destinations of requests and answers that pass it
}

// names lists the switches that are not done.
func (p *planner) names(steps map[int]*Step, done map[int]bool) string {
	text := ""
	for s, node := range p.Topology.Nodes {
		if steps[s] == nil || done[s] {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += node.Name
	}
	return text
}

func (p *planner) port(from, dest int) uint8 {
	port, _ := p.Route(from, dest)
	return port
}

// path lists the nodes from one to another by first ports, both included, or nil if there is no way.
func (p *planner) path(from, to int) (nodes []int) {
	nodes = []int{from}
	for at := from; at != to; {
		port := p.port(at, to)
		if port == 0 || len(nodes) > routing.MaxHops {
			return nil
		}
		at = p.peers[at][port]
		nodes = append(nodes, at)
	}
	return nodes
}

// step chooses the manager of a switch, and notes what switches on the way need for its requests and answers.
func (p *planner) step(s int, managers []int) (*Step, error) {
	step := &Step{Switch: s, Manager: -1}
	for _, m := range managers {
		if p.manages(m, s) > 0 {
			step.Manager = m
			break
		}
	}
	if step.Manager < 0 {
		least := 0
		for m, node := range p.Topology.Nodes {
			if node.Kind != topology.NI {
				continue
			}
			if hops := p.manages(m, s); hops > 0 && (least == 0 || hops < least) {
				step.Manager, least = m, hops
			}
		}
	}
	if step.Manager < 0 {
		return nil, fmt.Errorf("netmgmt: no network interface can manage %s: either it has no way to the switch, or the switch's answers have none back", p.Topology.Nodes[s].Name)
	}
	there, back := p.path(step.Manager, s), p.path(s, step.Manager)
	step.Hops = len(there) - 2
	p.note(step, there, s)
	p.note(step, back, step.Manager)
	p.note(step, p.path(there[len(there)-2], step.Manager), step.Manager) // answers before it has an entry for them
	return step, nil
}

// manages is how many cables a request takes there and its answer back, 0 if one of them has no way, or would have none while the switch has no table and
// sends answers back by where requests come.
func (p *planner) manages(m, s int) int {
	if nodes := p.Topology.Nodes; m < 0 || m >= len(nodes) || nodes[m].Kind != topology.NI {
		return 0
	}
	there, back := p.path(m, s), p.path(s, m)
	if there == nil || back == nil {
		return 0
	}
	if first := p.path(there[len(there)-2], m); first == nil || slices.Contains(first, s) {
		return 0
	}
	return len(there) + len(back) - 2
}

// note has the switches on a way know its destination, and the step need them.
func (p *planner) note(step *Step, path []int, dest int) {
	for _, at := range path {
		if p.Topology.Nodes[at].Kind != topology.Switch || at == dest {
			continue
		}
		if p.ways[at] == nil {
			p.ways[at] = map[int]bool{}
		}
		p.ways[at][dest] = true
		if at != step.Switch && !slices.Contains(step.Needs, at) {
			step.Needs = append(step.Needs, at)
		}
	}
}

// addRest adds what else packets need: where those of NIs pass on their way to NIs, and in an open plan those between NIs and switches, alternates included,
// and alternates of Ways.
func (p *planner) addRest(steps map[int]*Step, all bool) {
	seen := make([]int, len(p.Topology.Nodes)) // by node: the destination for which it was seen last, and one
	var open []int
	for dest, node := range p.Topology.Nodes {
		open = open[:0]
		see := func(at int) {
			if seen[at] != dest+1 && at != dest {
				seen[at] = dest + 1
				open = append(open, at)
			}
		}
		for from, other := range p.Topology.Nodes {
			switch step := steps[dest]; {
			case node.Kind == topology.NI && other.Kind == topology.NI, all && (node.Kind == topology.NI || other.Kind == topology.NI), step != nil && step.Manager == from, steps[from] != nil && steps[from].Manager == dest:
				see(from)
			}
		}
		for i := 0; i < len(open); i++ {
			at := open[i]
			port, alternate := p.Route(at, dest)
			for _, out := range []uint8{port, alternate} {
				if out != 0 {
					see(p.peers[at][out])
				}
			}
			if step := steps[at]; step != nil && (port != 0 || alternate != 0) && !(p.ways[at][dest] && alternate == 0) {
				step.Rest = append(step.Rest, Entry{Dest: dest, Port: port, Alternate: alternate})
			}
		}
	}
}

// Value is the entry as it stands in ROUTE_TABLE.
func (e Entry) Value() uint32 {
	return linkproto.RoutePort.In(uint32(e.Port)) | linkproto.RouteAlternate.In(uint32(e.Alternate))
}
