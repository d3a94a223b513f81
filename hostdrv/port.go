package hostdrv

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/pagemem"
	"github.com/stafflink/lmmc/hostdrv/internal/wait"
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
func (d Direction) String() string { return name("direction", int(d), "send", "receive") }

// Policy says when what is written to a send port is sent.
type Policy uint8

// The write policies.
const (
	Immediate Policy = iota // each write at once
	Late                    // at Flush, what has been written since
)

// String names the policy.
func (p Policy) String() string { return name("policy", int(p), "immediate", "late") }

func name(kind string, v int, names ...string) string {
	if v < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s %d", kind, v)
}

// MaxParams is how many bytes of parameters Connect takes.
const MaxParams = linkproto.MaxNodeText

// Port is one end of a one-way channel to the node at the far end of a link: a page which the sender writes and the receiver reads. The
// methods of a zero Port fail with ErrPort.
type Port struct {
	node *Node
	nodeLock
	backend   portBackend
	link      int
	id        uint32
	direction Direction
	pageBytes int
	flushing  chan struct{} // has room for one Flush at a time

	// Under the node's lock.
	connected bool
	policy    Policy
	late      *pagemem.Late // with Late, or nil
	stopFlush func()        // ends FlushEvery, or nil
}

// portBackend is what a port of an NI of this process does in another way than one of another process's. Direction, state and ranges were
// checked before it is called.
type portBackend interface {
	ID() uint32
	// Done is closed when the port has ended.
	Done() <-chan struct{}

	// Under the node's lock.

	// Ended is why the port has ended, or nil.
	Ended() error
	// Write sends a remote write; false means that there is no room now.
	Write(data []byte, off int) (sent bool, err error)
	// Memory is a receive port's page as memory until Unmap. Mapped reports whether it is.
	Memory() ([]byte, error)
	Mapped() bool
	Unmap() error

	// These wait. what describes for what.

	Connect(ctx context.Context, what string, params []byte) error
	Open() error
	// Settle waits until what Write has sent is on its way.
	Settle(ctx context.Context, what string) error
	Sync(ctx context.Context, what string) error
	Read(ctx context.Context, data []byte, off int) error
	Wait(ctx context.Context, what string, ready func(page []byte) bool) error
	Delete(why error) error
}

func (node *Node) newPort(b portBackend, link int, d Direction) *Port {
	p := &Port{node: node, nodeLock: node.on(), backend: b, link: link, id: b.ID(), direction: d, pageBytes: node.Identity().PageBytes, flushing: make(chan struct{}, 1)}
	if local, ok := b.(*localPort); ok {
		p.lock()
		local.front = p
		p.unlock()
	}
	return p
}

// ID is the port's number, the same at both ends.
func (p *Port) ID() uint32 { return p.id }

// Link is the link that the port goes by.
func (p *Port) Link() int { return p.link }

// Direction is which end of the port this is.
func (p *Port) Direction() Direction { return p.direction }

// Done is closed when the port has ended; Err says why.
func (p *Port) Done() <-chan struct{} {
	if p.backend == nil {
		return closedChan
	}
	return p.backend.Done()
}

var closedChan = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Err is why the port, or the NI, cannot be used any more, or nil.
func (p *Port) Err() error { return p.check(p.direction, (*Port).alive) }

// check locks, and checks whether the port can be used now.
func (p *Port) check(d Direction, state func(*Port, Direction) error) error {
	err := p.enter(d, state)
	if err == nil {
		p.unlock()
	}
	return err
}

// enter is check; it leaves the node locked if there is no error.
func (p *Port) enter(d Direction, state func(*Port, Direction) error) error {
	if p.node == nil {
		return errZeroPort
	}
	p.lock()
	err := state(p, d)
	if err != nil {
		p.unlock()
	}
	return err
}

// alive says why a port of any state cannot be used, under the lock.
func (p *Port) alive(d Direction) error {
	if err := p.nodeLock.err(); err != nil {
		return err
	}
	if p.direction != d {
		return portError(p.id, fmt.Sprintf("is a %v port, want a %v port", p.direction, d), ErrPort)
	}
	return p.backend.Ended()
}

// usable says why a port cannot be used as a connected one, under the lock.
func (p *Port) usable(d Direction) error {
	err := p.alive(d)
	if err == nil && !p.connected {
		err = portError(p.id, "not connected: call Connect first", ErrPort)
	}
	return err
}

// Connect asks the other node to connect a port that CreatePort made, and waits for its answer: nil, or a
// RefusedPortError; an IncompatibleError if the nodes do not understand each other. params, at most MaxParams bytes, tell it what for. If
// ctx ends first, Connect can be called again to wait on.
func (p *Port) Connect(ctx context.Context, params []byte) error {
	if len(params) > MaxParams {
		return fmt.Errorf("%w: port %d: %d bytes of parameters, at most %d", ErrRange, p.id, len(params), MaxParams)
	}
	if err := p.enter(p.direction, (*Port).alive); err != nil {
		return err
	}
	connected := p.connected
	p.unlock()
	if connected {
		return portError(p.id, "is connected already", ErrPort)
	}
	what := fmt.Sprintf("the node at the far end of link %d to accept port %d", p.link, p.id)
	if err := p.backend.Connect(ctx, what, params); err != nil {
		return err
	}
	p.lock()
	defer p.unlock()
	p.connected = true
	return nil
}

// Delete ends the port at both ends. What was sent by it arrives; what was written late and not flushed does not.
func (p *Port) Delete() error {
	if p.node == nil {
		return errZeroPort
	}
	p.lock()
	p.stop()
	p.unlock()
	return p.backend.Delete(portError(p.id, "deleted", ErrPort))
}

// stop ends FlushEvery.
func (p *Port) stop() {
	if p.stopFlush != nil {
		p.stopFlush()
		p.stopFlush = nil
	}
}

// SetWritePolicy says when what is written to a send port is sent. What was written late is kept for Flush.
func (p *Port) SetWritePolicy(policy Policy) error {
	if policy > Late {
		return fmt.Errorf("%w: port %d: %v, want %v or %v", ErrRange, p.id, policy, Immediate, Late)
	}
	if err := p.enter(Send, (*Port).alive); err != nil {
		return err
	}
	defer p.unlock()
	switch {
	case policy == Immediate && p.late != nil && p.late.Mapped():
		return portError(p.id, fmt.Sprintf("its page is memory, which needs policy %v: Unmap it first", Late), ErrPort)
	case policy == Late && p.late == nil:
		p.late = &pagemem.Late{Image: make([]byte, p.pageBytes)}
	}
	p.policy = policy
	return nil
}

// FlushEvery makes the driver flush a port with policy Late again and again, each time that so much of the target's time has passed; 0 ends it.
// The next Flush returns what goes wrong.
func (p *Port) FlushEvery(d time.Duration) error {
	if err := p.enter(Send, (*Port).usable); err != nil {
		return err
	}
	defer p.unlock()
	if p.policy != Late {
		return p.notLate("only a port with policy %v is flushed")
	}
	p.stop()
	if d > 0 {
		p.stopFlush = p.every(d, p.flushTick)
	}
	return nil
}

func (p *Port) notLate(why string) error { return portError(p.id, fmt.Sprintf(why, Late), ErrPort) }

// flushTick flushes as much as there is room for, under the lock.
func (p *Port) flushTick() bool {
	if p.usable(Send) != nil {
		return false
	}
	err := p.late.Collect()
	if err == nil {
		_, err = p.late.Send(p.backend.Write)
	}
	if err != nil {
		p.late.Unsend()
	}
	if p.late.Failed == nil {
		p.late.Failed = err
	}
	return true
}

// Window gives access to the page of a connected port. A port may be mapped more than once.
func (p *Port) Window() (*Window, error) {
	err := p.check(p.direction, (*Port).usable)
	if err == nil {
		err = p.backend.Open()
	}
	if err != nil {
		return nil, err
	}
	return &Window{p}, nil
}

// write sends by try, which returns false while there is no room.
func (p *Port) write(ctx context.Context, try func() (sent bool, err error)) error {
	return attempt(ctx, p.until, fmt.Sprintf("room to write to port %d", p.id), func() (bool, error) {
		if err := p.usable(Send); err != nil {
			return false, err
		}
		return try()
	})
}

// flush is Window.Flush.
func (p *Port) flush(ctx context.Context) error {
	what := fmt.Sprintf("room to flush port %d", p.id)
	select {
	case p.flushing <- struct{}{}:
		defer func() { <-p.flushing }()
	case <-ctx.Done():
		return wait.Error(ctx, what)
	}
	if err := p.enter(Send, (*Port).usable); err != nil {
		return err
	}
	late := p.late
	var err error
	if late != nil {
		err, late.Failed = errors.Join(late.Failed, late.Collect()), nil
	}
	p.unlock()
	if late == nil {
		return p.backend.Settle(ctx, what)
	}
	if err == nil {
		err = p.write(ctx, func() (bool, error) { return late.Send(p.backend.Write) })
	}
	if err == nil {
		p.lock()
		late.Settle()
		p.unlock()
		err = p.backend.Settle(ctx, what)
	}
	p.lock()
	defer p.unlock()
	err, late.Failed = errors.Join(err, late.Failed), nil // of a tick meanwhile
	if err == nil {
		late.Settled()
	} else {
		late.Unsend()
	}
	return err
}
