package cluster

import (
	"fmt"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// Account says what has become of all unicast packets since BeginAccount, by what its nodes have counted.
type Account struct {
	Sent      uint64 `json:"sent"`      // by network interfaces, and as answers by switches
	Delivered uint64 `json:"delivered"` // to network interfaces, and as requests to switches
	OnCables  uint64 `json:"on_cables"` // lost with a link that started again
	Bad       uint64 `json:"bad"`       // dropped by routers, by their counters
	Lost      uint64 `json:"lost"`
	Hops      uint64 `json:"hops"`
	Late      uint64 `json:"late"`
}

// Missing is how many packets have been lost, each counted by who lost it.
func (a Account) Missing() uint64 { return a.OnCables + a.Bad + a.Lost + a.Hops + a.Late }

// flow is what has passed a port: what a link has brought, what has been given to it, and of that what was not acknowledged when it started again.
type flow struct{ in, out, unsure uint32 }

// BeginAccount waits until a network of models rests, and begins its accounts.
func (n *Cluster) BeginAccount() error {
	err := n.Until(patience, "the network to rest", n.Resting)
	if err == nil {
		n.before, err = n.account()
	}
	return err
}

// Account does the accounts of a network at rest. The error says which cable or node has lost packets that nobody counts, or has made some.
func (n *Cluster) Account() (a Account, err error) {
	a, err = n.account()
	b := n.before
	return Account{a.Sent - b.Sent, a.Delivered - b.Delivered, a.OnCables - b.OnCables, a.Bad - b.Bad, a.Lost - b.Lost, a.Hops - b.Hops, a.Late - b.Late}, err
}

// account does the accounts since the network was built.
func (n *Cluster) account() (a Account, err error) {
	return a, try.Run(func() {
		flows := make([][]flow, len(n.nodes))
		for i := range n.nodes {
			flows[i] = n.flowsOf(i, &a)
		}
		for _, c := range n.Topology.Cables {
			for i, from := range c.Ends {
				to := c.Ends[1-i]
				sent, came := flows[from.Node][from.Port], flows[to.Node][to.Port]
				gone := sent.out - came.in
				if gone > sent.unsure {
					try.Failf("cluster: %s has sent %d packets, of which %d were not acknowledged when its link started again, and to %s have come %d",
						n.Topology.EndName(from), sent.out, sent.unsure, n.Topology.EndName(to), came.in)
				}
				a.OnCables += uint64(gone)
			}
		}
		if a.Sent != a.Delivered+a.Missing() {
			try.Failf("cluster: %d packets were sent, %d have come, and %d are counted as lost: %+v", a.Sent, a.Delivered, a.Missing(), a)
		}
	})
}

// flowsOf reads what has passed the ports of a node, and does the accounts of its router.
func (n *Cluster) flowsOf(node int, a *Account) []flow {
	read := func(reg linkproto.Reg) uint32 { return try.Get(n.Register(node, reg)) }
	count := n.Topology.Nodes[node].Ports + 1
	flows := make([]flow, count)
	of := func(port int, reg func(int, linkproto.Counter) linkproto.Reg) flow {
		unsure := read(reg(port, linkproto.CntLostPackets))
		return flow{read(reg(port, linkproto.CntRxPackets)), read(reg(port, linkproto.CntTxPackets)) + unsure, unsure}
	}
	if !n.routes(node) { // what its links bring is for it
		for port := 1; port < count; port++ {
			flows[port] = of(port, linkproto.CounterReg)
			late := read(linkproto.CounterReg(port, linkproto.CntDenied)) // all frames are open to the network
			a.Sent, a.Delivered, a.Late = a.Sent+uint64(flows[port].out), a.Delivered+uint64(flows[port].in-late), a.Late+uint64(late)
		}
		return flows
	}
	// Port 0 counts from the node's side: what that has received has left the router.
	own := of(0, linkproto.PortCounterReg)
	taken, given := own.in, own.out-own.unsure
	in, out := given, taken
	for port := range flows {
		if port > 0 {
			flows[port] = of(port, linkproto.PortCounterReg)
			in, out = in+flows[port].in, out+flows[port].out
		}
		for c, sum := range map[linkproto.RouterCounter]*uint64{
			linkproto.RouterBad: &a.Bad, linkproto.RouterLost: &a.Lost, linkproto.RouterHops: &a.Hops, linkproto.RouterLate: &a.Late,
		} {
			drops := read(c.Reg(port))
			*sum, out = *sum+uint64(drops), out+drops
		}
	}
	if n.Topology.Nodes[node].Kind == topology.Switch {
		refused := read(linkproto.PortCounterReg(0, linkproto.CntBadPacket))
		a.Bad, out = a.Bad+uint64(refused), out+refused
	}
	if in != out {
		try.Failf("cluster: %d packets have come to the router of %s, and %d have left it or are counted as dropped", in, n.Topology.Nodes[node].Name, out)
	}
	a.Sent, a.Delivered = a.Sent+uint64(given), a.Delivered+uint64(taken)
	return flows
}

// Register reads a register of a node.
func (n *Cluster) Register(node int, reg linkproto.Reg) (uint32, error) {
	for _, i := range n.NIs {
		if i.Node == node {
			a, err := n.Ask(i, linkproto.Packet{Type: linkproto.TypeRegRead, Reg: reg})
			return a.Value, err
		}
	}
	if s, ok := n.nodes[node].(modelSwitch); ok {
		if value, ok := s.ReadRegister(reg); ok {
			return value, nil
		}
	}
	return 0, fmt.Errorf("cluster: no register %v of %s can be read", reg, n.Topology.Nodes[node].Name)
}

// routes reports whether a node has a router.
func (n *Cluster) routes(node int) bool {
	for _, i := range n.NIs {
		if i.Node == node {
			return i.Params.Router > 0
		}
	}
	return true
}

// Up reports whether all nodes that tell say that the links of their cables are up.
func (n *Cluster) Up() bool { return n.up() }

// Resting reports whether no packet is underway in the network, as far as its nodes tell.
func (n *Cluster) Resting() bool {
	for _, node := range n.nodes {
		if m, ok := node.(interface{ Busy() bool }); ok && m.Busy() {
			return false
		}
	}
	return n.drained()
}
