package i2c_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/i2c"
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
// While the reset acts nobody pulls a line, and what was under way is over.
