package verilator

// #include "runtime/call.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// ErrCheckpoint says that a checkpoint is not one of this design with these clocks.
var ErrCheckpoint = errors.New("verilator: checkpoint does not fit")

// Save returns the state of the model: registers, memories, ports, clocks and $random. What waits in channels and
// links belongs to the test bench and is not part of it. It needs Design.Checkpoint.
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
