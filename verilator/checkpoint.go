package verilator

// #include "runtime/call.h"
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"
)

// ErrCheckpoint says that a checkpoint is not one of this design with these clocks.
var ErrCheckpoint = errors.New("verilator: checkpoint does not fit")

// Save returns the state of the model: registers, memories, ports, clocks and $random. What waits in channels and
// links is not part of it: they have a state of their own, MarshalBinary. It needs Design.Checkpoint.
func (m *Model) Save() ([]byte, error) {
	if err := m.checkpoints("Save"); err != nil {
		return nil, err
	}
	var bytes *C.uint8_t
	var size C.size_t
	if C.lm_save(m.lib.engine, m.c, &bytes, &size) != 0 {
		return nil, fmt.Errorf("verilator: the state of model %s cannot be saved", m.name)
	}
	defer C.free(unsafe.Pointer(bytes))
	return C.GoBytes(unsafe.Pointer(bytes), C.int(size)), nil
}

// Restore brings the model to a state saved by it or another model of the same Library with the same clocks. An item
// that a Source had on its port is offered again. A model that records begins its recording anew.
func (m *Model) Restore(checkpoint []byte) error {
	if err := m.checkpoints("Restore"); err != nil {
		return err
	}
	if len(checkpoint) == 0 {
		return fmt.Errorf("%w: it is empty", ErrCheckpoint)
	}
	why := C.lm_restore(m.lib.engine, m.c, (*C.uint8_t)(unsafe.Pointer(&checkpoint[0])), C.size_t(len(checkpoint)))
	if why == 0 {
		return nil
	}
	err := fmt.Errorf("%w: it is not of %s with %d clocks", ErrCheckpoint, m.lib.design.Top, len(m.clocks))
	if why == 2 {
		m.dead = fmt.Errorf("verilator: model %s is half restored: %w", m.name, err)
	}
	return err
}

func (m *Model) checkpoints(method string) error {
	if err := m.usable(); err != nil {
		return err
	}
	if !m.lib.design.Checkpoint {
		return fmt.Errorf("%w: %s needs Design.Checkpoint (%s)", ErrNotBuilt, method, m.lib.design.Top)
	}
	return nil
}

// MarshalBinary returns the state of the link: what is on its way, its bit errors and counts. A link with planned faults has none.
func (l *Link) MarshalBinary() ([]byte, error) {
	if err := l.usable(); err != nil {
		return nil, err
	}
	var bytes *C.uint8_t
	var size C.size_t
	if C.lm_link_save(l.engine(), l.c, &bytes, &size) != 0 {
		return nil, errors.New("verilator: a link with planned faults cannot be saved")
	}
	defer C.free(unsafe.Pointer(bytes))
	return binary.LittleEndian.AppendUint64(C.GoBytes(unsafe.Pointer(bytes), C.int(size)), l.limit), nil
}

// UnmarshalBinary brings the link to the state of another one with the same configuration. The models at its ends are to be restored too.
func (l *Link) UnmarshalBinary(state []byte) error {
	if err := l.usable(); err != nil {
		return err
	}
	front := len(state) - 8
	if front <= 0 || C.lm_link_restore(l.engine(), l.c, (*C.uint8_t)(unsafe.Pointer(&state[0])), C.size_t(front)) != 0 {
		return fmt.Errorf("%w: it is not of this link", ErrCheckpoint)
	}
	l.limit = binary.LittleEndian.Uint64(state[front:])
	return nil
}

// MarshalBinary returns what waits to be taken by the design.
func (s *Source) MarshalBinary() (state []byte, err error) {
	for i := range s.Pending() {
		b := s.ring.at(i)
		last := byte(0)
		if b.Last {
			last = 1
		}
		state = append(binary.AppendUvarint(state, b.Data), last)
		for _, word := range s.ring.wordsAt(i) {
			state = binary.AppendUvarint(state, word)
		}
	}
	return state, nil
}

// UnmarshalBinary makes the same wait as in another source, and nothing else. It comes before Model.Restore.
func (s *Source) UnmarshalBinary(state []byte) error {
	s.ring.c.tail = s.ring.c.head
	parts := make([]uint64, s.ring.each)
	for len(state) > 0 {
		v, n := binary.Uvarint(state)
		if n <= 0 || n == len(state) {
			return errNotOfSource
		}
		last := state[n] != 0
		state = state[n+1:]
		for i := range parts {
			if parts[i], n = binary.Uvarint(state); n <= 0 {
				return errNotOfSource
			}
			state = state[n:]
		}
		if !s.PutParts(v, last, parts) {
			return errNotOfSource
		}
	}
	return nil
}

var errNotOfSource = fmt.Errorf("%w: it is not of this source", ErrCheckpoint)

// MarshalBinary is for sinks of which all has been read: then there is no state.
func (s *Sink) MarshalBinary() ([]byte, error) {
	if s.Len() > 0 {
		return nil, fmt.Errorf("verilator: a sink with %d items that have not been read cannot be saved", s.Len())
	}
	return nil, nil
}

// UnmarshalBinary forgets what has not been read.
func (s *Sink) UnmarshalBinary([]byte) error {
	s.Discard()
	return nil
}
