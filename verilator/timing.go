package verilator

// #include "runtime/call.h"
import "C"

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
)

// ErrEndless is what Model.RunToFinish returns for a design that does not call $finish.
var ErrEndless = errors.New("verilator: no $finish")

// RunToFinish runs a design with Design.Timing, such as a testbench in Verilog with clocks of its own, until it calls $finish, at most to a time, and returns nil
// then. ErrEndless says that it has not, and why. $stop, $error, $fatal and failed assertions are a HaltError.
func (m *Model) RunToFinish(limit uint64) error {
	if !m.lib.design.Timing {
		return fmt.Errorf("%w: Model.RunToFinish needs Design.Timing (%s)", ErrNotBuilt, m.lib.design.Top)
	}
	err := m.runTo(limit, false)
	switch {
	case errors.Is(err, ErrFinish):
		return nil
	case err != nil:
		return err
	}
	if C.lm_next_event(m.lib.engine, m.c) == math.MaxUint64 {
		return fmt.Errorf("%w: model %s: nothing happens after time %d: what has not ended waits for an event or input that does not come", ErrEndless, m.name, m.Time())
	}
	return fmt.Errorf("%w: model %s: it still runs at time %d, the limit", ErrEndless, m.name, limit)
}

// Ticks converts a time, such as "10ns" or "2.5 us", to the unit in which a design with Design.Timing counts it. It is an error if that is no whole number.
func (l *Library) Ticks(time string) (uint64, error) {
	m := timeText.FindStringSubmatch(time)
	if m == nil {
		return 0, fmt.Errorf("verilator: time %q: want a number and s, ms, us, ns, ps or fs, as in \"10ns\"", time)
	}
	if !l.design.Timing {
		return 0, fmt.Errorf("%w: Library.Ticks needs Design.Timing (%s)", ErrNotBuilt, l.design.Top)
	}
	ticks, _ := new(big.Rat).SetString(m[1] + "e" + strconv.Itoa(prefixes[m[2]]-l.precision))
	if !ticks.IsInt() || !ticks.Num().IsUint64() {
		return 0, fmt.Errorf("verilator: time %s: design %s counts time in 1e%d s, so that it is %s", time, l.design.Top, l.precision, ticks.FloatString(3))
	}
	return ticks.Num().Uint64(), nil
}

var (
	timeText      = regexp.MustCompile(`^(\d+(?:\.\d+)?) ?([munpf]?s)$`)
	precisionText = regexp.MustCompile(`timeprecision\((-?\d+)\)`)
	prefixes      = map[string]int{"s": 0, "ms": -3, "us": -6, "ns": -9, "ps": -12, "fs": -15}
)

// findPrecision reads the power of ten of a second that a design with delays counts time in from what Verilator generated; without a `timescale it is a picosecond.
func findPrecision(code string) int {
	if m := precisionText.FindStringSubmatch(code); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return -12
}
