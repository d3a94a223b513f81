package verilator

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/internal/nearest"
)

// field is a run of bits within a port or a word of one.
type field struct {
	Port
	offset, width int // offset counts the bits before it in memory
}

var lastIndex = regexp.MustCompile(`^(.+)\[(\d+)(?::(\d+))?\]$`)

// field finds "port", "port[bit]" or "port[high:low]", and of an array "port[word]", "port[word][bit]" and so on. Bits and words are counted from 0 whatever
// the Verilog declares.
func (l *Library) field(spec string) (field, error) {
	name, indices := spec, [][]string(nil)
	for {
		_, known := l.byName[name]
		m := lastIndex.FindStringSubmatch(name)
		if known || m == nil {
			break
		}
		name, indices = m[1], append([][]string{m[2:]}, indices...)
	}
	p, err := l.port(name)
	if err != nil {
		if _, err2 := l.port(spec); len(indices) > 0 && strings.Contains(spec, ".") {
			err = err2 // [0] may be part of a name
		}
		return field{}, err
	}
	f := field{p, 0, p.Width}
	if p.Real && p.Elems == 1 {
		return field{}, fmt.Errorf("%w: %s has no bits: bind it to a field of type *float64", ErrPort, p)
	}
	word := 0
	for _, size := range p.dims() {
		if len(indices) == 0 || indices[0][1] != "" {
			return field{}, fmt.Errorf("%w: %s is an array and has no single value: name a word as %s%s", ErrPort, p, p.Name, strings.Repeat("[n]", len(p.dims())))
		}
		at, _ := strconv.Atoi(indices[0][0])
		if at >= size {
			return field{}, fmt.Errorf("%w: %s does not lie within %s: words are counted from 0", ErrPort, spec, p)
		}
		word, indices = word*size+at, indices[1:]
	}
	if len(indices) > 1 {
		return field{}, fmt.Errorf("%w: %q is not port, port[bit] or port[high:low]", ErrPort, spec)
	}
	if len(indices) == 1 {
		high, _ := strconv.Atoi(indices[0][0])
		f.offset = high
		if indices[0][1] != "" {
			f.offset, _ = strconv.Atoi(indices[0][1])
		}
		f.width = high - f.offset + 1
		if f.width < 1 || high >= p.Width {
			return field{}, fmt.Errorf("%w: %s does not lie within %s", ErrPort, spec, p)
		}
	}
	if f.width > 64 {
		return field{}, fmt.Errorf("%w: %s is wider than 64 bits; name a part as %s[high:low]", ErrPort, p, p.Name)
	}
	f.offset += word * p.bytes() * 8
	return f, nil
}

// dims are the dimensions of an array.
func (p Port) dims() []int {
	if p.Elems > 1 && p.Dims == nil {
		return []int{p.Elems}
	}
	return p.Dims
}

// Port finds a port, or a signal inside, by its name. Errors wrap ErrPort.
func (l *Library) Port(name string) (Port, error) { return l.port(name) }

func (l *Library) port(name string) (Port, error) {
	if i, ok := l.byName[name]; ok {
		return l.ports[i], nil
	}
	for _, s := range l.scopes {
		for _, n := range s.Names {
			if s.path(n) == name {
				return Port{}, fmt.Errorf("%w: %s of %s is not public in this build: add it to Design.Public", ErrPort, name, l.design.Top)
			}
		}
	}
	public := "; what is inside must be named in Design.Public"
	if n := len(l.Signals()); n > 0 {
		public = fmt.Sprintf(", and %d public signals inside", n)
	}
	return Port{}, fmt.Errorf("%w: %s has no port %q%s; it has %s%s", ErrPort, l.design.Top, name,
		nearest.Hint(name, slices.Sorted(maps.Keys(l.byName))), l.portList(), public)
}

func (l *Library) portList() string {
	var names []string
	for _, p := range l.Ports() {
		names = append(names, p.String())
	}
	return list(names)
}

// Signals returns the signals inside the design that Design.Public and Design.Forceable name, sorted by name.
func (l *Library) Signals() []Port {
	var found []Port
	for _, p := range l.ports[l.tops:] {
		if p.Name != "" {
			found = append(found, p)
		}
	}
	return found
}

// Scopes returns the whole hierarchy of a design with Design.Public or Design.Forceable, outermost first; nil for other designs.
func (l *Library) Scopes() []Scope { return slices.Clone(l.scopes) }
