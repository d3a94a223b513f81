package testbench_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// TestBenchOfADesignWithDelays lets tasks wait for edges of the bench's clock and for times between them, on a design with a delayed assign and an answer that takes 23 ns.
func TestBenchOfADesignWithDelays(t *testing.T) {
	d := verilator.Design{Top: "late", Timing: true, Sources: []string{"late.v"}, FS: fstest.MapFS{"late.v": {Data: []byte("`timescale 1ns/100ps\n" + `
module late (input clk, input [7:0] a, output [7:0] b, input ask, output reg answer, input finish);
  assign #3 b = a;
  initial answer = 0;
  always @(posedge clk) if (ask && !answer) begin #23 answer = 1; @(negedge ask); answer = 0; end
  always @(posedge finish) #1 $finish;
endmodule
`)}}}
	t.Setenv("LMMC_WAVES", t.TempDir())
	b := check.Must(testbench.Open(t.Context(), d, testbench.Config{PeriodTime: "10ns", Wave: testbench.WaveAlways}))(t)
	var p struct {
		A, B                *uint8 `port:"*"`
		Ask, Answer, Finish *bool  `port:"*"`
	}
	check.Fatal(t, b.Bind(&p))
	ns := check.Must(b.Model().Library().Ticks("1ns"))(t)
	b.Go("assign", func(c *testbench.Task) {
		for v := range uint8(20) {
			c.Cycles(1)
			*p.A = v + 1
			c.Time(3*ns - 1)
			if v > 0 {
				check.Equal(t, "b before", *p.B, v)
			}
			c.Time(1)
			check.Equal(t, "b after", *p.B, v+1)
		}
	})
	b.Go("ask", func(c *testbench.Task) {
		for range 3 {
			*p.Ask = true
			asked := b.Time()
			c.Until(func() bool { return *p.Answer }, 10)
			check.Equal(t, "cycles from question to answer", (b.Time()-asked)/(10*ns), 4) // taken at the next edge, 23 ns, seen at an edge
			*p.Ask = false
			c.Until(func() bool { return !*p.Answer }, 2)
		}
	})
	check.Fatal(t, b.Run(100))
	*p.Finish = true
	check.Fails(t, "end", b.Step(1), verilator.ErrFinish, "at time")
	check.Fatal(t, b.Close())
	check.Equal(t, "waves", len(b.Waves()), 1)
	if data := check.Must(os.ReadFile(b.Waves()[0]))(t); len(data) < 500 || !strings.HasSuffix(b.Waves()[0], ".fst") {
		t.Errorf("%s has %d bytes", b.Waves()[0], len(data))
	}
}
