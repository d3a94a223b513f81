// Package registers tests a block of registers: random accesses by its bus, compared clock by clock with a model in Go, with coverage of
// each register by each kind of access.
package registers

import (
	"testing"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// ports are those of timer. The tag "*" stands for the field's name in Verilog's manner.
type ports struct {
	RstN    *bool   `port:"*"`
	Psel    *bool   `port:"*"`
	Penable *bool   `port:"*"`
	Pwrite  *bool   `port:"*"`
	Paddr   *uint8  `port:"*"`
	Pwdata  *uint32 `port:"*"`
	Prdata  *uint32 `port:"*"`
	Pslverr *bool   `port:"*"`
	Irq     *bool   `port:"*"`
}

const ctrl, period, count, status = 0, 4, 8, 12

// model is what the timer is to be at each clock.
type model struct {
	run, enable, expired bool
	period, count        uint16
}

// tick is a rising edge, in which a register may be written.
func (m *model) tick(write bool, addr uint8, data uint32) {
	ends := m.run && m.count >= m.period
	switch {
	case ends:
		m.count = 0
	case m.run:
		m.count++
	}
	clear := write && addr == status && data&1 != 0
	m.expired = ends || m.expired && !clear
	if write && addr == ctrl {
		m.run, m.enable = data&1 != 0, data&2 != 0
	}
	if write && addr == period {
		m.period = uint16(data)
	}
}

func (m *model) read(addr uint8) uint32 {
	bit := map[bool]uint32{true: 1}
	switch addr {
	case ctrl:
		return bit[m.run] | bit[m.enable]<<1
	case period:
		return uint32(m.period)
	case count:
		return uint32(m.count)
	case status:
		return bit[m.expired]
	}
	return 0
}

func TestTimer(t *testing.T) {
	b := testbench.New(t, verilator.Design{Top: "timer", Sources: []string{"timer.v"}}, testbench.Config{})
	var p ports
	b.Bind(&p)
	*p.Psel, *p.Penable = false, false
	b.Reset("rst_n", 2)

	var cover testbench.Coverage
	address := cover.Point("register", testbench.Value("CTRL", ctrl), testbench.Value("PERIOD", period), testbench.Value("COUNT", count),
		testbench.Value("STATUS", status), testbench.Range("none", 16, 255))
	access := cover.Point("access", testbench.Value("read", 0), testbench.Value("write", 1))
	both := cover.Cross("register x access", address, access)
	interrupts := cover.Point("interrupt", testbench.Value("none", 0), testbench.Value("raised", 1))

	m := model{period: 0xFFFF}
	b.Observe(b.Main(), func() { // what the registers are about to see
		if *p.Irq != (m.expired && m.enable) {
			b.Errorf("irq is %v, the model has %+v", *p.Irq, m)
		}
		interrupts.Sample(map[bool]int64{true: 1}[*p.Irq])
		acts := *p.Psel && *p.Penable
		if bad := *p.Paddr > status || *p.Paddr%4 != 0 || *p.Pwrite && *p.Paddr == count; acts && *p.Pslverr != bad {
			b.Errorf("access to %#x: pslverr is %v", *p.Paddr, *p.Pslverr)
		}
		if want := m.read(*p.Paddr); acts && !*p.Pwrite && *p.Prdata != want {
			b.Errorf("register %#x is %#x, want %#x", *p.Paddr, *p.Prdata, want)
		}
		m.tick(acts && *p.Pwrite, *p.Paddr, *p.Pwdata)
	})
	b.Go("bus", func(task *testbench.Task) {
		random := b.Rand("bus")
		for range 3000 {
			addr := testbench.Pick(random, uint8(ctrl), period, count, status, uint8(random.Between(16, 255)))
			*p.Pwrite = random.Bool()
			data := random.Uint32()
			if addr == period {
				data &= 15 // short, so that it ends often
			}
			*p.Psel, *p.Penable, *p.Paddr, *p.Pwdata = true, false, addr, data
			task.Cycles(1) // setup phase
			*p.Penable = true
			address.Sample(int64(addr))
			access.Sample(map[bool]int64{true: 1}[*p.Pwrite])
			both.SampleCross()
			task.Cycles(1) // access phase; pready is always 1
			*p.Psel, *p.Penable = false, false
			task.Cycles(uint64(random.IntN(4)))
		}
	})
	b.Run(20_000)
	if unhit := cover.Unhit(); len(unhit) > 0 {
		t.Errorf("not covered: %q", unhit)
	}
}
