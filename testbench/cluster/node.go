package cluster

import (
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// node is a node of the topology as it runs.
type node interface {
	// socket is where a lane of a cable is plugged in, at ports from 1 on.
	socket(port, lane int) socket
	// status is that of a port's link, as LINK_STATUS has it; known is false if only the node's host can ask for it.
	status(port int) (status uint32, known bool)
	// reset holds the node in reset, or lets it go.
	reset(held bool)
	Close() error
}

// switchNode is a switch. What else it is to know comes in packets.
type switchNode interface {
	node
	// SetNonce gives the switch the nonce of this life, without which its links stay down.
	SetNonce(nonce uint32)
}

// up reports whether all nodes that tell say that the links of their cables are up, but for those to nodes outside.
func (n *Cluster) up() bool {
	for i, node := range n.nodes {
		for port, peer := range n.peers[i] {
			if status, known := node.status(port); peer >= 0 && !n.Outside(peer) && known && linkproto.StatusUp.Of(status) == 0 {
				return false
			}
		}
	}
	return n.routers(func(status uint32) bool { return linkproto.StatusUp.Of(status) != 0 })
}

// lineOf is the field of a vector of lines, 9 bits each.
func lineOf(name string, index int) string { return fmt.Sprintf("%s[%d:%d]", name, 9*index+8, 9*index) }
