package hostdrv

import (
	"bytes"
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
	via       int // the link
	id        uint32
	direction Direction
	remote    *clientPort // of a client of another process's NI: nothing below is used then, or nil

	link     *nodeLink
	state    portState
	err      error  // once ended
	params   []byte // while connecting
	accepted bool   // by this node, at the other's request

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
	if node.client != nil {
		return node.client.createPort(node, link, d)
	}
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
	p := &Port{node: l.node, via: l.link, link: l, id: id, direction: d, frame: -1, told: l.lossAt}
	if d == Receive {
		p.page = make([]byte, l.node.ni.identity.PageBytes)
	}
	l.addPort(p)
	return p
}

// MaxParams is how many bytes of parameters Connect takes. A reason to refuse is cut to as many.
const MaxParams = linkproto.MaxNodeText

// Connect asks the other node to take the other end of a port that CreatePort made, and waits for its answer: nil, or a
// RefusedPortError; an IncompatibleError if the nodes do not understand each other. params, at most MaxParams bytes, tell it what for.
func (p *Port) Connect(ctx context.Context, params []byte) error {
	if len(params) > MaxParams {
		return fmt.Errorf("%w: %d bytes of parameters, at most %d", ErrRange, len(params), MaxParams)
	}
	if p.remote != nil {
		return p.remote.connect(ctx, params)
	}
	n := p.node.ni
	err := n.until(ctx, fmt.Sprintf("the node at the far end of link %d to start and to listen", p.link.link), func() bool {
		return p.link.session != 0 && len(p.link.outbox) < maxOutbox || p.link.misfit != nil || p.state != created
	})
	if err != nil {
		return err
	}
	n.mu.Lock()
	switch {
	case p.state != created:
		err = fmt.Errorf("%w %d is %v: only a port just created can be connected", ErrPort, p.id, p.state)
	case p.link.misfit != nil:
		err = p.link.misfit
	default:
		p.state, p.params = connecting, bytes.Clone(params)
		p.link.say(p.id, linkproto.NodeMessage{Kind: linkproto.NodeOpen, Role: uint8(p.direction), Text: p.params})
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

// ID is the port's number, the same at both ends.
func (p *Port) ID() uint32 { return p.id }

// Link is the link that the port goes by.
func (p *Port) Link() int { return p.via }

// Direction is which end of the port this is.
func (p *Port) Direction() Direction { return p.direction }

// SetWritePolicy says when what is written to a send port is sent. What was written late is kept for Flush.
func (p *Port) SetWritePolicy(policy Policy) error {
	if p.direction != Send || policy > Late {
		return fmt.Errorf("%w %d: only a send port has a write policy, %v or %v", ErrPort, p.id, Immediate, Late)
	}
	if p.remote != nil {
		return p.remote.setPolicy(policy)
	}
	n := p.node.ni
	n.mu.Lock()
	defer n.mu.Unlock()
	if policy == Immediate && p.late != nil && p.late.memory != nil {
		return notImmediate(p.id)
	}
	p.policy = policy
	if policy == Late && p.late == nil {
		p.late = &lateWrites{image: make([]byte, n.identity.PageBytes)}
	}
	return nil
}

func notImmediate(id uint32) error {
	return fmt.Errorf("%w %d is written as memory, which needs policy %v: Unmap it first", ErrPort, id, Late)
}

// Delete ends the port at both ends. What was sent by it arrives; what was written late and not flushed does not.
func (p *Port) Delete() error {
	if p.remote != nil {
		return p.remote.delete()
	}
	n := p.node.ni
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.state == ended {
		return nil
	}
	if p.accepted {
		p.link.finish(p.direction, p.id, linkproto.NodeMessage{Kind: linkproto.NodeClose, Role: uint8(p.direction)})
	}
	if p.state != created {
		p.link.sayClosed(p)
	}
	p.end(deleted(p.id))
	n.release()
	return n.core.err
}

func deleted(id uint32) error { return fmt.Errorf("%w %d was deleted", ErrPort, id) }

// end takes the port from all tables.
func (p *Port) end(err error) {
	p.state, p.err = ended, err
	delete(p.link.ports[p.direction], p.id)
	if p.frame >= 0 {
		p.link.frames[p.frame].port, p.frame = nil, -1
	}
	if p.in != nil {
		p.in.port = nil
		p.enter(nil)
	}
	if p.mapped != nil {
		p.mapped.state.End()
	}
}

// enter says which frame has a receive port's page, nil for none.
func (p *Port) enter(f *inFrame) {
	p.in = f
	if p.mapped != nil {
		p.mapped.state.SetOut(f == nil)
	}
}

// arrived takes what has come for a receive port's page.
func (p *Port) arrived(first int, data []byte) {
	take := func() { copy(p.page[first:], data) }
	if p.mapped != nil {
		p.mapped.state.Change(take)
	} else {
		take()
	}
	p.version++
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
		return p.otherWay()
	case p.state == ended:
		return p.err
	case p.state != connected:
		return fmt.Errorf("%w %d is not connected", ErrPort, p.id)
	}
	return nil
}

func (p *Port) otherWay() error {
	return fmt.Errorf("%w %d is a %v port: send ports are written, receive ports are read", ErrPort, p.id, p.direction)
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
