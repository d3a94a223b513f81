package icarus_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/icarus"
	"github.com/stafflink/lmmc/verilator"
)

const counter = "module counter(input wire clk, input wire rst, input wire [3:0] step, output reg [7:0] count);\n" +
	"always @(posedge clk) count <= rst ? 8'd0 : count + STEP;\nendmodule\n"

// record runs the counter with steps 0, 1, 2, … after two clocks of reset.
func record(t *testing.T, text string) (*icarus.Recorder, verilator.Design) {
	t.Helper()
	d := verilator.Design{Top: "counter", Sources: []string{"counter.v"}, FS: fstest.MapFS{"counter.v": {Data: []byte(text)}},
		Defines: map[string]string{"UNUSED": "1"}}
	lib := check.Must(verilator.Build(t.Context(), d))(t)
	m := check.Must(lib.New(verilator.Config{Seed: 1}))(t)
	t.Cleanup(func() { m.Close() })
	check.Must(m.Clock("clk", 2, 0))(t)
	r := check.Must(icarus.Record(m, lib, "clk"))(t)
	var p struct {
		Rst  *bool  `port:"rst"`
		Step *uint8 `port:"step"`
	}
	check.Fatal(t, m.Bind(&p))
	for i := range 40 {
		*p.Rst, *p.Step = i < 2, uint8(i&15)
		check.Fatal(t, r.Run(1))
	}
	return r, d
}

func TestCompare(t *testing.T) {
	plain := strings.Replace(counter, "STEP", "step", 1)
	r, d := record(t, plain)
	result, err := r.Compare(t.Context(), d, 2)
	if err != nil || result.Cycles != 40 || result.Unknown != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	// Another design under Icarus: the difference shows at the first clock that differs.
	d.FS = fstest.MapFS{"counter.v": {Data: []byte(strings.Replace(counter, "STEP", "(step | 4'd8)", 1))}}
	var mismatch *icarus.Mismatch
	if _, err := r.Compare(t.Context(), d, 2); !errors.As(err, &mismatch) || mismatch.Cycle != 2 || mismatch.Verilator != "00000010" {
		t.Errorf("%+v, %v", mismatch, err)
	}
	// A register without reset is unknown to Icarus for ever.
	r, d = record(t, strings.Replace(plain, "rst ? 8'd0 : count + step", "count + step + rst", 1))
	check.Equal(t, "unknown bits", check.Must(r.Compare(t.Context(), d, 2))(t).Unknown, 38*8)
	d.FS = fstest.MapFS{"counter.v": {Data: []byte("module counter(")}}
	check.Fails(t, "a design that does not compile", check.Err(r.Compare(t.Context(), d, 2)), nil)
}
