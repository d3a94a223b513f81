package bus

import (
	"encoding/binary"
	"errors"

	"github.com/stafflink/lmmc/testbench"
)

// ErrReset ends accesses that a master had begun when its reset acted.
var ErrReset = errors.New("bus: reset before the access has ended")

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

// Wait waits until it has ended.
func (p *Pending) Wait(c *testbench.Task) (data uint64, err error) {
	c.Until(p.Done, 0)
	return p.Data, p.Err
}
