package verilator_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

// otherVariable names a folder with another verilator.
const otherVariable = "LMMC_VERILATOR"

// TestOtherVerilator compares the verilator in PATH with another: ports, hierarchy and a run have to be the same, whatever format they are read from.
func TestOtherVerilator(t *testing.T) {
	dir := os.Getenv(otherVariable)
	if dir == "" {
		t.Skip(otherVariable + " names no folder with another verilator")
	}
	look := func() string {
		var text strings.Builder
		shape := check.Must(verilator.Describe(t.Context(), shaped(`module m #(parameter signed [3:0] K = -1) (input signed [4:0] a, input [3:0] few [0:2], output [99:0] rows [0:1][2:5],
			output real r); assign rows[1][2] = 100'(a) + 100'(K) + 100'(few[0]); assign r = 1.0; endmodule`)))(t)
		fmt.Fprintln(&text, shape.Signed, shape.Params)
		for _, p := range shape.Ports {
			fmt.Fprintln(&text, p, p.Dims)
		}
		lib := build(t, deep())
		for _, s := range lib.Scopes() {
			fmt.Fprintln(&text, s.Path, s.Module, s.Names)
		}
		for _, p := range lib.Signals() {
			fmt.Fprintln(&text, p, p.Dims, p.First, p.Follows)
		}
		m := start(t, lib, verilator.Config{Seed: 1})
		must(m.Clock("clk", 10, 0))
		for i := range uint64(20) {
			check.Fatal(t, errors.Join(m.Poke("d", i*7%256), m.Run(3)))
			if i < 4 { // initial random values differ between versions, and stay in u_leaf.wide for a while
				continue
			}
			fmt.Fprintln(&text, must(m.Peek("u_first.held")), must(m.Peek("u_first.sum")), must(m.Peek("g_row[1].u_leaf.wide[23:0]")))
		}
		return text.String()
	}
	tools, seen := must(verilator.Tools(t.Context())), look()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	other := must(verilator.Tools(t.Context()))
	if other == tools {
		t.Fatalf("%s=%s: no other verilator than that in PATH is in there", otherVariable, dir)
	}
	check.Equal(t, other, look(), seen)
}

// buildForceable skips the test where Verilator is too new for Design.Forceable.
func buildForceable(t *testing.T, d verilator.Design) *verilator.Library {
	t.Helper()
	lib, err := verilator.Build(t.Context(), d)
	if errors.Is(err, verilator.ErrTool) && strings.Contains(err.Error(), "Design.Forceable needs") {
		t.Skip(err)
	}
	check.Fatal(t, err)
	return lib
}
