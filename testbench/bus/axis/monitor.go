package axis

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// Rules that a Monitor checks, by sections of IHI 0051A, as Violation.Rule and Config.Waive name them. The last two are of Config.
const (
	// RuleValid: once TVALID is 1, it stays until TREADY has taken the transfer.
	RuleValid = "AXI4-Stream 2.2 TVALID"
	// RuleStable: nothing else changes meanwhile.
	RuleStable = "AXI4-Stream 2.2 stable"
	// RuleQualifiers: TSTRB is not 1 for a byte with TKEEP at 0.
	RuleQualifiers = "AXI4-Stream 2.4.3"
	// RuleReset: TVALID is 0 in reset, and at the first edge after it.
	RuleReset = "AXI4-Stream 2.7.2"
	// RuleStall is Config.MaxStall.
	RuleStall = "MaxStall"
	// RulePacked is Config.Packed.
	RulePacked = "Packed"
)

// Monitor checks a stream, whoever drives it.
type Monitor struct {
	assembler
	config    Config
	coverage  *coverage
	transfers uint64
	frames    uint64
}

// NewMonitor watches the stream of the ports with a prefix, inputs or outputs.
func NewMonitor(b *testbench.Bench, prefix string, c Config) (*Monitor, error) {
	l, err := open(b, prefix, c, verilator.In)
	if errors.Is(err, verilator.ErrPort) {
		out, other := open(b, prefix, c, verilator.Out)
		if other == nil {
			l, err = out, nil
		}
	}
	if err != nil {
		return nil, err
	}
	m := &Monitor{assembler: assembler{layout: l}, config: c}
	if c.Coverage != nil {
		m.coverage = newCoverage(c.Coverage, l)
		b.Cover(c.Coverage)
	}
	if _, err := l.Instance.Watch(l.channel, c.TooLong(c.MaxStall), m.read); err != nil {
		return nil, fmt.Errorf("%s: %w", l.Port, err)
	}
	return m, nil
}

// Transfers is how many transfers have moved, Frames how many frames have ended.
func (m *Monitor) Transfers() uint64 { return m.transfers }

// Frames is how many frames have ended.
func (m *Monitor) Frames() uint64 { return m.frames }

func (m *Monitor) read(w *verilator.Watch) {
	for {
		e, ok := w.Next(m.row[1:])
		if !ok {
			return
		}
		switch e.Seen {
		case verilator.Moved:
			m.row[0] = e.Data
			m.moved(e)
		case verilator.InReset:
			m.reset()
		case verilator.Withdrawn:
			m.ViolateAt(e.Cycle, RuleValid, "TVALID was withdrawn before TREADY took the transfer")
		case verilator.Altered:
			m.ViolateAt(e.Cycle, RuleStable, "%s changed while the transfer waited for TREADY", m.name(e.Data))
		case verilator.ValidInReset:
			m.ViolateAt(e.Cycle, RuleReset, "TVALID is 1 in reset or at the first edge after it")
		case verilator.Stalled:
			m.ViolateAt(e.Cycle, RuleStall, "TREADY has not come for more than %d cycles", m.config.MaxStall)
		}
	}
}

func (m *Monitor) moved(e verilator.Event) {
	m.transfers++
	if m.keep.width != 0 && !m.full(m.keep) {
		m.qualifiers(e)
	}
	if m.coverage != nil {
		m.coverage.transfer(m, e)
	}
	f, ended := m.add(e.Last)
	if !ended {
		return
	}
	m.frames++
	if m.config.Frame != nil {
		m.config.Frame(f)
	}
}

// qualifiers checks a transfer with null bytes.
func (m *Monitor) qualifiers(e verilator.Event) {
	gap := false
	for i := range m.lanes {
		keep := m.bit(m.keep, i)
		if m.strb.width != 0 && m.bit(m.strb, i) && !keep {
			m.ViolateAt(e.Cycle, RuleQualifiers, "byte %d has TSTRB at 1 and TKEEP at 0", i)
			return
		}
		if m.config.Packed && keep && gap {
			m.ViolateAt(e.Cycle, RulePacked, "byte %d follows a null byte", i)
			return
		}
		gap = gap || !keep
	}
	if m.config.Packed && !e.Last && m.channel.Last != "" {
		m.ViolateAt(e.Cycle, RulePacked, "a transfer that is not the last of its frame has null bytes")
	}
}
