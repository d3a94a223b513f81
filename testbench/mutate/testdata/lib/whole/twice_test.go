package whole_test

import (
	"os"
	"testing"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// a + a is even.
func TestTwice(t *testing.T) {
	b := testbench.New(t, verilator.Design{Top: "twice", FS: os.DirFS(".."), Sources: []string{"whole/twice.v"}, IncludeDirs: []string{"part"}}, testbench.Config{})
	var p struct {
		A   *uint8 `port:"a"`
		Sum *uint8 `port:"sum"`
		Odd *bool  `port:"odd"`
		Age *uint8 `port:"age"`
	}
	b.Bind(&p)
	for a := range uint8(128) {
		*p.A = a
		b.Step(1)
		if *p.Sum != 2*a&127 || *p.Odd || *p.Age != (11+a)%16 {
			t.Fatalf("twice %d is %d, odd %v, age %d", a, *p.Sum, *p.Odd, *p.Age)
		}
	}
}
