package hostdrv

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// Request is another node's wish to connect a port.
type Request struct {
	node      *Node
	via       int // the link
	id        uint32
	direction Direction
	params    []byte
	handle    uint32 // at the server, of a client of another process's NI

	link      *nodeLink
	session   uint32
	answered  bool
	withdrawn bool // by the peer
}

// Accept waits for a request to connect. Requests that nobody fetches wait, up to a number, then are refused.
func (node *Node) Accept(ctx context.Context) (*Request, error) { return node.AcceptPrefix(ctx, nil) }

// AcceptPrefix is Accept for those requests only whose parameters begin with prefix, so that programs which use one NI together can tell
// who is meant. A request goes to whoever waits for it first.
func (node *Node) AcceptPrefix(ctx context.Context, prefix []byte) (r *Request, err error) {
	if node.client != nil {
		return node.client.accept(ctx, node, prefix)
	}
	err = node.ni.until(ctx, "a request to connect", func() bool {
		i := slices.IndexFunc(node.offers, func(o *Request) bool { return bytes.HasPrefix(o.params, prefix) })
		if i >= 0 {
			r = node.offers[i]
			node.offers = slices.Delete(node.offers, i, i+1)
		}
		return r != nil
	})
	return r, err
}

// Link is the link by which the request came.
func (r *Request) Link() int { return r.via }

// Direction says which end of the port this node is to have.
func (r *Request) Direction() Direction { return r.direction }

// Params are what the other node gave to Connect.
func (r *Request) Params() []byte { return r.params }

// ID is the number that the port is to have.
func (r *Request) ID() uint32 { return r.id }

// Accept takes the port. If the other node has deleted it meanwhile that is ErrPortClosed.
func (r *Request) Accept() (*Port, error) {
	if c := r.node.client; c != nil {
		return c.take(r)
	}
	n := r.node.ni
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := r.answer(); err != nil {
		return nil, err
	}
	p := r.link.newPort(r.id, r.direction)
	p.state, p.accepted = connected, true
	r.link.say(r.id, linkproto.NodeMessage{Kind: linkproto.NodeAccept, Role: uint8(r.direction.other())})
	return p, nil
}

// Refuse refuses the port, with a reason of at most MaxParams bytes.
func (r *Request) Refuse(reason string) error {
	if c := r.node.client; c != nil {
		return c.refuse(r, reason)
	}
	n := r.node.ni
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := r.answer(); err != nil {
		return err
	}
	m := linkproto.NodeMessage{Kind: linkproto.NodeRefuse, Role: uint8(r.direction.other()), Text: []byte(reason)}
	r.link.finish(r.direction, r.id, m)
	r.link.suggest(r.id, m)
	return nil
}

func (r *Request) answer() error {
	switch {
	case r.node.ni.core.err != nil:
		return r.node.ni.core.err
	case r.answered:
		return fmt.Errorf("%w %d was accepted or refused before", ErrPort, r.id)
	case r.session != r.link.session:
		return &PeerError{r.link.link}
	case r.withdrawn:
		return fmt.Errorf("%w (port %d)", ErrPortClosed, r.id)
	case r.link.port(r.direction, r.id) != nil:
		return fmt.Errorf("%w %d: the number is in use", ErrPort, r.id)
	}
	r.answered = true
	delete(r.link.asked[r.direction], r.id)
	return nil
}

// withdraw is for a request whose port the other node has deleted, or forgotten since it has started again.
func (r *Request) withdraw() {
	r.withdrawn = true
	delete(r.link.asked[r.direction], r.id)
	r.node.offers = slices.DeleteFunc(r.node.offers, func(o *Request) bool { return o == r })
}
