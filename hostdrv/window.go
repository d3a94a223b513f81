package hostdrv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// Window gives access to a port's page, to be written at the sender and read at the receiver. Offsets and sizes are in bytes. The methods of a
// zero Window fail with ErrPort.
type Window struct{ port *Port }

// Port is the port that was mapped.
func (w *Window) Port() *Port {
	if w.port == nil {
		return new(Port)
	}
	return w.port
}

// Size is the size of the page.
func (w *Window) Size() int {
	if w.port == nil {
		return 0
	}
	return w.port.pageBytes
}

// enter checks whether the window can be used so now, and leaves the node locked if there is no error.
func (w *Window) enter(d Direction, size, off int) (*Port, error) {
	if w.port == nil {
		return nil, errZeroPort
	}
	if off < 0 || size > w.Size() || off > w.Size()-size {
		return nil, fmt.Errorf("%w: port %d: %d bytes at %d of a page of %d", ErrRange, w.port.id, size, off, w.Size())
	}
	return w.port, w.port.enter(d, (*Port).usable)
}

// check is enter; it leaves the node unlocked.
func (w *Window) check(d Direction, size, off int) (*Port, error) {
	p, err := w.enter(d, size, off)
	if err == nil {
		p.unlock()
	}
	return p, err
}

// WritePage writes data to a send port's page. With policy Immediate it is sent as one remote write, which the receiver's NI does whole or
// not at all, and WritePage returns when it is on its way; with Late it waits for Flush. A LossError says that packets of the link were lost
// before, perhaps of this port: what it wrote earlier may not have arrived, and this was not written. At an NI of another process
// WritePage does not wait for the server: if the write fails there, the port's next WritePage, Flush or Sync returns the error, and nothing
// was written after the write that failed.
func (w *Window) WritePage(ctx context.Context, data []byte, off int) error {
	p, err := w.enter(Send, len(data), off)
	if err != nil {
		return err
	}
	if p.policy == Late {
		p.late.Write(data, off)
		p.unlock()
		return nil
	}
	sent, err := p.writeNow(data, off)
	p.unlock()
	if sent || err != nil {
		return err
	}
	return p.write(ctx, func() (bool, error) { return p.writeNow(data, off) })
}

// writeNow sends data at once, under the lock. What was written late in its place is not to be sent behind it.
func (p *Port) writeNow(data []byte, off int) (sent bool, err error) {
	if sent, err = p.backend.Write(data, off); sent && p.late != nil {
		copy(p.late.Image[off:], data)
	}
	return sent, err
}

// Flush sends what was written late: the bytes that were written since, and no others. It returns when they are on their way.
func (w *Window) Flush(ctx context.Context) error {
	p, err := w.check(Send, 0, 0)
	if err != nil {
		return err
	}
	return p.flush(ctx)
}

// Sync waits until the peer's NI has acknowledged all that was sent by the port's link before. It returns a LossError if some of that
// was lost.
func (w *Window) Sync(ctx context.Context) error {
	p, err := w.check(Send, 0, 0)
	if err != nil {
		return err
	}
	return p.backend.Sync(ctx, fmt.Sprintf("the peer of link %d to acknowledge", p.link))
}

// ReadPage reads a receive port's page, into data. It does not wait for anything but, on a target whose time stands still otherwise, for one
// turn, so that a program that polls the page sees it change.
func (w *Window) ReadPage(ctx context.Context, data []byte, off int) error {
	p, err := w.check(Receive, len(data), off)
	if err != nil {
		return err
	}
	if err := p.backend.Read(ctx, data, off); err != nil {
		return err
	}
	return p.check(Receive, (*Port).usable)
}

// StoreUint32 writes a value, little endian, as WritePage does.
func (w *Window) StoreUint32(ctx context.Context, off int, v uint32) error {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], v)
	return w.WritePage(ctx, b[:], off)
}

// StoreUint64 writes a value, little endian, as WritePage does.
func (w *Window) StoreUint64(ctx context.Context, off int, v uint64) error {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	return w.WritePage(ctx, b[:], off)
}

// LoadUint32 reads a value, little endian, as ReadPage does. One that was stored by StoreUint32 at a multiple of 4 is seen as a whole.
func (w *Window) LoadUint32(ctx context.Context, off int) (uint32, error) {
	var b [4]byte
	err := w.ReadPage(ctx, b[:], off)
	return binary.LittleEndian.Uint32(b[:]), err
}

// LoadUint64 reads a value, little endian, as ReadPage does. Its two halves may be of different stores.
func (w *Window) LoadUint64(ctx context.Context, off int) (uint64, error) {
	var b [8]byte
	err := w.ReadPage(ctx, b[:], off)
	return binary.LittleEndian.Uint64(b[:]), err
}

// Wait waits until ready, which gets a receive port's page each time that it may have changed; it is called under a lock, must not
// call the driver, and must not keep the page. Wait polls for NodeOptions.Spin and blocks then; while the page is out of its frame,
// when nothing can change it, it blocks at once, and looks again as soon as the page is in, before the link goes on. Of a port that the other
// node has deleted, ready sees what came last; after that Wait returns ErrPortClosed.
func (w *Window) Wait(ctx context.Context, ready func(page []byte) bool) error {
	p := w.Port()
	if err := p.check(Receive, (*Port).usable); err != nil && !errors.Is(err, ErrPortClosed) {
		return err
	}
	return p.backend.Wait(ctx, fmt.Sprintf("a change of port %d", p.id), ready)
}

// Bytes is the port's page as memory, until Unmap.
//
// A receive port's may be read: plain reads see what has arrived, without a call of the driver or of the system. Writing it is a fault. After
// the port has ended it keeps what came last. Bytes change while they are read; to see several values that belong together, write a flag
// last: the writes of a port arrive in order. While a receive port is mapped so, the time of a simulated target goes
// on though nobody waits, which costs a processor.
//
// A send port's may be written, with policy Late: Flush, or Port.FlushEvery, finds the pages of the system that were written by their write
// faults, and sends the bytes that have changed. This needs Linux 6.7 or later; where it cannot be had the error wraps errors.ErrUnsupported.
func (w *Window) Bytes() ([]byte, error) {
	p := w.Port()
	if err := p.enter(p.direction, (*Port).usable); err != nil {
		return nil, err
	}
	defer p.unlock()
	switch {
	case p.direction == Receive:
		return p.backend.Memory()
	case p.policy != Late:
		return nil, p.notLate("to be written as memory a send port needs policy %v")
	}
	return p.late.Memory()
}

// Unmap ends what Bytes gave, of all Windows of the port: using it from here on is a fault. What was written to a send port's is kept for
// Flush.
func (w *Window) Unmap() error {
	p := w.Port()
	if p.node == nil {
		return errZeroPort
	}
	p.lock()
	defer p.unlock()
	switch {
	case p.late != nil:
		return p.late.Unmap()
	case p.backend.Mapped():
		return p.backend.Unmap()
	}
	return nil
}

// Share is Bytes for another process, to which the file is passed and which package serve makes an end of a Node of its own: a receive port's page,
// that can be mapped for reading only, and after it a word on its state. The port must not be memory already, and is until Unmap.
func (w *Window) Share() (*os.File, error) {
	p, err := w.enter(Receive, 0, 0)
	if err != nil {
		return nil, err
	}
	defer p.unlock()
	local, ok := p.backend.(*localPort)
	switch {
	case !ok:
		return nil, portError(p.id, "belongs to another process's network interface, which alone can share it", ErrPort)
	case p.backend.Mapped():
		return nil, portError(p.id, "its page is memory already: Unmap it first", ErrPort)
	}
	return local.mapPage(true)
}

// WaitChange waits until the page that Share gave has a version other than seen, or the port has ended, with why.
func (w *Window) WaitChange(ctx context.Context, seen uint64) error {
	p, err := w.check(Receive, 0, 0)
	if err != nil {
		return err
	}
	return attempt(ctx, p.until, fmt.Sprintf("a change of port %d", p.id), func() (bool, error) {
		local, ok := p.backend.(*localPort)
		err := p.usable(Receive)
		if err == nil && (!ok || local.mapped == nil) {
			err = portError(p.id, "its page is not shared", ErrPort)
		}
		return err == nil && local.mapped.State.Version() != seen, err
	})
}
