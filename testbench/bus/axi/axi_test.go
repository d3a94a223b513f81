package axi_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/axi"
	"github.com/stafflink/lmmc/testbench/bus/dut"
	"github.com/stafflink/lmmc/testbench/bus/memory"
)

// space is how many bytes the tests use.
const space = 1 << 14

// random returns a transaction that keeps to the rules, on a bus of 1<<size bytes.
func random(r *testbench.Rand, size int) axi.Transaction {
	t := axi.Transaction{Write: r.Bool(), ID: r.Uint64N(16), Size: size, Len: r.Between(1, 40)}
	if r.Chance(0.3) {
		t.Size = r.IntN(size + 1)
	}
	t.Addr = r.Uint64N(space)
	switch r.Weighted(4, 1, 1) {
	case 0:
		if r.Chance(0.1) {
			t.Len = 256
		}
		bytes := uint64(1) << t.Size
		if left := 4096 - t.Addr%4096; uint64(t.Len) > (left+bytes-1)/bytes {
			t.Len = int((left + bytes - 1) / bytes)
		}
	case 1:
		t.Burst, t.Len = axi.Fixed, r.Between(1, 16)
	case 2:
		t.Burst, t.Len = axi.Wrap, 2<<r.IntN(4)
		t.Addr &^= 1<<t.Size - 1
	}
	if r.Chance(0.1) {
		t.Lock, t.Burst, t.Len = true, axi.Incr, 1
		t.Addr &^= 1<<t.Size - 1
	}
	if t.Write {
		t.Data = r.Bytes(t.Len << t.Size)
		if r.Chance(0.4) {
			t.Strobe = r.Bytes((len(t.Data) + 7) / 8)
			maskStrobe(&t)
		}
	}
	return t
}

// maskStrobe takes out the bytes below the first address.
func maskStrobe(t *axi.Transaction) {
	below := int(t.Addr & (1<<t.Size - 1))
	step := len(t.Data)
	if t.Burst == axi.Fixed {
		step = 1 << t.Size
	}
	for from := 0; from < len(t.Data); from += step {
		for k := from; k < from+below; k++ {
			t.Strobe[k/8] &^= 1 << (k % 8)
		}
	}
}

// model does transactions on a slice, written from the standard's formulas and not from the package's.
type model []byte

func (m model) do(t *axi.Transaction) (data []byte) {
	bytes := uint64(1) << t.Size
	aligned := t.Addr / bytes * bytes
	low := t.Addr / (bytes * uint64(t.Len)) * (bytes * uint64(t.Len))
	address := t.Addr
	for i := range t.Len {
		from := address / bytes * bytes
		for k := range bytes {
			at := uint64(i)*bytes + k
			switch {
			case from+k < address:
				data = append(data, 0)
			case !t.Write:
				data = append(data, m[from+k])
			case t.Strobe == nil || t.Strobe[at/8]>>(at%8)&1 != 0:
				m[from+k] = t.Data[at]
			}
		}
		switch t.Burst {
		case axi.Incr:
			address = aligned + uint64(i+1)*bytes
		case axi.Wrap:
			if address += bytes; address == low+bytes*uint64(t.Len) {
				address = low
			}
		}
	}
	return data
}

// blank makes bytes 0 that count for nothing: those below the first address.
func blank(t *axi.Transaction) []byte {
	data := bytes.Clone(t.Data)
	below := int(t.Addr & (1<<t.Size - 1))
	clear(data[:below])
	if t.Burst == axi.Fixed {
		for i := range t.Len {
			clear(data[i<<t.Size : i<<t.Size+below])
		}
	}
	return data
}

// Random transactions, one after the other, leave what a slice says: on a RAM of ours in Verilog, and on the model of one behind registers.
func TestTransactions(t *testing.T) {
	for _, test := range []struct {
		name, top string
		params    map[string]int
		size      int
		c         axi.Config
	}{
		{"ram of 32 bits", "axi_ram", map[string]int{"DATA_WIDTH": 32}, 2, axi.Config{}},
		{"model of 64 bits", "axi_pipe", nil, 3, axi.Config{}},
		{"model of 512 bits", "axi_pipe", map[string]int{"DATA_WIDTH": 512}, 6, axi.Config{Reorder: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := testbench.New(t, dut.Design(test.top, test.params), testbench.Config{})
			m := check.Must(axi.NewMaster(b, "s_axi", axi.Config{}))(t)
			check.Must(axi.NewMonitor(b, "s_axi", axi.Config{}))(t)
			b.RandomStall("master", m, 20)
			image := make(model, space+4096)
			b.Rand("image").Fill(image)
			if test.top == "axi_pipe" {
				mem := memory.New(0)
				check.Fatal(t, mem.Write(0, image))
				ram := check.Must(axi.NewRAM(b, "m_axi", mem, test.c))(t)
				check.Must(axi.NewMonitor(b, "m_axi", axi.Config{}))(t)
				b.RandomStall("ram", ram, 20)
			}
			b.Reset("rst", 3)
			r := b.Rand("transactions")
			b.Go("test", func(c *testbench.Task) {
				if test.top == "axi_ram" {
					if err := m.Write(c, 0, image[:space]); err != nil {
						c.Fatalf("%w", err)
					}
				}
				for range 150 {
					one := random(r, test.size)
					one.Lock = false
					p := m.Start(c, one)
					if err := p.Wait(c); err != nil {
						c.Fatalf("%w", err)
					}
					want := image.do(&one)
					if !one.Write && !bytes.Equal(blank(&p.Transaction), want) {
						c.Fatalf("%s: got %x, want %x", &one, blank(&p.Transaction), want)
					}
				}
				at, n := r.IntN(space/2), r.IntN(space/2)
				got := make([]byte, n)
				if err := m.Read(c, uint64(at), got); err != nil || !bytes.Equal(got, image[at:at+n]) {
					c.Fatalf("read of %d bytes at %#x: %v", n, at, err)
				}
			})
			b.Run(200_000)
		})
	}
}

// Registers behind AXI4-Lite: words, parts of words, and an address without a register.
func TestLite(t *testing.T) {
	b := testbench.New(t, dut.Design("axil_regs", nil), testbench.Config{})
	m := check.Must(axi.NewMaster(b, "s_axil", axi.Config{}))(t)
	monitor := check.Must(axi.NewMonitor(b, "s_axil", axi.Config{}))(t)
	b.RandomStall("master", m, 20)
	b.Reset("resetn", 3)
	r := b.Rand("test")
	b.Go("test", func(c *testbench.Task) {
		want := r.Bytes(64)
		if err := m.Write(c, 0, want); err != nil {
			c.Fatalf("%w", err)
		}
		for range 100 {
			at := r.IntN(64)
			part := r.Bytes(r.IntN(64 - at + 1))
			copy(want[at:], part)
			if err := m.Write(c, uint64(at), part); err != nil {
				c.Fatalf("%w", err)
			}
			got := make([]byte, 64)
			if err := m.Read(c, 0, got); err != nil || !bytes.Equal(got, want) {
				c.Fatalf("%d bytes at %d: %v, got %x, want %x", len(part), at, err, got, want)
			}
		}
		if err := m.Read(c, 0x40, make([]byte, 4)); !errors.Is(err, axi.ErrDecode) {
			c.Fatalf("an address without a register: %v", err)
		}
	})
	b.Run(100_000)
	if monitor.Outstanding() != 0 || monitor.Transactions() < 1000 {
		t.Errorf("%d transactions, %d under way", monitor.Transactions(), monitor.Outstanding())
	}
}
