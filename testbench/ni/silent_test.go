package ni_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

// TestFallingEdgesAreLeftOut: logic between an input and the clock, which would make every simulation take twice as long, is easily
// written by mistake.
func TestFallingEdgesAreLeftOut(t *testing.T) {
	for name, p := range map[string]rtl.Params{"direct": {}, "serial": {LinkPHY: rtl.Serial}, "UART": {HostPHY: rtl.UART, LinkPHY: rtl.UART}} {
		t.Run(name, func(t *testing.T) {
			lib := check.Must(verilator.Build(t.Context(), ni.Design(p)))(t)
			if clock := lib.SilentClock(); clock != "clk" {
				t.Errorf("clock whose falling edges are not evaluated: %q, want clk", clock)
			}
		})
	}
}
