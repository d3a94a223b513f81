package axis_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/axis"
	"github.com/stafflink/lmmc/testbench/bus/dut"
)

// A transfer may wait for as many cycles as MaxStall says, and no longer.
func TestMaxStall(t *testing.T) {
	for waits, want := range map[uint64]int{3: 0, 4: 1} {
		b := testbench.New(t, dut.Design("axis_fifo", map[string]int{"DATA_WIDTH": 8, "DEPTH": 16}), testbench.Config{Wave: testbench.WaveNever})
		found := 0
		in := check.Must(axis.NewSource(b, "s_axis", axis.Config{}))(t)
		check.Must(axis.NewMonitor(b, "m_axis", axis.Config{MaxStall: 3, Config: bus.Config{Violation: func(bus.Violation) { found++ }}}))(t)
		valid, ready := check.Must(b.Signal("m_axis_tvalid"))(t), check.Must(b.Signal("m_axis_tready"))(t)
		b.Reset("aresetn", 3)
		b.Go("test", func(c *testbench.Task) {
			in.Send(c, axis.Frame{Data: []byte{1}})
			c.Until(valid.Is, 0)
			c.Cycles(waits)
			ready.Set(1)
			c.Cycles(5)
		})
		b.Run(100)
		check.Equal(t, "violations", found, want)
	}
}
