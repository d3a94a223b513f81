package cluster

import (
	"slices"

	"github.com/stafflink/lmmc/hostdrv/netmgmt"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/verilator"
)

// preloader is a node with a routing table that can be set while the simulation stands still.
type preloader interface {
	// preload sets the table, and the number of a switch. What it does not name is no entry.
	preload(id uint16, table map[uint16]uint32) error
}

// planned says who sets up the switches, and with what.
func (n *Cluster) planned() *netmgmt.Plan {
	first := slices.IndexFunc(n.Topology.Nodes, func(node topology.Node) bool { return node.Kind == topology.NI && !n.config.outside(node) })
	if n.config.Manager != "" {
		at, ok := n.Topology.Find(n.config.Manager)
		if !ok || n.Topology.Nodes[at].Kind != topology.NI {
			try.Failf("cluster: there is no network interface %q to manage the switches%s", n.config.Manager, nearest.Hint(n.config.Manager, n.Topology.Names(topology.NI)))
		}
		if n.Outside(at) {
			try.Failf("cluster: %s is outside and cannot manage the switches: name a network interface that is simulated", n.config.Manager)
		}
		first = at
	}
	newPlan := netmgmt.NewPlan
	if n.config.Barriers {
		newPlan = netmgmt.NewOpenPlan
	}
	plan := try.Get(newPlan(n.Tables, first))
	if n.config.Manager == "" && plan.Most() > mostRequests && n.Outsiders() == 0 {
		plan = try.Get(newPlan(n.Tables))
	}
	return plan
}

// preload sets the routing tables of all nodes that are here, and the numbers of switches, to what packets would set them. It is for when nodes have just been
// reset, and nothing is known to their links yet.
func (n *Cluster) preload() {
	tables := make([]map[uint16]uint32, len(n.nodes))
	for _, step := range n.planned().Steps {
		tables[step.Switch] = map[uint16]uint32{}
		for _, entries := range [][]netmgmt.Entry{step.Ways, step.Rest} { // the Rest has what alternates Ways lack
			for _, e := range entries {
				tables[step.Switch][n.Topology.Nodes[e.Dest].ID] = e.Value()
			}
		}
	}
	for i, node := range n.Topology.Nodes {
		if node.Kind == topology.NI && n.config.params(node).Router > 0 {
			tables[i] = n.tableOf(i)
		}
		if p, ok := n.nodes[i].(preloader); ok && tables[i] != nil {
			try.OK(p.preload(node.ID, tables[i]))
		}
	}
}

// tableOf is the routing table of a network interface with a router, by node number, as its host sets it.
func (n *Cluster) tableOf(node int) map[uint16]uint32 {
	table := map[uint16]uint32{}
	for dest, to := range n.Topology.Nodes {
		if dest != node {
			port, alternate := n.Tables.Route(node, dest)
			table[to.ID] = linkproto.RoutePort.In(uint32(port)) | linkproto.RouteAlternate.In(uint32(alternate))
		}
	}
	return table
}

// Where the tables stand in the RTL, below a router, and a router below the top; see net_table.
const (
	routesInside  = "u_table.u_routes.mem"
	groupsInside  = "u_table.u_masks.mem"
	clearedInside = "u_table.cleared"
	switchRouter  = "u_switch.u_links.u_router."
	switchNumber  = "node"
	niRouter      = "u_ni.g_link[0].u_port.g_network.u_network.u_links.u_router."
	watchedNI     = "dut."
)

func tablesInside(router string) []string {
	return []string{router + routesInside, router + groupsInside, router + clearedInside}
}

// insideNI is what a network interface has.
func insideNI(p rtl.Params, watched bool) (router string, all []string) {
	if p.Router == 0 {
		return "", nil
	}
	if router = niRouter; watched {
		router = watchedNI + router
	}
	return router, tablesInside(router)
}

// preloadTable sets the memory of a routing table, and says that it has been cleared.
func preloadTable(m *verilator.Model, router string, table map[uint16]uint32) error {
	return try.Run(func() {
		routes, groups := try.Get(m.Dump(router+routesInside, 0, -1)), try.Get(m.Dump(router+groupsInside, 0, -1))
		clear(routes)
		clear(groups)
		bits := try.Get(m.Library().Port(router+routesInside)).Width / 2 // a port, and the alternate above it
		for id, entry := range table {
			routes[id] = uint64(linkproto.RoutePort.Of(entry)) | uint64(linkproto.RouteAlternate.Of(entry))<<bits
		}
		try.OK(m.Load(router+routesInside, 0, routes))
		try.OK(m.Load(router+groupsInside, 0, groups))
		try.OK(m.Poke(router+clearedInside, uint64(len(routes)))) // as many bits as count them, and one
	})
}

func (s *netSwitch) preload(id uint16, table map[uint16]uint32) error {
	if err := preloadTable(s.Model, switchRouter, table); err != nil {
		return err
	}
	return s.Poke(switchNumber, uint64(id))
}

func (m *rtlNI) preload(_ uint16, table map[uint16]uint32) error {
	return preloadTable(m.Model, m.router, table)
}

func (s modelSwitch) preload(id uint16, table map[uint16]uint32) error {
	s.WriteRegister(linkproto.RegNodeID, uint32(id))
	return preloadModel(s, table)
}

func (m modelNI) preload(_ uint16, table map[uint16]uint32) error { return preloadModel(m, table) }

func preloadModel(m interface {
	WriteRegister(reg linkproto.Reg, value uint32) bool
}, table map[uint16]uint32) error {
	return try.Run(func() {
		for id, entry := range table {
			if !m.WriteRegister(linkproto.RouteReg(id), entry) {
				try.Failf("cluster: a model refuses entry %d of its routing table", id)
			}
		}
	})
}
