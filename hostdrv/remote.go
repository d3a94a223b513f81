package hostdrv

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/stafflink/lmmc/linkproto"
)

// ErrNoAnswer is what ReadRemote and WriteRemote end with when the other node answers nothing.
var ErrNoAnswer = errors.New("no answer")

// remote is a request to another node that waits for its answer.
type remote struct {
	node     uint16
	packet   linkproto.Packet
	answered bool
	answer   linkproto.Packet
}

const (
	remoteTries = 8
	remoteTicks = 1 << 15 // for which an answer is waited for before the request is sent again
)

// ReadRemote reads a register of a switch of the network, by a link and datagrams. A request that is lost, or whose answer is, is sent again; ErrNoAnswer comes
// after some of them.
func (n *NI) ReadRemote(ctx context.Context, link int, node uint16, r linkproto.Reg) (uint32, error) {
	a, err := n.ask(ctx, link, node, linkproto.Packet{Type: linkproto.TypeRegRead, Reg: r})
	return a.Value, err
}

// WriteRemote writes a register of a switch of the network, as ReadRemote reads one.
func (n *NI) WriteRemote(ctx context.Context, link int, node uint16, r linkproto.Reg, v uint32) error {
	_, err := n.ask(ctx, link, node, linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: r, Value: v})
	return err
}

func (n *NI) ask(ctx context.Context, link int, node uint16, p linkproto.Packet) (linkproto.Packet, error) {
	r := &remote{node: node, packet: p}
	if err := n.until(ctx, fmt.Sprintf("an answer of node %d to one of many requests", node), func() bool { return n.list(r) }); err != nil {
		return linkproto.Packet{}, err
	}
	defer func() {
		n.lock()
		n.remotes = slices.DeleteFunc(n.remotes, func(other *remote) bool { return other == r })
		n.release()
		n.unlock()
	}()
	for range remoteTries {
		if err := n.SendRouted(ctx, link, node, r.packet); err != nil {
			return linkproto.Packet{}, err
		}
		limit, cancel := n.WithTimeout(ctx, time.Duration(remoteTicks/n.timing.TicksPerSecond*float64(time.Second)))
		err := n.until(limit, fmt.Sprintf("the answer of node %d", node), func() bool { return r.answered })
		cancel()
		n.lock()
		answered, a := r.answered, r.answer
		n.unlock()
		switch {
		case answered && a.Type == linkproto.TypeDone && a.Status != linkproto.StatusOK:
			return a, &RefusedError{Type: p.Type, Status: a.Status, What: fmt.Sprintf("register %v of node %d", p.Reg, node)}
		case answered:
			return a, nil
		case ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded):
			return linkproto.Packet{}, err
		}
	}
	return linkproto.Packet{}, fmt.Errorf("%w: node %d to %d requests by link %d: check that it is a switch, and its routes to this node", ErrNoAnswer, node, remoteTries, link)
}

// list adds a request to those that wait, if there is a tag for it. It is for the lock held.
func (n *NI) list(r *remote) bool {
	others := 0
	for _, other := range n.remotes {
		if other.node == r.node {
			others++
		}
	}
	if others > math.MaxUint8 {
		return false
	}
	for n.asked(r.node, n.remoteTag) != nil {
		n.remoteTag++
	}
	r.packet.Tag = n.remoteTag
	n.remoteTag++
	n.remotes = append(n.remotes, r)
	return true
}

// asked is the request with a tag to a node; nil if there is none. It is for the lock held.
func (n *NI) asked(node uint16, tag uint8) *remote {
	for _, r := range n.remotes {
		if r.node == node && r.packet.Tag == tag {
			return r
		}
	}
	return nil
}

// routed takes a MESSAGE, or an answer that has come; one that nobody waits for was sent twice. It is for the lock held.
func (n *NI) routed(route *linkproto.Route) {
	var a linkproto.Packet
	err := a.Decode(route.Packet)
	switch {
	case route.State != linkproto.RouteDatagram:
		return
	case a.Type == linkproto.TypeMessage && err != nil:
		n.undelivered++
	case a.Type == linkproto.TypeMessage:
		n.message(route.Src, a)
	}
	if err != nil || a.Type != linkproto.TypeRegData && a.Type != linkproto.TypeDone {
		return
	}
	r := n.asked(route.Src, a.Tag)
	if r == nil {
		return
	}
	reads := r.packet.Type == linkproto.TypeRegRead
	switch { // of a request that had the tag before, and was answered twice
	case a.Type == linkproto.TypeRegData && (!reads || a.Reg != r.packet.Reg), a.Type == linkproto.TypeDone && a.Status == linkproto.StatusOK && reads:
		return
	}
	r.answer, r.answered = a, true
}
