package verilator_test

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

// The state of a source has the parts of its items.
func TestTheStateOfASourceHasParts(t *testing.T) {
	lib := check.Must(verilator.Build(context.Background(), verilator.Design{Top: "pair", Sources: []string{"pair.v"}, FS: fstest.MapFS{"pair.v": {Data: []byte(
		"module pair (input clk, input [7:0] a, input [7:0] b, input valid, output reg [15:0] sum);\n  always @(posedge clk) if (valid) sum <= {b, a};\nendmodule\n")}}}))(t)
	open := func() (*verilator.Model, *verilator.Source) {
		m := check.Must(lib.New(verilator.Config{}))(t)
		t.Cleanup(func() { m.Close() })
		check.Must(m.Clock("clk", 10, 0))(t)
		return m, check.Must(m.Source(verilator.Channel{Data: "a", Valid: "valid", Parts: []string{"b"}}))(t)
	}
	_, from := open()
	from.PutParts(0x12, false, []uint64{0x34})
	from.PutParts(0x56, true, []uint64{0x78})
	state := check.Must(from.MarshalBinary())(t)
	m, to := open()
	check.Fatal(t, to.UnmarshalBinary(state))
	var got []uint64
	for range 4 {
		check.Fatal(t, m.Run(1))
		got = append(got, check.Must(m.Peek("sum"))(t))
	}
	check.Equal(t, "sums", got[1:], []uint64{0x3412, 0x7856, 0x7856})
	check.Fails(t, "cut short", to.UnmarshalBinary(state[:len(state)-1]), verilator.ErrCheckpoint)
}
