package wishbone_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/foreign"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/testbench/bus/uart"
	"github.com/stafflink/lmmc/testbench/bus/wishbone"
	"github.com/stafflink/lmmc/verilator"
)

// sum is a program for RV32I: it adds up the words 0x100 to 0x124, writes the sum to 0x200, its low half to 0x206, and ends in a loop.
func sum(t *testing.T, m *memory.Memory) (want uint64) {
	for i, code := range []uint64{
		0x10000093, // addi x1, x0, 0x100
		0x00000113, // addi x2, x0, 0
		0x00A00193, // addi x3, x0, 10
		0x0000A203, // lw x4, 0(x1)
		0x00410133, // add x2, x2, x4
		0x00408093, // addi x1, x1, 4
		0xFFF18193, // addi x3, x3, -1
		0xFE0198E3, // bne x3, x0, -16
		0x20202023, // sw x2, 0x200(x0)
		0x20201323, // sh x2, 0x206(x0)
		0x0000006F, // jal x0, 0
	} {
		check.Fatal(t, m.PutUint(uint64(4*i), 4, code))
	}
	for i := range uint64(10) {
		v := 0x01010101 * (i + 3)
		check.Fatal(t, m.PutUint(0x100+4*i, 4, v))
		want += v
	}
	return want
}

func ended(t *testing.T, m *memory.Memory, want uint64) func() bool {
	return func() bool {
		a, _ := m.Uint(0x200, 4)
		b, _ := m.Uint(0x206, 2)
		return a == want && b == want&0xFFFF
	}
}

func TestForeignPicorv32(t *testing.T) {
	files := foreign.Files(t, "picorv32", "picorv32.v")
	b := testbench.New(t, verilator.Design{Top: "picorv32_wb", Sources: files}, testbench.Config{Clock: "wb_clk_i"})
	var m memory.Memory
	want := sum(t, &m)
	s := check.Must(wishbone.NewSlave(b, "wbm", wishbone.Config{}, &m))(t)
	b.RandomStall("memory", s, 20)
	check.Fatal(t, b.Reset("wb_rst_i", 4))
	b.Go("wait", func(c *testbench.Task) { c.Until(ended(t, &m, want), 0) })
	check.Fatal(t, b.Run(10_000))
	t.Logf("%d accesses in %d cycles, %d violations", s.Items(), b.Cycle(), s.Violations())
}

// The native memory port of picorv32 has no model: it is ten lines.
func TestForeignPicorv32Native(t *testing.T) {
	b := testbench.New(t, verilator.Design{Top: "picorv32", Sources: foreign.Files(t, "picorv32", "picorv32.v")}, testbench.Config{})
	var p struct {
		Valid *bool   `port:"mem_valid"`
		Ready *bool   `port:"mem_ready"`
		Addr  *uint32 `port:"mem_addr"`
		Wdata *uint32 `port:"mem_wdata"`
		Wstrb *uint8  `port:"mem_wstrb"`
		Rdata *uint32 `port:"mem_rdata"`
	}
	check.Fatal(t, b.Bind(&p))
	var m memory.Memory
	want := sum(t, &m)
	accesses := 0
	b.Background("memory", func(c *testbench.Task) {
		rng := b.Rand("memory")
		for {
			c.Cycles(1)
			if *p.Ready = !*p.Ready && *p.Valid && rng.Bool(); *p.Ready {
				a := bus.Access{Write: *p.Wstrb != 0, Data: uint64(*p.Wdata), Mask: uint64(*p.Wstrb)}
				check.Error(t, a.Perform(&m, uint64(*p.Addr), 4))
				*p.Rdata = uint32(a.Data)
				accesses++
			}
		}
	})
	check.Fatal(t, b.Reset("resetn", 4))
	b.Go("wait", func(c *testbench.Task) { c.Until(ended(t, &m, want), 0) })
	check.Fatal(t, b.Run(10_000))
	t.Logf("%d accesses in %d cycles", accesses, b.Cycle())
}

func TestForeignServ(t *testing.T) {
	b := testbench.New(t, verilator.Design{Top: "serv_rf_top", Sources: foreign.Files(t, "serv", "rtl/serv_*.v"), Params: map[string]string{"WITH_CSR": "0"}}, testbench.Config{})
	var m memory.Memory
	want := sum(t, &m)
	fetch := check.Must(wishbone.NewSlave(b, "ibus", wishbone.Config{}, &m))(t)
	data := check.Must(wishbone.NewSlave(b, "dbus", wishbone.Config{}, &m))(t)
	b.RandomStall("ibus", fetch, 20)
	b.RandomStall("dbus", data, 20)
	check.Fatal(t, b.Reset("i_rst", 4))
	b.Go("wait", func(c *testbench.Task) { c.Until(ended(t, &m, want), 0) })
	check.Fatal(t, b.Run(50_000))
	t.Logf("%d fetches and %d accesses in %d cycles, %d violations", fetch.Items(), data.Items(), b.Cycle(), fetch.Violations()+data.Violations())
}

// A UART with a bus, in several formats, to and from the models of lines.
func TestForeignWbuart(t *testing.T) {
	sources := foreign.Files(t, "wbuart32", "rtl/wbuart.v", "rtl/txuart.v", "rtl/rxuart.v", "rtl/txuartlite.v", "rtl/rxuartlite.v", "rtl/ufifo.v")
	for _, test := range []struct {
		setup uint64
		line  uart.Config
		out   uart.Parity // of what it sends: its transmitter takes even for odd, against its receiver and its text (rxuart.v, txuart.v)
	}{
		{17, uart.Config{Bit: 17}, uart.None},
		{20 | 1<<26 | 1<<24, uart.Config{Bit: 20, Parity: uart.Even}, uart.Odd},
		{20 | 1<<26 | 1<<27, uart.Config{Bit: 20, Parity: uart.Odd, Stop: 2}, uart.Even},
		{33 | 1<<26 | 1<<25 | 1<<24 | 1<<28, uart.Config{Bit: 33, Parity: uart.Mark, Data: 7}, uart.Mark},
	} {
		t.Run(fmt.Sprintf("%#x", test.setup), func(t *testing.T) {
			b := testbench.New(t, verilator.Design{Top: "wbuart", Sources: sources}, testbench.Config{Clock: "i_clk"})
			m := check.Must(wishbone.NewMaster(b, "wb", wishbone.Config{Pipelined: true, WordAddress: true}))(t)
			tx := check.Must(uart.NewTransmitter(b, "uart_rx", test.line))(t)
			test.line.Parity = test.out
			rx := check.Must(uart.NewReceiver(b, "uart_tx", test.line))(t)
			check.Fatal(t, b.Reset("i_reset", 4))
			mask := byte(0xFF)
			if test.line.Data == 7 {
				mask = 0x7F
			}
			sent := b.Rand("data").Bytes(40)
			for i := range sent {
				sent[i] &= mask
			}
			b.Go("cpu", func(c *testbench.Task) {
				check.Error(t, m.Write(c, 0, test.setup|1<<30))
				c.Cycles(600)
				for i, v := range sent {
					check.Error(t, m.Write(c, 12, uint64(v)))
					if i%8 == 7 {
						if got := rx.Bytes(c, 8); !bytes.Equal(got, sent[i-7:i+1]) {
							c.Fatalf("sent: have %x, want %x", got, sent[i-7:i+1])
						}
					}
				}
				tx.Put(uart.Character{Data: 0x55}, uart.Character{Data: 0x2A})
				var got []uint64
				for len(got) < 2 {
					v, err := m.Read(c, 8)
					check.Error(t, err)
					if v&0x100 == 0 {
						got = append(got, v&0xFF)
					}
				}
				check.Equal(t, "received", got, []uint64{0x55, 0x2A})
			})
			check.Fatal(t, b.Run(200_000))
			t.Logf("%d characters out, %d accesses, %d violations", rx.Count(), m.Items(), m.Violations()+rx.Violations())
		})
	}
}

// Bridges carry random accesses from a model of a master to a memory.
func TestForeignBridges(t *testing.T) {
	wide := func(prefix string) map[string]string {
		names := map[string]string{}
		for _, s := range []string{"cyc", "stb", "we", "adr", "dat_w", "sel"} {
			names[s] = map[string]string{"adr": prefix + "addr", "dat_w": prefix + "data"}[s]
			if names[s] == "" {
				names[s] = prefix + s
			}
		}
		return names
	}
	with := func(names map[string]string, more ...string) map[string]string {
		for i := 0; i < len(more); i += 2 {
			names[more[i]] = more[i+1]
		}
		return names
	}
	for _, test := range []struct {
		top           string
		more          []string
		master, slave wishbone.Config
		clocks        []string
	}{
		{top: "wbp2classic", master: wishbone.Config{Pipelined: true, WordAddress: true, Config: bus.Config{Names: with(wide("i_s"), "ack", "o_sack", "err", "o_serr", "stall", "o_sstall", "dat_r", "o_sdata")}},
			slave: wishbone.Config{WordAddress: true, Config: bus.Config{Names: with(wide("o_m"), "ack", "i_mack", "err", "i_merr", "dat_r", "i_mdata")}}},
		{top: "wbc2pipeline", master: wishbone.Config{WordAddress: true, Config: bus.Config{Names: with(wide("i_s"), "ack", "o_sack", "err", "o_serr", "dat_r", "o_sdata")}},
			slave: wishbone.Config{Pipelined: true, WordAddress: true, Config: bus.Config{Names: with(wide("o_m"), "ack", "i_mack", "err", "i_merr", "stall", "i_mstall", "dat_r", "i_mdata")}}},
		{top: "wbxclk", more: []string{"afifo"}, clocks: []string{"i_xclk_clk"}, master: wishbone.Config{Pipelined: true, WordAddress: true}, slave: wishbone.Config{Pipelined: true, WordAddress: true}},
		{top: "wbdown", more: []string{"sfifo"}, master: wishbone.Config{Pipelined: true, WordAddress: true, Config: bus.Config{Names: with(wide("i_w"), "ack", "o_wack", "err", "o_werr", "stall", "o_wstall", "dat_r", "o_wdata")}},
			slave: wishbone.Config{Pipelined: true, WordAddress: true, Config: bus.Config{Names: with(wide("o_s"), "ack", "i_sack", "err", "i_serr", "stall", "i_sstall", "dat_r", "i_sdata")}}},
		{top: "wbupsz", more: []string{"sfifo"}, master: wishbone.Config{Pipelined: true, WordAddress: true, Config: bus.Config{Names: with(wide("i_s"), "ack", "o_sack", "err", "o_serr", "stall", "o_sstall", "dat_r", "o_sdata")}},
			slave: wishbone.Config{Pipelined: true, WordAddress: true, Config: bus.Config{Names: with(wide("o_w"), "ack", "i_wack", "err", "i_werr", "stall", "i_wstall", "dat_r", "i_wdata")}}},
	} {
		t.Run(test.top, func(t *testing.T) {
			files := []string{"rtl/" + test.top + ".v"}
			for _, m := range test.more {
				files = append(files, "rtl/"+m+".v")
			}
			clock := "i_clk"
			if test.clocks != nil {
				clock = "i_wb_clk"
			}
			d := verilator.Design{Top: test.top, Sources: foreign.Files(t, "wb2axip", files...)}
			if test.top == "wbdown" || test.top == "wbupsz" {
				d.Params = map[string]string{"OPT_LITTLE_ENDIAN": "1"}
			}
			b := testbench.New(t, d, testbench.Config{Clock: clock})
			for _, k := range test.clocks {
				test.slave.Clock = check.Must(b.Clock(k, 14, 3))(t)
			}
			var store memory.Memory
			m := check.Must(wishbone.NewMaster(b, "wb", test.master))(t)
			s := check.Must(wishbone.NewSlave(b, "xclk", test.slave, &store))(t)
			check.Fatal(t, b.Reset("i_reset", 8))
			b.RandomStall("master", m, 30)
			b.RandomStall("slave", s, 30)
			wordBytes := uint64(4)
			if test.top == "wbdown" {
				wordBytes = 8
			}
			rng := b.Rand("accesses")
			mirror := map[uint64]byte{}
			b.Go("cpu", func(c *testbench.Task) {
				for range 200 {
					var started []*bus.Pending
					var want []uint64
					write := rng.Bool()
					for range rng.Between(1, 6) {
						a := bus.Access{Write: write, Addr: wordBytes * uint64(rng.IntN(16)), Data: rng.Uint64() & (1<<(8*wordBytes) - 1), Mask: 1 + rng.Uint64N(1<<wordBytes-1)}
						word := uint64(0)
						for i := range wordBytes {
							if write && a.Mask>>i&1 != 0 {
								mirror[a.Addr+i] = byte(a.Data >> (8 * i))
							}
							if a.Mask>>i&1 != 0 {
								word |= uint64(mirror[a.Addr+i]) << (8 * i)
							}
						}
						started, want = append(started, m.Start(a)), append(want, word)
					}
					for i, p := range started {
						got, err := p.Wait(c)
						for k := range wordBytes {
							if p.Mask>>k&1 == 0 {
								got &^= 0xFF << (8 * k)
							}
						}
						if err != nil || !p.Write && got != want[i] {
							c.Fatalf("read %#x, bytes %#x: have %#x, %v, want %#x", p.Addr, p.Mask, got, err, want[i])
						}
					}
				}
			})
			check.Fatal(t, b.Run(100_000))
			t.Logf("%d accesses in, %d out, %d cycles, %d violations", m.Items(), s.Items(), b.Cycle(), m.Violations()+s.Violations())
		})
	}
}
