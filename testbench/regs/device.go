package regs

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/testbench"
)

// Bus moves words by addresses in bytes, as the masters below testbench/bus do.
type Bus interface {
	Read(c *testbench.Task, address uint64) (uint64, error)
	Write(c *testbench.Task, address, data uint64) error
}

// Inside reads and writes the design's signals by name without a bus, as *verilator.Model does.
type Inside interface {
	Peek(name string) (uint64, error)
	Poke(name string, v uint64) error
}

// Device is a block on a bus of a bench. Registers and fields are spelled "control", "control.enable", "table[3]", "table[3].valid".
type Device struct {
	// Report is told of each read that differs from what was predicted; nil means that only the caller is.
	Report testbench.Reporter

	block  *Block
	bus    Bus
	inside Inside
	base   uint64
	words  map[uint64]*word // by address from the base
}

// word is the mirror of a register.
type word struct {
	value, known uint64 // bits that are predicted
	last         string // what was done to it
}

// NewDevice makes a device of a block in the bench's design, just after reset. A nil bus leaves only the back door.
func NewDevice(b *testbench.Bench, block *Block, bus Bus, base uint64) *Device {
	d := &Device{Report: b, block: block, bus: bus, inside: b.Model(), base: base}
	d.WasReset()
	return d
}

// WasReset tells the mirror that the block was reset.
func (d *Device) WasReset() {
	d.words = map[uint64]*word{}
	for _, r := range d.block.Registers {
		for i := range max(r.Count, 1) {
			w := &word{value: r.reset(), known: ^uint64(0) >> (64 - d.block.Width), last: "reset"}
			for _, f := range r.Fields {
				if f.Volatile {
					w.known = f.into(w.known, 0)
				}
			}
			d.words[r.at(i)] = w
		}
	}
}

// place is a register, one of an array, or a field of it.
type place struct {
	*Register
	*word
	name    string
	address uint64 // from the base
	index   int
	field   *Field // nil for all of it
}

var spelling = regexp.MustCompile(`^(\w+)(?:\[(\d+)\])?(?:\.(\w+))?$`)

func (d *Device) find(name string) (p place, err error) {
	m := spelling.FindStringSubmatch(name)
	if m == nil {
		return p, fmt.Errorf(`regs: %s: %q: want "register", "register[index]" or one of these with ".field"`, d.block.Name, name)
	}
	i := slices.IndexFunc(d.block.Registers, func(r *Register) bool { return r.Name == m[1] })
	if i < 0 {
		var names []string
		for _, r := range d.block.Registers {
			names = append(names, r.Name)
		}
		return p, fmt.Errorf("regs: %s has no register %q%s", d.block.Name, m[1], nearest.Hint(m[1], names))
	}
	p.Register, p.name = d.block.Registers[i], name
	if (m[2] != "") != (p.Count > 0) {
		return p, fmt.Errorf("regs: %s.%s: want an index of arrays, and of them only (count %d)", d.block.Name, name, p.Count)
	}
	if m[2] != "" {
		if p.index, err = strconv.Atoi(m[2]); err != nil || p.index >= p.Count {
			return p, fmt.Errorf("regs: %s.%s: want an index below %d", d.block.Name, name, p.Count)
		}
	}
	if m[3] != "" {
		i := slices.IndexFunc(p.Fields, func(f *Field) bool { return f.Name == m[3] })
		if i < 0 {
			var names []string
			for _, f := range p.Fields {
				names = append(names, f.Name)
			}
			return p, fmt.Errorf("regs: %s.%s has no field %q%s", d.block.Name, m[1], m[3], nearest.Hint(m[3], names))
		}
		p.field = p.Fields[i]
	}
	p.address = p.at(p.index)
	p.word = d.words[p.address]
	return p, nil
}

// of is what a place has of a register's value.
func (p place) of(v uint64) uint64 {
	if p.field != nil {
		return p.field.of(v)
	}
	return v
}

// Read reads a register, or a field of it, by the bus. What differs from the prediction is reported and returned as an error, beside the value.
func (d *Device) Read(c *testbench.Task, name string) (uint64, error) {
	p, err := d.find(name)
	if err != nil {
		return 0, err
	}
	got, err := d.bus.Read(c, d.base+p.address)
	if err != nil {
		return 0, fmt.Errorf("regs: %s.%s at %#x: read: %w", d.block.Name, p.name, d.base+p.address, err)
	}
	return p.of(got), d.took(p, got, c.Bench().Cycle())
}

// took compares what a read gave with the mirror, and lets the mirror follow.
func (d *Device) took(p place, got, cycle uint64) error {
	wrong := p.differences(got, true)
	before := p.last
	for _, f := range p.Fields {
		e := effects[f.Access]
		if e.hidden {
			continue
		}
		p.value = f.into(p.value, e.read(f.of(got), f.mask()))
	}
	if wrong == "" {
		return nil
	}
	return d.report(fmt.Errorf("regs: %s.%s at %#x: cycle %d: read %#x: %s (before: %s)", d.block.Name, p.Name, d.base+p.address, cycle, got, wrong, before))
}

// differences lists the fields that have not the predicted value; seen says that a read shows them, with its access types.
func (p place) differences(got uint64, seen bool) string {
	var wrong []string
	rest := got
	for _, f := range p.Fields {
		rest = f.into(rest, 0)
		want := f.of(p.value)
		if seen && effects[f.Access].hidden {
			want = 0
		} else if f.of(p.known) != f.mask() {
			continue
		}
		if have := f.of(got); have != want {
			wrong = append(wrong, fmt.Sprintf("%s (%s) is %#x, predicted %#x", f.Name, f.Access, have, want))
		}
	}
	if rest != 0 && seen {
		wrong = append(wrong, fmt.Sprintf("bits %#x belong to no field, predicted 0", rest))
	}
	return strings.Join(wrong, "; ")
}

func (d *Device) report(err error) error {
	if d.Report != nil {
		d.Report.Errorf("%v", err)
	}
	return err
}

// Write writes a register, or a field of it, by the bus. The other fields of the register get what leaves them as they are: the mirror's value, or what
// a read before gives where the hardware changes them.
func (d *Device) Write(c *testbench.Task, name string, v uint64) error {
	p, err := d.find(name)
	if err != nil {
		return err
	}
	data := v
	if f := p.field; f != nil {
		if v&^f.mask() != 0 {
			return fmt.Errorf("regs: %s.%s: %#x does not fit %d bits", d.block.Name, name, v, f.width)
		}
		if data, err = d.rest(c, p); err != nil {
			return err
		}
		data = f.into(data, v)
	}
	if data>>(d.block.Width-1)>>1 != 0 {
		return fmt.Errorf("regs: %s.%s: %#x does not fit %d bits", d.block.Name, name, data, d.block.Width)
	}
	if err := d.bus.Write(c, d.base+p.address, data); err != nil {
		return fmt.Errorf("regs: %s.%s at %#x: write: %w", d.block.Name, name, d.base+p.address, err)
	}
	p.wrote(data)
	p.last = fmt.Sprintf("%#x written in cycle %d", data, c.Bench().Cycle())
	return nil
}

func (p place) wrote(data uint64) {
	for _, f := range p.Fields {
		p.value = f.into(p.value, effects[f.Access].write(f.of(p.value), f.of(data), f.mask()))
	}
}

// rest is what to write to the fields beside one.
func (d *Device) rest(c *testbench.Task, p place) (data uint64, err error) {
	read := false
	for _, f := range p.Fields {
		if f != p.field && f.Access == "rw" && f.of(p.known) != f.mask() {
			read = true
		}
	}
	data = p.value
	if read {
		if data, err = d.Read(c, strings.TrimSuffix(p.name, "."+p.field.Name)); err != nil {
			return 0, err
		}
	}
	for _, f := range p.Fields {
		if w, ok := f.Access.idle(); ok && f != p.field {
			data = f.into(data, w&f.mask())
		}
	}
	return data, nil
}

// Predicted returns the mirror's value of a register or field, and whether all of it is known.
func (d *Device) Predicted(name string) (v uint64, known bool, err error) {
	p, err := d.find(name)
	if err != nil {
		return 0, false, err
	}
	all := ^uint64(0) >> (64 - d.block.Width)
	return p.of(p.value), p.of(p.known) == p.of(all), nil
}

// all yields every register, and each of an array.
func (d *Device) all(yield func(string, place) bool) {
	for _, r := range d.block.Registers {
		for i := range max(r.Count, 1) {
			name := r.Name
			if r.Count > 0 {
				name = fmt.Sprintf("%s[%d]", r.Name, i)
			}
			if !yield(name, place{Register: r, word: d.words[r.at(i)], name: name, address: r.at(i), index: i}) {
				return
			}
		}
	}
}

// CheckReset reads every register that can be read, once, and compares it with its reset value.
func (d *Device) CheckReset(c *testbench.Task) error {
	for name, p := range d.all {
		if !slices.ContainsFunc(p.Fields, func(f *Field) bool { return f.Access.readable() }) {
			continue
		}
		if _, err := d.Read(c, name); err != nil {
			return err
		}
	}
	return nil
}

// Bash writes and reads registers in an order drawn from r, n accesses in all, with random values: each read is compared with what the access types
// predict. Registers named in but are left out: those whose writes start something.
func (d *Device) Bash(c *testbench.Task, r *testbench.Rand, n int, but ...string) error {
	var names []string
	for name, p := range d.all {
		if !slices.Contains(but, p.Name) {
			names = append(names, name)
		}
	}
	for _, name := range but {
		if _, err := d.find(name); err != nil && !slices.ContainsFunc(d.block.Registers, func(r *Register) bool { return r.Name == name }) {
			return err
		}
	}
	for range n {
		name, err := testbench.Pick(r, names...), error(nil)
		if r.Bool() {
			err = d.Write(c, name, r.Uint64()>>(64-d.block.Width))
		} else {
			_, err = d.Read(c, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// On binds a bus to a coroutine: what generated code takes as its bus.
func On(c *testbench.Task, bus Bus) Bound { return Bound{c, bus} }

// Bound is a bus for calls of one coroutine.
type Bound struct {
	c   *testbench.Task
	bus Bus
}

// Read reads a register.
func (b Bound) Read(address uint64) (uint64, error) { return b.bus.Read(b.c, address) }

// Write writes a register.
func (b Bound) Write(address, value uint64) error { return b.bus.Write(b.c, address, value) }
