package regs_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/regs"
)

// words is a bus with registers that keep what is written.
type words map[uint64]uint64

func (w words) Read(_ *testbench.Task, address uint64) (uint64, error) { return w[address], nil }
func (w words) Write(_ *testbench.Task, address, data uint64) error    { w[address] = data; return nil }

// Clear of a source that is cleared by writing its value leaves the others, and what else is in the register, as they are.
func TestClearLeavesTheOtherFields(t *testing.T) {
	b, _, _ := open(t, 0)
	block := check.Must(regs.Parse([]byte(`name = "b"
[[register]]
name = "pending"
field = [{name = "rx", bits = "0", access = "rw", volatile = true}, {name = "tx", bits = "2:1", access = "rw", volatile = true}, {name = "on", bits = "8", access = "rw"}]
`)))(t)
	bus := words{0: 0}
	d := regs.NewDevice(b, block, bus, 0)
	irq := &regs.Interrupt{Device: d, Pending: "pending"}
	check.Fatal(t, run(t, b, func(c *testbench.Task) error {
		if err := d.Write(c, "pending.on", 1); err != nil {
			return err
		}
		bus[0] |= 0b101 // the hardware says
		return irq.Clear(c, 0b001)
	}))
	check.Equal(t, "register", bus[0], 0x104)
}
