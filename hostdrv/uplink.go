package hostdrv

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/stafflink/lmmc/linkproto"
)

// uplink is the NI by which a node whose own NI carries no ROUTEs reaches a network of routers (NodeOptions.Uplink). The two NIs are under locks of their own: what passes
// between them waits in two queues.
type uplink struct {
	ni      *NI
	node    *localNode
	out, in passage // to the network, and from it
	head    []byte  // of out, which waits for room
}

// passage is a queue of ROUTEs. What comes beyond ringQueue bytes is dropped, and virtual links send it again.
type passage struct {
	mu     sync.Mutex
	routes [][]byte
	bytes  int
}

func (p *passage) put(route []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes+len(route) > ringQueue {
		return false
	}
	p.routes, p.bytes = append(p.routes, bytes.Clone(route)), p.bytes+len(route)
	return true
}

// next takes the oldest one out; nil: there is none.
func (p *passage) next() (route []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.routes) > 0 {
		route, p.routes = p.routes[0], p.routes[1:]
		p.bytes -= len(route)
	}
	return route
}

func (p *passage) empty() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.routes) == 0
}

// crowded reports whether datagrams are to wait: they leave most of the queue to virtual links.
func (p *passage) crowded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes >= ringQueue/4
}

// checkUplink says why an NI cannot be the node's uplink.
func (o NodeOptions) checkUplink(n *NI) error {
	up := o.Uplink
	switch {
	case up == nil:
	case o.Relay == nil || n.identity.Has(linkproto.FeatureRoutes):
		return fmt.Errorf("%w: an uplink is for a node with Relay whose own network interface takes no routed packets", ErrOption)
	case !up.identity.Has(linkproto.FeatureRoutes) || up.identity.Has(linkproto.FeatureRouter):
		return fmt.Errorf("%w: the uplink must be a network interface with ROUTES and without a router, as of hx8k/routed-link", ErrOption)
	case up.node != n.node:
		return fmt.Errorf("%w: the uplink is node %d and the network interface node %d: one node has one number", ErrOption, up.node, n.node)
	case up.identity.PageBytes != n.identity.PageBytes:
		return fmt.Errorf("%w: the uplink has pages of %d bytes and the network interface of %d", ErrOption, up.identity.PageBytes, n.identity.PageBytes)
	}
	return nil
}

// open begins to pass ROUTEs.
func (u *uplink) open(ctx context.Context) error {
	u.ni.lock()
	taken := u.ni.core.Uplink != nil
	if !taken {
		u.ni.core.Uplink = u
	}
	u.ni.unlock()
	if taken {
		return fmt.Errorf("%w: the uplink is another node's already: close that one first", ErrOption)
	}
	err := u.ni.control(ctx)
	if err != nil {
		u.close()
	}
	return err
}

// send gives the network a ROUTE. It is for the node's lock.
func (u *uplink) send(route []byte) {
	if !u.out.put(route) {
		u.node.stats.Dropped++
		return
	}
	u.ni.transport.Wake()
}

// Take has a ROUTE that has come from the network. It is for the uplink's lock, as Turn is.
func (u *uplink) Take(route []byte) {
	if u.in.put(route) {
		u.node.transport.Wake()
	}
}

// Turn sends what there is room for.
func (u *uplink) Turn() {
	for {
		if u.head == nil {
			u.head = u.out.next()
		}
		if u.head == nil {
			return
		}
		if sent, err := u.ni.core.ForwardRaw(1, u.head); err != nil || !sent {
			return
		}
		u.head = nil
		u.ni.wakeOwner()
	}
}

// receive takes what has come from the network: for this node, a group that it is in, or a node to which it relays. It is for the node's lock.
func (u *uplink) receive() {
	var r linkproto.Route
	for route := u.in.next(); route != nil; route = u.in.next() {
		err := r.Open(route)
		switch _, relays := u.node.relay[r.Dest]; {
		case err != nil:
			u.node.stats.Malformed++
		case r.Dest >= linkproto.MulticastBase:
			u.node.core.FeedRoute(&r, route)
		case r.Dest == u.node.node || relays:
			u.node.relayed(route)
		default: // to the network, where it comes from
			u.node.stats.Dropped++
		}
	}
}

// flush waits until what waits for the uplink has gone, which tells peers that the node ends.
func (u *uplink) flush() {
	ctx, cancel := u.ni.briefly()
	defer cancel()
	u.ni.until(ctx, "what waits for the uplink", func() bool { return u.head == nil && u.out.empty() }) // or not: the peers find out
}

// close ends what open began, also what the NI does for it: the NI is the program's.
func (u *uplink) close() {
	u.ni.lock()
	u.ni.core.Uplink = nil
	u.ni.unlock()
	ctx, cancel := u.ni.briefly()
	defer cancel()
	u.ni.control(ctx) // or not: then it can no longer be used
}
