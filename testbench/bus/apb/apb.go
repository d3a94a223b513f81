// Package apb models AMBA APB (ARM IHI 0024, issue C; APB2 to APB4): a requester, a completer, and a checker of the rules.
package apb

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/verilator"
)

// ErrSlave is how a completer ends an access that it does not carry out.
var ErrSlave = errors.New("apb: the completer has answered PSLVERR")

// Config says what a bus is like. The zero value works. Addresses count bytes.
type Config struct {
	bus.Config
	// Item is called with each access that has ended.
	Item func(bus.Access)
}

// Rules, by the sections of ARM IHI 0024C.
const (
	RuleStates = "ARM IHI 0024C, 4.1" // SETUP takes one cycle, and ACCESS follows until PREADY
	RuleStable = "ARM IHI 0024C, 3.1" // address, direction, data and strobes hold until PREADY
	RuleStrobe = "ARM IHI 0024C, 3.2" // PSTRB is 0 for reads
)

// wires is a bus before a rising edge.
type wires struct {
	sel, enable, write        bool
	addr, data, strobe, ready uint64
}

// Monitor watches a bus, whoever drives it, and checks it.
type Monitor struct {
	*bus.Port
	psel, penable, pwrite, paddr, pwdata, pstrb *testbench.Signal // of the requester
	pready, prdata, pslverr                     *testbench.Signal // of the completer
	config                                      Config
	was                                         wires
	ended                                       *bus.Access
	waits                                       int64
	items                                       uint64

	coverage            testbench.Coverage
	kind, end, both, in *testbench.Point
}

// NewMonitor watches the bus of the ports with a prefix. The design may be either side.
func NewMonitor(b *testbench.Bench, prefix string, c Config) (*Monitor, error) {
	m, err := newMonitor(b, prefix, c, true)
	if err != nil {
		other, failed := newMonitor(b, prefix, c, false)
		if failed != nil {
			return nil, err
		}
		m = other
	}
	m.Run(m.see, nil)
	return m, nil
}

func newMonitor(b *testbench.Bench, prefix string, c Config, completer bool) (*Monitor, error) {
	p, err := bus.Open(b, "apb", prefix, c.Config)
	if err != nil {
		return nil, err
	}
	m := &Monitor{Port: p, config: c}
	in, out := verilator.In, verilator.Out
	if !completer {
		in, out = out, in
	}
	if err := p.Find(
		bus.Wire{To: &m.psel, Name: "psel|sel", Direction: in, Width: 1},
		bus.Wire{To: &m.penable, Name: "penable|enable", Direction: in, Width: 1},
		bus.Wire{To: &m.pwrite, Name: "pwrite|write", Direction: in, Width: 1},
		bus.Wire{To: &m.paddr, Name: "paddr|addr", Direction: in},
		bus.Wire{To: &m.pwdata, Name: "pwdata|wdata", Direction: in},
		bus.Wire{To: &m.pstrb, Name: "pstrb|pwstrb|strb", Direction: in, Optional: true},
		bus.Wire{To: &m.pready, Name: "pready|ready", Direction: out, Width: 1, Optional: true},
		bus.Wire{To: &m.prdata, Name: "prdata|rdata", Direction: out},
		bus.Wire{To: &m.pslverr, Name: "pslverr|slverr", Direction: out, Width: 1, Optional: true},
	); err != nil {
		return nil, err
	}
	switch w := m.prdata.Width(); {
	case w != 8 && w != 16 && w != 32 || m.pwdata.Width() != w:
		return nil, fmt.Errorf("%s: %w: PRDATA has %d bits and PWDATA has %d: want 8, 16 or 32 of both", p, verilator.ErrPort, w, m.pwdata.Width())
	case m.pstrb != nil && m.pstrb.Width() != w/8:
		return nil, fmt.Errorf("%s: %w: PSTRB has %d bits, want %d, one for each byte", p, verilator.ErrPort, m.pstrb.Width(), w/8)
	}
	m.Cover(&m.coverage)
	m.kind = m.coverage.Point("access", testbench.Value("read", 0), testbench.Value("write", 1))
	m.end = m.coverage.Point("end", testbench.Value("done", 0), testbench.Value("PSLVERR", 1))
	m.both = m.coverage.Cross("access x end", m.kind, m.end)
	if m.pslverr == nil {
		m.end.Without("the bus has no PSLVERR", "PSLVERR")
		m.both.Without("the bus has no PSLVERR", "read x PSLVERR", "write x PSLVERR")
	}
	m.in = m.coverage.Point("waits", testbench.Value("0", 0), testbench.Value("1", 1), testbench.Range("2 and more", 2, 1<<62))
	if m.pready == nil {
		m.in.Without("the bus has no PREADY", "1", "2 and more")
	}
	return m, nil
}

// Items is how many accesses have ended.
func (m *Monitor) Items() uint64 { return m.items }

// Coverage counts kinds of accesses, their ends, and waits.
func (m *Monitor) Coverage() *testbench.Coverage { return &m.coverage }

func (m *Monitor) bytes() int { return m.prdata.Width() / 8 }

func (m *Monitor) all() uint64 { return 1<<m.bytes() - 1 }

// see looks at the bus before a rising edge.
func (m *Monitor) see() {
	m.ended = nil
	n := wires{m.psel.Is(), m.penable.Is(), m.pwrite.Is(), m.paddr.Get(), m.pwdata.Get(), bus.Get(m.pstrb, m.all()), bus.Get(m.pready, 1)}
	was := m.was
	m.was = n
	if m.InReset() {
		m.was = wires{}
		return
	}
	setup := was.sel && !was.enable
	waits := was.sel && was.enable && was.ready == 0
	switch {
	case !n.sel && (setup || waits):
		m.Violate(RuleStates, "PSEL fell before PREADY")
	case n.sel && !n.enable && (setup || waits):
		m.Violate(RuleStates, "PENABLE is 0 in the cycle after SETUP, or fell before PREADY")
	case n.sel && n.enable && !setup && !waits:
		m.Violate(RuleStates, "PENABLE is 1 in the first cycle of an access")
	case n.sel && (setup || waits) && (n.addr != was.addr || n.write != was.write || n.strobe != was.strobe || n.write && n.data != was.data):
		m.Violate(RuleStable, "the request changed: PADDR %#x, PWRITE %v, PWDATA %#x, PSTRB %#x, before %#x, %v, %#x, %#x", n.addr, n.write, n.data, n.strobe,
			was.addr, was.write, was.data, was.strobe)
	}
	if n.sel && !n.write && m.pstrb != nil && n.strobe != 0 {
		m.Violate(RuleStrobe, "PSTRB is %#x for a read, want 0", n.strobe)
	}
	switch {
	case !n.sel || !n.enable:
		m.waits = 0
	case n.ready == 0:
		m.waits++
	default:
		m.finish(&n)
	}
}

func (m *Monitor) finish(n *wires) {
	a := bus.Access{Write: n.write, Addr: n.addr, Data: n.data, Mask: n.strobe, Edge: m.Clock.Cycles() + 1}
	kind, end := int64(1), int64(0)
	if !n.write {
		a.Data, a.Mask, kind = m.prdata.Get(), m.all(), 0
	}
	if bus.Get(m.pslverr, 0) != 0 {
		a.Err, end = ErrSlave, 1
	}
	m.kind.Sample(kind)
	m.end.Sample(end)
	m.both.SampleCross()
	m.in.Sample(m.waits)
	m.waits, m.ended = 0, &a
	m.items++
	if m.config.Item != nil {
		m.config.Item(a)
	}
}
