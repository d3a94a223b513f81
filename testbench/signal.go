package testbench

import (
	"fmt"
	"math/bits"
	"reflect"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/verilator"
)

// Signal is a port of the design, or a part of one, that is found by name while the program runs.
type Signal struct {
	name  string
	shift uint
	mask  uint64
	word  word
}

// word is the storage of a port.
type word interface {
	load() uint64
	store(v uint64)
}

type number interface {
	uint8 | uint16 | uint32 | uint64
}

// bound is what Model.Bind fills in; a closed model points it somewhere harmless.
type bound[T number] struct {
	at *struct{ P *T }
}

func (w bound[T]) load() uint64   { return uint64(*w.at.P) }
func (w bound[T]) store(v uint64) { *w.at.P = T(v) }

func bind[T number](m *verilator.Model, port string) (word, error) {
	field := reflect.StructField{Name: "P", Type: reflect.TypeFor[*T](),
		Tag: reflect.StructTag("port:" + strconv.Quote(port))}
	tagged := reflect.New(reflect.StructOf([]reflect.StructField{field}))
	if err := m.Bind(tagged.Interface()); err != nil {
		return nil, err
	}
	return bound[T]{tagged.Convert(reflect.TypeFor[*struct{ P *T }]()).Interface().(*struct{ P *T })}, nil
}

// Signal finds "port", "port[bit]" or "port[high:low]" of up to 64 bits. It is nearly as fast as a bound field.
func (i *Instance) Signal(name string) (*Signal, error) {
	i.bench.mark.Helper()
	s, err := i.signal(name)
	return s, i.bench.check(err)
}

func (i *Instance) signal(name string) (*Signal, error) {
	if _, err := i.model.Peek(name); err != nil {
		return nil, err // says what is wrong with the name
	}
	port, part, _ := strings.Cut(name, "[")
	width := 0
	for _, p := range i.model.Library().Ports() {
		if p.Name == port {
			width = p.Width
		}
	}
	s := &Signal{name: name, mask: 1<<width - 1}
	var err error
	switch {
	case width > 64:
		return nil, fmt.Errorf("%w: signal %s: %s has %d bits, a signal is part of a port of up to 64",
			verilator.ErrPort, name, port, width)
	case width > 32:
		s.word, err = bind[uint64](i.model, port)
	case width > 16:
		s.word, err = bind[uint32](i.model, port)
	case width > 8:
		s.word, err = bind[uint16](i.model, port)
	default:
		s.word, err = bind[uint8](i.model, port)
	}
	if part != "" {
		high, low, ranged := strings.Cut(strings.TrimSuffix(part, "]"), ":")
		if !ranged {
			low = high
		}
		from, _ := strconv.ParseUint(low, 10, 8)
		to, _ := strconv.ParseUint(high, 10, 8)
		s.shift, s.mask = uint(from), 1<<(to-from+1)-1
	}
	return s, err
}

// Name returns the name the signal was found by.
func (s *Signal) Name() string { return s.name }

// Width returns how many bits it has.
func (s *Signal) Width() int { return bits.OnesCount64(s.mask) }

// Get returns the value. Outputs that depend on inputs without a register between follow at the next edge, or at
// Model.Eval.
func (s *Signal) Get() uint64 { return s.word.load() >> s.shift & s.mask }

// Is reports whether the value is not 0.
func (s *Signal) Is() bool { return s.Get() != 0 }

// Set changes an input. Bits beyond its width are dropped.
func (s *Signal) Set(v uint64) {
	all := s.mask << s.shift
	s.word.store(s.word.load()&^all | v<<s.shift&all)
}
