package hostdrv

import "sync"

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
