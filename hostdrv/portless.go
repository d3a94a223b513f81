package hostdrv

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/linkproto"
)

// portlessNode is a node without ports, of an NI of this process.
type portlessNode struct {
	*NI
	stats NodeStats
}

// errPortless is what asking a portlessNode for ports gives.
var errPortless = fmt.Errorf("%w: this node has none (NodeOptions.NoPorts): its links lead into a network, over which ports go by virtual links (NodeOptions.Peers, lmmc net up --ports); or use SendRouted", ErrPort)

func startPortless(ctx context.Context, n *NI) (*Node, error) {
	if err := n.offload(ctx); err != nil {
		return nil, err
	}
	node := &portlessNode{NI: n}
	n.lock()
	defer n.unlock()
	if err := n.takeEvents(portlessHandler{node}); err != nil {
		return nil, err
	}
	n.wakeOwner()
	return &Node{backend: node}, nil
}

func (node *portlessNode) err() error                                      { return node.core.Err() }
func (node *portlessNode) createPort(int, Direction) (portBackend, error)  { return nil, errPortless }
func (node *portlessNode) linkList() []NodeLink                            { return cables(node.identity.Links) }
func (node *portlessNode) capture(context.Context, bool) (*Capture, error) { return nil, errOwnCapture }
func (node *portlessNode) accept(context.Context, string, []byte) (*Request, error) {
	return nil, errPortless
}

func (node *portlessNode) tables() Tables {
	node.lock()
	defer node.unlock()
	t := Tables{Stats: node.stats}
	t.Stats.Datagrams, t.Stats.Undelivered = node.delivered, node.undelivered
	return t
}

// portlessHandler is the engine.Handler of a portlessNode.
type portlessHandler struct{ node *portlessNode }

// Trap lets the packets go on behind a PAGE or CONNECT, which nobody can serve.
func (h portlessHandler) Trap(t *engine.Trap) {
	h.node.stats.Malformed++
	h.node.core.Demand(linkproto.Packet{Type: linkproto.TypeResume, Via: uint8(t.Link)},
		fmt.Sprintf("it reported a trap of link %d, and refused to resume", t.Link), done)
}

// Notify is for changes of the receive buffer, which programs look for themselves.
func (portlessHandler) Notify(int, int, int) {}

// Restarted is for the host's cable: Sync tells what was lost.
func (portlessHandler) Restarted([]int) {}

// Lost is for links: Sync tells what was lost.
func (portlessHandler) Lost(int) {}

// Turn has nothing to do.
func (portlessHandler) Turn() {}
