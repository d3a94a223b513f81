package hostdrv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/hostdrv/internal/pagemem"
	"github.com/stafflink/lmmc/linkproto"
)

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

// localPort is a port of an NI of this process. All is under the NI's lock.
type localPort struct {
	link      *nodeLink
	id        uint32
	direction Direction
	state     portState
	err       error // once ended
	done      chan struct{}
	params    []byte // while connecting
	accepted  bool   // by this node, at the other's request
	front     *Port  // its policy is for tables

	// of a send port
	frame  int    // index of its frame in link.frames, -1 if it has none
	losses uint64 // of the link that were reported to its user

	// of a receive port
	page    []byte
	mapped  *pagemem.Mapping // that page is in, or nil
	version uint64           // counts changes of the page
	in      *inFrame         // where its page is, nil if it is out
}

// newPort makes a port, which belongs to the tables from here on.
func (l *nodeLink) newPort(id uint32, d Direction) *localPort {
	p := &localPort{link: l, id: id, direction: d, frame: -1, losses: l.losses, done: make(chan struct{}), front: new(Port)}
	if d == Receive {
		p.page = make([]byte, l.node.identity.PageBytes)
	}
	l.ports[d][id] = p
	return p
}

func (p *localPort) ID() uint32            { return p.id }
func (p *localPort) Done() <-chan struct{} { return p.done }
func (p *localPort) Ended() error          { return p.err }

// Connect sends OPEN once the peer has sent its hello, unless an earlier Connect has, and waits for the answer.
func (p *localPort) Connect(ctx context.Context, what string, params []byte) error {
	l := p.link
	return attempt(ctx, l.node.until, what, func() (bool, error) {
		switch {
		case p.state != created:
			return p.state != connecting, p.err
		case l.session != 0 && len(l.outbox) < maxOutbox:
			p.state, p.params = connecting, bytes.Clone(params)
			l.enqueue(p.id, linkproto.NodeMessage{Kind: linkproto.NodeOpen, Role: uint8(p.direction), Text: p.params})
		}
		return false, l.misfit
	})
}

// Delete ends the port, with why.
func (p *localPort) Delete(why error) error {
	n := p.link.node
	n.lock()
	defer n.unlock()
	if p.state == ended {
		p.err = why
		return nil
	}
	if p.accepted {
		p.link.ended[p.direction][p.id] = linkproto.NodeMessage{Kind: linkproto.NodeClose, Role: uint8(p.direction)}
	}
	if p.state != created {
		p.link.enqueueClose(p)
	}
	p.end(why)
	n.release()
	return n.err()
}

// end takes the port from all tables.
func (p *localPort) end(err error) {
	p.state, p.err = ended, err
	close(p.done)
	delete(p.link.ports[p.direction], p.id)
	if p.frame >= 0 {
		p.link.frames[p.frame].port, p.frame = nil, -1
	}
	if p.in != nil {
		p.in.port = nil
		p.enter(nil)
	}
	if p.mapped != nil {
		p.mapped.State.End()
	}
}

// closedByPeer ends a port that the other node has deleted. A receiver first reads what came last.
func (p *localPort) closedByPeer() {
	if p.in == nil {
		p.end(deletedByPeer(p.id))
		return
	}
	p.in.read(0, len(p.page)-1, func() {
		if p.state != ended {
			p.end(deletedByPeer(p.id))
		}
	})
}

// Write sends a remote write, after a PAGE if the port has no frame.
func (p *localPort) Write(data []byte, off int) (bool, error) {
	if err := p.loss(); err != nil {
		return false, err
	}
	if in, err := p.pageIn(); !in {
		return false, err
	}
	n := p.link.node
	addr := p.link.frames[p.frame].number*n.identity.PageBytes + off
	sent, err := p.link.carrier.Forward(&linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(addr), Data: data})
	if sent {
		n.wakeOwner()
	}
	return sent, err
}

// loss returns once that the link has lost packets.
func (p *localPort) loss() error {
	if p.losses == p.link.losses {
		return nil
	}
	lost := p.link.losses - p.losses
	p.losses = p.link.losses
	return &LossError{Link: p.link.link, Lost: lost}
}

// pageIn gives a send port a frame of the peer if it has none; false means that there is no room now.
func (p *localPort) pageIn() (bool, error) {
	l := p.link
	if p.frame >= 0 {
		l.choice.Used(p.frame)
		return true, nil
	}
	if len(l.frames) == 0 {
		return false, portError(p.id, fmt.Sprintf("the node at the far end of link %d gives no frames", l.link), ErrPort)
	}
	frame := slices.IndexFunc(l.frames, func(f outFrame) bool { return f.port == nil })
	packet := linkproto.Packet{Type: linkproto.TypePage, Port: p.id}
	if !l.carrier.HasRoom(packet.Size()) { // the choice is final only once the PAGE is sent
		return false, l.node.err()
	}
	if frame < 0 {
		if frame = l.choice.Victim(); frame < 0 || frame >= len(l.frames) {
			return false, portError(p.id, fmt.Sprintf("the replacement chose frame %d of %d", frame, len(l.frames)), ErrPort)
		}
	}
	packet.Frame = uint16(l.frames[frame].number)
	if sent, err := l.carrier.Forward(&packet); !sent {
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

// Open has nothing to do: the page is here.
func (p *localPort) Open() error { return nil }

// Settle has nothing to wait for: Write has sent all.
func (p *localPort) Settle(context.Context, string) error { return nil }

// Sync waits until the link's queue is empty, and reads the counters of losses.
func (p *localPort) Sync(ctx context.Context, what string) error {
	n := p.link.node
	if err := n.drained(ctx, p.link.carrier, p.link.link); err != nil {
		return err
	}
	n.lock()
	audited, err := false, error(nil)
	p.link.audit(func(e error) { audited, err = true, e })
	n.unlock()
	if waited := n.until(ctx, what, func() bool { return audited }); waited != nil {
		return waited
	}
	n.lock()
	defer n.unlock()
	if err == nil {
		err = p.err
	}
	if err == nil {
		err = p.loss()
	}
	return err
}

// Read copies bytes of the page, at a simulated target after a turn.
func (p *localPort) Read(ctx context.Context, data []byte, off int) error {
	n := p.link.node
	if n.timing.VirtualTime {
		if err := n.oneTurn(ctx); err != nil {
			return err
		}
	}
	n.lock()
	defer n.unlock()
	copy(data, p.page[off:])
	return nil
}

// Wait polls while the page is in its frame, and blocks then.
func (p *localPort) Wait(ctx context.Context, what string, ready func(page []byte) bool) error {
	n := p.link.node
	var failed error
	seen, fresh := uint64(0), true
	over := func() bool {
		failed = p.err
		if failed != nil && !errors.Is(failed, ErrPortClosed) {
			return true
		}
		if !fresh && p.version == seen {
			return failed != nil
		}
		fresh, seen = false, p.version
		if ready(p.page) {
			failed = nil
			return true
		}
		return failed != nil
	}
	for {
		done := false
		err := n.poll(ctx, what, n.spin, func() bool {
			done = over()
			return done || p.in == nil
		})
		if err == nil && !done {
			out := false
			err = n.untilOthers(ctx, what, func() bool {
				was := out
				out = p.in == nil
				done = over()
				return done || was && !out
			})
		}
		if err != nil || done {
			if done {
				return failed
			}
			return err
		}
	}
}

// poll is until for so many ticks at most, after which it returns nil too. It polls without rest, except at a simulated target: that needs the
// processor to get on.
func (n *NI) poll(ctx context.Context, what string, ticks uint64, done func() bool) error {
	n.lock()
	end := n.core.Now() + ticks
	t := &engine.Timer{Fire: func() {}} // makes the owner read the time
	n.core.AddTimer(t, end)
	w := n.enlist(ctx, func() bool { return done() || n.core.Now() >= end })
	n.unlock()
	for !n.timing.VirtualTime && !w.Over() && ctx.Err() == nil {
		runtime.Gosched()
	}
	w.Await()
	n.lock()
	defer n.unlock()
	n.core.RemoveTimer(t)
	return n.leave(w, what)
}

// enter sets which frame has a receive port's page, nil for none.
func (p *localPort) enter(f *inFrame) {
	p.in = f
	if p.mapped != nil {
		p.mapped.State.SetOut(f == nil)
	}
}

// arrived takes what has come for a receive port's page.
func (p *localPort) arrived(first int, data []byte) {
	take := func() { copy(p.page[first:], data) }
	if p.mapped != nil {
		p.mapped.State.Change(take)
	} else {
		take()
	}
	p.version++
}

// Memory puts a receive port's page into memory for the program.
func (p *localPort) Memory() ([]byte, error) {
	if p.mapped == nil {
		if _, err := p.mapPage(false); err != nil {
			return nil, err
		}
	}
	return p.mapped.Read[:len(p.page):len(p.page)], nil
}

func (p *localPort) mapPage(shared bool) (*os.File, error) {
	m, file, err := pagemem.New(len(p.page), shared)
	if err != nil {
		return nil, fmt.Errorf("port %d: %w (%w)", p.id, err, errors.ErrUnsupported)
	}
	copy(m.Written, p.page)
	p.mapped, p.page = m, m.Written[:len(p.page):len(p.page)]
	p.enter(p.in)
	p.link.node.mapped++
	p.link.node.wakeOwner()
	return file, nil
}

func (p *localPort) Mapped() bool { return p.mapped != nil }

func (p *localPort) Unmap() error {
	m := p.mapped
	p.page, p.mapped = bytes.Clone(p.page), nil
	p.link.node.mapped--
	return m.Close()
}
