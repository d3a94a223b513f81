package hostdrv

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// Direction says which end of a port a node has.
type Direction uint8

// The two ends of a port.
const (
	Send    Direction = iota // writes the page
	Receive                  // reads it
)

func (d Direction) other() Direction { return 1 - d }

// String names the direction.
func (d Direction) String() string { return [...]string{"send", "receive"}[d&1] }

// Policy says when what is written to a send port is sent.
type Policy uint8

// The write policies.
const (
	Immediate Policy = iota // each write at once
	Late                    // at Flush, what has been written since
)

// String names the policy.
func (p Policy) String() string { return [...]string{"immediate", "late"}[p&1] }

type portState uint8

const (
	created portState = iota
	connecting
	connected
	ended
)

func (s portState) String() string {
	return [...]string{"created", "connecting", "connected", "ended"}[s]
}

// Port is one end of a one-way channel to the node at the far end of a link: a page which the sender writes and the receiver reads.
type Port struct {
	node      *Node
	link      *nodeLink
	id        uint32
	direction Direction
	state     portState
	err       error // once ended

	// of a send port
	frame  int // index of its frame in link.frames, -1 if it has none
	policy Policy
	late   *lateWrites // with Late, or nil
	told   uint64      // losses of the link that its user was told of

	// of a receive port
	page    []byte
	mapped  *mapping // that page is in, or nil
	version uint64   // counts changes of the page
	in      *inFrame // where its page is, nil if it is out
}

// RefusedPortError is what Connect returns when the other node refuses.
type RefusedPortError struct {
	Port   uint32
	Reason string
}

func (e *RefusedPortError) Error() string {
	return fmt.Sprintf("hostdrv: port %d: the other node refused it: %q", e.Port, e.Reason)
}

// CreatePort makes a port to the node at the far end of a link. It has a number that is the same at both ends, and must be connected.
func (node *Node) CreatePort(link int, d Direction) (*Port, error) {
	l, err := node.linkOf(link)
	if err != nil {
		return nil, err
	}
	if d > Receive {
		return nil, fmt.Errorf("%w: no direction %d", ErrRange, d)
	}
	n := node.ni
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.core.err != nil {
		return nil, n.core.err
	}
	// Numbers that senders give are odd and those that receivers give even, so that the two never give the same one.
	for {
		node.ids[d] += 2
		if id := node.ids[d] - uint32(d.other()); id != 0 && l.port(d, id) == nil {
			p := l.newPort(id, d)
			return p, nil
		}
	}
}

func (l *nodeLink) newPort(id uint32, d Direction) *Port {
	p := &Port{node: l.node, link: l, id: id, direction: d, frame: -1, told: l.lossAt}
	if d == Receive {
		p.page = make([]byte, l.node.ni.identity.PageBytes)
	}
	l.addPort(p)
	return p
}

// Connect asks the other node to take the other end of a port that CreatePort made, and waits for its answer: nil, or a
// RefusedPortError. params, at most MaxParams bytes, tell it what for.
func (p *Port) Connect(ctx context.Context, params []byte) error {
	if len(params) > MaxParams {
		return fmt.Errorf("%w: %d bytes of parameters, at most %d", ErrRange, len(params), MaxParams)
	}
	n := p.node.ni
	err := n.until(ctx, fmt.Sprintf("the node at the far end of link %d to start", p.link.link), func() bool { return p.link.session != 0 || p.state != created })
	if err != nil {
		return err
	}
	n.mu.Lock()
	if p.state != created {
		err = fmt.Errorf("%w %d is %v: only a port just created can be connected", ErrPort, p.id, p.state)
	} else {
		p.state = connecting
		p.link.say(p.id, message{kind: open, role: p.direction, text: params})
	}
	n.mu.Unlock()
	if err != nil {
		return err
	}
	if err := n.until(ctx, fmt.Sprintf("the other node to accept port %d", p.id), func() bool { return p.state != connecting }); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return p.err
}

// Request is another node's wish to connect a port.
type Request struct {
	node      *Node
	link      *nodeLink
	id        uint32
	direction Direction
	session   uint32
	params    []byte
	answered  bool
}

// Accept waits for a request to connect. Requests that nobody fetches wait, up to a number, then are refused.
func (node *Node) Accept(ctx context.Context) (r *Request, err error) {
	err = node.ni.until(ctx, "a request to connect", func() bool {
		for len(node.offers) > 0 && r == nil {
			if o := node.offers[0]; o.session == o.link.session {
				r = o
			}
			node.offers = node.offers[1:]
		}
		return r != nil
	})
	return r, err
}

// Link is the link by which the request came.
func (r *Request) Link() int { return r.link.link }

// Direction says which end of the port this node is to have.
func (r *Request) Direction() Direction { return r.direction }

// Params are what the other node gave to Connect.
func (r *Request) Params() []byte { return r.params }

// Accept takes the port.
func (r *Request) Accept() (*Port, error) {
	n := r.node.ni
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := r.answer(); err != nil {
		return nil, err
	}
	p := r.link.newPort(r.id, r.direction)
	p.state = connected
	r.link.say(r.id, message{kind: accept, role: r.direction.other()})
	return p, nil
}

// Refuse refuses the port, with a reason of at most MaxParams bytes.
func (r *Request) Refuse(reason string) error {
	n := r.node.ni
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := r.answer(); err != nil {
		return err
	}
	r.link.say(r.id, message{kind: refuse, role: r.direction.other(), text: []byte(reason)})
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
	case r.link.port(r.direction, r.id) != nil:
		return fmt.Errorf("%w %d: the number is in use", ErrPort, r.id)
	}
	r.answered = true
	return nil
}

// ID is the port's number, the same at both ends.
func (p *Port) ID() uint32 { return p.id }

// Link is the link that the port goes by.
func (p *Port) Link() int { return p.link.link }

// Direction is which end of the port this is.
func (p *Port) Direction() Direction { return p.direction }

// SetWritePolicy says when what is written to a send port is sent. What was written late is kept for Flush.
func (p *Port) SetWritePolicy(policy Policy) error {
	if p.direction != Send || policy > Late {
		return fmt.Errorf("%w %d: only a send port has a write policy, %v or %v", ErrPort, p.id, Immediate, Late)
	}
	n := p.node.ni
	n.mu.Lock()
	defer n.mu.Unlock()
	if policy == Immediate && p.late != nil && p.late.memory != nil {
		return fmt.Errorf("%w %d is written as memory, which needs policy %v: Unmap it first", ErrPort, p.id, Late)
	}
	p.policy = policy
	if policy == Late && p.late == nil {
		p.late = &lateWrites{image: make([]byte, n.identity.PageBytes)}
	}
	return nil
}

// Delete ends the port at both ends. What was sent by it arrives; what was written late and not flushed does not.
func (p *Port) Delete() error {
	n := p.node.ni
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.state == ended {
		return nil
	}
	if p.state != created {
		p.link.say(p.id, message{kind: shut, role: p.direction})
	}
	p.end(fmt.Errorf("%w %d was deleted", ErrPort, p.id))
	n.release()
	return n.core.err
}

// end takes the port from all tables.
func (p *Port) end(err error) {
	p.state, p.err = ended, err
	delete(p.link.ports[p.direction], p.id)
	if p.frame >= 0 {
		p.link.frames[p.frame].port, p.frame = nil, -1
	}
	if p.in != nil {
		p.in.port, p.in = nil, nil
	}
}

// ErrPortClosed is wrapped by what a port ends with when the other node deletes it.
var ErrPortClosed = fmt.Errorf("%w: the other node deleted it", ErrPort)

// closedByPeer ends a port that the other node has deleted. A receiver first reads what came last.
func (p *Port) closedByPeer() {
	over := fmt.Errorf("%w (port %d)", ErrPortClosed, p.id)
	if p.in == nil {
		p.end(over)
		return
	}
	p.in.read(0, len(p.page)-1, func() {
		if p.state != ended {
			p.end(over)
		}
	})
}

// usable says why a port cannot be used now.
func (p *Port) usable(d Direction) error {
	switch {
	case p.node.ni.core.err != nil:
		return p.node.ni.core.err
	case p.direction != d:
		return fmt.Errorf("%w %d is a %v port: send ports are written, receive ports are read", ErrPort, p.id, p.direction)
	case p.state == ended:
		return p.err
	case p.state != connected:
		return fmt.Errorf("%w %d is not connected", ErrPort, p.id)
	}
	return nil
}

// pageIn gives a send port a frame of the peer if it has none; false means that there is no room to say so now.
func (p *Port) pageIn() (bool, error) {
	l := p.link
	if p.frame >= 0 {
		l.choice.Used(p.frame)
		return true, nil
	}
	if len(l.frames) == 0 {
		return false, fmt.Errorf("%w %d: the node at the far end of link %d gives no frames", ErrPort, p.id, l.link)
	}
	frame := -1
	for i := range l.frames {
		if l.frames[i].port == nil {
			frame = i
			break
		}
	}
	// The choice is made for good only once the PAGE is sent.
	packet := linkproto.Packet{Type: linkproto.TypePage, Via: uint8(l.link), Port: p.id}
	if !l.node.ni.core.takes(packet.Via) {
		return false, nil
	}
	if frame < 0 {
		if frame = l.choice.Victim(); frame < 0 || frame >= len(l.frames) {
			return false, fmt.Errorf("%w %d: the replacement chose frame %d of %d", ErrPort, p.id, frame, len(l.frames))
		}
	}
	packet.Frame = uint16(l.frames[frame].number)
	if sent, err := l.node.ni.core.forward(&packet); !sent {
		return false, err
	}
	l.node.stats.PageOuts++
	if old := l.frames[frame].port; old != nil {
		old.frame = -1
	}
	l.frames[frame].port, p.frame = p, frame
	l.choice.Used(frame)
	return true, nil
}
