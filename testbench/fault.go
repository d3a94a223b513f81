package testbench

import "fmt"

// FaultKind is what a Fault does to the symbols of a link.
type FaultKind int

const (
	// FaultFlip inverts the bits of Value in Count symbols.
	FaultFlip FaultKind = iota
	// FaultBurst inverts bits of Count symbols, which ones follows from the low 32 bits of Value.
	FaultBurst
	// FaultDrop loses Count symbols. On a link that carries a symbol at every clock idle takes their place.
	FaultDrop
	// FaultDuplicate makes each of Count symbols arrive twice. On a link that carries a symbol at every clock there is no
	// room for more: there Count symbols have a copy in the place of the symbol that follows them.
	FaultDuplicate
	// FaultStuck makes Value arrive in the place of Count symbols.
	FaultStuck
	// FaultUnplug takes the cable out for Count symbols: Value, what an open input reads as, arrives instead.
	FaultUnplug

	faultKinds
)

var faultNames = [faultKinds]string{"flip", "burst", "drop", "duplicate", "stuck", "unplug"}

func (k FaultKind) String() string {
	if k < 0 || k >= faultKinds {
		return fmt.Sprintf("FaultKind(%d)", int(k))
	}
	return faultNames[k]
}

// hasValue tells for which kinds Fault.Value means something.
func (k FaultKind) hasValue() bool { return k != FaultDrop && k != FaultDuplicate }

// Fault is one disturbance of a link.
type Fault struct {
	// At is the first symbol hit, counted from 0.
	At uint64
	// Kind of the fault.
	Kind FaultKind
	// Count is how many symbols are hit; 0 means 1.
	Count uint64
	// Value is what the Kind says.
	Value uint64
}

func (f Fault) count() uint64 { return max(f.Count, 1) }

// hits reports whether the fault hits a symbol.
func (f Fault) hits(index uint64) bool { return index >= f.At && index-f.At < f.count() }

// noise is what a burst does to its i-th symbol: the bits that it inverts, at least one of width; of symbols of one
// bit it inverts the first and about half of the others. It is the upper bits of a sum that grows by a constant, so that hardware can
// do the same.
func (f Fault) noise(i uint64, width int) uint64 {
	sum := uint32(f.Value) + uint32(i)*noiseStep
	if noise := uint64(sum >> max(32-width, 0)); noise != 0 || width == 1 && i > 0 {
		return noise
	}
	return 1
}

const noiseStep = 0x9E3779B9 // 2^32 divided by the golden ratio

// FaultCounts says how many symbols faults of each kind have hit.
type FaultCounts [faultKinds]uint64

// Of returns the count of a kind.
func (c FaultCounts) Of(k FaultKind) uint64 { return c[k] }

// Total returns the sum of all kinds.
func (c FaultCounts) Total() (n uint64) {
	for _, of := range c {
		n += of
	}
	return n
}

func (c FaultCounts) String() string {
	s := ""
	for k, n := range c {
		if n > 0 {
			s += fmt.Sprintf(", %d %s", n, FaultKind(k))
		}
	}
	if s == "" {
		return "none"
	}
	return s[2:]
}
