package hostdrv

import (
	"bytes"
	"fmt"
)

// Bytes is a receive port's page as memory: plain reads see what has arrived, without a call of the driver or of the system. Writing it is a
// fault. It is valid until Unmap; after the port has ended it keeps what came last. While a port of an NI is mapped so, the time of
// a simulated target goes on though nobody waits, which costs a processor.
//
// Bytes change while they are read. What belongs together is to be written with a value that tells, last: the writes of a port arrive in
// order.
func (w *Window) Bytes() ([]byte, error) {
	p := w.port
	n := p.node.ni
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.direction != Receive {
		return nil, fmt.Errorf("%w %d is a %v port: as memory there are receive ports", ErrPort, p.id, p.direction)
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

// Unmap ends what Bytes gave, of all Windows of the port: using it from here on is a fault.
func (w *Window) Unmap() error {
	p := w.port
	n := p.node.ni
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.mapped == nil {
		return nil
	}
	m := p.mapped
	p.page, p.mapped = bytes.Clone(p.page), nil
	n.mapped--
	return m.close()
}
