// Package vhdl tests a module in VHDL: GHDL synthesises it to Verilog, which Verilator takes.
package vhdl

import (
	"os/exec"
	"testing"
	"testing/fstest"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// design has GHDL make Verilog of an entity.
func design(t *testing.T, entity string, generics []string, files ...string) verilator.Design {
	t.Helper()
	ghdl, err := exec.LookPath("ghdl")
	if err != nil {
		t.Skip("program ghdl is not installed: apt-get install ghdl")
	}
	args := append([]string{"--synth", "--std=08", "--out=verilog"}, generics...)
	args = append(append(args, files...), "-e", entity)
	text, err := exec.Command(ghdl, args...).Output()
	if exit, ok := err.(*exec.ExitError); ok {
		t.Fatalf("ghdl: %v\n%s", err, exit.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	file := entity + ".v"
	return verilator.Design{Top: entity, Sources: []string{file}, FS: fstest.MapFS{file: {Data: text}}}
}

type ports struct {
	En   *bool  `port:"*"`
	Q    *uint8 `port:"*"`
	Wrap *bool  `port:"*"`
}

func TestCounter(t *testing.T) {
	b := testbench.New(t, design(t, "counter", []string{"-gLIMIT=5"}, "counter.vhd"), testbench.Config{})
	var p ports
	b.Bind(&p)
	*p.En = false
	b.Reset("rst", 2)
	wraps := 0
	b.Observe(b.Main(), func() {
		if *p.Wrap {
			wraps++
		}
	})
	b.Go("driver", func(c *testbench.Task) {
		random, want := b.Rand("enable"), uint8(0)
		for range 600 {
			*p.En = random.Bool()
			if *p.En {
				want = (want + 1) % 6
			}
			c.Cycles(1)
			if *p.Q != want {
				c.Fatalf("q is %d, want %d", *p.Q, want)
			}
		}
	})
	b.Run(1000)
	if wraps < 30 {
		t.Errorf("wrapped %d times", wraps)
	}
}
