package testbench

import (
	"strings"

	"github.com/stafflink/lmmc/internal/resets"
)

// resetPort returns the port that a reset is named by, and the level at which it acts.
func resetPort(reset string) (port string, active uint64) {
	port, inverted := strings.CutPrefix(reset, "!")
	return port, truth(!inverted && !resets.Low(port))
}

// Reset holds a one-bit input at the level at which it acts for some cycles of the main clock, and then lets it go. Coroutines run
// meanwhile. The level is 0 for names such as rst_n, rst_ni, resetn and nreset, and for "!port" whatever the name; otherwise it is 1.
func (b *Bench) Reset(port string, cycles uint64) error {
	b.mark.Helper()
	port, active := resetPort(port)
	if err := b.model.Poke(port, active); err != nil {
		return b.check(err)
	}
	if err := b.Step(cycles); err != nil {
		return err
	}
	if err := b.model.Poke(port, 1-active); err != nil {
		return b.check(err)
	}
	return b.check(b.startCoverage())
}
