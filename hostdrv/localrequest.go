package hostdrv

import (
	"bytes"
	"context"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// localRequest is a request to connect to a node of an NI of this process. All is under the NI's lock.
type localRequest struct {
	link      *nodeLink
	id        uint32
	direction Direction
	params    []byte
	session   uint32
	withdrawn bool // by the peer
}

func (node *localNode) accept(ctx context.Context, what string, prefix []byte) (r *Request, err error) {
	err = node.until(ctx, what, func() bool {
		i := slices.IndexFunc(node.requests, func(o *localRequest) bool { return bytes.HasPrefix(o.params, prefix) })
		if i >= 0 {
			o := node.requests[i]
			r = &Request{backend: o, link: o.link.link, id: o.id, direction: o.direction, params: o.params}
			node.requests = slices.Delete(node.requests, i, i+1)
		}
		return r != nil
	})
	return r, err
}

func (r *localRequest) accept() (portBackend, error) {
	r.link.node.lock()
	defer r.link.node.unlock()
	if err := r.answer(); err != nil {
		return nil, err
	}
	p := r.link.newPort(r.id, r.direction)
	p.state, p.accepted = connected, true
	r.link.enqueue(r.id, linkproto.NodeMessage{Kind: linkproto.NodeAccept, Role: uint8(r.direction.other())})
	return p, nil
}

func (r *localRequest) refuse(reason string) error {
	r.link.node.lock()
	defer r.link.node.unlock()
	if err := r.answer(); err != nil {
		return err
	}
	m := linkproto.NodeMessage{Kind: linkproto.NodeRefuse, Role: uint8(r.direction.other()), Text: []byte(reason)}
	r.link.ended[r.direction][r.id] = m
	r.link.enqueueBestEffort(r.id, m)
	return nil
}

// answer takes the request from the tables, if it can be answered.
func (r *localRequest) answer() error {
	switch {
	case r.link.node.err() != nil:
		return r.link.node.err()
	case r.session != r.link.session:
		return &PeerError{r.link.link}
	case r.withdrawn:
		return deletedByPeer(r.id)
	case r.link.port(r.direction, r.id) != nil:
		return portError(r.id, "the number is in use", ErrPort)
	}
	delete(r.link.asked[r.direction], r.id)
	return nil
}

// withdraw is for a request whose port the other node has deleted, or forgotten since it has started again.
func (r *localRequest) withdraw() {
	r.withdrawn = true
	delete(r.link.asked[r.direction], r.id)
	r.link.node.requests = slices.DeleteFunc(r.link.node.requests, func(o *localRequest) bool { return o == r })
}
