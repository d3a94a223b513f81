package hostdrv

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/stafflink/lmmc/linkproto"
)

// Request is another node's request to connect a port.
type Request struct {
	node      *Node
	backend   requestBackend
	link      int
	id        uint32
	direction Direction
	params    []byte

	mu       sync.Mutex
	answered error // what answering again returns, or nil
}

// requestBackend is what a request to an NI of this process does in another way than one to another process's.
type requestBackend interface {
	accept() (portBackend, error)
	refuse(reason string) error
}

// Link is the link by which the request came.
func (r *Request) Link() int { return r.link }

// Direction says which end of the port this node is to have.
func (r *Request) Direction() Direction { return r.direction }

// Params are what the other node gave to Connect.
func (r *Request) Params() []byte { return r.params }

// ID is the number that the port is to have.
func (r *Request) ID() uint32 { return r.id }

// Accept takes the port. If the other node has deleted it meanwhile that is ErrPortClosed.
func (r *Request) Accept() (p *Port, err error) {
	err = r.answer(func() error {
		backend, err := r.backend.accept()
		if err == nil {
			p = r.node.newPort(backend, r.link, r.direction)
			p.connected = true
		}
		return err
	})
	return p, err
}

// Refuse refuses the port, with a reason, which is cut to MaxParams bytes.
func (r *Request) Refuse(reason string) error {
	return r.answer(func() error { return r.backend.refuse(reason) })
}

func (r *Request) answer(do func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.node == nil {
		return errZeroPort
	}
	if r.answered != nil {
		return r.answered
	}
	err := do()
	if r.answered = err; err == nil {
		r.answered = portError(r.id, "was accepted or refused before", ErrPort)
	}
	return err
}

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
	err = node.untilOthers(ctx, what, func() bool {
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
