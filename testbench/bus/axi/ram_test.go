package axi_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/axi"
	"github.com/stafflink/lmmc/testbench/bus/dut"
	"github.com/stafflink/lmmc/testbench/bus/memory"
)

// ram opens a master in front of registers with the model of a RAM behind them, on a bus of so many bits.
func ram(t *testing.T, bits int, c axi.Config) (*testbench.Bench, *axi.Master) {
	b := testbench.New(t, dut.Design("axi_pipe", map[string]int{"DATA_WIDTH": bits}), testbench.Config{Wave: testbench.WaveNever})
	m := check.Must(axi.NewMaster(b, "s_axi", axi.Config{Unchecked: true}))(t)
	check.Must(axi.NewRAM(b, "m_axi", memory.New(0), c))(t)
	b.Reset("rst", 3)
	return b, m
}

// Transfers that are larger than the bus are answered with an error.
func TestTransfersLargerThanTheBus(t *testing.T) {
	b, m := ram(t, 32, axi.Config{})
	b.Go("test", func(c *testbench.Task) {
		check.Fails(t, "read", m.Start(c, axi.Transaction{Size: 4, Len: 3}).Wait(c), axi.ErrSlave)
		check.Error(t, m.Start(c, axi.Transaction{Size: 2}).Wait(c))
	})
	b.Run(1000)
}

// A write that wraps round to a reserved place ends the reservation.
func TestAWrappingWriteEndsAReservation(t *testing.T) {
	b, m := ram(t, 32, axi.Config{})
	b.Go("test", func(c *testbench.Task) {
		do := func(what string, one axi.Transaction, want axi.Resp) {
			if one.Size = 2; one.Write {
				one.Data = make([]byte, max(one.Len, 1)<<2)
			}
			p := m.Start(c, one)
			check.Error(t, p.Wait(c))
			check.Equal(t, what, p.Resp, want)
		}
		do("exclusive read", axi.Transaction{Lock: true, Addr: 0x40}, axi.ExOkay)
		do("exclusive write", axi.Transaction{Lock: true, Addr: 0x40, Write: true}, axi.ExOkay)
		do("exclusive read", axi.Transaction{Lock: true, Addr: 0x40}, axi.ExOkay)
		do("wrapping write", axi.Transaction{Write: true, Burst: axi.Wrap, Addr: 0x48, Len: 4}, axi.Okay)
		do("exclusive write", axi.Transaction{Lock: true, Addr: 0x40, Write: true}, axi.Okay)
	})
	b.Run(1000)
}

// A Start that is given up while there is no room leaves nothing behind: others go on, and get what is theirs.
func TestStartThatIsGivenUp(t *testing.T) {
	b, m := ram(t, 32, axi.Config{})
	m.SetThrottle(1)
	b.Go("test", func(c *testbench.Task) {
		if err := c.Within(testbench.Cycles(50), func() { _ = m.Write(c, 0x1000, make([]byte, 8192)) }); err == nil {
			c.Fatalf("there was room for everything")
		}
		m.SetThrottle(0)
		check.Error(t, m.Write(c, 0, []byte{1, 2, 3, 4}))
		got := make([]byte, 4)
		check.Error(t, m.Read(c, 0, got))
		check.Equal(t, "read", got, []byte{1, 2, 3, 4})
	})
	b.Run(10_000)
}

// A master by itself sees that a read ends too early.
func TestAReadThatEndsTooEarly(t *testing.T) {
	b := testbench.New(t, dut.Design("axi_rogue", nil), testbench.Config{Wave: testbench.WaveNever})
	check.Fatal(t, b.Model().Poke("rule", 7))
	var found []string
	m := check.Must(axi.NewMaster(b, "s_axi", axi.Config{Config: bus.Config{Violation: func(v bus.Violation) { found = append(found, v.Rule) }}}))(t)
	b.Reset("rst", 3)
	b.Go("test", func(c *testbench.Task) { _ = m.Read(c, 0, make([]byte, 8)) })
	b.Run(100)
	check.Equal(t, "rules", found, []string{axi.RuleLast})
}
