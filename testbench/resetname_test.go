package testbench_test

import (
	"testing"
	"testing/fstest"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// Resets that act at 0 are known by their names, with what stands for an input behind, and without.
func TestResetsThatActAtZero(t *testing.T) {
	for _, name := range []string{"rst_n", "rstn_i", "rst_n_i", "aresetn_i", "sys_nrst"} {
		text := "module r (input clk, input " + name + ", output reg [3:0] count);\n  always @(posedge clk) count <= " + name + " ? count + 4'd1 : 4'd0;\nendmodule\n"
		b := quiet(t, verilator.Design{Top: "r", Sources: []string{"r.v"}, FS: fstest.MapFS{"r.v": {Data: []byte(text)}}}, testbench.Config{})
		check.Fatal(t, b.Reset(name, 2))
		check.Fatal(t, b.Step(5))
		check.Equal(t, name, check.Must(b.Model().Peek("count"))(t), 5)
	}
}
