package verilator

// #include "runtime/call.h"
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unsafe"
)

// Config says how to make a model. The zero value works.
type Config struct {
	// Name is the instance's name in messages, waves and %m; "" means the design's Top.
	Name string
	// Seed decides the values of everything the design leaves uninitialised, and of $random.
	Seed uint64
	// PlusArgs are what $test$plusargs and $value$plusargs see, each beginning with "+".
	PlusArgs []string
	// Output receives what $display and its kin print; nil means os.Stdout.
	Output io.Writer
	// Waves are the scopes that Trace and DumpWave show, by their paths below Top; nil means all. "u_core" shows all that is in and below it, "u_core:2" two levels,
	// ":1" what Top itself declares. In designs with Design.Public or Design.Forceable, whose hierarchy is known, a path may be a pattern as there.
	Waves []string
	// Record keeps what goes into the model, so that DumpWave can show at least the last Record cycles of its fastest
	// clock (and at most some twice that); 0 records nothing. It needs Design.Trace and Design.Checkpoint.
	Record uint64
}

// Model is one instance of a design. It must be used by one goroutine at a time.
type Model struct {
	c       *C.lm_model // nil once closed
	lib     *Library
	name    string
	output  io.Writer
	seed    uint64
	args    []string
	clocks  []*Clock
	peers   []*Model // the models at the other ends of its links
	inlets  []*Link  // links that come from outside
	net     *Network
	traced  bool
	record  uint64 // Config.Record
	waves   []string
	bound   []binding
	rings   []*ring
	watches []*Watch
	signals []*Signal
	dead    error
}

// creating keeps models from being made or destroyed side by side: Verilator's bookkeeping of that is not safe.
var creating sync.Mutex

// New makes an instance. Its time is 0, its inputs are 0, and initial blocks have not run; they do at the first Eval or
// Run.
func (l *Library) New(c Config) (*Model, error) {
	c.Name = cmp.Or(c.Name, l.design.Top)
	if c.Output == nil {
		c.Output = os.Stdout
	}
	if c.Record > 0 && !(l.design.Trace && l.design.Checkpoint) {
		return nil, fmt.Errorf("%w: Config.Record needs Design.Trace and Design.Checkpoint (%s)", ErrNotBuilt, l.design.Top)
	}
	m := &Model{lib: l, name: c.Name, output: c.Output, seed: c.Seed, args: c.PlusArgs}
	name := C.CString(c.Name)
	defer C.free(unsafe.Pointer(name))
	args := append([]string{"model"}, c.PlusArgs...)
	argv := make([]*C.char, len(args))
	for i, a := range args {
		argv[i] = C.CString(a)
		defer C.free(unsafe.Pointer(argv[i]))
	}
	creating.Lock()
	m.c = C.lm_model_new(l.engine, l.table, name, C.uint64_t(c.Seed), C.int(len(argv)), &argv[0])
	creating.Unlock()
	if m.c == nil {
		return nil, fmt.Errorf("verilator: no model of %s: out of memory", l.design.Top)
	}
	if err := m.chooseWaves(c.Waves); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	if m.record = c.Record; m.record > 0 {
		if err := m.startRecord(); err != nil {
			return nil, errors.Join(err, m.Close())
		}
	}
	return m, nil
}

func (m *Model) startRecord() error {
	if C.lm_record_start(m.lib.engine, m.c, C.uint64_t(2*min(m.record, 1<<40))) != 0 {
		return fmt.Errorf("verilator: the state of %s cannot be saved", m.lib.design.Top)
	}
	return nil
}

// Close frees the model. Bound fields keep their last value from then on; everything else answers ErrClosed. A second
// Close does nothing.
func (m *Model) Close() error {
	if m.c == nil {
		return nil
	}
	var err error
	if m.traced {
		err = m.StopTrace()
	}
	if m.c.news != 0 {
		err = errors.Join(err, m.flush())
	}
	m.unbind()
	for _, s := range m.signals {
		s.detach()
	}
	for _, r := range m.rings {
		r.detach()
	}
	creating.Lock()
	C.lm_model_free(m.lib.engine, m.c)
	creating.Unlock()
	m.c = nil
	return err
}

// Name returns the instance's name.
func (m *Model) Name() string { return m.name }

// Library returns the design the model is an instance of.
func (m *Model) Library() *Library { return m.lib }

// Time returns the time of the last edge, in the unit of the clocks' periods; 0 once closed.
func (m *Model) Time() uint64 {
	if m.c == nil {
		return 0
	}
	return uint64(*m.c.time)
}

// usable says why the model cannot be used, or nil.
func (m *Model) usable() error {
	if m.c == nil {
		return fmt.Errorf("%w (%s)", ErrClosed, m.name)
	}
	return m.dead
}

// Eval lets outputs follow the inputs without moving time. Run and Step do it by themselves.
func (m *Model) Eval() error {
	if err := m.usable(); err != nil {
		return err
	}
	_, err := m.ended(int(C.lm_eval(m.lib.engine, m.c)))
	return err
}

// Peek reads "port", "port[bit]" or "port[high:low]", a word "memory[n]" of an array, or a part "memory[n][high:low]"; of up to 64 bits. Names are those of ports and
// of signals in Design.Public. It is for looking around; use Bind or Signal in loops.
func (m *Model) Peek(port string) (uint64, error) {
	if err := m.usable(); err != nil {
		return 0, err
	}
	f, err := m.lib.field(port)
	if err != nil {
		return 0, err
	}
	return m.bits(f), nil
}

// bits reads a field.
func (m *Model) bits(f field) (v uint64) {
	stored := m.bytesOf(f.Port)
	for i := range f.width {
		bit := f.offset + i
		v |= uint64(stored[bit/8]>>(bit%8)&1) << i
	}
	return v
}

// Poke sets an input like Peek reads one, or a register or word of a memory inside the design (Design.Public). What follows from a register is evaluated at once; the
// next clock edge sees it. ErrPort says that the value is too wide, or that other signals drive the signal: see Force.
func (m *Model) Poke(port string, v uint64) error {
	if err := m.usable(); err != nil {
		return err
	}
	f, err := m.lib.field(port)
	if err != nil {
		return err
	}
	if f.width < 64 && v>>f.width != 0 {
		return fmt.Errorf("%w: %#x does not fit the %d bits of %s", ErrPort, v, f.width, port)
	}
	return m.poke(f, v)
}

func (m *Model) poke(f field, v uint64) error {
	if f.Direction != In {
		if err := f.settable(); err != nil {
			return err
		}
		return m.setBits(f, v)
	}
	putBits(m.bytesOf(f.Port), f.offset, f.width, v)
	return nil
}

// address returns where element 0 of a port is stored.
func (m *Model) address(p Port) unsafe.Pointer {
	return unsafe.Slice(m.c.memory, len(m.lib.ports))[p.index]
}

func (m *Model) bytesOf(p Port) []byte {
	return unsafe.Slice((*byte)(m.address(p)), p.bytes()*p.Elems)
}

// ended turns the engine's reason for the end of a run into ours.
func (m *Model) ended(why int) (Reason, error) {
	var err error
	if m.c.news != 0 {
		err = m.write()
	}
	if why >= C.LM_FINISH {
		err = errors.Join(m.halted(), err)
		if why == C.LM_DEAD {
			m.dead = err
		}
	}
	if m.c.news != 0 || m.c.halt != 0 {
		C.lm_take_news(m.lib.engine, m.c)
	}
	switch {
	case why == C.LM_CONDITION:
		return Condition, err
	case why == C.LM_FULL:
		return SinkFull, err
	case why == C.LM_FLUSH:
		return flushed, err
	case why >= C.LM_FINISH:
		return Halted, err
	}
	return Limit, err
}

func (m *Model) halted() error {
	e := &HaltError{Model: m.name, Time: uint64(*m.c.time), Kind: ErrFatal}
	switch m.c.halt {
	case C.LM_FINISH:
		e.Kind = ErrFinish
	case C.LM_STOP:
		e.Kind = ErrStop
	case C.LM_ERROR:
		e.Kind = ErrAssert
	}
	if m.c.halt != 0 {
		e.File, e.Line, e.Message = C.GoString(m.c.halt_file), int(m.c.halt_line), C.GoString(m.c.halt_message)
	}
	return e
}

// write hands over what the design printed, and notes which files it read.
func (m *Model) write() error {
	files := C.GoStringN(m.c.files, C.int(m.c.files_bytes))
	for file := range strings.SplitAfterSeq(files, "\x00") {
		if name, whole := strings.CutSuffix(file, "\x00"); whole {
			note(name)
		}
	}
	if m.c.text_bytes == 0 {
		return nil
	}
	text := C.GoBytes(unsafe.Pointer(m.c.text), C.int(m.c.text_bytes))
	if _, err := m.output.Write(text); err != nil {
		return fmt.Errorf("verilator: output of model %s: %w", m.name, err)
	}
	return nil
}

func (m *Model) flush() error {
	err := m.write()
	C.lm_take_news(m.lib.engine, m.c)
	return err
}
