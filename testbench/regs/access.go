package regs

import (
	"slices"

	"github.com/stafflink/lmmc/internal/nearest"
)

// Access says what reading and writing a field does.
//
//	name   a read gives  and leaves  a write of w leaves
//	rw     the value     it          w
//	ro     the value     it          the value
//	wo     0             the value   w
//	w1c    the value     it          the value without the bits that are 1 in w
//	w1s    the value     it          the value with them
//	w1t    the value     it          the value with them inverted
//	w0c    the value     it          the value without the bits that are 0 in w
//	w0s    the value     it          the value with them
//	wc     the value     it          0
//	ws     the value     it          all ones
//	rc     the value     0           the value
//	rs     the value     all ones    the value
//	wrc    the value     0           w
//	wrs    the value     all ones    w
type Access string

// effect is what an access type does to a value of a field, whose bits are those of mask.
type effect struct {
	hidden bool // a read gives 0
	read   func(v, mask uint64) uint64
	write  func(v, w, mask uint64) uint64
}

func same(v, _ uint64) uint64    { return v }
func zero(_, _ uint64) uint64    { return 0 }
func ones(_, mask uint64) uint64 { return mask }

func taken(_, w, _ uint64) uint64   { return w }
func ignored(v, _, _ uint64) uint64 { return v }

var effects = map[Access]effect{
	"rw":  {read: same, write: taken},
	"ro":  {read: same, write: ignored},
	"wo":  {hidden: true, read: same, write: taken},
	"w1c": {read: same, write: func(v, w, _ uint64) uint64 { return v &^ w }},
	"w1s": {read: same, write: func(v, w, _ uint64) uint64 { return v | w }},
	"w1t": {read: same, write: func(v, w, _ uint64) uint64 { return v ^ w }},
	"w0c": {read: same, write: func(v, w, _ uint64) uint64 { return v & w }},
	"w0s": {read: same, write: func(v, w, mask uint64) uint64 { return v | mask&^w }},
	"wc":  {read: same, write: func(_, _, _ uint64) uint64 { return 0 }},
	"ws":  {read: same, write: func(_, _, mask uint64) uint64 { return mask }},
	"rc":  {read: zero, write: ignored},
	"rs":  {read: ones, write: ignored},
	"wrc": {read: zero, write: taken},
	"wrs": {read: ones, write: taken},
}

// readable and writable say what a driver may want to do.
func (a Access) readable() bool { return a != "wo" }
func (a Access) writable() bool { return a != "ro" && a != "rc" && a != "rs" }

// idle is what to write to a field so that it stays as it is, where that is not its value: for a read-modify-write of its neighbours.
func (a Access) idle() (w uint64, ok bool) {
	switch a {
	case "w1c", "w1s", "w1t":
		return 0, true
	case "w0c", "w0s":
		return ^uint64(0), true
	}
	return 0, false
}

func (a Access) hint() string {
	var names []string
	for name := range effects {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return nearest.Hint(string(a), names)
}
