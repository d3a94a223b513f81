package verilator

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unsafe"
)

// binding is a field of a user's struct that points into a model.
type binding struct {
	field reflect.Value
	port  Port
}

// Bind makes the fields of *s that are tagged `port:"name"` point into the model's memory, so that reading or setting
// a port is a load or a store. The type of a field follows from the port's width: *bool or *uint8 for 1 bit, *uint8
// up to 8, *uint16 up to 16, *uint32 up to 32, *uint64 up to 64 bits, and []uint32 (least significant word first)
// above; *float64 for a real number. An array port takes a slice of the same element, []uint8 to []uint64; one of wide elements takes []uint32
// with the elements one after the other. Tagged structs within the struct are bound with their tag as prefix of the
// names inside. The tag "*" stands for the field's own name in Verilog's manner: RxValid is rx_valid, and a struct Tx has the prefix tx_.
//
// An input must stay within its width. Outputs must not be written to.
//
// A struct that `lmmc new --from` has written has tags shape besides, and is refused when the module's ports are others by now.
//
// Errors wrap ErrPort and list the ports that exist; those of such a struct wrap ErrStale.
func (m *Model) Bind(s any) error {
	if err := m.usable(); err != nil {
		return err
	}
	v := reflect.ValueOf(s)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("verilator: Bind needs a pointer to a struct, not %T", s)
	}
	var found []binding
	if err := m.collect(v.Elem(), "", &found); err != nil {
		return err
	}
	if err := m.missing(v.Elem().Type(), found); err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("verilator: %T has no field tagged `port:\"name\"`", s)
	}
	for _, b := range found {
		point(b.field, m.address(b.port), b.port)
	}
	m.bound = append(m.bound, found...)
	return nil
}

func (m *Model) collect(s reflect.Value, prefix string, found *[]binding) error {
	for i := range s.NumField() {
		declared := s.Type().Field(i)
		tag, ok := declared.Tag.Lookup("port")
		if !ok {
			continue
		}
		if !declared.IsExported() {
			return fmt.Errorf("verilator: field %s.%s must be exported to be bound", s.Type(), declared.Name)
		}
		inside := declared.Type.Kind() == reflect.Struct
		if tag == "*" {
			if tag = portName(declared.Name); inside {
				tag += "_"
			}
		}
		if inside {
			if err := m.collect(s.Field(i), prefix+tag, found); err != nil {
				return err
			}
			continue
		}
		p, err := m.lib.port(prefix + tag)
		shape, generated := declared.Tag.Lookup("shape")
		switch {
		case generated && err != nil:
			return stale(s.Type(), "%s has no port %s any more", m.lib.design.Top, prefix+tag)
		case generated && shape != p.Shape():
			return stale(s.Type(), "port %s of %s is %s now, not %s", p.Name, m.lib.design.Top, describeShape(p.Shape()), describeShape(shape))
		case err != nil:
			return fmt.Errorf("field %s: %w", declared.Name, err)
		}
		if !fits(declared.Type, p) {
			return fmt.Errorf("%w: field %s is %s, but %s needs %s; %s has %s", ErrPort, declared.Name, declared.Type, p,
				goType(p), m.lib.design.Top, m.lib.portList())
		}
		*found = append(*found, binding{s.Field(i), p})
	}
	return nil
}

// ErrStale means that a struct was generated from another state of the module.
var ErrStale = errors.New("struct is stale")

func stale(s reflect.Type, format string, args ...any) error {
	return fmt.Errorf("verilator: %s: %w: %s: run go generate, or build the design with the parameters that it was made with", s, ErrStale,
		fmt.Sprintf(format, args...))
}

// describeShape puts a shape into words: "input, 8 bits".
func describeShape(shape string) string {
	direction, size, _ := strings.Cut(shape, " ")
	switch size {
	case "real":
		return direction + ", real"
	case "1":
		return direction + ", 1 bit"
	}
	return direction + ", " + strings.Replace(size, "x", " bits x ", 1) + map[bool]string{false: " bits"}[strings.Contains(size, "x")]
}

// missing is an error if a struct says by the tag shape:"all" that it has all ports, and one of them was not found in it.
func (m *Model) missing(s reflect.Type, found []binding) error {
	for i := range s.NumField() {
		if s.Field(i).Tag.Get("shape") != "all" {
			continue
		}
		for _, p := range m.lib.ports {
			if !slices.ContainsFunc(found, func(b binding) bool { return b.port.Name == p.Name }) {
				return stale(s, "%s has a new port %s (%s)", m.lib.design.Top, p.Name, describeShape(p.Shape()))
			}
		}
	}
	return nil
}

var capital = regexp.MustCompile(`\B[A-Z]`)

// portName is the port that a field stands for by its name.
func portName(field string) string { return strings.ToLower(capital.ReplaceAllString(field, "_$0")) }

func goType(p Port) string {
	switch {
	case p.Real:
		return "*float64"
	case p.Width > 64:
		return "[]uint32"
	case p.Elems > 1:
		return fmt.Sprintf("[]uint%d", 8*p.bytes())
	case p.Width == 1:
		return "*bool or *uint8"
	}
	return fmt.Sprintf("*uint%d", 8*p.bytes())
}

func fits(t reflect.Type, p Port) bool {
	kinds := map[int]reflect.Kind{1: reflect.Uint8, 2: reflect.Uint16, 4: reflect.Uint32, 8: reflect.Uint64}
	switch {
	case p.Real:
		return t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Float64
	case p.Width > 64:
		return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint32
	case p.Elems > 1:
		return t.Kind() == reflect.Slice && t.Elem().Kind() == kinds[p.bytes()]
	case p.Width == 1 && t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Bool:
		return true
	}
	return t.Kind() == reflect.Pointer && t.Elem().Kind() == kinds[p.bytes()]
}

// point sets a field to memory that holds the port.
func point(field reflect.Value, memory unsafe.Pointer, p Port) {
	if field.Kind() == reflect.Slice {
		size := int(field.Type().Elem().Size())
		n := p.bytes() * p.Elems / size
		array := reflect.NewAt(reflect.ArrayOf(n, field.Type().Elem()), memory).Elem()
		field.Set(array.Slice3(0, n, n))
		return
	}
	field.Set(reflect.NewAt(field.Type().Elem(), memory))
}

// unbind points every bound field to a copy, so that nobody is left holding freed memory.
func (m *Model) unbind() {
	for _, b := range m.bound {
		size := b.port.bytes() * b.port.Elems
		if b.field.UnsafePointer() != m.address(b.port) {
			continue // the user has put something else there
		}
		words := make([]uint64, (size+7)/8)
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size), m.bytesOf(b.port))
		point(b.field, unsafe.Pointer(&words[0]), b.port)
	}
	m.bound = nil
}
