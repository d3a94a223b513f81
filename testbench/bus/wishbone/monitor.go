package wishbone

import (
	"strings"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
)

// Rules of Wishbone B4, and the sections of its handshakes.
const (
	RuleReset    = "Wishbone B4, rule 3.20" // a master holds CYC and STB at 0 in reset
	RuleCycle    = "Wishbone B4, rule 3.25" // CYC is 1 from STB until the last answer
	RuleNoCycle  = "Wishbone B4, rule 3.30" // a slave is silent while CYC is 0
	RuleAnswer   = "Wishbone B4, rule 3.35" // answers follow from requests
	RuleOneEnd   = "Wishbone B4, rule 3.45" // one of ACK, ERR and RTY at a time
	RuleQualify  = "Wishbone B4, rule 3.60" // ADR, DAT, SEL and WE hold while STB does
	RuleClassic  = "Wishbone B4, 3.1.3.1"   // STB stays until the answer
	RulePipeline = "Wishbone B4, 3.1.3.2"   // STB stays while STALL
	RuleCycles   = "Wishbone B4, 4.3"       // CTI is one of the four that are defined
	RuleEnd      = "Wishbone B4, rule 4.30" // End-of-Burst comes with the last word of a burst
	RuleConstant = "Wishbone B4, rule 4.35" // a burst at a constant address keeps ADR, WE and SEL
	RuleIncrease = "Wishbone B4, rule 4.40" // an incrementing burst keeps WE, SEL and BTE, and ADR goes on as BTE says
)

// now is a bus before a rising edge.
type now struct {
	cyc, stb, we, stall, ack, err, rty bool
	adr, dat, sel, cti, bte            uint64
}

func (n *now) answered() bool { return n.ack || n.err || n.rty }

// Monitor watches a bus, whoever drives it, and checks both sides.
type Monitor struct {
	*bus.Port
	signals
	config  Config
	was     now
	is      now
	taken   bool         // a request at this edge
	open    []bus.Access // taken and not answered
	burst   burst
	waits   int64 // cycles of the request that stands
	inReset int

	items    uint64
	ended    func(bus.Access) // unless nil, what drives the bus wants to know
	coverage testbench.Coverage
	kind     *testbench.Point
	end      *testbench.Point
	waited   *testbench.Point
	depth    *testbench.Point
	lanes    *testbench.Point
	both     *testbench.Point
	cycle    *testbench.Point
}

// NewMonitor watches the bus of the ports with a prefix. The design may be either side.
func NewMonitor(b *testbench.Bench, prefix string, c Config) (*Monitor, error) {
	m, err := newMonitor(b, prefix, c, true)
	if err != nil {
		var other error
		if m, other = newMonitor(b, prefix, c, false); other == nil {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	m.Run(m.see, nil)
	return m, nil
}

func newMonitor(b *testbench.Bench, prefix string, c Config, slave bool) (*Monitor, error) {
	p, err := bus.Open(b, "wishbone", prefix, c.Config)
	if err != nil {
		return nil, err
	}
	m := &Monitor{Port: p, config: c}
	if err := m.find(p, slave, c.Pipelined); err != nil {
		return nil, err
	}
	m.Cover(&m.coverage)
	m.kind = m.coverage.Point("access", testbench.Value("read", 0), testbench.Value("write", 1))
	m.end = m.coverage.Point("end", testbench.Value("ack", 0), testbench.Value("err", 1), testbench.Value("rty", 2))
	m.both = m.coverage.Cross("access x end", m.kind, m.end)
	for name, signal := range map[string]*testbench.Signal{"err": m.signals.err, "rty": m.rty} {
		if signal == nil {
			reason := "the bus has no " + strings.ToUpper(name)
			m.end.Without(reason, name)
			m.both.Without(reason, "read x "+name, "write x "+name)
		}
	}
	m.waited = m.coverage.Point("waits", testbench.Value("0", 0), testbench.Value("1", 1), testbench.Range("2 and more", 2, 1<<62))
	m.depth = m.coverage.Point("open accesses", testbench.Value("1", 1), testbench.Range("2 to 3", 2, 3), testbench.Range("4 and more", 4, 1<<62))
	if !c.Pipelined {
		m.depth.Without("classic mode", "2 to 3", "4 and more")
	}
	m.lanes = m.coverage.Point("bytes", testbench.Value("all", 0), testbench.Value("some", 1), testbench.Value("none", 2))
	if m.sel == nil {
		m.lanes.Without("the bus has no SEL", "some", "none")
	}
	m.cycle = m.coverage.Point("cycle", testbench.Value("classic", 0), testbench.Value("constant", 1), testbench.Value("end of burst", 7),
		testbench.Value("linear", 2), testbench.Value("wrap 4", 2+8), testbench.Value("wrap 8", 2+16), testbench.Value("wrap 16", 2+24))
	if m.cti == nil {
		m.cycle.Without("the bus has no CTI", "classic", "constant", "end of burst", "linear", "wrap 4", "wrap 8", "wrap 16")
	} else if m.bte == nil {
		m.cycle.Without("the bus has no BTE", "wrap 4", "wrap 8", "wrap 16")
	}
	return m, nil
}

// Items is how many accesses have ended.
func (m *Monitor) Items() uint64 { return m.items }

// Open is how many accesses were taken by the slave and have no answer yet.
func (m *Monitor) Open() int { return len(m.open) }

// Coverage counts kinds of accesses, their ends, waits, how many are open at once, and bytes.
func (m *Monitor) Coverage() *testbench.Coverage { return &m.coverage }

// see looks at the bus before a rising edge.
func (m *Monitor) see() {
	m.taken = false
	n := now{
		cyc: m.cyc.Is(), we: bus.Get(m.we, 0) != 0, adr: bus.Get(m.adr, 0), dat: bus.Get(m.datM, 0), sel: bus.Get(m.sel, 1<<m.bytes()-1),
		ack: m.ack.Is(), err: bus.Get(m.signals.err, 0) != 0, rty: bus.Get(m.rty, 0) != 0, stall: bus.Get(m.stall, 0) != 0,
		cti: bus.Get(m.cti, classic), bte: bus.Get(m.bte, 0),
	}
	n.stb = bus.Get(m.stb, bus.Bit(n.cyc)) != 0
	m.is = n
	if m.InReset() {
		if m.inReset++; m.inReset > 1 && (n.cyc || n.stb) {
			m.Violate(RuleReset, "CYC is %d and STB is %d in reset, want 0", bus.Bit(n.cyc), bus.Bit(n.stb))
		}
		m.was, m.open, m.waits, m.burst = now{}, nil, 0, burst{}
		return
	}
	m.inReset = 0
	m.checkMaster(&n)
	if m.config.Pipelined {
		m.taken = n.cyc && n.stb && !n.stall
	} else {
		m.taken = n.cyc && n.stb && n.answered()
	}
	m.checkBurst(&n)
	if m.taken {
		m.open = append(m.open, bus.Access{Write: n.we, Addr: n.adr * m.config.unit(m.bytes()), Data: n.dat, Mask: n.sel})
		m.waited.Sample(m.waits)
		m.depth.Sample(int64(len(m.open)))
		m.waits = 0
	} else if n.cyc && n.stb {
		m.waits++
	}
	m.checkSlave(&n)
	m.was = n
}

func (m *Monitor) checkMaster(n *now) {
	waited := m.was.cyc && m.was.stb && !m.was.answered()
	rule := RuleClassic
	if m.config.Pipelined {
		waited, rule = m.was.cyc && m.was.stb && m.was.stall, RulePipeline
	}
	switch {
	case n.stb && !n.cyc:
		m.Violate(RuleCycle, "STB without CYC")
	case m.was.cyc && !n.cyc && (waited || len(m.open) > 0):
		m.Violate(RuleCycle, "CYC fell while %d accesses had no answer", len(m.open)+int(bus.Bit(waited && !m.config.Pipelined)))
		m.open = nil
	case waited && !n.stb:
		m.Violate(rule, "STB fell before the slave took the request")
	case waited && (n.adr != m.was.adr || n.we != m.was.we || n.sel != m.was.sel || n.cti != m.was.cti || n.bte != m.was.bte || n.we && n.dat != m.was.dat):
		m.Violate(RuleQualify, "the request changed while it waited: ADR %#x, WE %d, SEL %#x, CTI %d, BTE %d, DAT %#x, before %#x, %d, %#x, %d, %d, %#x", n.adr,
			bus.Bit(n.we), n.sel, n.cti, n.bte, n.dat, m.was.adr, bus.Bit(m.was.we), m.was.sel, m.was.cti, m.was.bte, m.was.dat)
	}
}

func (m *Monitor) checkSlave(n *now) {
	if !n.answered() {
		return
	}
	if ends := bus.Bit(n.ack) + bus.Bit(n.err) + bus.Bit(n.rty); ends > 1 {
		m.Violate(RuleOneEnd, "ACK is %d, ERR is %d and RTY is %d", bus.Bit(n.ack), bus.Bit(n.err), bus.Bit(n.rty))
	}
	if !n.cyc {
		m.Violate(RuleNoCycle, "the slave answers while CYC is 0")
		return
	}
	if m.burst.words > 0 && !n.stb && !m.config.Pipelined {
		return // permission 4.20: the next word of a burst is acknowledged ahead
	}
	if len(m.open) == 0 {
		m.Violate(RuleAnswer, "the slave answers no request")
		return
	}
	a := m.open[0]
	m.open = m.open[1:]
	if !a.Write {
		a.Data = bus.Get(m.datS, 0)
	}
	a.Edge = m.Clock.Cycles() + 1
	switch {
	case n.err:
		a.Err = ErrBus
		m.end.Hit("err")
	case n.rty:
		a.Err = ErrRetry
		m.end.Hit("rty")
	default:
		m.end.Hit("ack")
	}
	m.items++
	m.sample(&a)
	if m.ended != nil {
		m.ended(a)
	}
	if m.config.Item != nil {
		m.config.Item(a)
	}
}

func (m *Monitor) sample(a *bus.Access) {
	m.kind.Sample(int64(bus.Bit(a.Write)))
	m.both.SampleCross()
	switch a.Mask {
	case 1<<m.bytes() - 1:
		m.lanes.Hit("all")
	case 0:
		m.lanes.Hit("none")
	default:
		m.lanes.Hit("some")
	}
}
