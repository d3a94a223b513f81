package bus

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/testbench"
)

// ErrReset ends accesses that a master had begun when its reset acted.
var ErrReset = errors.New("bus: reset before the access has ended")

// ErrAccess is wrapped by errors about accesses that a bus cannot carry.
var ErrAccess = errors.New("access does not fit the bus")

// Target is what the model of a slave reads and writes: a memory (package memory), or registers of the bench. Addresses count bytes. An error is
// answered as the bus answers errors.
type Target interface {
	Read(address uint64, p []byte) error
	// WriteLanes writes those bytes of p whose bit in enable is 1.
	WriteLanes(address uint64, p []byte, enable uint64) error
}

// Access is a read or a write of one word of a bus.
type Access struct {
	Write bool
	// Addr is the address of the word's first byte.
	Addr uint64
	// Data is what is written, or what was read.
	Data uint64
	// Mask has a bit for each byte that counts; 0 means all.
	Mask uint64
	// Err is how the slave has answered; nil when it did as it was told.
	Err error
	// Edge is the rising edge of the clock at which it ended, counted from 1.
	Edge uint64
}

// Perform lets a target do the access to the word of so many bytes (up to 8) at a byte address. Words are little-endian.
func (a *Access) Perform(t Target, address uint64, bytes int) error {
	var word [8]byte
	if a.Write {
		mask := a.Mask
		if mask == 0 {
			mask = 1<<bytes - 1
		}
		binary.LittleEndian.PutUint64(word[:], a.Data)
		return t.WriteLanes(address, word[:bytes], mask)
	}
	err := t.Read(address, word[:bytes])
	a.Data = binary.LittleEndian.Uint64(word[:])
	return err
}

// Carries says why a bus of words of so many bytes cannot carry an access as it is asked for; nil if it can. Address is what its signal is set to; of the
// signals those that the bus lacks are nil.
func (p *Port) Carries(a Access, address uint64, addr, data, enables *testbench.Signal, bytes int) error {
	all := ^uint64(0) >> (64 - bytes)
	wide := func(s *testbench.Signal, v uint64) bool { return s != nil && s.Width() < 64 && v>>s.Width() != 0 }
	kind, why := "read", ""
	if a.Write {
		kind = "write"
	}
	switch {
	case wide(addr, address):
		why = fmt.Sprintf("%#x does not fit the %d bits of %s", address, addr.Width(), addr.Name())
	case a.Mask&^all != 0:
		why = fmt.Sprintf("mask %#x: a word has %d bytes", a.Mask, bytes)
	case !a.Write:
	case wide(data, a.Data):
		why = fmt.Sprintf("%#x does not fit the %d bits of %s", a.Data, data.Width(), data.Name())
	case enables == nil && a.Mask != 0 && a.Mask != all:
		why = fmt.Sprintf("mask %#x: the bus has no signal for single bytes: write whole words", a.Mask)
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("%s: %w: %s at %#x: %s", p, ErrAccess, kind, a.Addr, why)
}

// Pending is an access that a master has been told to do.
type Pending struct {
	Access
	done bool
}

// Done reports whether it has ended.
func (p *Pending) Done() bool { return p.done }

// Finish notes how it has ended.
func (p *Pending) Finish(data uint64, err error, edge uint64) {
	if !p.Write {
		p.Data = data
	}
	p.Err, p.Edge, p.done = err, edge, true
}

// Refuse ends it with an error, with which the bench fails.
func (p *Pending) Refuse(b *testbench.Bench, err error) {
	p.Err, p.done = err, true
	b.Fatalf("%w", err)
}

// Wait waits until it has ended.
func (p *Pending) Wait(c *testbench.Task) (data uint64, err error) {
	c.Until(p.Done, 0)
	return p.Data, p.Err
}
