package axi_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/axi"
	"github.com/stafflink/lmmc/testbench/bus/dut"
	"github.com/stafflink/lmmc/testbench/bus/memory"
)

// A reset at any time ends what is under way, with an error, on both sides: what comes behind it is as if nothing had been before. What had not begun comes, too.
func TestAResetInTheMiddle(t *testing.T) {
	for _, c := range []axi.Config{{}, {Reorder: true}} {
		for _, cycles := range []uint64{1, 3} {
			t.Run(fmt.Sprintf("reorder %v, %d cycles", c.Reorder, cycles), func(t *testing.T) {
				b := testbench.New(t, dut.Design("axi_pipe", map[string]int{"DATA_WIDTH": 32}), testbench.Config{Wave: testbench.WaveNever})
				m := check.Must(axi.NewMaster(b, "s_axi", axi.Config{}))(t)
				mem := memory.New(0)
				r := check.Must(axi.NewRAM(b, "m_axi", mem, c))(t)
				for _, side := range []string{"s_axi", "m_axi"} {
					check.Must(axi.NewMonitor(b, side, axi.Config{}))(t)
				}
				b.RandomStall("master", m, 20)
				b.RandomStall("ram", r, 20)
				b.Reset("rst", 3)
				rand := b.Rand("test")
				ended, reset := 0, 0
				for range 50 {
					var all []*axi.Pending
					b.Go("start", func(c *testbench.Task) {
						for k := range 20 {
							one := axi.Transaction{Write: rand.Bool(), ID: uint64(k % 4), Addr: 0x1000 + 64*rand.Uint64N(16), Size: 2, Len: rand.Between(1, 16)}
							if one.Write {
								one.Data = rand.Bytes(4 * one.Len)
							}
							all = append(all, m.Start(c, one))
						}
					})
					b.Step(rand.Uint64N(400))
					b.Reset("rst", cycles)
					b.Go("behind", func(c *testbench.Task) {
						want, got := rand.Bytes(100), make([]byte, 100)
						check.Fatal(t, m.Write(c, 0, want))
						check.Fatal(t, m.Read(c, 0, got))
						check.Equal(t, "read", got, want)
						for _, p := range all {
							if err := p.Wait(c); err == nil {
								ended++
							} else {
								check.Fails(t, "a transaction", err, bus.ErrReset, "reset before the access has ended")
								reset++
							}
						}
					})
					b.Run(20_000)
				}
				if ended < 100 || reset < 100 {
					t.Errorf("%d have ended, and %d with the reset", ended, reset)
				}
			})
		}
	}
}

// Who waits for a transaction hears of the reset.
func TestAWaitEndsWithTheReset(t *testing.T) {
	b, m := ram(t, 32, axi.Config{})
	b.Go("test", func(c *testbench.Task) {
		check.Fails(t, "write", m.Write(c, 3, make([]byte, 2000)), bus.ErrReset)
		check.Fails(t, "read", m.Read(c, 3, make([]byte, 2000)), bus.ErrReset)
		check.Error(t, m.Write(c, 3, make([]byte, 2000)))
	})
	b.Step(100)
	b.Reset("rst", 2)
	b.Step(10)
	b.Reset("rst", 1)
	b.Run(10_000)
}
