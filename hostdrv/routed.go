package hostdrv

import (
	"context"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// ErrNoRoutes is what SendRouted returns for an NI that takes no routed packets.
var ErrNoRoutes = errors.New("the network interface takes no routed packets: it must be built with ROUTES set, as those of lmmc net up are, or its node relay (lmmc serve --network)")

// SendRouted sends a packet by a link to a node of the network, or from linkproto.MulticastBase on to a group, as a datagram: the NI there carries it out as if it had
// come over a cable. It returns when the packet is on its way, after waiting for room if need be. Sync tells what this link has lost. What a router drops nobody tells.
func (n *NI) SendRouted(ctx context.Context, link int, dest uint16, p linkproto.Packet) error {
	if err := checkLink(n.identity, link); err != nil {
		return err
	}
	relays := !n.identity.Has(linkproto.FeatureRoutes)
	switch {
	case relays && p.Type != linkproto.TypeMessage:
		return ErrNoRoutes // none but MESSAGEs are for hosts
	case n.node == 0:
		return fmt.Errorf("%w: the network interface has no number to send from; open it with Options.NodeID", ErrOption)
	case dest == 0 || dest > linkproto.MaxNode && dest < linkproto.MulticastBase:
		return fmt.Errorf("%w: no node %d, want 1 to %d, or a group from %#x on", ErrRange, dest, linkproto.MaxNode, linkproto.MulticastBase)
	case p.Size() > n.identity.MaxPacket():
		return fmt.Errorf("%w: a %v of %d bytes, at most %d fit", ErrRange, p.Type, p.Size()-linkproto.HeaderBytes, n.identity.MaxPacket()-linkproto.HeaderBytes)
	}
	p.Via = 0
	inner, err := p.Append(nil)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRange, err)
	}
	r := linkproto.Route{
		Via: uint8(link), Dest: dest, Src: n.node, Hops: linkproto.MaxHops, State: linkproto.RouteDatagram, Packet: inner,
	}
	return attempt(ctx, n.until, fmt.Sprintf("room for a %v to node %d by link %d", p.Type, dest, link), func() (bool, error) {
		if relays {
			return n.relay(&r)
		}
		sent, err := n.core.ForwardRoute(&r)
		if sent {
			n.wakeOwner()
		}
		return sent, err
	})
}

// relay gives a datagram to the ring by which the way leads (NodeOptions.Relay), and reports whether there was room. It is for the lock held.
func (n *NI) relay(r *linkproto.Route) (bool, error) {
	if err := n.routes(); err != nil {
		return false, err
	}
	if !n.core.RelayRoom(r.Dest) {
		return false, n.core.Err()
	}
	raw, err := r.Append(nil)
	if err == nil {
		n.core.Relay(raw)
		n.wakeOwner()
	}
	return true, err
}

// routes says why a program can send ROUTEs neither by the NI nor by rings, or nil. It is for the lock held.
func (n *NI) routes() error {
	if n.identity.MaxPacket() > 0 && !n.identity.Has(linkproto.FeatureRoutes) && n.core.Relay == nil {
		return ErrNoRoutes
	}
	return nil
}
