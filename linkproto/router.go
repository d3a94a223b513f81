package linkproto

import "fmt"

// MaxPorts is the number of links that a router can have, its ports 1 to MaxPorts. Port 0 is the node itself.
const MaxPorts = 16

// RouterCounter is the number of one of the counters that a router has for a port. They are 32 bits wide and wrap.
type RouterCounter uint8

// The counters of a router's port.
const (
	RouterBad RouterCounter = iota
	RouterLost
	RouterHops
	RouterLate
	NumRouterCounters = iota
)

// RouterCounters lists the counters of a router's port in order of their number. Not to be modified.
var RouterCounters = [NumRouterCounters]SubReg{
	{"BAD", "ro", "packets that came by the port and are no ROUTEs, too short for one, or from a node that may not send by it"},
	{"LOST", "ro", "packets that came by the port and have no way"},
	{"HOPS", "ro", "packets that came by the port and have no hops left"},
	{"LATE", "ro", "packets that were to leave by the port and could not: its link had just gone down, or this node took none for too long"},
}

// String returns the counter's name in the tables.
func (c RouterCounter) String() string {
	if int(c) < len(RouterCounters) {
		return RouterCounters[c].Name
	}
	return fmt.Sprintf("router counter(%d)", uint8(c))
}

// Reg returns the register with the counter of a port.
func (c RouterCounter) Reg(port int) Reg {
	return RegRouterCounters + NumRouterCounters*Reg(port) + Reg(c)
}

// PortStatusReg returns the register with the status of a router's port.
func PortStatusReg(port int) Reg { return RegPortStatus + Reg(port) }

// PortPeerReg returns the register that says who is at the other end of a router's port.
func PortPeerReg(port int) Reg { return RegPortPeer + Reg(port) }

// PortCounterReg returns the register with counter c of a router's port.
func PortCounterReg(port int, c Counter) Reg {
	return RegPortCounters + CounterStride*Reg(port) + Reg(c)
}

// RouteReg returns the register with the routing table's entry for a node.
func RouteReg(node uint16) Reg { return RegRouteTable + Reg(node) }

// GroupReg returns the register with the mask of ports for a multicast group.
func GroupReg(group int) Reg { return RegGroupTable + Reg(group) }

// Fields of an entry of the routing table. A port that does not exist is written as 0.
var (
	RoutePort      = Bits{"PORT", 0, 8, "port by which packets leave; 0: none"}
	RouteAlternate = Bits{"ALTERNATE", 16, 8, "port by which they leave while the link of PORT is down; 0: none"}
)

// RouteTableFields lists the fields of an entry of the routing table. Not to be modified.
var RouteTableFields = [...]Bits{RoutePort, RouteAlternate}
