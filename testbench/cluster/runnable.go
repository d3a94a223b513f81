package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/rtl"
)

const maxRTLVirtual = 10 // as of module ni_virtual

// runnable says what of the topology cannot be simulated yet.
func (n *Cluster) runnable(c Config) error {
	for i, node := range n.Topology.Nodes {
		switch rung, p := c.rung(node), withLanes(c.params(node), n.lanes(i)); {
		case rung == RTL && node.Kind == topology.NI && p.Virtual > maxRTLVirtual:
			return fmt.Errorf("cluster: node %s is to carry out 2^%d virtual links: RTL does 2^%d at most; give it the rung model, or have its host carry them out",
				node.Name, p.Virtual, maxRTLVirtual)
		case rung == RTL || rung == Model:
		case strings.HasPrefix(rung, "gates:") && c.Gates != nil:
			if err := n.wired(i); err != nil {
				return err
			}
		case !c.outside(node):
			return fmt.Errorf("cluster: node %s is to be %q: a network is simulated of rtl and model, give it one of these as its rung", node.Name, rung)
		case c.Only != "":
		case c.Checkpoints:
			return fmt.Errorf("cluster: node %s is outside, and has no checkpoint: give it the rung rtl or model", node.Name)
		case c.Parts != nil || c.Arrivals:
			return fmt.Errorf("cluster: node %s is outside, at %s: a network with such nodes is neither split nor measured, give it the rung rtl or model", node.Name, rung)
		default:
			if err := c.reachable(n.Topology, i); err != nil {
				return err
			}
		}
	}
	if !slices.ContainsFunc(n.Topology.Nodes, func(node topology.Node) bool { return node.Kind == topology.NI && !c.outside(node) }) {
		return errors.New("cluster: all network interfaces are outside: give one the rung rtl or model")
	}
	for _, cable := range n.Topology.Cables {
		for _, end := range cable.Ends {
			node := n.Topology.Nodes[end.Node]
			if lanes := n.lanes(end.Node); cable.Lanes != lanes {
				return fmt.Errorf("cluster: node %s has cables of %d and %d lanes: all links of a simulated node have as many, give it the same lanes in all cables",
					node.Name, lanes, cable.Lanes)
			}
		}
	}
	return nil
}

// lanes is how many lanes a node's links have.
func (n *Cluster) lanes(node int) int {
	for _, c := range n.Topology.Cables {
		if c.Ends[0].Node == node || c.Ends[1].Node == node {
			return c.Lanes
		}
	}
	return 1
}

// withLanes are the parameters of a node whose links have so many lanes: packets are as wide as the lanes together bring them, and the memories of a link
// hold as much for each lane as for one.
func withLanes(p rtl.Params, lanes int) rtl.Params {
	if lanes == 1 {
		return p
	}
	p.Lanes = lanes
	for _, width := range rtl.Widths {
		if p.Width = max(p.Width, width); p.Width >= lanes {
			break
		}
	}
	for each := lanes; each > 1; each = (each + 1) / 2 {
		p.ReplayBytes, p.RxBytes = min(2*p.ReplayBytes, 32768), 2*p.RxBytes
	}
	return p
}
