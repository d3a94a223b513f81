package testbench

import (
	"bufio"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// FaultPlan is what happens to a link, ordered by Fault.At. It prints as text that ParseFaultPlan reads, so a plan that
// makes a test fail can be kept, and made smaller by hand.
type FaultPlan []Fault

// FaultRates says what GenerateFaults makes. Rates are per symbol, 0 to 1; the zero value makes nothing.
type FaultRates struct {
	// Symbols is how many symbols the plan is for.
	Symbols uint64
	// Width is how many bits a symbol has; 0 means 9.
	Width int
	// BitError is the probability that a bit is flipped (per bit, not per symbol).
	BitError float64
	// Drop, Duplicate, Burst, Stuck and Unplug are the probabilities that such a fault begins at a symbol.
	Drop, Duplicate, Burst, Stuck, Unplug float64
	// BurstLength, StuckLength and UnplugLength are the most symbols that one lasts; 0 means 16, 64 and 1000.
	BurstLength, StuckLength, UnplugLength int
	// Open is what an unplugged link reads as.
	Open uint64
}

// GenerateFaults draws a plan.
func GenerateFaults(r *Rand, rates FaultRates) FaultPlan {
	width := rates.Width
	if width == 0 {
		width = 9
	}
	var plan FaultPlan
	bits := r.Split("flip")
	for bit := range arrivals(bits, rates.BitError, rates.Symbols*uint64(width)) {
		plan = append(plan, Fault{At: bit / uint64(width), Kind: FaultFlip, Count: 1, Value: 1 << (bit % uint64(width))})
	}
	for _, kind := range []struct {
		kind   FaultKind
		rate   float64
		length int
		normal int
		value  func(r *Rand) uint64
	}{
		{FaultDrop, rates.Drop, 1, 1, nil},
		{FaultDuplicate, rates.Duplicate, 1, 1, nil},
		{FaultBurst, rates.Burst, rates.BurstLength, 16, func(r *Rand) uint64 { return uint64(r.Uint32()) }},
		{FaultStuck, rates.Stuck, rates.StuckLength, 64, func(r *Rand) uint64 { return r.Uint64() & (1<<width - 1) }},
		{FaultUnplug, rates.Unplug, rates.UnplugLength, 1000, func(*Rand) uint64 { return rates.Open }},
	} {
		most := kind.length
		if most == 0 {
			most = kind.normal
		}
		stream := r.Split(kind.kind.String())
		for at := range arrivals(stream, kind.rate, rates.Symbols) {
			f := Fault{At: at, Kind: kind.kind, Count: uint64(stream.Between(1, most))}
			if kind.value != nil {
				f.Value = kind.value(stream)
			}
			plan = append(plan, f)
		}
	}
	slices.SortStableFunc(plan, byTime)
	return plan
}

func byTime(a, b Fault) int {
	switch {
	case a.At < b.At:
		return -1
	case a.At > b.At:
		return 1
	}
	return 0
}

// arrivals draws which of n trials of probability rate succeed, at the cost of the successes alone.
func arrivals(r *Rand, rate float64, n uint64) func(yield func(uint64) bool) {
	return func(yield func(uint64) bool) {
		if rate <= 0 {
			return
		}
		for at := uint64(0); ; at++ {
			if rate < 1 {
				gap := math.Floor(math.Log(1-r.Float64()) / math.Log1p(-rate))
				if gap >= float64(n-at) {
					return
				}
				at += uint64(gap)
			}
			if at >= n || !yield(at) {
				return
			}
		}
	}
}

// String prints a fault a line, like "@120 flip 0x4", "@300 drop x3" or "@900 burst 0x1234 x12".
func (p FaultPlan) String() string {
	var s strings.Builder
	for _, f := range p {
		fmt.Fprintf(&s, "@%d %s", f.At, f.Kind)
		if f.Kind.hasValue() {
			fmt.Fprintf(&s, " %#x", f.Value)
		}
		if f.count() != 1 {
			fmt.Fprintf(&s, " x%d", f.Count)
		}
		s.WriteByte('\n')
	}
	return s.String()
}

// ParseFaultPlan reads what FaultPlan.String prints. Empty lines and what follows a # are left out; the order of lines
// does not matter.
func ParseFaultPlan(text string) (FaultPlan, error) {
	var plan FaultPlan
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		f, err := parseFault(fields)
		if err != nil {
			return nil, fmt.Errorf("testbench: fault plan, line %d: %w", n, err)
		}
		plan = append(plan, f)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("testbench: fault plan: %w", err)
	}
	slices.SortStableFunc(plan, byTime)
	return plan, nil
}

func parseFault(fields []string) (f Fault, err error) {
	if len(fields) < 2 || fields[0][0] != '@' {
		return f, fmt.Errorf("want @symbol kind [value] [xcount], not %q", strings.Join(fields, " "))
	}
	if f.At, err = strconv.ParseUint(fields[0][1:], 0, 64); err != nil {
		return f, fmt.Errorf("%q is not @symbol", fields[0])
	}
	kind := slices.Index(faultNames[:], fields[1])
	if kind < 0 {
		return f, fmt.Errorf("no fault %q; there are %s", fields[1], strings.Join(faultNames[:], ", "))
	}
	f.Kind, f.Count = FaultKind(kind), 1
	rest := fields[2:]
	if f.Kind.hasValue() {
		if len(rest) == 0 {
			return f, fmt.Errorf("%s needs a value", f.Kind)
		}
		if f.Value, err = strconv.ParseUint(rest[0], 0, 64); err != nil {
			return f, fmt.Errorf("%q is not a value", rest[0])
		}
		rest = rest[1:]
	}
	if len(rest) > 0 && strings.HasPrefix(rest[0], "x") {
		if f.Count, err = strconv.ParseUint(rest[0][1:], 10, 64); err != nil || f.Count == 0 {
			return f, fmt.Errorf("%q is not xcount", rest[0])
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		return f, fmt.Errorf("%q is too much", rest[0])
	}
	return f, nil
}

// Hits returns how many of the first n symbols the faults of each kind hit.
func (p FaultPlan) Hits(n uint64) FaultCounts {
	var counts FaultCounts
	for _, f := range p {
		if f.At < n {
			counts[f.Kind] += min(f.count(), n-f.At)
		}
	}
	return counts
}
