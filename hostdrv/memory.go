package hostdrv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// Bytes is the port's page as memory, until Unmap.
//
// A receive port's may be read: plain reads see what has arrived, without a call of the driver or of the system. Writing it is a fault. After
// the port has ended it keeps what came last. Bytes change while they are read; what belongs together is to be written with a
// value that tells, last: the writes of a port arrive in order. While a receive port is mapped so, the time of a simulated target goes
// on though nobody waits, which costs a processor.
//
// A send port's may be written, with policy Late: Flush, or Port.FlushEvery, finds the pages of the system that were written by their write
// faults, and sends the bytes that have changed. This needs Linux 6.7 or later; where it cannot be had the error wraps errors.ErrUnsupported.
func (w *Window) Bytes() ([]byte, error) {
	p := w.port
	if p.remote != nil {
		return p.remote.memory(p.direction)
	}
	n := p.node.ni
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.direction == Send {
		return p.writable()
	}
	if p.mapped == nil {
		if _, err := p.mapPage(false); err != nil {
			return nil, err
		}
	}
	return p.mapped.read[:len(p.page):len(p.page)], nil
}

// mapPage puts a receive port's page into memory for programs.
func (p *Port) mapPage(shared bool) (*os.File, error) {
	if err := p.usable(Receive); err != nil {
		return nil, err
	}
	m, file, err := newMapping(len(p.page), shared)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", err, errors.ErrUnsupported)
	}
	copy(m.written, p.page)
	p.mapped, p.page = m, m.written[:len(p.page):len(p.page)]
	p.enter(p.in)
	p.node.ni.mapped++
	p.node.ni.wakeOwner()
	return file, nil
}

// Share is Bytes for another process, to which the file is passed and which package serve makes an end of a Node of its own: a receive port's page,
// that can be mapped for reading only, and after it a word on its state. The port must not be memory already, and is until Unmap.
func (w *Window) Share() (*os.File, error) {
	p := w.port
	if p.remote != nil {
		return nil, fmt.Errorf("%w %d is another process's, which alone can share it", ErrPort, p.id)
	}
	n := p.node.ni
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.mapped != nil {
		return nil, fmt.Errorf("%w %d is memory already: Unmap it first", ErrPort, p.id)
	}
	return p.mapPage(true)
}

// writable gives a send port's page as memory.
func (p *Port) writable() ([]byte, error) {
	if err := p.usable(Send); err != nil {
		return nil, err
	}
	if p.policy != Late {
		return nil, notLate(p.id)
	}
	return p.late.bytes()
}

func notLate(id uint32) error {
	return fmt.Errorf("%w %d: to be written as memory a send port needs policy %v", ErrPort, id, Late)
}

// WaitChange waits until the page that Share gave has a version other than seen, or the port has ended, with why.
func (w *Window) WaitChange(ctx context.Context, seen uint64) (err error) {
	p := w.port
	if p.remote != nil {
		_, err := p.remote.ask(ctx, sharing.OpWait, seen, nil)
		return err
	}
	waited := p.node.ni.until(ctx, fmt.Sprintf("a change of port %d", p.id), func() bool {
		if err = p.usable(Receive); err == nil && p.mapped == nil {
			err = fmt.Errorf("%w %d is not memory", ErrPort, p.id)
		}
		return err != nil || p.mapped.state.Version() != seen
	})
	if err == nil {
		err = waited
	}
	return err
}

// Unmap ends what Bytes gave, of all Windows of the port: using it from here on is a fault. What was written to a send port's is kept for
// Flush.
func (w *Window) Unmap() error {
	p := w.port
	if p.remote != nil {
		return p.remote.unmap()
	}
	n := p.node.ni
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.direction == Send {
		return p.late.unmap()
	}
	if p.mapped == nil {
		return nil
	}
	m := p.mapped
	p.page, p.mapped = bytes.Clone(p.page), nil
	n.mapped--
	return m.close()
}
