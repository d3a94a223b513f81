package bus_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/foreign"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/apb"
	"github.com/stafflink/lmmc/testbench/bus/axi"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/testbench/bus/wishbone"
	"github.com/stafflink/lmmc/verilator"
)

// Bridges of wb2axip carry words from the model of a master on one bus to that of a slave on another.
func TestForeignBridges(t *testing.T) {
	named := func(reset string) bus.Config { return bus.Config{Reset: reset} }
	for _, test := range []struct {
		top, clock, reset string
		more              []string
		slave             func(*testbench.Bench, *memory.Memory) (testbench.Throttled, error)
	}{
		{top: "axil2apb", clock: "S_AXI_ACLK", reset: "S_AXI_ARESETN", more: []string{"skidbuffer"}, slave: func(b *testbench.Bench, m *memory.Memory) (testbench.Throttled, error) {
			c := named("S_AXI_ARESETN")
			c.Waive = []string{apb.RuleStrobe} // it sets PSTRB for reads
			return apb.NewCompleter(b, "M_APB", apb.Config{Config: c}, m)
		}},
		{top: "axlite2wbsp", clock: "i_clk", reset: "i_axi_reset_n", more: []string{"axilrd2wbsp", "axilwr2wbsp", "wbarbiter", "skidbuffer"},
			slave: func(b *testbench.Bench, m *memory.Memory) (testbench.Throttled, error) {
				return wishbone.NewSlave(b, "wb", wishbone.Config{Pipelined: true, WordAddress: true, Config: named("i_axi_reset_n")}, m)
			}},
		{top: "wbm2axilite", clock: "i_clk", reset: "i_reset", slave: func(b *testbench.Bench, m *memory.Memory) (testbench.Throttled, error) {
			return axi.NewRAM(b, "axi", m, axi.Config{})
		}},
	} {
		t.Run(test.top, func(t *testing.T) {
			files := []string{"rtl/" + test.top + ".v"}
			for _, m := range test.more {
				files = append(files, "rtl/"+m+".v")
			}
			b := testbench.New(t, verilator.Design{Top: test.top, Sources: foreign.Files(t, "wb2axip", files...), Flags: []string{"-Wno-fatal"}}, testbench.Config{Clock: test.clock})
			store := memory.New(0x1000)
			slave := check.Must(test.slave(b, store))(t)
			b.RandomStall("slave", slave, 20)
			var write func(*testbench.Task, uint64, []byte) error
			var read func(*testbench.Task, uint64, []byte) error
			if test.top == "wbm2axilite" {
				m := check.Must(wishbone.NewMaster(b, "wb", wishbone.Config{Pipelined: true, WordAddress: true}))(t)
				check.Must(axi.NewMonitor(b, "axi", axi.Config{}))(t)
				b.RandomStall("master", m, 20)
				write = func(c *testbench.Task, at uint64, p []byte) error {
					return m.Write(c, at, uint64(binary.LittleEndian.Uint32(p)))
				}
				read = func(c *testbench.Task, at uint64, p []byte) error {
					v, err := m.Read(c, at)
					binary.LittleEndian.PutUint32(p, uint32(v))
					return err
				}
			} else {
				prefix := map[bool]string{true: "S_AXI", false: "axi"}[test.top == "axil2apb"]
				m := check.Must(axi.NewMaster(b, prefix, axi.Config{Config: named(test.reset)}))(t)
				check.Must(axi.NewMonitor(b, prefix, axi.Config{Config: named(test.reset)}))(t)
				b.RandomStall("master", m, 20)
				write, read = m.Write, m.Read
			}
			check.Fatal(t, b.Reset(test.reset, 10))
			r := b.Rand("words")
			b.Go("master", func(c *testbench.Task) {
				image := make([]byte, 0x100)
				for at := range len(image) / 4 {
					check.Error(t, write(c, uint64(4*at), image[4*at:4*at+4]))
				}
				for range 300 {
					at := 4 * r.IntN(len(image)/4)
					if r.Bool() {
						r.Fill(image[at : at+4])
						check.Error(t, write(c, uint64(at), image[at:at+4]))
						continue
					}
					got := make([]byte, 4)
					if err := read(c, uint64(at), got); err != nil || !bytes.Equal(got, image[at:at+4]) {
						c.Fatalf("word at %#x: have %x, %v, want %x", at, got, err, image[at:at+4])
					}
				}
				if err := write(c, 0x2000, image[:4]); err == nil {
					c.Fatalf("a write beyond the memory has no error")
				}
			})
			check.Fatal(t, b.Run(100_000))
			t.Logf("%d cycles", b.Cycle())
		})
	}
}
