package apb_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/apb"
)

// What the bus cannot carry is refused, and not cut to what it can.
func TestAccessesThatDoNotFit(t *testing.T) {
	for want, a := range map[string]bus.Access{
		"write at 0x104: 0x104 does not fit the 8 bits of s_paddr":     {Write: true, Addr: 0x104, Data: 1},
		"read at 0x104: 0x104 does not fit the 8 bits of s_paddr":      {Addr: 0x104},
		"write at 0x4: 0x100000000 does not fit the 32 bits":           {Write: true, Addr: 4, Data: 1 << 32},
		"write at 0x4: mask 0x10: a word has 4 bytes":                  {Write: true, Addr: 4, Mask: 0x10},
		"write at 0x4: mask 0x1: the bus has no signal for single byt": {Write: true, Addr: 4, Mask: 1},
	} {
		b := check.Must(testbench.Open(t.Context(), through, testbench.Config{Wave: testbench.WaveNever}))(t)
		r := check.Must(apb.NewRequester(b, "s", apb.Config{Config: bus.Config{Names: map[string]string{"pstrb": "-"}}}))(t)
		check.Fatal(t, b.Reset("rst_n", 2))
		b.Go("cpu", func(c *testbench.Task) { _, _ = r.Start(a).Wait(c) })
		check.Fails(t, want, b.Run(100), bus.ErrAccess, "apb s: ", want)
		check.Error(t, b.Close())
	}
}
