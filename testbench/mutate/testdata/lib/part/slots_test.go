package part_test

import (
	"testing"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

func TestSlots(t *testing.T) {
	b := testbench.New(t, verilator.Design{Top: "slots", Sources: []string{"slots.v"}}, testbench.Config{})
	var p struct {
		Write *bool  `port:"write"`
		At    *uint8 `port:"at"`
		Data  *uint8 `port:"data"`
		Have  *uint8 `port:"have"`
	}
	b.Bind(&p)
	for turn := range uint8(4) {
		for at := range uint8(4) {
			for _, *p.Write = range []bool{true, false} {
				*p.At, *p.Data = at, (at+turn)&3
				if !*p.Write {
					*p.Data ^= 3 // is not written
				}
				b.Step(1)
			}
		}
		for at := range uint8(4) {
			*p.At = at
			b.Step(1)
			if want := (at + turn) & 3; *p.Have != want {
				t.Fatalf("slot %d holds %d, want %d", at, *p.Have, want)
			}
		}
	}
}
