package wishbone_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/testbench/bus/wishbone"
)

// Words of a burst that lie beyond the memory are answered with ERR, written ones as well as read ones.
func TestBurstsBeyondTheMemory(t *testing.T) {
	b := open(t, "wb_burst_copy", false, 0)
	failed := 0
	s := check.Must(wishbone.NewSlave(b, "", wishbone.Config{WordAddress: true, Item: func(a bus.Access) {
		if beyond := a.Addr >= 4*136; beyond != (a.Err != nil) {
			t.Errorf("access to %#x: %v", a.Addr, a.Err)
		} else if beyond {
			failed++
		}
	}}, memory.New(4*136)))(t)
	done := check.Must(b.Signal("done"))(t)
	check.Fatal(t, b.Reset("rst", 3))
	b.Go("wait", func(c *testbench.Task) { c.Until(done.Is, 5000) })
	check.Fatal(t, b.Run(5000))
	check.Equal(t, "answers with ERR", failed, 8+3*16)
	_ = s
}
