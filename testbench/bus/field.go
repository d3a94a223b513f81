package bus

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/stafflink/lmmc/verilator"
)

// Field is where a signal of a bus stands: Width bits of a port, of any number.
type Field struct {
	Port       string
	Low, Width int
}

var part = regexp.MustCompile(`^([^\[]+)(?:\[(\d+)(?::(\d+))?\])?$`)

// Fields finds signals as Find does, and returns where they stand, in the order of the wires; the Width of an optional one that is not there is 0.
// Models use it that leave the wires to channels of package verilator. Wire.To is not used.
func (p *Port) Fields(wires ...Wire) ([]Field, error) {
	fields := make([]Field, len(wires))
	for i, w := range wires {
		name, err := p.locate(w)
		if err != nil {
			return nil, err
		}
		if name == "" {
			continue
		}
		if fields[i], err = p.field(name); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p, w.standard(), err)
		}
		if w.Width != 0 && fields[i].Width != w.Width {
			return nil, fmt.Errorf("%s: %w: %s is %s with %d bits, want %d", p, verilator.ErrPort, w.standard(), name, fields[i].Width, w.Width)
		}
	}
	return fields, p.knows(wires)
}

func (p *Port) field(name string) (Field, error) {
	m := part.FindStringSubmatch(name)
	if m == nil {
		return Field{}, fmt.Errorf("%w: %q is not port, port[bit] or port[high:low]", verilator.ErrPort, name)
	}
	for _, port := range p.Instance.Model().Library().Ports() {
		if port.Name != m[1] {
			continue
		}
		high, low := port.Width-1, 0
		if m[2] != "" {
			high, _ = strconv.Atoi(m[2])
			low = high
		}
		if m[3] != "" {
			low, _ = strconv.Atoi(m[3])
		}
		if low > high || high >= port.Width {
			return Field{}, fmt.Errorf("%w: %s does not lie within %s", verilator.ErrPort, name, port)
		}
		if port.Elems > 1 || port.Real {
			return Field{}, fmt.Errorf("%w: %s has no single value of bits", verilator.ErrPort, port)
		}
		return Field{m[1], low, high - low + 1}, nil
	}
	_, err := p.Instance.Model().Peek(m[1]) // says what is wrong, and what there is
	return Field{}, err
}

// Slice returns the index-th of count equal parts, as cores have their ports that join several buses.
func (f Field) Slice(index, count int) (Field, error) {
	if f.Width%count != 0 {
		return f, fmt.Errorf("%w: the %d bits of %s are no %d equal parts", verilator.ErrPort, f.Width, f.Port, count)
	}
	each := f.Width / count
	return Field{f.Port, f.Low + index*each, each}, nil
}

// String returns the field as channels take it; "" for one that is not there.
func (f Field) String() string {
	if f.Width == 0 {
		return ""
	}
	return fmt.Sprintf("%s[%d:%d]", f.Port, f.Low+f.Width-1, f.Low)
}

// Words returns the parts of up to 64 bits, the least significant first.
func (f Field) Words() []string {
	var words []string
	for low := 0; low < f.Width; low += 64 {
		words = append(words, Field{f.Port, f.Low + low, min(64, f.Width-low)}.String())
	}
	return words
}

// Channel returns a channel of the bus's clock and reset, for models to fill in.
func (p *Port) Channel() verilator.Channel {
	ch := verilator.Channel{Clock: p.Clock.Clock}
	if p.reset != nil {
		ch.Reset, ch.ResetLow = p.reset.Name(), !p.resetLevel
	}
	return ch
}
