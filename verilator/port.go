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

// Direction of a port, as seen from the design.
type Direction int

// Directions.
const (
	In Direction = iota
	Out
)

func (d Direction) String() string { return [...]string{"input", "output"}[d] }

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
	// Real says that the port is a real number, of 64 bits.
	Real bool

	index  int
	cppRef string // what the generated class calls it
}

func (p Port) String() string {
	if p.Real {
		return fmt.Sprintf("%s real %s", p.Direction, p.Name)
	}
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
	portSection = regexp.MustCompile(`(?s)// PORTS\n(.*?)// CELLS`)
	portMacro   = regexp.MustCompile(`^VL_(INOUT|IN|OUT)(?:8|16|64|W)?\(\(?&(\w+)\)?((?:\[\d+\])*),(-?\d+),(-?\d+)(?:,\d+)?\);`)
	portMember  = regexp.MustCompile(`^(.+?) &(\w+);`)
	portEscape  = regexp.MustCompile(`__0([0-9A-F]{2})`)
	portElement = regexp.MustCompile(`\d+`)
)

// parsePorts reads the ports of a design from the header of the generated class. Whether a real one is an output the header leaves open.
func (d *Design) parsePorts(header string) ([]Port, error) {
	var ports []Port
	section := portSection.FindStringSubmatch(header)
	if section == nil {
		return nil, fmt.Errorf("verilator: design %s: the generated class lists no ports: this version of Verilator is not known", d.Top)
	}
	for line := range strings.Lines(section[1]) {
		line = strings.TrimSpace(line)
		p := Port{index: len(ports), Elems: 1}
		if m := portMacro.FindStringSubmatch(line); m != nil {
			p.cppRef = m[2]
			if m[1] == "INOUT" {
				return nil, fmt.Errorf("%w: design %s: port %s is an inout, and a simulation of two states has no high impedance: %s", ErrPort,
					d.Top, p.name(), wrap)
			}
			p.Direction = map[string]Direction{"IN": In, "OUT": Out}[m[1]]
			msb, _ := strconv.Atoi(m[4])
			lsb, _ := strconv.Atoi(m[5])
			p.Width = max(msb-lsb, lsb-msb) + 1
			for _, n := range portElement.FindAllString(m[3], -1) {
				k, _ := strconv.Atoi(n)
				p.Elems *= k
			}
		} else if m := portMember.FindStringSubmatch(line); m != nil {
			p.cppRef, p.Width, p.Real = m[2], 64, true
			if m[1] != "double" {
				return nil, fmt.Errorf("%w: design %s: port %s is of type %s, which cannot be bound: %s", ErrPort, d.Top, p.name(), m[1], wrap)
			}
		} else {
			continue
		}
		p.Name = p.name()
		ports = append(ports, p)
	}
	return ports, nil
}

var (
	topModule  = regexp.MustCompile(`(?s)<module [^>]*topModule="1">(.*?)</module>`)
	outputName = regexp.MustCompile(`<var [^>]*dir="output"[^>]* origName="([^"]*)"`)
)

// directReals finds the outputs among the real ports in the tree that Verilator writes.
func directReals(ports []Port, tree string) {
	for _, module := range topModule.FindAllStringSubmatch(tree, 1) {
		for _, m := range outputName.FindAllStringSubmatch(module[1], -1) {
			if i := slices.IndexFunc(ports, func(p Port) bool { return p.Name == m[1] }); i >= 0 {
				ports[i].Direction = Out
			}
		}
	}
}

const wrap = "make a wrapper the Top, with ports that can (doc/testbench.md)"

// name is the port's name in the Verilog.
func (p Port) name() string {
	return portEscape.ReplaceAllStringFunc(p.cppRef, func(s string) string {
		c, _ := strconv.ParseUint(s[3:], 16, 8)
		return string(rune(c))
	})
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
	if p.Real {
		return field{}, fmt.Errorf("%w: %s has no bits: bind it to a field of type *float64", ErrPort, p)
	}
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
	return Port{}, fmt.Errorf("%w: %s has no port %q%s; it has %s", ErrPort, l.design.Top, name,
		nearest.Hint(name, slices.Sorted(maps.Keys(l.byName))), l.portList())
}

func (l *Library) portList() string {
	var names []string
	for _, p := range l.ports {
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}
