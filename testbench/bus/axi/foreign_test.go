package axi_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/foreign"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/axi"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/verilator"
)

// core is a design that is not ours.
type core struct {
	name, top, repository string
	files                 []string
	params                map[string]string
	clock, reset          string
	masters               []axi.Config // of ports for masters; nil means one
	in                    string       // their prefix
	slaves                int
	out                   string // the prefix of ports for slaves
	space                 int    // bytes that are tried
	bursts                bool   // random ones, beside those of Write and Read
	waive                 []string
}

const axiRTL, zipRTL = "verilog-axi", "wb2axip"

// Memories and registers: what was written is read, and bursts of all kinds do what a slice says.
func TestForeignMemories(t *testing.T) {
	for _, test := range []core{
		{name: "axi_ram", repository: axiRTL, params: map[string]string{"ADDR_WIDTH": "15"}, bursts: true, space: space},
		// BVALID comes in the clock in which address and data are taken, not after it.
		{name: "axil_ram", repository: axiRTL, params: map[string]string{"ADDR_WIDTH": "12"}, in: "s_axil", space: 4096, waive: []string{axi.RuleResponse}},
		{name: "demoaxi", repository: zipRTL, params: map[string]string{"OPT_READ_SIDEEFFECTS": "0"}, files: []string{"skidbuffer.v"}, space: 256},
		{name: "easyaxil", repository: zipRTL, files: []string{"skidbuffer.v"}, space: 16},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := test.open(t)
			m := check.Must(axi.NewMaster(b, test.in, test.config()))(t)
			monitor := check.Must(axi.NewMonitor(b, test.in, test.config()))(t)
			b.RandomStall("master", m, 20)
			b.Reset(test.reset, 10)
			r := b.Rand("test")
			b.Go("test", func(c *testbench.Task) {
				image := make(model, max(test.space, space+4096))
				r.Fill(image[:test.space])
				if err := m.Write(c, 0, image[:test.space]); err != nil {
					c.Fatalf("%w", err)
				}
				for range 100 {
					if test.bursts {
						one := random(r, 2)
						if one.Lock, one.ID = false, one.ID%2; one.Burst == axi.Wrap {
							continue // axi_ram takes these for INCR
						}
						p := m.Start(c, one)
						if err := p.Wait(c); err != nil {
							c.Fatalf("%w", err)
						}
						if want := image.do(&one); !one.Write && !bytes.Equal(blank(&p.Transaction), want) {
							c.Fatalf("%s: got %x, want %x", &one, blank(&p.Transaction), want)
						}
						continue
					}
					at := r.IntN(test.space)
					part := r.Bytes(r.IntN(min(64, test.space-at) + 1))
					copy(image[at:], part)
					if err := m.Write(c, uint64(at), part); err != nil {
						c.Fatalf("%w", err)
					}
				}
				got := make([]byte, test.space)
				if err := m.Read(c, 0, got); err != nil || !bytes.Equal(got, image[:test.space]) {
					c.Fatalf("what was read at the end differs: %v", err)
				}
			})
			check.Fatal(t, b.Run(500_000))
			t.Logf("%d transactions, %d transfers of data, %d cycles", monitor.Transactions(), monitor.Beats(), b.Cycle())
		})
	}
}

// What stands between masters and slaves: each byte is at both sides.
func TestForeignBetween(t *testing.T) {
	two := []axi.Config{{Index: 0, Count: 2}, {Index: 1, Count: 2}}
	for _, test := range []core{
		{name: "axi_register", repository: axiRTL, files: []string{"axi_register_rd.v", "axi_register_wr.v"}, slaves: 1},
		{name: "axi_fifo", repository: axiRTL, files: []string{"axi_fifo_rd.v", "axi_fifo_wr.v"}, slaves: 1},
		{name: "axi_adapter", repository: axiRTL, files: []string{"axi_adapter_rd.v", "axi_adapter_wr.v"}, slaves: 1, params: map[string]string{"S_DATA_WIDTH": "32", "M_DATA_WIDTH": "64"}},
		{name: "axi_axil_adapter", repository: axiRTL, files: []string{"axi_axil_adapter_rd.v", "axi_axil_adapter_wr.v"}, slaves: 1, out: "m_axil"},
		{name: "axil_register", repository: axiRTL, files: []string{"axil_register_rd.v", "axil_register_wr.v"}, slaves: 1, in: "s_axil", out: "m_axil"},
		{name: "axi_crossbar", repository: axiRTL, files: []string{"axi_crossbar_addr.v", "axi_crossbar_rd.v", "axi_crossbar_wr.v", "axi_register_rd.v", "axi_register_wr.v",
			"arbiter.v", "priority_encoder.v"}, params: map[string]string{"S_COUNT": "2", "M_COUNT": "2"}, masters: two, slaves: 2},
		{name: "axi_interconnect", repository: axiRTL, files: []string{"arbiter.v", "priority_encoder.v"}, params: map[string]string{"S_COUNT": "2", "M_COUNT": "2"}, masters: two, slaves: 2},
		{name: "axi2axilite", repository: zipRTL, files: []string{"skidbuffer.v", "axi_addr.v", "sfifo.v"}, params: map[string]string{"C_AXI_ADDR_WIDTH": "32"}, slaves: 1},
		{name: "axilxbar", repository: zipRTL, files: []string{"skidbuffer.v", "addrdecode.v"}, params: map[string]string{"NM": "2", "NS": "2",
			"SLAVE_ADDR": "64'h0100000000000000", "SLAVE_MASK": "64'h0100000001000000"}, masters: two, slaves: 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := test.open(t)
			checker := axi.NewChecker(b)
			if len(test.masters) == 0 {
				test.masters = []axi.Config{{}}
			}
			b.Model().Poke(test.reset, 1)
			for i := range test.slaves {
				c := test.config()
				c.Index, c.Count = i, test.slaves
				mem := memory.New(0)
				ram := check.Must(axi.NewRAM(b, test.out, mem, c))(t)
				b.RandomStall(fmt.Sprint("slave ", i), ram, 20)
				c.Ended = checker.Slave(0)
				check.Must(axi.NewMonitor(b, test.out, c))(t)
			}
			for i, own := range test.masters {
				c := test.config()
				c.Index, c.Count = own.Index, own.Count
				m := check.Must(axi.NewMaster(b, test.in, c))(t)
				b.RandomStall(fmt.Sprint("master ", i), m, 20)
				c.Ended = checker.Master(fmt.Sprint("master ", i))
				check.Must(axi.NewMonitor(b, test.in, c))(t)
				r := b.Rand(fmt.Sprint("test ", i))
				b.Go(fmt.Sprint("master ", i), func(c *testbench.Task) {
					c.Cycles(20)
					image := make([]byte, 2*space)
					at := func(k int) uint64 { return uint64(k%2)<<24 + uint64(i)<<16 } // either slave
					for k := range 60 {
						from := uint64(r.IntN(space - 400))
						part := r.Bytes(r.Between(1, 400))
						where := at(k%test.slaves) + from
						own := image[k%test.slaves*space:][from:]
						copy(own, part)
						if err := m.Write(c, where, part); err != nil {
							c.Fatalf("%w", err)
						}
						got := make([]byte, len(part))
						if err := m.Read(c, where, got); err != nil || !bytes.Equal(got, part) {
							c.Fatalf("%d bytes at %#x: %v, or they differ", len(part), where, err)
						}
					}
				})
			}
			check.Fatal(t, b.Reset(test.reset, 10))
			check.Fatal(t, b.Run(1_000_000))
			t.Logf("%d bytes found on both sides in %d cycles", checker.Checked(), b.Cycle())
		})
	}
}

// open opens a bench of the core, and fills in what its repository calls things.
func (k *core) open(t *testing.T) *testbench.Bench {
	folder := "rtl/"
	clock, reset, in, out := "clk", "rst", "s_axi", "m_axi"
	if k.repository == zipRTL {
		clock, reset, in, out = "S_AXI_ACLK", "S_AXI_ARESETN", "S_AXI", "M_AXI"
	}
	for at, value := range map[*string]string{&k.clock: clock, &k.reset: reset, &k.in: in, &k.out: out, &k.top: k.name} {
		if *at == "" {
			*at = value
		}
	}
	var files []string
	for _, name := range append(k.files, k.top+".v") {
		files = append(files, folder+name)
	}
	d := verilator.Design{Top: k.top, Sources: foreign.Files(t, k.repository, files...), Params: k.params, Flags: []string{"-Wno-fatal"}}
	return testbench.New(t, d, testbench.Config{Clock: k.clock})
}

func (k *core) config() axi.Config {
	return axi.Config{Config: bus.Config{Reset: k.reset, Waive: k.waive}}
}
