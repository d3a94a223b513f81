package verilator

// #include "runtime/call.h"
import "C"

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"
)

// set writes bytes of a signal inside the design, from an offset in its storage. Logic that follows from it is evaluated at once.
func (m *Model) set(p Port, offset int, bytes []byte) error {
	index := p.index
	if p.Forceable {
		index = p.force
	}
	switch C.lm_poke(m.lib.engine, m.c, C.int(index), C.size_t(offset), (*C.uint8_t)(unsafe.Pointer(&bytes[0])), C.size_t(len(bytes))) {
	case 0:
		_, err := m.ended(0)
		return err
	case 1:
		return fmt.Errorf("%w: %s follows from other signals and cannot be set: force it (Design.Forceable), or set what it follows from", ErrPort, p)
	}
	_, err := m.ended(C.LM_DEAD)
	return err
}

// stored returns the storage of a port, or what logic drives a forceable signal to.
func (m *Model) stored(p Port) []byte {
	if p.Forceable {
		p.index = p.force
	}
	return m.bytesOf(p)
}

// setBits writes a value of up to 64 bits to a part of a signal inside.
func (m *Model) setBits(f field, v uint64) error {
	from, to := f.offset/8, (f.offset+f.width+7)/8
	bytes := slices.Clone(m.stored(f.Port)[from:to])
	putBits(bytes, f.offset%8, f.width, v)
	return m.set(f.Port, from, bytes)
}

func putBits(bytes []byte, offset, width int, v uint64) {
	for i := range width {
		at := offset + i
		bytes[at/8] = bytes[at/8]&^(1<<(at%8)) | byte(v>>i&1)<<(at%8)
	}
}

// settable says why a signal cannot be set by Load or Poke, or nil.
func (p Port) settable() error {
	switch {
	case p.Direction == Out && !p.Settable:
		return fmt.Errorf("%w: %s is an output and cannot be set; if it is a register, name it in Design.Public", ErrPort, p)
	case p.Real:
		return fmt.Errorf("%w: %s has no bits: bind it to a field of type *float64", ErrPort, p)
	}
	return nil
}

// each is how many uint64 a word takes in Load and Dump.
func (p Port) each() int { return (p.Width + 63) / 64 }

// memory finds a signal with a range of its words.
func (m *Model) memory(name string, first, n int) (Port, error) {
	if err := m.usable(); err != nil {
		return Port{}, err
	}
	p, err := m.lib.port(name)
	if err == nil && (first < 0 || n < 0 || first+n > p.Elems) {
		err = fmt.Errorf("%w: words %d to %d do not lie within %s: words are counted from 0", ErrPort, first, first+n-1, p)
	}
	return p, err
}

// Dump returns n words of a memory from word first on, or with n < 0 all that follow; another signal has one word. Words are counted from 0 whatever the Verilog
// declares. A word of more than 64 bits is several uint64, the least significant first.
func (m *Model) Dump(name string, first, n int) (words []uint64, err error) {
	if n < 0 {
		if p, err := m.lib.port(name); err == nil {
			n = p.Elems - first
		}
	}
	p, err := m.memory(name, first, max(n, 0))
	if err != nil {
		return nil, err
	}
	size := p.bytes()
	words = make([]uint64, 0, n*p.each())
	for stored := range slices.Chunk(m.bytesOf(p)[first*size:][:n*size], size) {
		for part := range slices.Chunk(stored, 8) {
			var word [8]byte
			copy(word[:], part)
			words = append(words, binary.LittleEndian.Uint64(word[:]))
		}
	}
	return words, nil
}

// Load sets words of a memory from word first on, or a register, as Dump returns them. What follows from it is evaluated at once; the next clock edge sees it.
// It runs initial blocks first if nothing has yet. ErrPort says that a value is too wide, or that other signals drive the signal.
func (m *Model) Load(name string, first int, words []uint64) error {
	p, err := m.lib.port(name)
	if err != nil {
		return err
	}
	if len(words)%p.each() != 0 {
		return fmt.Errorf("%w: %d numbers for words of %s, which take %d each", ErrPort, len(words), p, p.each())
	}
	if p, err = m.memory(name, first, len(words)/p.each()); err == nil {
		err = p.settable()
	}
	if err != nil || len(words) == 0 {
		return err
	}
	size := p.bytes()
	bytes := make([]byte, 0, len(words)/p.each()*size)
	for i, v := range words {
		part := i % p.each()
		if width := p.Width - 64*part; width < 64 && v>>width != 0 {
			return fmt.Errorf("%w: %#x does not fit the %d bits of %s, word %d", ErrPort, v, p.Width, p.Name, first+i/p.each())
		}
		bytes = append(bytes, binary.LittleEndian.AppendUint64(nil, v)[:min(8, size-8*part)]...)
	}
	if p.Direction == In {
		copy(m.bytesOf(p)[first*size:], bytes)
		return nil
	}
	return m.set(p, first*size, bytes)
}

// Force holds "signal", "signal[bit]" or "signal[high:low]" at a value until Release, whatever drives it: all that reads it sees the value, and what follows from it
// is evaluated at once. Design.Forceable must name the signal. ErrPort says that it cannot be forced, as an input cannot: its value is what the bench sets.
func (m *Model) Force(name string, v uint64) error {
	f, err := m.forceable(name)
	if err != nil {
		return err
	}
	if f.width < 64 && v>>f.width != 0 {
		return fmt.Errorf("%w: %#x does not fit the %d bits of %s", ErrPort, v, f.width, name)
	}
	if err := m.setBits(f.part(2), v); err != nil {
		return err
	}
	return m.setBits(f.part(1), 1<<f.width-1)
}

// Release ends Force: a wire has the value that drives it, a register keeps the forced one until it is assigned.
func (m *Model) Release(name string) error {
	f, err := m.forceable(name)
	if err != nil {
		return err
	}
	if !f.Follows {
		held, enabled := m.bits(f.part(2)), m.bits(f.part(1))
		if err := m.setBits(f.part(0), m.bits(f.part(0))&^enabled|held&enabled); err != nil {
			return err
		}
	}
	return m.setBits(f.part(1), 0)
}

// part is the same field in a part of a forceable signal, see forceParts.
func (f field) part(i int) field {
	f.index, f.Forceable = f.force+i, false
	return f
}

func (m *Model) forceable(name string) (field, error) {
	if err := m.usable(); err != nil {
		return field{}, err
	}
	f, err := m.lib.field(name)
	switch {
	case err != nil:
	case f.Direction == In:
		err = fmt.Errorf("%w: %s cannot be forced: an input has the value that the bench sets, so set it", ErrPort, f.Port)
	case f.Direction == Out:
		err = fmt.Errorf("%w: %s cannot be forced: force the signal inside that drives it", ErrPort, f.Port)
	case f.Elems > 1:
		err = fmt.Errorf("%w: %s cannot be forced: only vectors can; set its words", ErrPort, f.Port)
	case !f.Forceable:
		err = fmt.Errorf("%w: %s cannot be forced: name it in Design.Forceable", ErrNotBuilt, f.Port)
	}
	return f, err
}
