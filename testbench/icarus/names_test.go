package icarus_test

import (
	"os"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/icarus"
	"github.com/stafflink/lmmc/verilator"
)

// A design may print, read files beside it, and have ports of any names.
func TestDesignsThatPrintAndRead(t *testing.T) {
	t.Chdir(t.TempDir())
	const text = `module look (input wire c, input wire [1:0] i, output reg [7:0] stimuli, output wire dut, output wire clk);
	reg [7:0] table_of [0:3];
	initial $readmemh("table.hex", table_of);
	initial $display("table read");
	always @(posedge c) stimuli <= table_of[i];
	assign dut = i[0], clk = i[1];
endmodule
`
	check.Fatal(t, os.WriteFile("look.v", []byte(text), 0o666))
	check.Fatal(t, os.WriteFile("table.hex", []byte("12 34 56 78\n"), 0o666))
	d := verilator.Design{Top: "look", Sources: []string{"look.v"}}
	lib := check.Must(verilator.Build(t.Context(), d))(t)
	m := check.Must(lib.New(verilator.Config{Output: t.Output()}))(t)
	defer m.Close()
	check.Must(m.Clock("c", 2, 0))(t)
	r := check.Must(icarus.Record(m, lib, "c"))(t)
	for i := range uint64(12) {
		check.Fatal(t, m.Poke("i", i&3))
		check.Fatal(t, r.Run(1))
	}
	got, err := r.Compare(t.Context(), d, 0)
	check.Fatal(t, err)
	check.Equal(t, "result", got, icarus.Result{Cycles: 12})
}
