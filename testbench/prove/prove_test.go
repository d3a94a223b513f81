package prove_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/testbench/prove"
)

const counter = `module counter #(parameter STEP = 1) (input clk, input rst);
  reg [3:0] n = 0;
  always @(posedge clk) if (rst || n == 8) n <= 0; else n <= n + STEP;
  always @* assert (n <= 8);
endmodule
`

func TestCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "counter.v")
	if err := os.WriteFile(file, []byte(counter), 0o644); err != nil {
		t.Fatal(err)
	}
	prove.Run(t, prove.Proof{Files: []string{file}, Top: "counter", Depth: 3})

	for _, mode := range []prove.Mode{prove.Induction, prove.Bounded} {
		dir := t.TempDir()
		err := prove.Check(t.Context(), dir, prove.Proof{
			Files: []string{file}, Top: "counter", Params: map[string]string{"STEP": "3"}, Mode: mode, Depth: 10,
		})
		if !errors.Is(err, prove.ErrRefuted) {
			t.Fatalf("mode %v: got %v, want a refutation", mode, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "reset.vcd")); err != nil {
			t.Errorf("mode %v: no counterexample: %v", mode, err)
		}
	}
}

// A module without assertions proves nothing.
func TestCheckNothingToProve(t *testing.T) {
	file := filepath.Join(t.TempDir(), "empty.v")
	if err := os.WriteFile(file, []byte("module empty(input clk); endmodule\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := prove.Check(t.Context(), t.TempDir(), prove.Proof{Files: []string{file}, Top: "empty", Depth: 3}); err == nil {
		t.Fatal("a module without assertions was proved")
	}
}
