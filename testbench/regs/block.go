package regs

import (
	"fmt"
	"go/token"
	"math/bits"
	"slices"
	"strings"
)

// Block is a set of registers with a common base address.
type Block struct {
	// Name is an identifier.
	Name string `toml:"name"`
	// Doc says what the block is for.
	Doc string `toml:"doc"`
	// Width is that of a register, in bits: 8, 16, 32 (also for 0) or 64.
	Width int `toml:"width"`
	// Registers in any order.
	Registers []*Register `toml:"register"`
}

// Register is a word of a block, or an array of such words.
type Register struct {
	Name string `toml:"name"`
	Doc  string `toml:"doc"`
	// Address is in bytes from the block's base.
	Address uint64 `toml:"address"`
	// Count makes an array of so many registers, Step bytes apart; 0 for a single one. Step 0 is the width in bytes.
	Count int    `toml:"count"`
	Step  uint64 `toml:"step"`
	// Inside is what the design calls the register, for the back door: a name that verilator.Model.Peek takes. In that of an array "%d" is the index.
	Inside string `toml:"inside"`
	// Fields in any order. Bits that belong to none read as 0 and ignore writes. A register without fields has one of its own name.
	Fields []*Field `toml:"field"`
	// Access, Reset and Volatile are those of the field of a register without fields.
	Access   Access `toml:"access"`
	Reset    uint64 `toml:"reset"`
	Volatile bool   `toml:"volatile"`

	width int
}

// Field is a part of a register.
type Field struct {
	Name string `toml:"name"`
	Doc  string `toml:"doc"`
	// Bits are "high:low", or "bit".
	Bits string `toml:"bits"`
	// Access is "rw" when empty.
	Access Access `toml:"access"`
	Reset  uint64 `toml:"reset"`
	// Volatile says that the hardware changes the field by itself, so that a read has nothing to be compared with.
	Volatile bool `toml:"volatile"`
	// Values names values.
	Values map[string]uint64 `toml:"values"`
	// Inside is what the design calls the field, if the register has no name there.
	Inside string `toml:"inside"`

	low, width int
}

// mask is the field's bits, at the bottom of a word.
func (f *Field) mask() uint64 { return ^uint64(0) >> (64 - f.width) }

func (f *Field) of(word uint64) uint64 { return word >> f.low & f.mask() }

func (f *Field) into(word, v uint64) uint64 { return word&^(f.mask()<<f.low) | v<<f.low }

// check completes and validates a block.
func (b *Block) check() error {
	if b.Width == 0 {
		b.Width = 32
	}
	if !slices.Contains([]int{8, 16, 32, 64}, b.Width) {
		return fmt.Errorf("width %d: want 8, 16, 32 or 64 bits", b.Width)
	}
	if err := identifier("block", b.Name); err != nil {
		return err
	}
	if len(b.Registers) == 0 {
		return fmt.Errorf("block %s has no registers", b.Name)
	}
	names, places := map[string]bool{}, map[uint64]string{}
	for _, r := range b.Registers {
		if err := r.check(b); err != nil {
			return fmt.Errorf("register %s: %w", r.Name, err)
		}
		if key := exported(r.Name); names[key] {
			return fmt.Errorf("register %s: there is another one of this name", r.Name)
		} else {
			names[key] = true
		}
		for i := range max(r.Count, 1) {
			at := r.at(i)
			if other := places[at]; other != "" {
				return fmt.Errorf("register %s: address %#x is that of %s", r.Name, at, other)
			}
			places[at] = r.Name
		}
	}
	return nil
}

func (r *Register) check(b *Block) error {
	r.width = b.Width
	bytes := uint64(b.Width / 8)
	if err := identifier("register", r.Name); err != nil {
		return err
	}
	if r.Step == 0 {
		r.Step = bytes
	}
	switch {
	case r.Address%bytes != 0 || r.Step%bytes != 0:
		return fmt.Errorf("address %#x, step %d: want multiples of %d bytes", r.Address, r.Step, bytes)
	case r.Count < 0 || r.Count > 1<<16:
		return fmt.Errorf("count %d: want 1 to 65536", r.Count)
	case r.Count > 0 && r.Inside != "" && !strings.Contains(r.Inside, "%d"):
		return fmt.Errorf("inside %q: want %%d for the index", r.Inside)
	case len(r.Fields) == 0:
		r.Fields = []*Field{{Name: r.Name, Bits: fmt.Sprintf("%d:0", b.Width-1), Access: r.Access, Reset: r.Reset, Volatile: r.Volatile}}
	case r.Access != "" || r.Reset != 0 || r.Volatile:
		return fmt.Errorf("access, reset and volatile are those of its fields")
	}
	used, names := uint64(0), map[string]bool{}
	for _, f := range r.Fields {
		if err := f.check(b.Width); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		if used&(f.mask()<<f.low) != 0 {
			return fmt.Errorf("field %s: bits %s belong to another field too", f.Name, f.Bits)
		}
		if names[exported(f.Name)] {
			return fmt.Errorf("field %s: there is another one of this name", f.Name)
		}
		used, names[exported(f.Name)] = used|f.mask()<<f.low, true
	}
	return nil
}

func (f *Field) check(width int) error {
	if err := identifier("field", f.Name); err != nil {
		return err
	}
	if f.Access == "" {
		f.Access = "rw"
	}
	if _, ok := effects[f.Access]; !ok {
		return fmt.Errorf("access %q is not known%s: see go doc regs.Access", f.Access, f.Access.hint())
	}
	var high int
	if n, err := fmt.Sscanf(f.Bits+";", "%d:%d;", &high, &f.low); n < 2 || err != nil {
		if n, err := fmt.Sscanf(f.Bits+";", "%d;", &high); n < 1 || err != nil {
			return fmt.Errorf(`bits %q: want "high:low" or "bit"`, f.Bits)
		}
		f.low = high
	}
	if f.low < 0 || high < f.low || high >= width {
		return fmt.Errorf("bits %q: want them within %d:0, the high one first", f.Bits, width-1)
	}
	f.width = high - f.low + 1
	if bits.Len64(f.Reset) > f.width {
		return fmt.Errorf("reset %#x does not fit %d bits", f.Reset, f.width)
	}
	for name, v := range f.Values {
		if err := identifier("value", name); err != nil {
			return err
		}
		if bits.Len64(v) > f.width {
			return fmt.Errorf("value %s = %#x does not fit %d bits", name, v, f.width)
		}
	}
	return nil
}

// at is the address of an element.
func (r *Register) at(index int) uint64 { return r.Address + uint64(index)*r.Step }

// reset is the register's value after reset.
func (r *Register) reset() (v uint64) {
	for _, f := range r.Fields {
		v = f.into(v, f.Reset)
	}
	return v
}

func identifier(what, name string) error {
	if !token.IsIdentifier(name) || exported(name) == "" {
		return fmt.Errorf("%s name %q: want letters, digits and _, beginning with a letter", what, name)
	}
	return nil
}

// exported is the Go name of a name in Verilog's manner.
func exported(name string) string {
	var s strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		if word == "" {
			continue
		}
		if word == strings.ToUpper(word) {
			word = strings.ToLower(word)
		}
		s.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	if s := s.String(); s != "" && s[0] >= '0' && s[0] <= '9' {
		return "N" + s
	}
	return s.String()
}
