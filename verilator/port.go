package verilator

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Direction of a port, as seen from the design.
type Direction int

// Directions.
const (
	In Direction = iota
	Out
	InOut
)

func (d Direction) String() string { return [...]string{"input", "output", "inout"}[d] }

// Port is a port of the top module.
type Port struct {
	// Name as in the Verilog.
	Name string
	// Direction as seen from the design.
	Direction Direction
	// Width of one element in bits.
	Width int
	// Elems is 1, or the number of elements of an unpacked array port.
	Elems int

	index  int
	cppRef string // what the generated class calls it
}

func (p Port) String() string {
	s := fmt.Sprintf("%s %s[%d]", p.Direction, p.Name, p.Width)
	if p.Elems > 1 {
		s += fmt.Sprintf(" x %d", p.Elems)
	}
	return s
}

// bytes is the size of one element in the model's memory.
func (p Port) bytes() int {
	switch {
	case p.Width <= 8:
		return 1
	case p.Width <= 16:
		return 2
	case p.Width <= 32:
		return 4
	case p.Width <= 64:
		return 8
	}
	return (p.Width + 31) / 32 * 4
}

var (
	portMacro   = regexp.MustCompile(`(?m)^ +VL_(INOUT|IN|OUT)(?:8|16|64|W)?\(\(?&(\w+)\)?((?:\[\d+\])*),(-?\d+),(-?\d+)(?:,\d+)?\);`)
	portEscape  = regexp.MustCompile(`__0([0-9A-F]{2})`)
	portElement = regexp.MustCompile(`\d+`)
)

// parsePorts reads the ports from the header of the generated class.
func parsePorts(header string) []Port {
	var ports []Port
	for _, m := range portMacro.FindAllStringSubmatch(header, -1) {
		p := Port{cppRef: m[2], index: len(ports), Elems: 1}
		p.Direction = map[string]Direction{"IN": In, "OUT": Out, "INOUT": InOut}[m[1]]
		p.Name = portEscape.ReplaceAllStringFunc(m[2], func(s string) string {
			c, _ := strconv.ParseUint(s[3:], 16, 8)
			return string(rune(c))
		})
		msb, _ := strconv.Atoi(m[4])
		lsb, _ := strconv.Atoi(m[5])
		p.Width = max(msb-lsb, lsb-msb) + 1
		for _, n := range portElement.FindAllString(m[3], -1) {
			k, _ := strconv.Atoi(n)
			p.Elems *= k
		}
		ports = append(ports, p)
	}
	return ports
}

// field is a run of bits within a port.
type field struct {
	Port
	offset, width int
}

var fieldSyntax = regexp.MustCompile(`^([^\[]+)(?:\[(\d+)(?::(\d+))?\])?$`)

// field finds "port", "port[bit]" or "port[high:low]", counted from 0 whatever the Verilog declares.
func (l *Library) field(spec string) (field, error) {
	m := fieldSyntax.FindStringSubmatch(spec)
	if m == nil {
		return field{}, fmt.Errorf("%w: %q is not port, port[bit] or port[high:low]", ErrPort, spec)
	}
	p, err := l.port(m[1])
	if err != nil {
		return field{}, err
	}
	f := field{p, 0, p.Width}
	if p.Elems > 1 {
		return field{}, fmt.Errorf("%w: %s is an array and has no single value", ErrPort, p)
	}
	if m[2] != "" {
		high, _ := strconv.Atoi(m[2])
		f.offset = high
		if m[3] != "" {
			f.offset, _ = strconv.Atoi(m[3])
		}
		f.width = high - f.offset + 1
		if f.width < 1 || high >= p.Width {
			return field{}, fmt.Errorf("%w: %s does not lie within %s", ErrPort, spec, p)
		}
	}
	if f.width > 64 {
		return field{}, fmt.Errorf("%w: %s is wider than 64 bits; name a part as %s[high:low]", ErrPort, p, p.Name)
	}
	return f, nil
}

func (l *Library) port(name string) (Port, error) {
	if i, ok := l.byName[name]; ok {
		return l.ports[i], nil
	}
	return Port{}, fmt.Errorf("%w: %s has no port %q; it has %s", ErrPort, l.design.Top, name, l.portList())
}

func (l *Library) portList() string {
	var names []string
	for _, p := range l.ports {
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}
