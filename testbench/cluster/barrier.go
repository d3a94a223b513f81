package cluster

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv/routing"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

// BarrierGroup is a group of a network's barriers, set up in all routers of its tree.
type BarrierGroup struct {
	Members []*NI

	net        *Cluster
	number     int
	generation uint8
	ports      []uint32          // by node; 0: it is not on the way
	phase      uint8             // that all members have left
	sinks      []*verilator.Sink // by member, once Pass has been called
}

// NewBarrierGroup sets a group up: in network interfaces by their hosts, in switches by datagrams of those that manage them.
func (n *Cluster) NewBarrierGroup(number, generation int, members []*NI) (g *BarrierGroup, err error) {
	var nodes []int
	for _, i := range members {
		nodes = append(nodes, i.Node)
	}
	g = &BarrierGroup{Members: members, net: n, number: number, generation: uint8(generation)}
	return g, try.Run(func() {
		g.ports = try.Get(routing.BarrierTree(n.Topology, nodes))
		g.write(g.ports)
	})
}

// Dissolve ends the group in all routers.
func (g *BarrierGroup) Dissolve() error {
	return try.Run(func() { g.write(make([]uint32, len(g.ports))) })
}

// Regenerate has the group begin anew with another generation while the network carries what it does: in switches, which are to be models, at once. What it returns each
// network interface's host is to ask for, in this order.
func (g *BarrierGroup) Regenerate(generation int) (requests map[*NI][]linkproto.Packet, err error) {
	requests = map[*NI][]linkproto.Packet{}
	write := func(ports uint32) linkproto.Packet {
		return linkproto.Packet{
			Type: linkproto.TypeRegWrite, Reg: linkproto.BarrierRegMembers.Reg(g.number),
			Value: linkproto.BarrierPorts.In(ports) | linkproto.BarrierGeneration.In(uint32(g.generation)),
		}
	}
	for _, ports := range [][]uint32{make([]uint32, len(g.ports)), g.ports} {
		for _, i := range g.net.NIs {
			if g.ports[i.Node] != 0 {
				requests[i] = append(requests[i], write(ports[i.Node]))
			}
		}
		for node, of := range g.net.Topology.Nodes {
			if of.Kind != topology.Switch || g.ports[node] == 0 {
				continue
			}
			s, ok := g.net.nodes[node].(modelSwitch)
			if p := write(ports[node]); !ok || !s.WriteRegister(p.Reg, p.Value) {
				return nil, fmt.Errorf("cluster: %s takes no barrier group: have it run as model with Config.Barriers", of.Name)
			}
		}
		g.generation = uint8(generation)
	}
	g.phase = 0
	return requests, nil
}

// write writes MEMBERS of all routers of the group, with ports by node.
func (g *BarrierGroup) write(ports []uint32) {
	writes := map[int]linkproto.Packet{}
	for node := range ports {
		if g.ports[node] != 0 {
			writes[node] = linkproto.Packet{
				Type: linkproto.TypeRegWrite, Reg: linkproto.BarrierRegMembers.Reg(g.number),
				Value: linkproto.BarrierPorts.In(ports[node]) | linkproto.BarrierGeneration.In(uint32(g.generation)),
			}
		}
	}
	try.Get(g.net.AskEach(func(i *NI) (own []linkproto.Packet) {
		if p, ok := writes[i.Node]; ok {
			own = append(own, p)
		}
		return own
	}))
	g.net.askSwitches(writes)
}

// askSwitches sends a request to each of some switches, and runs until all have answered.
func (n *Cluster) askSwitches(requests map[int]linkproto.Packet) {
	managers := map[int]*NI{}
	for _, i := range n.NIs {
		managers[i.Node] = i
	}
	ways := map[*NI][]int{} // switches by manager
	for _, step := range n.planned().Steps {
		if _, ok := requests[step.Switch]; ok {
			m := managers[step.Manager]
			ways[m] = append(ways[m], step.Switch)
		}
	}
	senders, left := map[*NI]*sender{}, 0
	for i, switches := range ways {
		left += len(switches)
		s := &sender{NI: i}
		senders[i] = s
		next := func() { s.via, s.packet = n.datagram(i, switches[0], requests[switches[0]]) }
		next()
		i.Routed = func(r linkproto.Route, _ []byte) {
			var a linkproto.Packet
			if try.OK(a.Decode(r.Packet)); a.Status != linkproto.StatusOK {
				try.Failf("cluster: %s refused %v: %v", n.Topology.Nodes[switches[0]].Name, requests[switches[0]].Type, a.Status)
			}
			left--
			if switches = switches[1:]; len(switches) > 0 {
				next()
			}
		}
		defer func() { i.Routed = nil }()
	}
	try.OK(n.Until(patience*(1+left), "switches to answer", func() bool {
		for _, s := range senders {
			s.send()
		}
		return left == 0
	}))
}

// enter has the node of a network interface enter the group's next phase, and reports false while its host port takes no packet.
func (g *BarrierGroup) enter(i *NI) (bool, error) {
	err := i.Request(linkproto.Packet{
		Type: linkproto.TypeRegWrite, Reg: linkproto.BarrierRegPhase.Reg(g.number), Value: uint32(linkproto.BarrierValue(g.generation, g.phase+1)),
	}, func(linkproto.Packet) {})
	if errors.Is(err, ni.ErrBusy) {
		return false, nil
	}
	return err == nil, err
}

// Pass has the hosts of all members enter the next phase at the same clock, or where a port is busy as soon as it is not, and runs until all members have left it. It returns the
// clocks from the last enter at a network interface to the last release at one. The network interfaces are to be RTL, with Config.Arrivals. run runs for so many clocks.
func (g *BarrierGroup) Pass(run func(clocks int) error) (clocks int, err error) {
	return clocks, try.Run(func() { clocks = g.pass(run) })
}

func (g *BarrierGroup) pass(run func(clocks int) error) int {
	g.watch()
	asked, n := make([]bool, len(g.Members)), len(g.Members)
	var lastIn, lastOut, firstOut uint64
	for entered, left, start := 0, 0, g.net.Cycles; left < n; {
		for k, i := range g.Members {
			if !asked[k] {
				asked[k] = try.Get(g.enter(i))
			}
		}
		try.OK(run(quantum))
		for k, sink := range g.sinks {
			for b, ok := sink.Get(); ok; b, ok = sink.Get() {
				in, out, group, phase := b.Data>>10&1 != 0, b.Data>>9&1 != 0, int(b.Data>>4&31), uint8(b.Data&15)
				if group != g.number {
					continue
				}
				if phase != (g.phase+1)%(1<<linkproto.BarrierBits) {
					try.Failf("cluster: %s is in phase %d of group %d, want %d", g.net.name(g.Members[k]), phase, g.number, g.phase+1)
				}
				if in {
					entered++
					lastIn = max(lastIn, b.Cycle)
				}
				if out {
					if left++; left == 1 || b.Cycle < firstOut {
						firstOut = b.Cycle
					}
					lastOut = max(lastOut, b.Cycle)
				}
			}
		}
		if left < n && g.net.Cycles-start > uint64(patience) {
			try.OK(error(&ni.Timeout{Since: start, Clocks: uint64(patience), What: fmt.Sprintf("%d members to enter a phase and %d to leave it", n-entered, n-left)}))
		}
	}
	if firstOut < lastIn {
		try.Failf("cluster: a member has left phase %d of group %d at clock %d, and one has entered it at clock %d", g.phase+1, g.number, firstOut, lastIn)
	}
	g.phase = (g.phase + 1) % (1 << linkproto.BarrierBits)
	return int(lastOut - lastIn)
}

// watch attaches to what members tell.
func (g *BarrierGroup) watch() {
	if g.sinks != nil {
		return
	}
	for _, i := range g.Members {
		m, ok := g.net.nodes[i.Node].(*rtlNI)
		if !ok || !g.net.config.Barriers || !g.net.config.Arrivals {
			try.Failf("cluster: %s tells nothing of barriers: have it run as rtl with Config.Barriers and Config.Arrivals", g.net.name(i))
		}
		g.sinks = append(g.sinks, try.Get(m.Sink(verilator.Channel{Data: "barrier", Idle: new(uint64(0)), Depth: 64})))
	}
}
