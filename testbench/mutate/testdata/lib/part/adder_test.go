package part_test

import (
	"testing"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

func TestAdder(t *testing.T) {
	for _, width := range []string{"3", "5"} {
		b := testbench.New(t, verilator.Design{Top: "adder", Sources: []string{"adder.v"}, Params: map[string]string{"WIDTH": width}}, testbench.Config{})
		var p struct {
			A   *uint8 `port:"a"`
			B   *uint8 `port:"b"`
			Sum *uint8 `port:"sum"`
			Age *uint8 `port:"age"`
		}
		b.Bind(&p)
		for clock := range uint8(20) {
			b.Step(1)
			if *p.Age != (11+clock)%16 {
				t.Fatalf("age %d after %d clocks", *p.Age, clock+1)
			}
		}
		mask := uint8(7)
		if width == "5" {
			mask = 31
		}
		for a := range mask + 1 {
			for c := range mask + 1 {
				*p.A, *p.B = a, c
				b.Step(1)
				if *p.Sum != (a+c)&mask {
					t.Fatalf("%d + %d = %d", a, c, *p.Sum)
				}
			}
		}
	}
}

// Nothing is compiled here.
func TestOther(t *testing.T) {}
