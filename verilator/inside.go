package verilator

// #include "runtime/call.h"
import "C"

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/stafflink/lmmc/internal/try"
)

// Inside is a register or a memory of a design, named in Design.Inside.
type Inside struct {
	Name   string // its path below Top
	Width  int    // of a word, in bits
	Words  int    // 1, or those of a memory
	CppRef string // what the generated class calls it
}

// memberOf is what the generated class of the top calls what has a path.
func memberOf(top, path string) string {
	return top + "__DOT__" + strings.NewReplacer(".", "__DOT__", "[", "__BRA__", "]", "__KET__").Replace(path)
}

// bytes is the size of a word in the model's memory.
func (r Inside) bytes() int { return Port{Width: r.Width}.bytes() }

// findInside finds what Design.Inside names among the members of the class that Verilator generated in dir. A register is there whatever Verilator makes of what
// hangs on it, since its value passes from one evaluation to the next; what is not is refused.
func (d *Design) findInside(dir string) (found []Inside, err error) {
	if len(d.Inside) == 0 {
		return nil, nil
	}
	header, err := os.ReadFile(filepath.Join(dir, "Vmodel___024root.h"))
	if err != nil {
		return nil, err
	}
	for _, name := range d.Inside {
		r := Inside{Name: name, Words: 1, CppRef: memberOf(d.Top, name)}
		member := regexp.MustCompile(`(?m)^\s*(?:VlUnpacked<)?[CSIQ]Data/\*(\d+):0\*/(?:, (\d+)>)? ` + r.CppRef + `;`)
		m := member.FindStringSubmatch(string(header))
		if port := regexp.MustCompile(`VL_OUT(?:8|16|64)?\(` + regexp.QuoteMeta(name) + `,(\d+),0()\);`).FindStringSubmatch(string(header)); m == nil && port != nil {
			m, r.CppRef = port, name
		}
		if m == nil {
			return nil, fmt.Errorf("verilator: design %s: no register or memory of up to 64 bits %q: Design.Inside takes paths of what is assigned at a clock", d.Top, name)
		}
		high, _ := strconv.Atoi(m[1])
		r.Width = high + 1
		if m[2] != "" {
			r.Words, _ = strconv.Atoi(m[2])
		}
		found = append(found, r)
	}
	return found, nil
}

// Width is that of a word of a register or memory of Design.Inside, in bits; 0 if there is none of the name.
func (l *Library) Width(name string) int {
	for _, r := range l.inside {
		if r.Name == name {
			return r.Width
		}
	}
	return 0
}

// Look returns the words of a register or memory of Design.Inside.
func (m *Model) Look(name string) (words []uint64, err error) {
	r, at, err := m.inside(name)
	if err != nil {
		return nil, err
	}
	for i := range r.Words {
		var word [8]byte
		copy(word[:], at[i*r.bytes():][:r.bytes()])
		words = append(words, binary.LittleEndian.Uint64(word[:]))
	}
	return words, nil
}

// Load sets registers and memories of Design.Inside, as a debugger would: each to as many words as it has. What hangs on them follows at the next clock edge, which
// may still be one of their old values. A recording (Config.Record) begins anew.
func (m *Model) Load(values map[string][]uint64) error {
	for name, words := range values {
		r, at, err := m.inside(name)
		if err != nil {
			return err
		}
		if len(words) != r.Words {
			return fmt.Errorf("verilator: %d words for %s of %s, which has %d", len(words), name, m.lib.design.Top, r.Words)
		}
		for i, v := range words {
			if r.Width < 64 && v>>r.Width != 0 {
				return fmt.Errorf("verilator: %#x does not fit the %d bits of %s", v, r.Width, name)
			}
			copy(at[i*r.bytes():][:r.bytes()], binary.LittleEndian.AppendUint64(nil, v))
		}
	}
	if m.record > 0 {
		return m.startRecord()
	}
	return nil
}

// inside finds a register or memory in the model.
func (m *Model) inside(name string) (r Inside, at []byte, err error) {
	err = try.Run(func() {
		try.OK(m.usable())
		all := m.lib.inside
		i := slices.IndexFunc(all, func(r Inside) bool { return r.Name == name })
		if i < 0 {
			try.Failf("%w: %s is not in Design.Inside of %s", ErrNotBuilt, name, m.lib.design.Top)
		}
		places := make([]unsafe.Pointer, len(all))
		C.lm_inside(m.lib.engine, m.c, &places[0])
		r, at = all[i], unsafe.Slice((*byte)(places[i]), all[i].Words*all[i].bytes())
	})
	return r, at, err
}
