package verilator_test

import (
	"context"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

func pads(top string) verilator.Design {
	return verilator.Design{Top: top, Sources: []string{"testdata/pads.v"}}
}

// TestOpenDrain: a design and a slave share two lines with pull-ups; the slave stretches the clock and acknowledges, or does not.
func TestOpenDrain(t *testing.T) {
	d := pads("open_drain")
	d.Public, d.Trace = []string{"shift"}, true
	lib := build(t, d)
	for _, ack := range []bool{true, false} {
		m := start(t, lib, verilator.Config{Seed: 1, Waves: []string{":1"}})
		var p struct {
			Clock   *bool  `port:"scl"`
			Data    *bool  `port:"sda"`
			Reset   *bool  `port:"rst"`
			Byte    *uint8 `port:"data"`
			OnClock *bool  `port:"scl__out"`
			OnData  *bool  `port:"sda__out"`
			Holds   *bool  `port:"sda__en"`
			Done    *bool  `port:"done"`
			Acked   *bool  `port:"acked"`
		}
		check.Fatal(t, m.Bind(&p))
		must(m.Clock("clk", 10, 0))
		check.Fatal(t, m.Trace(t.TempDir()+"/x.fst"))
		*p.Reset, *p.Byte, *p.Clock, *p.Data = true, 0xa6, true, true // pull-ups
		check.Fatal(t, m.Run(2))
		*p.Reset = false
		var got, bits, stretched int
		before := false
		for cycle := 0; !*p.Done && cycle < 200; cycle++ {
			stretched--
			*p.Clock = stretched <= 0
			check.Fatal(t, m.Eval())
			switch now := *p.OnClock; {
			case now && !before && bits < 8:
				if got, bits = got<<1, bits+1; *p.OnData {
					got |= 1
				}
				check.Equal(t, "sda__en", *p.Holds, !*p.OnData)
			case !now && before && bits == 4:
				stretched = 7
			case !now && before && bits == 8:
				*p.Data = !ack
			}
			before = *p.OnClock
			check.Fatal(t, m.Run(1))
		}
		check.Equal(t, "byte", got, 0xa6)
		check.Equal(t, "done", *p.Done, true)
		check.Equal(t, "acknowledged", *p.Acked, ack)
		check.Equal(t, "a name inside", must(m.Peek("shift")), 0x1ff)
	}
}

// TestTriStateMemory: a memory and a design drive the same wires in turn, and never at once.
func TestTriStateMemory(t *testing.T) {
	d := pads("memory_bus")
	d.Params = map[string]string{"HALF": "16"}
	m := start(t, build(t, d), verilator.Config{Seed: 1})
	var p struct {
		Reset  *bool  `port:"rst"`
		Addr   *uint8 `port:"addr"`
		Write  *bool  `port:"write"`
		DQ     *uint8 `port:"dq"`
		Wire   *uint8 `port:"dq__out"`
		Driven *uint8 `port:"dq__en"`
	}
	check.Fatal(t, m.Bind(&p))
	must(m.Clock("clk", 10, 0))
	memory := make([]uint8, 32)
	for i := range 16 {
		memory[i] = uint8(17*i + 3)
	}
	*p.Reset = true
	check.Fatal(t, m.Run(2))
	*p.Reset = false
	for range 32 {
		check.Fatal(t, m.Eval())
		if *p.Write {
			check.Equal(t, "driven while it writes", *p.Driven, 0xff)
			*p.DQ = 0x55 // what the outside says does not count
			check.Fatal(t, m.Eval())
			memory[*p.Addr] = *p.Wire
		} else {
			check.Equal(t, "driven while it reads", *p.Driven, 0)
			*p.DQ = memory[*p.Addr]
		}
		check.Fatal(t, m.Run(1))
	}
	check.Equal(t, "the copy", memory[16:], memory[:16])
}

func TestInoutsThatCannotBeWrapped(t *testing.T) {
	_, err := verilator.Build(context.Background(), inline("odd", "module odd (input [3:0] a [2], inout b);\nassign b = a[0][0] ? a[1][0] : 1'bz;\nendmodule\n"))
	check.Fails(t, "an array beside", err, verilator.ErrPort, "input a[4] x 2", "wrapper")
}
