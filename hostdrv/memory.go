package hostdrv

import (
	"bytes"
	"fmt"
)

// Bytes is the port's page as memory, until Unmap.
//
// A receive port's may be read: plain reads see what has arrived, without a call of the driver or of the system. Writing it is a fault. After
// the port has ended it keeps what came last. Bytes change while they are read; what belongs together is to be written with a
// value that tells, last: the writes of a port arrive in order. While a receive port is mapped so, the time of a simulated target goes
// on though nobody waits, which costs a processor.
//
// A send port's may be written, with policy Late: Flush, or Port.FlushEvery, finds the pages of the system that were written by their write
// faults, and sends the bytes that have changed. This needs Linux 6.7 or later.
func (w *Window) Bytes() ([]byte, error) {
	p := w.port
	n := p.node.ni
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.direction == Send {
		return p.writable()
	}
	if p.mapped == nil {
		if err := p.usable(Receive); err != nil {
			return nil, err
		}
		m, err := newMapping(len(p.page))
		if err != nil {
			return nil, err
		}
		copy(m.written, p.page)
		p.mapped, p.page = m, m.written
		n.mapped++
		n.wakeOwner()
	}
	return p.mapped.read[:len(p.page):len(p.page)], nil
}

// writable gives a send port's page as memory.
func (p *Port) writable() ([]byte, error) {
	if err := p.usable(Send); err != nil {
		return nil, err
	}
	if p.policy != Late {
		return nil, fmt.Errorf("%w %d: to be written as memory a send port needs policy %v", ErrPort, p.id, Late)
	}
	if p.late.memory == nil {
		m, err := newWatched(p.late.image)
		if err != nil {
			return nil, err
		}
		p.late.memory = m
	}
	size := len(p.late.image)
	return p.late.memory.memory[:size:size], nil
}

// Unmap ends what Bytes gave, of all Windows of the port: using it from here on is a fault. What was written to a send port's is kept for
// Flush.
func (w *Window) Unmap() error {
	p := w.port
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
