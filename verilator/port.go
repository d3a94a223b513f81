package verilator

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Direction of a port, as seen from the design.
type Direction int

// Directions.
const (
	In Direction = iota
	Out
	// Inside is the direction of what is no port but a signal inside the design, which Design.Public names.
	Inside
	inout // of a bare design; models have a wrapper around it
)

func (d Direction) String() string { return [...]string{"input", "output", "signal", "inout"}[d] }

// Port is a port of the top module, or a signal inside the design.
type Port struct {
	// Name as in the Verilog; of a signal inside the design its path below Top.
	Name string
	// Direction as seen from the design.
	Direction Direction
	// Width of one element in bits.
	Width int
	// Elems is 1, or the number of elements of an unpacked array, such as a memory.
	Elems int
	// Dims are the sizes of the array's dimensions, the outermost first; nil without an array.
	Dims []int
	// First is the lowest index of the outermost dimension, as the Verilog declares it; 0 for ports.
	First int
	// Real says that the port is a real number, of 64 bits.
	Real bool
	// Follows says of what Verilog calls a wire or computes in a combinational block: its value follows from other signals, so that only Force sets it.
	// A register or memory keeps what it is set to. It is false for inputs.
	Follows bool
	// Forceable says that Design.Forceable names the signal.
	Forceable bool
	// Settable says that Design.Public names an output.
	Settable bool

	index  int
	force  int    // where driven value, enable and forced value of a forceable signal are, one behind the other
	cppRef string // what the generated class calls it
	open   bool   // the generated class does not say its direction
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
	portEscape  = regexp.MustCompile(`__0([0-9A-Fa-f]{2})`)
	portElement = regexp.MustCompile(`\d+`)
)

// parsePorts reads the ports of a design from the header of the generated class. Whether a real one is an output the header leaves
// open, and since some version between 5.032 and 5.048 whether an array is.
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
			p.Direction = map[string]Direction{"IN": In, "OUT": Out, "INOUT": inout}[m[1]]
			p.setShape(m[3], m[4], m[5])
		} else if m := portMember.FindStringSubmatch(line); m != nil {
			index, ok := p.index, false
			if p, ok = memberOf(m[1]+" "+m[2]+";", m[2]); !ok || p.Real && p.Elems > 1 {
				p.cppRef = m[2]
				return nil, fmt.Errorf("%w: design %s: port %s is of type %s, which cannot be bound: %s", ErrPort, d.Top, p.name(), m[1], wrap)
			}
			p.index, p.cppRef, p.open = index, m[2], true
		} else {
			continue
		}
		p.Name = p.name()
		ports = append(ports, p)
	}
	return ports, nil
}

// directOpen finds the outputs among the ports whose direction the header leaves open in the elaborated top module.
func directOpen(ports []Port, top node) {
	for _, n := range top.items {
		if i := slices.IndexFunc(ports, func(p Port) bool { return p.Name == unescape(n.origin) }); i >= 0 && n.kind == "var" && n.output {
			ports[i].Direction = Out
		}
	}
}

const wrap = "make a wrapper the Top, with ports that can (doc/testbench.md)"

// setShape takes dimensions and bounds as a macro of the generated class has them.
func (p *Port) setShape(dims, left, right string) {
	msb, _ := strconv.Atoi(left)
	lsb, _ := strconv.Atoi(right)
	p.Width = max(msb-lsb, lsb-msb) + 1
	for _, n := range portElement.FindAllString(dims, -1) {
		k, _ := strconv.Atoi(n)
		p.Dims = append(p.Dims, k)
		p.Elems *= k
	}
}

// name is the port's name in the Verilog.
func (p Port) name() string { return unescape(p.cppRef) }
