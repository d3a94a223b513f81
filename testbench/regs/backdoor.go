package regs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Peek reads a register, or a field of it, in the design, without the bus and without any effect.
func (d *Device) Peek(name string) (uint64, error) {
	p, err := d.find(name)
	if err != nil {
		return 0, err
	}
	return d.peek(p)
}

func (d *Device) peek(p place) (uint64, error) {
	if p.Inside != "" {
		v, err := d.inside.Peek(p.path(p.Inside))
		return p.of(v), err
	}
	v, found := uint64(0), false
	for _, f := range p.Fields {
		if f.Inside == "" || p.field != nil && p.field != f {
			continue
		}
		part, err := d.inside.Peek(p.path(f.Inside))
		if err != nil {
			return 0, err
		}
		v, found = f.into(v, part), true
	}
	if !found {
		return 0, fmt.Errorf("regs: %s.%s has no back door: give its name in the design as inside", d.block.Name, p.name)
	}
	return p.of(v), nil
}

func (p place) path(inside string) string {
	if strings.Contains(inside, "%d") {
		return strings.ReplaceAll(inside, "%d", strconv.Itoa(p.index))
	}
	return inside
}

// Poke sets a register, or a field of it, in the design, without the bus; the mirror follows.
func (d *Device) Poke(name string, v uint64) error {
	p, err := d.find(name)
	if err != nil {
		return err
	}
	whole, err := d.poke(p, v)
	if err == nil {
		p.value, p.last = whole, fmt.Sprintf("%#x set by the back door", v)
	}
	return err
}

// poke returns what the whole register is then.
func (d *Device) poke(p place, v uint64) (whole uint64, err error) {
	whole = v
	switch f := p.field; {
	case f != nil && p.Inside != "":
		if whole, err = d.inside.Peek(p.path(p.Inside)); err != nil { // the hardware may have changed the rest
			return 0, err
		}
		whole = f.into(whole, v)
		return whole, d.inside.Poke(p.path(p.Inside), whole)
	case f != nil && f.Inside != "":
		return f.into(p.value, v), d.inside.Poke(p.path(f.Inside), v)
	case f == nil && p.Inside != "":
		return v, d.inside.Poke(p.path(p.Inside), v)
	case f != nil || slices.ContainsFunc(p.Fields, func(f *Field) bool { return f.Inside == "" }):
		return 0, fmt.Errorf("regs: %s.%s has no back door: give its name in the design as inside", d.block.Name, p.name)
	}
	for _, f := range p.Fields {
		if err := d.inside.Poke(p.path(f.Inside), f.of(v)); err != nil {
			return 0, err
		}
	}
	return v, nil
}

// Check compares the mirror with the design by the back door: all registers and fields that have one and are not volatile.
func (d *Device) Check() (err error) {
	for name, p := range d.all {
		if p.Inside == "" && !slices.ContainsFunc(p.Fields, func(f *Field) bool { return f.Inside != "" }) {
			continue
		}
		for _, f := range p.Fields {
			if p.Inside == "" && f.Inside == "" || f.of(p.known) != f.mask() {
				continue
			}
			p.field = f
			have, e := d.peek(p)
			if e != nil {
				return e
			}
			if want := f.of(p.value); have != want && err == nil {
				err = d.report(fmt.Errorf("regs: %s.%s.%s is %#x in the design, predicted %#x (before: %s)", d.block.Name, name, f.Name, have, want, p.last))
			}
		}
	}
	return err
}
