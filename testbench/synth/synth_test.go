package synth

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

// adder is WIDTH bits of sum, in one stage or two.
const adder = "`include \"stages.vh\"\n" + `
module adder #(parameter WIDTH = 8, parameter TWO = 0) (
    input wire clk, input wire [WIDTH-1:0] a, input wire [WIDTH-1:0] b, output wire [WIDTH-1:0] sum
);
    localparam LOW = WIDTH / 2;
    generate
        if (TWO) begin : two
            reg [LOW:0] low;
            reg [WIDTH-1:0] a_q, b_q, s;
            always @(posedge clk) begin
                low <= a[LOW-1:0] + b[LOW-1:0];
                {a_q, b_q} <= {a, b};
                s <= {a_q[WIDTH-1:LOW] + b_q[WIDTH-1:LOW] + low[LOW], low[LOW-1:0]};
            end
            assign sum = s;
        end else assign sum = a + b;
    endgenerate
endmodule
`

func design(params map[string]string) verilator.Design {
	return verilator.Design{Top: "adder", Sources: []string{"adder.v"}, IncludeDirs: []string{"."}, Params: params,
		FS: fstest.MapFS{"adder.v": {Data: []byte(adder)}, "stages.vh": {Data: []byte("// nothing\n")}}}
}

// report has a cache of its own, so that the tools do run.
func report(t *testing.T, d verilator.Design, seeds ...int) *Report {
	t.Helper()
	return check.Must(Measure(t.Context(), d, HX8K, seeds...))(t)
}

// A path through the whole design is seen although it begins and ends at pins, and cutting it makes the clock faster.
func TestMeasure(t *testing.T) {
	t.Setenv("LMMC_CACHE", t.TempDir())
	one := report(t, design(map[string]string{"WIDTH": "48"}), 1, 2, 3)
	two := report(t, design(map[string]string{"WIDTH": "48", "TWO": "1"}), 1, 2, 3)
	if one.Median() > 0.9*two.Median() {
		t.Errorf("a sum of 48 bits in one stage %.0f MHz, in two %.0f MHz", one.Median(), two.Median())
	}
	if one.LUTs() < 47 || one.Cells["SB_CARRY"] < 46 || one.Logic.Used < 96 || one.Logic.Of != 7680 || one.Memories != (Use{0, 32}) {
		t.Errorf("%d LUTs, %+v", one.LUTs(), one)
	}
	low, high := one.Range()
	if len(one.Runs) != 3 || one.Runs[1].Seed != 2 || low > one.Median() || high < one.Median() || low <= 0 {
		t.Errorf("%+v", one.Runs)
	}
	sum := 0.0
	for _, hop := range one.Runs[0].Critical {
		sum += hop.Nanoseconds
	}
	if period := 1000 / one.Runs[0].MHz; sum < 0.99*period || sum > 1.01*period {
		t.Errorf("the critical path takes %.2f ns, the clock %.2f ns", sum, period)
	}
}

// A second time the tools need not run, unless something has changed.
func TestMeasureCache(t *testing.T) {
	t.Setenv("LMMC_CACHE", t.TempDir())
	first := report(t, design(nil), 1)
	path, _ := filepath.Glob(filepath.Join(os.Getenv("LMMC_CACHE"), "synth", "*", "*.json"))
	if len(path) != 1 {
		t.Fatalf("kept in %q", path)
	}
	check.Fatal(t, os.WriteFile(path[0], []byte(`{"runs":[{"seed":1,"mhz":7}]}`), 0o644))
	check.Equal(t, "MHz from the cache", report(t, design(nil), 1).Median(), 7)
	changed := design(nil)
	changed.FS.(fstest.MapFS)["stages.vh"].Data = []byte("// something\n")
	check.Equal(t, "MHz with another include file", report(t, changed, 1).Median(), first.Median())
	if wider := report(t, design(map[string]string{"WIDTH": "9"}), 1); wider.LUTs() <= first.LUTs() {
		t.Errorf("nine bits take %d LUTs, eight %d", wider.LUTs(), first.LUTs())
	}
}

// Errors say which tool says what.
func TestMeasureErrors(t *testing.T) {
	t.Setenv("LMMC_CACHE", t.TempDir())
	broken := design(nil)
	broken.FS.(fstest.MapFS)["adder.v"].Data = []byte("module adder (input wire clk); wire x = ; endmodule\n")
	noClock := design(nil)
	noClock.FS.(fstest.MapFS)["adder.v"].Data = []byte("module adder (input wire c, output wire d); assign d = c; endmodule\n")
	missing := design(nil)
	missing.Top = "subtractor"
	for _, c := range []struct {
		d    verilator.Design
		says string
	}{{broken, "adder.v:1"}, {noClock, "no input clk"}, {missing, "subtractor"}} {
		check.Fails(t, "measuring", check.Err(Measure(t.Context(), c.d, HX8K, 1)), ErrDesign, c.says)
	}
	check.Fails(t, "without a seed", check.Err(Measure(t.Context(), design(nil), HX8K)), ErrDesign)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Fails(t, "cancelled", check.Err(Measure(ctx, design(nil), HX8K, 1)), context.Canceled)
	t.Setenv("PATH", t.TempDir())
	check.Fails(t, "without tools", check.Err(Measure(t.Context(), design(nil), HX8K, 1)), verilator.ErrTool, "apt install")
}

// TestCountECP5: a sum of 48 bits takes carry cells on an ECP5, and in two stages flip-flops; a memory of 2 KB takes a block.
func TestCountECP5(t *testing.T) {
	wide := map[string]string{"WIDTH": "48"}
	one := check.Must(CountECP5(t.Context(), design(wide)))(t)
	wide["TWO"] = "1"
	two := check.Must(CountECP5(t.Context(), design(wide)))(t)
	if one["CCU2C"] < 24 || one["TRELLIS_FF"] != 0 || two["TRELLIS_FF"] < 48+24 {
		t.Errorf("%v in one stage, %v in two", one, two)
	}
	memory := design(nil)
	memory.FS.(fstest.MapFS)["adder.v"].Data = []byte("module adder (input wire clk, input wire w, input wire [10:0] a, input wire [7:0] d, output reg [7:0] q);" +
		" reg [7:0] m [0:2047]; always @(posedge clk) begin if (w) m[a] <= d; q <= m[a]; end endmodule\n")
	check.Equal(t, "block memories", check.Must(CountECP5(t.Context(), memory))(t)["DP16KD"], 1)
	memory.Top = "subtractor"
	check.Fails(t, "a top module that there is not", check.Err(CountECP5(t.Context(), memory)), ErrDesign, "subtractor")
}
