package synth

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

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

// measured has a cache of its own, so that the tools do run.
func measured(t *testing.T, d verilator.Design, seeds ...int) *Report {
	t.Helper()
	r, err := Measure(t.Context(), d, HX8K, seeds...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A path through the whole design is seen although it begins and ends at pins, and cutting it makes the clock faster.
func TestMeasure(t *testing.T) {
	t.Setenv("LMMC_CACHE", t.TempDir())
	one := measured(t, design(map[string]string{"WIDTH": "48"}), 1, 2, 3)
	two := measured(t, design(map[string]string{"WIDTH": "48", "TWO": "1"}), 1, 2, 3)
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
	first := measured(t, design(nil), 1)
	real, err := exec.LookPath("nextpnr-ice40")
	if err != nil {
		t.Fatal(err)
	}
	bin, tools := t.TempDir(), os.Getenv("PATH")
	script := "#!/bin/sh\n[ \"$1\" = --version ] && exec " + real + " --version\nexit 1\n"
	if err := os.WriteFile(filepath.Join(bin, "nextpnr-ice40"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+tools)
	if diff := cmp.Diff(first, measured(t, design(nil), 1)); diff != "" {
		t.Errorf("kept otherwise than found:\n%s", diff)
	}
	t.Setenv("PATH", tools)
	changed := design(nil)
	changed.FS.(fstest.MapFS)["stages.vh"].Data = []byte("// something\n")
	if again := measured(t, changed, 1); again.Median() != first.Median() {
		t.Errorf("another include file: %.2f MHz, was %.2f MHz", again.Median(), first.Median())
	}
	if wider := measured(t, design(map[string]string{"WIDTH": "9"}), 1); wider.LUTs() <= first.LUTs() {
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
		if _, err := Measure(t.Context(), c.d, HX8K, 1); !errors.Is(err, ErrDesign) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want something about %q", err, c.says)
		}
	}
	if _, err := Measure(t.Context(), design(nil), HX8K); !errors.Is(err, ErrDesign) {
		t.Errorf("no seed: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Measure(ctx, design(nil), HX8K, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Measure(t.Context(), design(nil), HX8K, 1); !errors.Is(err, verilator.ErrTool) || !strings.Contains(err.Error(), "apt install") {
		t.Errorf("without tools: %v", err)
	}
}
