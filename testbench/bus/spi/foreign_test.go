package spi_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/foreign"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/testbench/bus/spi"
	"github.com/stafflink/lmmc/verilator"
)

// PicoSoC's controller shows a flash as memory, over one lane or four, and with a command that stays. It ends reads within a word.
func TestForeignSpimemio(t *testing.T) {
	d := verilator.Design{Top: "spimemio", Sources: foreign.Files(t, "picorv32", "picosoc/spimemio.v")}
	for name, config := range map[string]uint64{"0x03": 1 << 31, "0xEB": 1<<31 | 1<<21 | 4<<16, "0xEB, continuous": 1<<31 | 1<<21 | 1<<20 | 4<<16} {
		t.Run(name, func(t *testing.T) {
			b := testbench.New(t, d, testbench.Config{})
			f := &spi.Flash{Memory: memory.New(1 << 24)}
			s := check.Must(spi.NewSlave(b, "flash", spi.Config{Config: bus.Config{Waive: []string{spi.RuleWord}}}, f))(t)
			rng := b.Rand("words")
			for i := range uint64(256) {
				check.Fatal(t, f.Memory.PutUint(0x100000+4*i, 4, uint64(rng.Uint32())))
			}
			var p struct {
				Valid  *bool   `port:"valid"`
				Ready  *bool   `port:"ready"`
				Addr   *uint32 `port:"addr"`
				Data   *uint32 `port:"rdata"`
				Enable *uint8  `port:"cfgreg_we"`
				Config *uint32 `port:"cfgreg_di"`
			}
			check.Fatal(t, b.Bind(&p))
			check.Fatal(t, b.Reset("resetn", 4))
			reads := 0
			b.Go("cpu", func(c *testbench.Task) {
				c.Cycles(100) // it wakes the flash up
				*p.Enable, *p.Config = 15, uint32(config)
				c.Cycles(1)
				*p.Enable = 0
				c.Cycles(100)
				address := uint32(0)
				for range 60 {
					if address = (address + 4) % 0x400; rng.Chance(0.3) {
						address = uint32(4 * rng.IntN(256))
					}
					*p.Addr, *p.Valid = 0x100000+address, true
					for ready := false; !ready; c.Cycles(1) {
						check.Fatal(t, b.Model().Eval())
						if ready = *p.Ready; ready {
							want, _ := f.Memory.Uint(uint64(0x100000+address), 4)
							check.Equal(t, fmt.Sprintf("word %#x", address), uint64(*p.Data), want)
						}
					}
					*p.Valid = false
					reads++
				}
			})
			check.Fatal(t, b.Run(100_000))
			t.Logf("%d reads, %d words on the bus, %d cycles, %d violations", reads, s.Words(), b.Cycle(), s.Violations())
		})
	}
}
