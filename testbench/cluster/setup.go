package cluster

import (
	"github.com/stafflink/lmmc/hostdrv/netmgmt"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// Setup is how the network was set up.
type Setup struct {
	Links    uint64   `json:"links_cycles"` // clocks until all links were up
	Preload  bool     `json:"preload"`      // Config.Preload: nobody sent anything
	Cycles   uint64   `json:"cycles"`       // clocks from then on until all switches were set up
	Managers []string `json:"managers"`     // network interfaces that did it
	Requests int      `json:"requests"`     // that they sent
	Repeats  int      `json:"repeats"`      // of these, those that had been sent before
}

// mostRequests is how many the first network interface sends at most unless it is named as manager, since each takes some 35 clocks. In a network that takes
// more, each switch is set up by the network interface next to it.
const mostRequests = 10_000

// setUp has the switches set up by packets that network interfaces send.
func (n *Cluster) setUp() {
	if n.Topology.Count(topology.Switch) == 0 || n.config.Only != "" || n.config.Preload {
		return
	}
	plan := n.planned()
	routers := map[int]bool{}
	for _, i := range n.NIs {
		routers[i.Node] = i.Params.Router > 0
	}
	s := plan.Start(netmgmt.Config{Timeout: 50_000, Patience: uint64(patience), Routers: routers})
	nodes := map[uint16]int{}
	for i, node := range n.Topology.Nodes {
		nodes[node.ID] = i
	}
	start := n.Cycles
	var managers []*sender
	for _, i := range n.NIs {
		for _, node := range s.Managers() {
			if i.Node == node {
				managers = append(managers, &sender{NI: i})
				n.Setup.Managers = append(n.Setup.Managers, n.name(i))
				i.Routed = func(r linkproto.Route, _ []byte) { s.Take(node, r, n.Cycles) }
				defer func() { i.Routed = nil }()
			}
		}
	}
	try.OK(n.Until(100*patience, "the switches to be set up", func() bool {
		for _, m := range managers {
			for m.send() {
				r, ok := s.Next(m.Node, n.Cycles)
				if !ok {
					break
				}
				r.Via = n.via(m.NI, nodes[r.Dest])
				m.via, m.packet = r.Via, try.Get(r.Append(nil))
			}
		}
		done, err := s.Done()
		try.OK(err)
		return done
	}))
	n.Setup.Cycles, n.Setup.Requests, n.Setup.Repeats = n.Cycles-start, s.Requests, s.Repeats
}
