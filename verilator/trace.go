package verilator

// #include "runtime/call.h"
import "C"

import (
	"errors"
	"fmt"
	"io"
	"unsafe"
)

// ErrReplay says that a replay did not do what the recording did, so its waves show something else.
var ErrReplay = errors.New("verilator: replay differs from the recording")

// Trace writes all signals to an FST file from now on, until StopTrace or Close. It needs Design.Trace.
func (m *Model) Trace(path string) error {
	if err := m.usable(); err != nil {
		return err
	}
	if !m.lib.design.Trace {
		return fmt.Errorf("%w: Model.Trace needs Design.Trace (%s)", ErrNotBuilt, m.lib.design.Top)
	}
	if m.traced {
		return errors.New("verilator: a trace is being written already: call StopTrace first")
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	switch C.lm_trace_open(m.lib.engine, m.c, name) {
	case 0:
	case 2:
		return m.noWaves()
	default:
		return fmt.Errorf("verilator: cannot write waves to %s", path)
	}
	m.traced = true
	return nil
}

// StopTrace completes the file that Trace began; without one it does nothing.
func (m *Model) StopTrace() error {
	if m.c == nil {
		return m.usable()
	}
	if !m.traced {
		return nil
	}
	m.traced = false
	if C.lm_trace_close(m.lib.engine, m.c) != 0 {
		return errors.New("verilator: cannot complete the waves")
	}
	return nil
}

// Wave says which stretch DumpWave wrote, in the model's time.
type Wave struct{ From, To uint64 }

// DumpWave writes the last stretch of a model made with Config.Record to an FST file. It runs another instance from
// the recorder's checkpoint with the recorded inputs, and compares its outputs with the recorded ones after every
// evaluation: where they differ it returns ErrReplay (and the file is there all the same). The model itself is not
// touched, and may be one of a network, or one that has halted. Lanes stand beside the signals, in a scope "transactions".
func (m *Model) DumpWave(path string, lanes ...Lane) (Wave, error) {
	if m.c == nil {
		return Wave{}, m.usable()
	}
	if m.record == 0 {
		return Wave{}, fmt.Errorf("%w: DumpWave needs Config.Record (model %s)", ErrNotBuilt, m.name)
	}
	var bytes *C.uint8_t
	var size C.size_t
	if C.lm_record_take(m.lib.engine, m.c, &bytes, &size) != 0 {
		return Wave{}, fmt.Errorf("verilator: model %s: its state could not be saved while recording", m.name)
	}
	defer C.free(unsafe.Pointer(bytes))
	twin, err := m.lib.New(Config{Name: m.name, Waves: m.waves, Seed: m.seed, PlusArgs: m.args, Output: io.Discard})
	if err != nil {
		return Wave{}, err
	}
	defer twin.Close()
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var result C.lm_replayed
	texts := encodeLanes(lanes)
	at := (*C.uint8_t)(unsafe.SliceData(texts))
	switch C.lm_replay(m.lib.engine, twin.c, bytes, size, at, C.size_t(len(texts)), name, &result) {
	case 0:
	case 2:
		return Wave{}, fmt.Errorf("verilator: cannot write waves to %s", path)
	case 3:
		return Wave{}, m.noWaves()
	default:
		return Wave{}, fmt.Errorf("%w: the recording of model %s cannot be read", ErrReplay, m.name)
	}
	wave := Wave{uint64(result.from), uint64(result.to)}
	if differs := uint64(result.differs_at); differs != 1<<64-1 {
		return wave, fmt.Errorf("%w: model %s, from time %d", ErrReplay, m.name, differs)
	}
	return wave, nil
}
