package testbench

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FaultPlan is what happens to a link, ordered by Fault.At. It prints as text that ParseFaultPlan reads, so a plan that
// makes a test fail can be kept, and made smaller by hand.
type FaultPlan []Fault

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

func byTime(a, b Fault) int { return cmp.Compare(a.At, b.At) }

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
