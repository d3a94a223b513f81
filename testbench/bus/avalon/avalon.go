// Package avalon models Avalon interfaces (Avalon Interface Specifications, Intel): memory-mapped hosts and agents with waitrequest, pipelined reads and
// bursts, and streaming sources and sinks with packets. Each checks the rules of its interface.
package avalon

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/verilator"
)

// ErrResponse is how an agent ends a transfer that it does not carry out (SLVERR).
var ErrResponse = errors.New("avalon: the agent has answered with an error")

// Rules, by the chapters of the Avalon Interface Specifications.
const (
	RuleRoles    = "Avalon-MM, signal roles"                    // read and write exclude each other
	RuleWait     = "Avalon-MM, typical transfers"               // a request holds while waitrequest is 1
	RulePipeline = "Avalon-MM, pipelined transfers"             // readdatavalid answers a read
	RuleBurst    = "Avalon-MM, burst transfers"                 // of one word and more, without others in between
	RuleReady    = "Avalon-ST, data transfer with backpressure" // data holds, or comes only in ready cycles
	RulePacket   = "Avalon-ST, packet data transfers"           // startofpacket, endofpacket, empty
)

// Config says what a memory-mapped interface is like. The zero value is one whose addresses count bytes.
type Config struct {
	bus.Config
	// WordAddress says that addresses count words, as those of agents do as a rule.
	WordAddress bool
}

// Transfer is a read or a write of one word, or of a burst of them.
type Transfer struct {
	Write bool
	// Addr is the address of the first byte.
	Addr uint64
	// Words is what is written, or what was read.
	Words []uint64
	// Masks has a bit for each byte of each word that is written; nil means all.
	Masks []uint64
	// Err is how the agent has answered.
	Err error

	count, asked, came int // words; those that have been taken; those that have come
	done               bool
}

// Done reports whether it has ended.
func (t *Transfer) Done() bool { return t.done }

// Wait waits until it has ended.
func (t *Transfer) Wait(c *testbench.Task) error {
	c.Until(t.Done, 0)
	return t.Err
}

// now is an interface before a rising edge.
type now struct {
	read, write, wait, valid        bool
	address, data, mask, count, got uint64
}

// monitor watches a memory-mapped interface and checks both sides.
type monitor struct {
	*bus.Port
	config                                   Config
	address, read, write, wdata, mask, count *testbench.Signal // of the host
	wait, rdata, valid, response             *testbench.Signal // of the agent
	is, was                                  now
	taken                                    bool   // a request at this edge
	left                                     uint64 // words of a burst of writes to come
	open                                     uint64 // words of reads to come
	words                                    uint64
	coverage                                 testbench.Coverage
	kind, length, waits                      *testbench.Point
	waited                                   int64
}

func (m *monitor) bytes() int { return m.rdata.Width() / 8 }

func (m *monitor) unit() uint64 {
	if m.config.WordAddress {
		return uint64(m.bytes())
	}
	return 1
}

func open(b *testbench.Bench, prefix string, c Config, agent bool) (*monitor, error) {
	p, err := bus.Open(b, "avalon-mm", prefix, c.Config)
	if err != nil {
		return nil, err
	}
	m := &monitor{Port: p, config: c}
	in, out := verilator.In, verilator.Out
	if !agent {
		in, out = out, in
	}
	if err := p.Find(
		bus.Wire{To: &m.address, Name: "address|addr", Direction: in},
		bus.Wire{To: &m.read, Name: "read", Direction: in, Width: 1},
		bus.Wire{To: &m.write, Name: "write", Direction: in, Width: 1},
		bus.Wire{To: &m.wdata, Name: "writedata", Direction: in},
		bus.Wire{To: &m.mask, Name: "byteenable", Direction: in, Optional: true},
		bus.Wire{To: &m.count, Name: "burstcount", Direction: in, Optional: true},
		bus.Wire{To: &m.wait, Name: "waitrequest", Direction: out, Width: 1, Optional: true},
		bus.Wire{To: &m.rdata, Name: "readdata", Direction: out},
		bus.Wire{To: &m.valid, Name: "readdatavalid", Direction: out, Width: 1, Optional: true},
		bus.Wire{To: &m.response, Name: "response", Direction: out, Width: 2, Optional: true},
	); err != nil {
		return nil, err
	}
	switch w := m.rdata.Width(); {
	case w%8 != 0 || w&(w-1) != 0 || m.wdata.Width() != w:
		return nil, fmt.Errorf("%s: %w: readdata has %d bits and writedata has %d: want 8, 16, 32 or 64 of both", p, verilator.ErrPort, w, m.wdata.Width())
	case m.mask != nil && m.mask.Width() != w/8:
		return nil, fmt.Errorf("%s: %w: byteenable has %d bits, want %d", p, verilator.ErrPort, m.mask.Width(), w/8)
	case m.count != nil && m.valid == nil:
		return nil, fmt.Errorf("%s: %w: burstcount without readdatavalid: name it in Names[\"readdatavalid\"]", p, verilator.ErrPort)
	}
	m.Cover(&m.coverage)
	m.kind = m.coverage.Point("transfer", testbench.Value("read", 0), testbench.Value("write", 1))
	m.length = m.coverage.Point("words", testbench.Value("1", 1), testbench.Range("2 and more", 2, 1<<62))
	if m.count == nil {
		m.length.Without("the interface has no burstcount", "2 and more")
	}
	m.waits = m.coverage.Point("waits", testbench.Value("0", 0), testbench.Range("1 and more", 1, 1<<62))
	if m.wait == nil {
		m.waits.Without("the interface has no waitrequest", "1 and more")
	}
	return m, nil
}

// Words is how many words have been moved.
func (m *monitor) Words() uint64 { return m.words }

// Coverage counts transfers, their lengths and waits.
func (m *monitor) Coverage() *testbench.Coverage { return &m.coverage }

// see looks at the interface before a rising edge.
func (m *monitor) see() {
	n := now{read: m.read.Is(), write: m.write.Is(), wait: bus.Get(m.wait, 0) != 0, address: m.address.Get(), data: m.wdata.Get(), mask: bus.Get(m.mask, 1<<m.bytes()-1),
		count: bus.Get(m.count, 1), got: m.rdata.Get(), valid: bus.Get(m.valid, 0) != 0}
	was := m.was
	m.is, m.was, m.taken = n, n, false
	if m.InReset() {
		m.was, m.left, m.open, m.waited = now{}, 0, 0, 0
		return
	}
	m.check(&n, &was)
	switch { // the data of a read come a cycle after it at the earliest
	case !n.valid:
	case m.open == 0:
		m.Violate(RulePipeline, "readdatavalid answers no read of an earlier cycle")
	default:
		m.open--
		m.words++
	}
	switch {
	case !n.read && !n.write:
	case n.wait:
		m.waited++
	default:
		m.taken = true
		m.take(&n)
	}
}

func (m *monitor) take(n *now) {
	m.waits.Sample(m.waited)
	m.waited = 0
	if n.write && m.left > 0 {
		m.left--
		m.words++
		return
	}
	m.kind.Sample(int64(bus.Bit(n.write)))
	m.length.Sample(int64(n.count))
	switch {
	case n.write:
		m.left = n.count - min(n.count, 1)
		m.words++
	case m.valid == nil:
		m.words++
	default:
		m.open += n.count
	}
}

func (m *monitor) check(n, was *now) {
	if was.wait && (was.read || was.write) {
		if n.read != was.read || n.write != was.write || n.address != was.address || n.mask != was.mask || n.count != was.count || n.write && n.data != was.data {
			m.Violate(RuleWait, "the request changed while waitrequest was 1: %+v, before %+v", *n, *was)
		}
	}
	switch {
	case n.read && n.write:
		m.Violate(RuleRoles, "read and write are 1")
	case n.read && m.left > 0:
		m.Violate(RuleBurst, "a read while %d words of a burst of writes are to come", m.left)
	case (n.read || n.write && m.left == 0) && n.count == 0:
		m.Violate(RuleBurst, "burstcount is 0")
	}
}
