package i2c_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/i2c"
	"github.com/stafflink/lmmc/testbench/bus/memory"
)

// A master that comes a little later than another one either begins with it, or waits until that one has ended.
func TestAMasterThatComesLater(t *testing.T) {
	for late := range uint64(40) {
		t.Run(fmt.Sprint(late), func(t *testing.T) {
			b := testbench.New(t, design("i2c_regs"), testbench.Config{Wave: testbench.WaveNever})
			var addressed int
			wires := check.Must(i2c.NewBus(b, "", i2c.Config{Item: func(v i2c.Byte) {
				if v.Address {
					addressed++
				}
			}}))(t)
			check.Fatal(t, b.Reset("rst", 2))
			lost := 0
			for k := range uint64(2) {
				m := wires.NewMaster()
				b.Go("master", func(c *testbench.Task) {
					c.Cycles(k * late)
					for errors.Is(m.Write(c, 0x42, byte(k), 0x80+byte(k)), i2c.ErrArbitration) {
						lost++
					}
				})
			}
			check.Fatal(t, b.Run(10_000))
			m := wires.NewMaster()
			b.Go("read", func(c *testbench.Task) {
				got, err := m.Transfer(c, 0x42, []byte{0}, 2)
				if err != nil || !bytes.Equal(got, []byte{0x80, 0x81}) {
					c.Fatalf("have %x, %v", got, err)
				}
			})
			check.Fatal(t, b.Run(10_000))
			if lost > 1 || addressed != 2+2 {
				t.Errorf("lost %d times, %d addresses", lost, addressed)
			}
		})
	}
}

// A transfer that is given up lets the lines go.
func TestATransferThatIsGivenUp(t *testing.T) {
	b := testbench.New(t, design("i2c_regs"), testbench.Config{Wave: testbench.WaveNever})
	wires := check.Must(i2c.NewBus(b, "", i2c.Config{}))(t)
	check.Fatal(t, b.Reset("rst", 2))
	m, other := wires.NewMaster(), wires.NewMaster()
	b.Go("masters", func(c *testbench.Task) {
		if err := c.Within(testbench.Cycles(45), func() { _ = m.Write(c, 0x42, 1, 2) }); err == nil {
			c.Fatalf("it has ended")
		}
		c.Cycles(100)
		_ = other.Write(c, 0x42, 1, 3)
	})
	check.Fatal(t, b.Run(10_000))
}

// While the reset acts nobody pulls a line, and what was under way is over.
func TestReset(t *testing.T) {
	b := testbench.New(t, design("i2c_regs"), testbench.Config{Wave: testbench.WaveNever})
	wires := check.Must(i2c.NewBus(b, "", i2c.Config{}))(t)
	m := wires.NewMaster()
	check.Must(wires.AddTarget(0x50, &i2c.EEPROM{Target: memory.New(16)}))(t)
	check.Fatal(t, b.Reset("rst", 2))
	sda, scl := check.Must(b.Signal("sda_i"))(t), check.Must(b.Signal("scl_i"))(t)
	b.Go("master", func(c *testbench.Task) {
		_, err := m.Read(c, 0x50, 8) // zeros, for which the target pulls SDA
		t.Logf("the transfer ends with %v", err)
		got, err := m.Read(c, 0x50, 1)
		if err != nil || !bytes.Equal(got, []byte{0}) {
			c.Fatalf("after the reset: %x, %v", got, err)
		}
	})
	check.Fatal(t, b.Step(300))
	check.Equal(t, "SDA", sda.Get(), 0)
	check.Fatal(t, b.Model().Poke("rst", 1))
	check.Fatal(t, b.Step(3))
	check.Equal(t, "SDA in reset", sda.Get(), 1)
	check.Equal(t, "SCL in reset", scl.Get(), 1)
	check.Fatal(t, b.Model().Poke("rst", 0))
	check.Fatal(t, b.Run(10_000))
}
