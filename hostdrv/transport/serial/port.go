package serial

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"go.bug.st/serial"
)

// port makes a stream of a serial.Port that may be closed while it is read and written. The library closes the file before those that use
// it know, so that a write could go to another file that has got the number since: here all of them have left before.
type port struct {
	port  serial.Port
	claim *claimed
	chunk int // most bytes in one write to it

	closing atomic.Bool
	users   sync.RWMutex
	once    sync.Once
	closed  error
}

// Read waits until there is something, or Close.
func (p *port) Read(b []byte) (n int, err error) {
	p.users.RLock()
	defer p.users.RUnlock()
	defer func() {
		if r := recover(); r != nil { // of the library's select, which knows file numbers below 1024
			err = fmt.Errorf("serial: reading failed (too many open files?): %v", r)
		}
	}()
	for !p.closing.Load() {
		n, err := p.port.Read(b)
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, os.ErrClosed
}

// Write writes all of b, unless Close comes in between.
func (p *port) Write(b []byte) (int, error) {
	p.users.RLock()
	defer p.users.RUnlock()
	written := 0
	for written < len(b) {
		if p.closing.Load() {
			return written, os.ErrClosed
		}
		n, err := p.claim.write(p.port, b[written:min(len(b), written+p.chunk)])
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// Close ends a Write in progress, and waits for a Read until its timeout.
func (p *port) Close() error {
	p.once.Do(func() {
		p.closing.Store(true)
		p.claim.interrupt(p.port)
		p.users.Lock()
		defer p.users.Unlock()
		p.closed = errors.Join(p.port.Close(), p.claim.release())
	})
	return p.closed
}
