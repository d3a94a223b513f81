package verilator_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

// late has a delayed assign, a register with a delay after the bench's clock, a memory that answers after 7.5 ns, a transmission that waits for events, a clock that
// it makes itself once asked to, and ends of all kinds.
const late = "`timescale 1ns/100ps\n" + `module late (input clk, input [7:0] a, output [7:0] b, output reg [7:0] q, input strobe, input [3:0] at, output reg [7:0] read, output reg done,
  input [2:0] how, input go, output reg own, output reg [7:0] beats, output reg [3:0] sent);
  assign #3 b = a;
  always @(posedge clk) q <= #2 a;

  reg [7:0] memory [0:15];
  integer i;
  initial for (i = 0; i < 16; i = i + 1) memory[i] = 8'd100 + i;
  initial done = 0;
  always @(posedge strobe) begin
    done = 0;
    #7.5 read = memory[at];
    done = 1;
  end

  event word;
  reg [7:0] nothing [0:1];
  initial begin own = 0; wait (go); forever #4 own = ~own; end
  initial beats = 0;
  always @(posedge own) begin beats <= beats + 1; -> word; end
  initial begin
    sent = 0;
    repeat (3) begin @(word); fork #1 sent = sent + 1; #2 sent = sent + 2; join end
  end

  always @(how) begin
    #1;
    case (how)
      1: $finish;
      2: $stop;
      3: $error("how is %0d", how);
      4: $readmemh("testdata/counter.v", nothing);
    endcase
  end
endmodule
`

func lateDesign() verilator.Design {
	d := inline("late", late)
	d.Timing, d.Public = true, []string{"memory", "i"}
	return d
}

// at runs a model to a time and compares signals, given as name and value.
func at(t *testing.T, m *verilator.Model, time uint64, want ...any) {
	t.Helper()
	check.Fatal(t, m.RunTo(time))
	check.Equal(t, "time", m.Time(), time)
	for i := 0; i < len(want); i += 2 {
		check.Equal(t, fmt.Sprintf("%s at %d", want[i], time), must(m.Peek(want[i].(string))), uint64(want[i+1].(int)))
	}
}

func poke(t *testing.T, m *verilator.Model, name string, v uint64) {
	t.Helper()
	check.Fatal(t, m.Poke(name, v))
}

func TestDelays(t *testing.T) {
	lib := build(t, lateDesign())
	tick := must(lib.Ticks("100ps"))
	check.Equal(t, "ticks", []uint64{tick, must(lib.Ticks("10ns")), must(lib.Ticks("2.5 us"))}, []uint64{1, 100, 25000})
	for _, c := range []struct{ text, want string }{{"1ps", "counts time in 1e-10 s, so that it is 0.010"}, {"10", "want a number and"}, {"9000s", ""}, {"9999999999s", "so that it is"}} {
		if _, err := lib.Ticks(c.text); c.want != "" || err != nil {
			check.Fails(t, c.text, err, nil, c.want)
		}
	}

	t.Run("without a clock", func(t *testing.T) {
		m := start(t, lib, verilator.Config{})
		at(t, m, 5)
		poke(t, m, "a", 4) // Verilator 5.048 leaves b as it is until a first changes
		at(t, m, 35, "b", 4)
		poke(t, m, "a", 7)
		at(t, m, 64, "b", 4)
		at(t, m, 65, "b", 7)
		poke(t, m, "at", 9)
		poke(t, m, "strobe", 1)
		at(t, m, 139, "done", 0)
		at(t, m, 140, "done", 1, "read", 109)
		at(t, m, 10_000)
	})

	t.Run("between a bench's edges", func(t *testing.T) {
		m := start(t, lib, verilator.Config{Seed: 2})
		must(m.Clock("clk", 70, 0))
		poke(t, m, "a", 5)
		check.Fatal(t, m.Run(1)) // to the edge at 70
		check.Equal(t, "time", m.Time(), 70)
		poke(t, m, "a", 6)
		at(t, m, 89, "b", 5)
		at(t, m, 90, "q", 5)
		at(t, m, 100, "b", 6)
		stop := must(m.RunUntil(10, verilator.Equal("q", 6)))
		check.Equal(t, "edge after which q has come", []uint64{stop.Ran, m.Time()}, []uint64{2, 210})
	})

	t.Run("a clock of its own", func(t *testing.T) {
		m := start(t, lib, verilator.Config{})
		at(t, m, 100, "beats", 0)
		poke(t, m, "go", 1)
		at(t, m, 139, "own", 0)
		at(t, m, 140, "own", 1)
		check.Fatal(t, m.RunTo(141))
		at(t, m, 149, "beats", 1, "sent", 0)
		at(t, m, 150, "sent", 1)
		at(t, m, 160, "sent", 3)
		at(t, m, 140+80*9, "beats", 10, "sent", 9)
		at(t, m, 140+80*199, "beats", 200)
	})

	t.Run("set inside", func(t *testing.T) {
		m := start(t, lib, verilator.Config{})
		poke(t, m, "memory[3]", 42)
		poke(t, m, "at", 3)
		poke(t, m, "strobe", 1)
		at(t, m, 75, "read", 42)
	})

	for how, kind := range []error{1: verilator.ErrFinish, 2: verilator.ErrStop, 3: verilator.ErrAssert, 4: verilator.ErrFatal} {
		if kind == nil {
			continue
		}
		t.Run(kind.Error(), func(t *testing.T) {
			m := start(t, lib, verilator.Config{})
			at(t, m, 20)
			poke(t, m, "how", uint64(how))
			err := m.RunTo(100)
			check.Fails(t, "run", err, kind, "at time 30")
			if how < 4 {
				check.Fatal(t, m.RunTo(100))
			} else {
				check.Fails(t, "again", m.RunTo(100), verilator.ErrFatal)
			}
		})
	}
}

// TestVerilogTestbench runs a testbench as others write them: a clock of its own, a task that waits, and $finish.
func TestVerilogTestbench(t *testing.T) {
	d := inline("tb", "`timescale 1ns/1ns\n"+`module tb;
  reg clk = 0, rst = 1, en = 0;
  reg [7:0] n;
  wire never = 0;
  initial if (!$test$plusargs("dead")) forever #5 clk = ~clk;
  always @(posedge clk) if (rst) n <= 0; else if (en) n <= n + 1;
  task count(input integer cycles);
    begin en = 1; repeat (cycles) @(posedge clk); #1 en = 0; end
  endtask
  initial begin
    if ($test$plusargs("dead")) begin #30; wait (never); end
    repeat (2) @(negedge clk);
    rst = 0;
    count(10);
    if (!$test$plusargs("wait") && n !== 10) $error("n is %0d", n);
    if ($test$plusargs("wait")) begin wait (n == 200); end
    if ($test$plusargs("fail")) $fatal(1, "told to");
    $display("%0t: n %0d", $time, n);
    $finish;
  end
endmodule
`)
	d.Timing, d.Trace = true, true
	lib := build(t, d)
	var out strings.Builder
	m := start(t, lib, verilator.Config{Output: &out})
	wave := filepath.Join(t.TempDir(), "tb.fst")
	check.Fatal(t, errors.Join(m.Trace(wave), m.RunToFinish(10_000), m.StopTrace()))
	check.Equal(t, "printed", out.String(), "116: n 10\n")
	if info, err := os.Stat(wave); err != nil || info.Size() < 300 {
		t.Errorf("wave: %v, %v", info, err)
	}
	for _, c := range []struct {
		arg  string
		kind error
		want string
	}{
		{"+dead", verilator.ErrEndless, "nothing happens after time 30"},
		{"+wait", verilator.ErrEndless, "it still runs at time 5000, the limit"},
		{"+fail", verilator.ErrAssert, "at time 116 (tb.sv:18): Assertion failed in tb.tb: told to"},
	} {
		check.Fails(t, c.arg, start(t, lib, verilator.Config{PlusArgs: []string{c.arg}, Output: &out}).RunToFinish(5000), c.kind, c.want)
	}
}

func TestTimingIsRefused(t *testing.T) {
	d := lateDesign()
	d.Checkpoint = true
	check.Fails(t, "checkpoint", check.Err(verilator.Build(t.Context(), d)), nil, "Timing or Checkpoint, not both")
	d = lateDesign()
	d.Flags = []string{"--no-timing"}
	check.Fails(t, "both", check.Err(verilator.Build(t.Context(), d)), nil, "choose one")
	m := start(t, build(t, echo), verilator.Config{})
	for _, err := range []error{m.RunToFinish(1), check.Err(m.Library().Ticks("1ns"))} {
		if !errors.Is(err, verilator.ErrNotBuilt) {
			t.Error(err)
		}
	}
	check.Fails(t, "no clock", m.RunTo(10), nil, "declare one")
}
