package verilator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

// inline is a design whose source is here.
func inline(top, text string) verilator.Design {
	return verilator.Design{Top: top, Sources: []string{top + ".sv"}, FS: fstest.MapFS{top + ".sv": {Data: []byte(text)}}}
}

func TestRealPorts(t *testing.T) {
	m := start(t, build(t, inline("volts", `module volts (input clk, input real step, output real level, output high);
  initial level = 0.25;
  always @(posedge clk) level <= level + step;
  assign high = level > 1.0;
endmodule
`)), verilator.Config{})
	var p struct {
		Step  *float64 `port:"step"`
		Level *float64 `port:"level"`
		High  *bool    `port:"high"`
	}
	check.Fatal(t, m.Bind(&p))
	must(m.Clock("clk", 10, 0))
	*p.Step = 0.5
	if err := m.Run(1); err != nil || *p.Level != 0.75 || *p.High {
		t.Error(err, *p.Level, *p.High)
	}
	if err := m.Run(3); err != nil || *p.Level != 2.25 {
		t.Error(err, *p.Level)
	}
	if m.Eval(); !*p.High {
		t.Error("2.25 V is not above 1 V")
	}
	var wrong struct {
		Level *uint64 `port:"level"`
	}
	check.Fails(t, "Bind", m.Bind(&wrong), verilator.ErrPort, "*float64")
	_, peek := m.Peek("level")
	_, sink := m.Sink(verilator.Channel{Data: "level"})
	_, until := m.RunUntil(1, verilator.AtLeast("level", 1))
	for i, err := range []error{peek, sink, until, m.Poke("step", 1)} {
		check.Fails(t, fmt.Sprintf("call %d", i), err, verilator.ErrPort, "*float64")
	}
}

func TestMisspeltPorts(t *testing.T) {
	m := start(t, build(t, counter), verilator.Config{})
	for name, want := range map[string]string{
		"enabel": "mean enable?", "Rst": "mean rst?", "wide_bak": "mean wide_back?", "cont": "mean count?", "quality": "",
	} {
		_, err := m.Peek(name)
		if !errors.Is(err, verilator.ErrPort) || strings.Contains(err.Error(), "did you mean") != (want != "") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPortsThatCannotBeBound(t *testing.T) {
	for name, c := range map[string]struct{ port, want string }{
		"string":     {"output string s", "port s is of type std::string"},
		"real array": {"output real r [2]", "port r is of type VlUnpacked<double, 2>"},
	} {
		_, err := verilator.Build(context.Background(), inline("odd", "module odd (input clk, "+c.port+");\nendmodule\n"))
		check.Fails(t, name, err, verilator.ErrPort, c.want, "wrapper")
	}
}

// The wrapper that the documentation shows for inout ports.
func TestWrapperOfAnInout(t *testing.T) {
	m := start(t, build(t, inline("pads", `module pads (input oe, input [3:0] d, output [3:0] seen, input [3:0] pad_in, output [3:0] pad_out);
  wire [3:0] pad;
  assign (weak0, weak1) pad = pad_in;
  assign pad_out = pad;
  chip u (.oe(oe), .d(d), .seen(seen), .pad(pad));
endmodule
module chip (input oe, input [3:0] d, output [3:0] seen, inout [3:0] pad);
  assign pad = oe ? d : 4'bz;
  assign seen = pad;
endmodule
`)), verilator.Config{})
	for _, c := range []struct{ oe, d, in, want uint64 }{{0, 5, 9, 9}, {1, 5, 9, 5}, {0, 5, 15, 15}, {1, 0, 15, 0}} {
		m.Poke("oe", c.oe)
		m.Poke("d", c.d)
		m.Poke("pad_in", c.in)
		if err := m.Eval(); err != nil || must(m.Peek("pad_out")) != c.want || must(m.Peek("seen")) != c.want {
			t.Errorf("%+v: %v, pad %d, seen %d", c, err, must(m.Peek("pad_out")), must(m.Peek("seen")))
		}
	}
}

func TestDelaysAreRefused(t *testing.T) {
	d := inline("late", `module late (input clk, output reg q);
  always @(posedge clk) q <= #1 ~q;
  initial forever #7 q = 0;
endmodule
`)
	_, err := verilator.Build(context.Background(), d)
	for _, want := range []string{"late.sv:2:", "late.sv:3:", "delays need Design.Timing", `Design.Flags to "--no-timing"`} {
		check.Fails(t, fmt.Sprintf("without %q", want), err, nil, want)
	}
	if err != nil && strings.Contains(err.Error(), "Use --timing") {
		t.Error("recommends what is refused:", err)
	}
}
