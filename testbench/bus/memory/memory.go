// Package memory is a sparse memory for models of buses: what the address space of a test holds, byte by byte.
package memory

import (
	"errors"
	"fmt"
	"slices"
)

// ErrBounds is wrapped by errors about addresses beyond the memory's size.
var ErrBounds = errors.New("memory: out of bounds")

const pageBytes = 4096

type page [pageBytes]byte

// Memory is a memory of bytes, addressed from 0. What was never written reads as the background. Pages exist once they are written to, so a
// memory of 2^64 bytes costs what is used of it. The zero value is one of 2^64 bytes. It must be used by one goroutine at a time.
type Memory struct {
	size       uint64 // 0 means 2^64
	background byte
	pages      map[uint64]*page
	number     uint64 // of the page used last
	last       *page
}

// New makes a memory of size bytes; 0 means 2^64.
func New(size uint64) *Memory { return &Memory{size: size} }

// Size is how many bytes there are; 0 means 2^64.
func (m *Memory) Size() uint64 { return m.size }

// Background sets what bytes read as that were never written; 0 without it. It does not change those of pages in use.
func (m *Memory) Background(value byte) { m.background = value }

// Check returns an error that wraps ErrBounds unless n bytes from an address on exist.
func (m *Memory) Check(address uint64, n int) error {
	if n == 0 {
		return nil
	}
	last := address + uint64(n) - 1
	if last < address {
		return fmt.Errorf("%w: %d bytes at %#x reach beyond the address space of 64 bits", ErrBounds, n, address)
	}
	if m.size != 0 && last >= m.size {
		return fmt.Errorf("%w: %d bytes at %#x, the memory has %#x bytes", ErrBounds, n, address, m.size)
	}
	return nil
}

// Read fills p with what stands at an address and after. After an error, p is unchanged.
func (m *Memory) Read(address uint64, p []byte) error {
	if err := m.Check(address, len(p)); err != nil {
		return err
	}
	for len(p) > 0 {
		n := min(len(p), pageBytes-int(address%pageBytes))
		if from := m.page(address, false); from != nil {
			copy(p, from[address%pageBytes:][:n])
		} else {
			fill(p[:n], m.background)
		}
		p, address = p[n:], address+uint64(n)
	}
	return nil
}

// Write puts p at an address and after. After an error, nothing is changed.
func (m *Memory) Write(address uint64, p []byte) error {
	if err := m.Check(address, len(p)); err != nil {
		return err
	}
	for len(p) > 0 {
		n := copy(m.page(address, true)[address%pageBytes:], p)
		p, address = p[n:], address+uint64(n)
	}
	return nil
}

// WriteLanes is Write of those bytes of p for which enable, bit by bit from the lowest, is 1, as byte enables, strobes and selects of buses do. Of bytes
// beyond the 64th there are none. Bytes that are not enabled may lie out of bounds.
func (m *Memory) WriteLanes(address uint64, p []byte, enable uint64) error {
	enabled := func(i int) bool { return i < 64 && enable>>i&1 != 0 }
	for _, store := range []bool{false, true} {
		for i := 0; i < len(p); {
			if !enabled(i) {
				i++
				continue
			}
			end := i + 1
			for end < len(p) && enabled(end) {
				end++
			}
			if store {
				_ = m.Write(address+uint64(i), p[i:end]) // was checked
			} else if err := m.Check(address+uint64(i), end-i); err != nil {
				return err
			}
			i = end
		}
	}
	return nil
}

// Fill sets n bytes from an address on to a value.
func (m *Memory) Fill(address uint64, n int, value byte) error {
	if n < 0 {
		return fmt.Errorf("memory: fill %d bytes at %#x: want 0 or more", n, address)
	}
	if err := m.Check(address, n); err != nil {
		return err
	}
	for n > 0 {
		part := m.page(address, true)[address%pageBytes:]
		part = part[:min(n, len(part))]
		fill(part, value)
		n, address = n-len(part), address+uint64(len(part))
	}
	return nil
}

// Uint returns a little-endian number of 1 to 8 bytes.
func (m *Memory) Uint(address uint64, bytes int) (v uint64, err error) {
	if bytes < 1 || bytes > 8 {
		return 0, fmt.Errorf("memory: read a number of %d bytes at %#x: want 1 to 8", bytes, address)
	}
	var word [8]byte
	err = m.Read(address, word[:bytes])
	for i, b := range word[:bytes] {
		v |= uint64(b) << (8 * i)
	}
	return v, err
}

// PutUint writes a little-endian number of 1 to 8 bytes; bits beyond are dropped.
func (m *Memory) PutUint(address uint64, bytes int, v uint64) error {
	if bytes < 1 || bytes > 8 {
		return fmt.Errorf("memory: write a number of %d bytes at %#x: want 1 to 8", bytes, address)
	}
	var word [8]byte
	for i := range word {
		word[i] = byte(v >> (8 * i))
	}
	return m.Write(address, word[:bytes])
}

// Used lists the stretches of memory that pages were made for, in order.
func (m *Memory) Used() []Stretch {
	var used []Stretch
	for number := range m.pages {
		used = append(used, Stretch{number * pageBytes, pageBytes})
	}
	slices.SortFunc(used, func(a, b Stretch) int {
		if a.Address < b.Address {
			return -1
		}
		return 1
	})
	joined := used[:0]
	for _, s := range used {
		if m.size != 0 {
			s.Bytes = min(s.Bytes, m.size-s.Address)
		}
		if n := len(joined); n > 0 && joined[n-1].Address+joined[n-1].Bytes == s.Address {
			joined[n-1].Bytes += s.Bytes
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// Stretch is a part of the address space.
type Stretch struct{ Address, Bytes uint64 }

// page returns the page of an address; nil when there is none and none is to be made.
func (m *Memory) page(address uint64, create bool) *page {
	number := address / pageBytes
	if m.last != nil && m.number == number {
		return m.last
	}
	p := m.pages[number]
	if p == nil {
		if !create {
			return nil
		}
		p = new(page)
		fill(p[:], m.background)
		if m.pages == nil {
			m.pages = map[uint64]*page{}
		}
		m.pages[number] = p
	}
	m.number, m.last = number, p
	return p
}

func fill(p []byte, value byte) {
	if value == 0 {
		clear(p)
		return
	}
	for i := range p {
		p[i] = value
	}
}
