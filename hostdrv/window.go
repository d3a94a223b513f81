package hostdrv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/linkproto"
)

// Window is a mapped port: its page, to be written at the sender and read at the receiver. Offsets and sizes are in bytes.
type Window struct{ port *Port }

// Map gives access to the page of a connected port. A port may be mapped more than once.
func (p *Port) Map() (*Window, error) {
	if p.remote != nil {
		if err := p.remote.mapped(); err != nil {
			return nil, err
		}
		return &Window{p}, nil
	}
	n := p.node.ni
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := p.usable(p.direction); err != nil {
		return nil, err
	}
	return &Window{p}, nil
}

// Port is the port that was mapped.
func (w *Window) Port() *Port { return w.port }

// Size is the size of the page.
func (w *Window) Size() int { return w.port.node.Identity().PageBytes }

func (w *Window) check(size, off int) error {
	if off < 0 || size > w.Size() || off > w.Size()-size {
		return fmt.Errorf("%w: %d bytes at %d of a page of %d", ErrRange, size, off, w.Size())
	}
	return nil
}

// WriteAt writes data to a send port's page. With policy Immediate it is sent as one remote write, which the receiver's NI does whole or
// not at all, and WriteAt returns when it is on its way; with Late it waits for Flush. A LossError says that packets of the link were lost
// before, perhaps of this port: what it wrote earlier may not have arrived, and this was not written. At an NI of another process
// WriteAt does not wait for the server: what goes wrong there the port's next WriteAt, Flush or Sync tells, and nothing was written after
// the write that failed.
func (w *Window) WriteAt(ctx context.Context, data []byte, off int) error {
	if err := w.check(len(data), off); err != nil {
		return err
	}
	p := w.port
	if p.remote != nil && p.direction != Send {
		return p.otherWay()
	}
	if p.remote != nil {
		return p.remote.writeAt(ctx, data, off)
	}
	n := p.node.ni
	n.mu.Lock()
	if p.policy == Late {
		err := p.usable(Send)
		if err == nil {
			p.late.write(data, off)
		}
		n.mu.Unlock()
		return err
	}
	sent, err := p.write(data, off)
	if sent {
		n.wakeOwner()
	}
	n.mu.Unlock()
	if sent || err != nil {
		return err
	}
	return w.writeLater(ctx, data, off)
}

func (w *Window) writeLater(ctx context.Context, data []byte, off int) (err error) {
	n := w.port.node.ni
	waited := n.until(ctx, fmt.Sprintf("room to write to port %d", w.port.id), func() (sent bool) {
		if sent, err = w.port.write(data, off); sent {
			n.wakeOwner()
		}
		return sent || err != nil
	})
	if err == nil {
		err = waited
	}
	return err
}

// write sends a remote write, after a PAGE if the port has no frame; false means that there is no room now.
func (p *Port) write(data []byte, off int) (bool, error) {
	if err := p.usable(Send); err != nil {
		return false, err
	}
	if err := p.loss(); err != nil {
		return false, err
	}
	if in, err := p.pageIn(); !in {
		return false, err
	}
	addr := p.link.frames[p.frame].number*p.node.ni.identity.PageBytes + off
	packet := linkproto.Packet{Type: linkproto.TypeWrite, Via: uint8(p.link.link), Addr: uint32(addr), Data: data}
	return p.node.ni.core.forward(&packet)
}

// loss tells once of packets that the link has lost.
func (p *Port) loss() error {
	if p.told == p.link.lossAt {
		return nil
	}
	lost := p.link.lossAt - p.told
	p.told = p.link.lossAt
	return &LossError{Link: p.link.link, Lost: lost}
}

// Flush sends what was written late: the bytes that were written since, and no others. It returns when they are on their way.
func (w *Window) Flush(ctx context.Context) (err error) {
	p := w.port
	if p.remote != nil {
		return p.remote.flush(ctx)
	}
	n := p.node.ni
	collected := false
	waited := n.until(ctx, fmt.Sprintf("room to flush port %d", p.id), func() (done bool) {
		if err = p.usable(Send); err != nil || p.late == nil {
			return true
		}
		if !collected {
			collected = true
			err, p.late.failed = p.late.failed, nil
			err = errors.Join(err, p.late.collect())
		}
		if err == nil {
			done, err = p.flush()
		}
		return done || err != nil
	})
	if err == nil {
		err = waited
	}
	return err
}

// Sync waits until the peer's NI has acknowledged all that was sent by the port's link before. It returns a LossError if some of that
// was lost.
func (w *Window) Sync(ctx context.Context) error {
	p := w.port
	if p.remote != nil {
		return p.remote.settle(ctx, sharing.OpSync)
	}
	n := p.node.ni
	if err := n.drained(ctx, p.link.link); err != nil {
		return err
	}
	n.mu.Lock()
	audited, err := false, error(nil)
	p.link.audit(func(e error) { audited, err = true, e })
	n.mu.Unlock()
	if waited := n.until(ctx, "the count of lost packets", func() bool { return audited }); waited != nil {
		return waited
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		err = p.usable(Send)
	}
	if err == nil {
		err = p.loss()
	}
	return err
}

// ReadAt reads a receive port's page, into data. It does not wait for anything but, on a target whose time stands still otherwise, for one
// turn, so that a program that reads again and again gets to see what it reads for.
func (w *Window) ReadAt(ctx context.Context, data []byte, off int) error {
	if err := w.check(len(data), off); err != nil {
		return err
	}
	if w.port.remote != nil {
		return w.port.remote.readAt(data, off)
	}
	n := w.port.node.ni
	if n.timing.VirtualTime {
		if err := n.oneTurn(ctx); err != nil {
			return err
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := w.port.usable(Receive); err != nil {
		return err
	}
	copy(data, w.port.page[off:])
	return nil
}

func (n *NI) oneTurn(ctx context.Context) error {
	n.mu.Lock()
	start := n.core.now
	n.mu.Unlock()
	return n.until(ctx, "a turn", func() bool { return n.core.now > start })
}

// StoreUint32 writes a value, little endian, as WriteAt does.
func (w *Window) StoreUint32(ctx context.Context, off int, v uint32) error {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], v)
	return w.WriteAt(ctx, b[:], off)
}

// StoreUint64 writes a value, little endian, as WriteAt does.
func (w *Window) StoreUint64(ctx context.Context, off int, v uint64) error {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	return w.WriteAt(ctx, b[:], off)
}

// LoadUint32 reads a value, little endian, as ReadAt does. One that was stored by StoreUint32 at a multiple of 4 is seen as a whole.
func (w *Window) LoadUint32(ctx context.Context, off int) (uint32, error) {
	var b [4]byte
	err := w.ReadAt(ctx, b[:], off)
	return binary.LittleEndian.Uint32(b[:]), err
}

// LoadUint64 reads a value, little endian, as ReadAt does. Its two halves may be of different stores.
func (w *Window) LoadUint64(ctx context.Context, off int) (uint64, error) {
	var b [8]byte
	err := w.ReadAt(ctx, b[:], off)
	return binary.LittleEndian.Uint64(b[:]), err
}

// Wait waits until ready, which looks at a receive port's page each time that it may have changed; it is called under a lock, must not
// call the driver, and must not keep the page. Wait looks for NodeOptions.Spin and blocks then; while the page is out of its frame,
// when nothing can change it, it blocks at once, and looks again as soon as the page is in, before the link goes on. Of a port that the other
// node has deleted, ready sees what came last; after that Wait returns ErrPortClosed.
func (w *Window) Wait(ctx context.Context, ready func(page []byte) bool) error {
	p := w.port
	if p.remote != nil {
		return p.remote.wait(ctx, ready)
	}
	n := p.node.ni
	var failed error
	seen, fresh := uint64(0), true
	over := func() bool {
		if failed = p.usable(Receive); failed != nil && !errors.Is(failed, ErrPortClosed) {
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
	what := fmt.Sprintf("a change of port %d", p.id)
	for {
		done := false
		err := n.spin(ctx, what, p.node.spin, func() bool {
			done = over()
			return done || p.in == nil
		})
		if err == nil && !done {
			out := false
			err = n.until(ctx, what, func() bool {
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

// spin is until for so many ticks at most, after which it returns nil too. It looks without rest, except at a simulated target: that needs the
// processor to get on.
func (n *NI) spin(ctx context.Context, what string, ticks uint64, done func() bool) error {
	n.mu.Lock()
	end := n.core.now + ticks
	t := &timer{fire: func() {}} // makes the owner look at the time
	n.core.timers.add(t, end)
	w := n.enlist(ctx, func() bool { return done() || n.core.now >= end })
	n.mu.Unlock()
	for !n.timing.VirtualTime && !w.isOver() && ctx.Err() == nil {
		runtime.Gosched()
	}
	w.await()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.core.timers.remove(t)
	return n.leave(w, what)
}
