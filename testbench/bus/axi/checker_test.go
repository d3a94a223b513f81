package axi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/axi"
	"github.com/stafflink/lmmc/testbench/bus/dut"
	"github.com/stafflink/lmmc/testbench/bus/memory"
)

// faulty is a memory that refuses some addresses and may give wrong data.
type faulty struct {
	*memory.Memory
	wrong func(address uint64) bool
}

func (f faulty) Read(address uint64, p []byte) error {
	if f.wrong(address) {
		return fmt.Errorf("address %#x is out of order", address)
	}
	return f.Memory.Read(address, p)
}

// Many transactions under way at once, answers out of order and with errors, exclusive ones: all bins are hit, and the bytes on both sides agree.
func TestConcurrent(t *testing.T) {
	b := testbench.New(t, dut.Design("axi_pipe", nil), testbench.Config{})
	var coverage testbench.Coverage
	checker := axi.NewChecker(b)
	m := check.Must(axi.NewMaster(b, "s_axi", axi.Config{}))(t)
	target := faulty{memory.New(space), func(address uint64) bool { return address>>8 == 5 }}
	ram := check.Must(axi.NewRAM(b, "m_axi", target, axi.Config{Reorder: true}))(t)
	monitor := check.Must(axi.NewMonitor(b, "s_axi", axi.Config{Coverage: &coverage, Ended: checker.Master("s_axi")}))(t)
	slave := check.Must(axi.NewMonitor(b, "m_axi", axi.Config{Ended: checker.Slave(0)}))(t)
	b.RandomStall("master", m, 20)
	b.RandomStall("ram", ram, 20)
	const tasks, each = 4, 150
	b.Reset("rst", 3)
	for k := range tasks {
		r := b.Rand(fmt.Sprint("transactions ", k))
		b.Go(fmt.Sprint("task ", k), func(c *testbench.Task) {
			var open []*axi.Pending
			for i := range each {
				one := random(r, 3)
				if r.Chance(0.05) {
					one.Addr += space // where nothing is
				}
				if open = append(open, m.Start(c, one)); len(open) == 8 || i == each-1 {
					for _, p := range open {
						_ = p.Wait(c)
					}
					open = nil
				}
			}
		})
	}
	b.Go("locks", func(c *testbench.Task) {
		for range 50 {
			lock := axi.Transaction{ID: 15, Addr: space - 64, Size: 3, Lock: true}
			_ = m.Start(c, lock).Wait(c)
			lock.Write, lock.Data = true, make([]byte, 8)
			_ = m.Start(c, lock).Wait(c)
		}
	})
	b.Run(1_000_000)
	if n := monitor.Transactions(); n != tasks*each+100 || slave.Transactions() != n || monitor.Outstanding()+slave.Outstanding() != 0 {
		t.Errorf("%d transactions at the master, %d at the slave", n, slave.Transactions())
	}
	if unhit := coverage.Unhit(); len(unhit) > 0 {
		t.Errorf("not hit: %q", slices.Compact(unhit))
	}
	if checker.Checked() < 10_000 {
		t.Errorf("%d bytes were checked", checker.Checked())
	}
}

// A slave's wrong data are found by the checker, and so is a write that does not arrive.
func TestCheckerFinds(t *testing.T) {
	read := axi.Transaction{Addr: 8, Len: 1, Size: 2, Data: []byte{1, 2, 3, 4}, Begin: 10, End: 20}
	write := read
	write.Write = true
	at := func(t axi.Transaction, change func(*axi.Transaction)) *axi.Transaction {
		t.Data = slices.Clone(t.Data)
		change(&t)
		return &t
	}
	for _, test := range []struct {
		name   string
		slave  *axi.Transaction
		master *axi.Transaction
		want   string
	}{
		{"read", at(read, func(t *axi.Transaction) { t.Begin, t.End = 12, 18 }), &read, ""},
		{"wrong byte", at(read, func(t *axi.Transaction) { t.Data[2] = 9 }), &read, "byte 0x03 at 0xa was not read from any slave meanwhile: there it was 0x09"},
		{"too early", at(read, func(t *axi.Transaction) { t.Begin, t.End = 1, 9 }), &read, "byte 0x01 at 0x8"},
		{"nowhere", at(write, func(t *axi.Transaction) { t.Addr = 0 }), &write, "byte 0x01 at 0x8 was not written to any slave"},
		{"not enabled", at(write, func(t *axi.Transaction) { t.Strobe = []byte{7} }), &write, "byte 0x04 at 0xb"},
		{"refused", at(write, func(t *axi.Transaction) { t.Resp = axi.SlvErr }), &write, "byte 0x01 at 0x8"},
	} {
		b := check.Must(testbench.Open(t.Context(), dut.Design("axi_pipe", nil), testbench.Config{Wave: testbench.WaveNever}))(t)
		k := axi.NewChecker(b)
		k.Slave(0)(test.slave)
		k.Master("s")(test.master)
		got := ""
		if err := b.Step(1); err != nil {
			got = err.Error()
		}
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		check.Fatal(t, b.Close())
	}
}

// What the bus cannot carry, what breaks the rules, and ports that do not fit are refused.
func TestRefused(t *testing.T) {
	b := check.Must(testbench.Open(t.Context(), dut.Design("axi_ram", map[string]int{"DATA_WIDTH": 32}), testbench.Config{Wave: testbench.WaveNever}))(t)
	defer b.Close()
	named := func(signal, port string) error {
		_, err := axi.NewMaster(b, "s_axi", axi.Config{Config: bus.Config{Names: map[string]string{signal: port}}})
		return err
	}
	_, misspelt := axi.NewMaster(b, "s_axl", axi.Config{})
	_, other := axi.NewRAM(b, "s_axi", memory.New(0), axi.Config{})
	for _, test := range []struct {
		err  error
		want string
	}{
		{misspelt, "did you mean s_axi_awvalid?"},
		{other, "has no output for AWVALID"},
		{named("awlen", "s_axi_awsize"), "awlen has 3 bits, want 8"},
		{named("awlen", "-"), "there is no awlen, which AXI4 needs"},
		{named("wstrb", "s_axi_awsize"), "WSTRB has 3 bits, want one for each of the 4 bytes of WDATA"},
		{named("wdata", "s_axi_awsize"), "WDATA has 3 bits, want 8, 16, 32"},
		{named("wlast", "-"), "WLAST or RLAST is missing"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("got %v, want ... %s", test.err, test.want)
		}
	}
	for _, test := range []struct {
		t    axi.Transaction
		want string
	}{
		{axi.Transaction{Addr: 0xFFC, Len: 2, Size: 2}, "8 bytes from 0xffc cross a boundary of 4 KB (AXI A3.4.1 4 KB)"},
		{axi.Transaction{ID: 16, Size: 2}, "0x10 in arid of 4 bits"},
		{axi.Transaction{Addr: 1 << 14, Size: 2}, "0x4000 in araddr of 14 bits"},
		{axi.Transaction{Write: true, Size: 2, QoS: 1, Data: make([]byte, 4)}, "0x1 in awqos of 0 bits"},
		{axi.Transaction{Write: true, Size: 2, Data: make([]byte, 3)}, "Data has 3 bytes and Strobe 0: want 4, and 1 or none"},
		{axi.Transaction{Len: 257}, "want 1 to 256 transfers of 1 to 4 bytes"},
	} {
		fresh := check.Must(testbench.Open(t.Context(), dut.Design("axi_ram", map[string]int{"DATA_WIDTH": 32}), testbench.Config{Wave: testbench.WaveNever}))(t)
		own := check.Must(axi.NewMaster(fresh, "s_axi", axi.Config{}))(t)
		fresh.Go("test", func(c *testbench.Task) { own.Start(c, test.t) })
		if err := fresh.Run(10); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want ... %s", &test.t, err, test.want)
		}
		check.Fatal(t, fresh.Close())
	}
}
