package verilator

import (
	"testing"
	"testing/fstest"

	"github.com/stafflink/lmmc/internal/check"
)

// TestSilentClock holds the reading of generated code to designs that do wait for something else than one rising edge.
func TestSilentClock(t *testing.T) {
	for _, c := range []struct {
		name, verilog string
		silent        bool
	}{
		{"rising", "always @(posedge clk) q <= d;", true},
		{"two blocks", "reg r; always @(posedge clk) r <= d; always @(posedge clk) q <= r;", true},
		{"falling", "always @(negedge clk) q <= d;", false},
		{"both", "reg r; always @(posedge clk) r <= d; always @(negedge clk) q <= r;", false},
		{"combinational", "always @* q = d;", false},
		{"through", "reg r; always @(posedge clk) r <= d; always @* q = r & d;", true},
		{"clock as data", "reg r; always @(posedge clk) r <= d; always @* q = r & clk;", false},
		{"clock with an input", "reg r; always @(posedge clk) r <= d; always @* q = r ^ (d & clk);", false},
		{"asynchronous reset", "always @(posedge clk, posedge d) if (d) q <= 0; else q <= 1;", false},
		{"latch", "always @* if (clk) q = d;", false},
		{"gated", "wire g = clk & d; always @(posedge g) q <= ~q;", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			lib := check.Must(Build(t.Context(), Design{Top: "dut", Sources: []string{"dut.v"},
				FS: fstest.MapFS{"dut.v": {Data: []byte("module dut(input clk, input d, output reg q);\n" + c.verilog + "\nendmodule\n")}}}))(t)
			check.Equal(t, "evaluation at falling edges left out", lib.SilentClock() == "clk", c.silent)
		})
	}
}
