package verilator_test

import (
	"testing"
	"testing/fstest"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

// shaped is a design whose ports follow from its text.
func shaped(text string) verilator.Design {
	return verilator.Design{Top: "m", Sources: []string{"m.sv"}, FS: fstest.MapFS{"m.sv": {Data: []byte(text)}}}
}

func TestDescribe(t *testing.T) {
	i := check.Must(verilator.Describe(t.Context(), shaped(`module m #(parameter W = 5, parameter signed [3:0] K = -1, localparam L = W) (
		input signed [W-1:0] a, output [99:0] wide, input [3:0] few [0:2], output real r);
		assign wide = 100'(a) + 100'(few[0]) + 100'(K) + 100'(L); assign r = 1.0; endmodule`)))(t)
	var shapes []string
	for _, p := range i.Ports {
		shapes = append(shapes, p.Name+" "+p.Shape()+" "+p.GoType())
	}
	check.Equal(t, "ports", len(shapes), 4)
	for k, want := range []string{"a input 5 *uint8", "wide output 100 []uint32", "few input 4x3 []uint8", "r output real *float64"} {
		check.Equal(t, "port", shapes[k], want)
	}
	if len(i.Signed) != 1 || i.Signed[0] != "a" || len(i.Params) != 2 || i.Params[0] != (verilator.Param{Name: "W", Value: "32'sh5"}) || i.Params[1].Value != "4'shf" {
		t.Errorf("signed: %v, parameters: %v", i.Signed, i.Params)
	}
	check.Fails(t, "a design that is none", check.Err(verilator.Describe(t.Context(), shaped("module m; x endmodule"))), nil)
}

// TestStaleStruct: a generated struct is refused by a module whose ports are others.
func TestStaleStruct(t *testing.T) {
	type ports struct {
		_ struct{} `shape:"all"`
		A *uint8   `port:"a" shape:"input 8"`
		B *uint8   `port:"b" shape:"output 8"`
	}
	for text, want := range map[string]string{
		"module m(input [7:0] a, output [7:0] b); assign b = a; endmodule":                   "",
		"module m(input [6:0] a, output [7:0] b); assign b = {1'b0, a}; endmodule":           "port a of m is input, 7 bits now, not input, 8 bits: run go generate",
		"module m(input [15:0] a, output [7:0] b); assign b = a[7:0]; endmodule":             "port a of m is input, 16 bits now",
		"module m(input [7:0] a [0:1], output [7:0] b); assign b = a[0]; endmodule":          "port a of m is input, 8 bits x 2 now",
		"module m(output [7:0] a, output [7:0] b); assign {a, b} = 16'd0; endmodule":         "port a of m is output, 8 bits now",
		"module m(input [7:0] a, input c, output [7:0] b); assign b = a ^ {8{c}}; endmodule": "m has a new port c (input, 1 bit)",
		"module m(input [7:0] x, output [7:0] b); assign b = x; endmodule":                   "m has no port a any more",
	} {
		lib := check.Must(verilator.Build(t.Context(), shaped(text)))(t)
		m := check.Must(lib.New(verilator.Config{}))(t)
		var p ports
		if err := m.Bind(&p); want == "" {
			check.Error(t, err)
		} else {
			check.Fails(t, text, err, verilator.ErrStale, want)
		}
		m.Close()
	}
}
