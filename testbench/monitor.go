package testbench

import (
	"cmp"

	"github.com/stafflink/lmmc/verilator"
)

// MonitorConfig says what a Monitor does. The zero value checks only.
type MonitorConfig struct {
	// Name of the stream in messages; "" means that of its data port.
	Name string
	// Reset is an input, named as for Bench.Reset: while it acts nothing is checked or passed on; "" means that there is none.
	Reset string
	// Item is called with every item that moves; Cycle is the rising edge of the stream's clock, counted from 1.
	Item func(verilator.Beat)
	// MaxStall is how many cycles an item may wait for ready; 0 means any number.
	MaxStall uint64
	// Violation is called with what is wrong; nil means Bench.Errorf.
	Violation func(cycle uint64, what string)
}

// Monitor watches a ready/valid stream, whoever drives it.
type Monitor struct {
	h       *Handshake
	config  MonitorConfig
	reset   *Signal
	active  uint64 // level of reset
	stalled bool   // valid without ready at the last edge
	data    uint64
	last    bool
	waited  uint64
	items   uint64
	stalls  uint64
}

// Monitor watches a stream from now on. It checks that valid, once 1, stays until ready takes the item, and that data
// and last do not change meanwhile.
func (i *Instance) Monitor(h *Handshake, config MonitorConfig) (*Monitor, error) {
	b := i.bench
	b.mark.Helper()
	config.Name = cmp.Or(config.Name, h.Data.name)
	m := &Monitor{h: h, config: config}
	if config.Violation == nil {
		m.config.Violation = func(cycle uint64, what string) {
			b.Errorf("stream %s, edge %d of %s: %s", config.Name, cycle, h.Clock.name, what)
		}
	}
	if config.Reset != "" {
		port, active := resetPort(config.Reset)
		reset, err := i.signal(port)
		if err != nil {
			return nil, b.check(err)
		}
		m.reset, m.active = reset, active
	}
	b.observers = append(b.observers, observer{h.Clock, m.look, config.Item == nil && config.Violation == nil})
	return m, nil
}

// Items is how many items have moved.
func (m *Monitor) Items() uint64 { return m.items }

// Stalls is how many cycles an item has waited for ready.
func (m *Monitor) Stalls() uint64 { return m.stalls }

func (m *Monitor) look() {
	if m.reset != nil && m.reset.Get() == m.active {
		m.stalled, m.waited = false, 0
		return
	}
	edge := m.h.Clock.Cycles() + 1
	valid := m.h.Valid == nil || m.h.Valid.Is()
	data, last := m.h.Data.Get(), m.h.Last != nil && m.h.Last.Is()
	if m.stalled {
		m.compare(edge, valid, data, last)
	}
	m.stalled = valid && m.h.Ready != nil && !m.h.Ready.Is()
	m.data, m.last = data, last
	switch {
	case m.stalled:
		m.stalls++
		if m.waited++; m.waited == m.config.MaxStall+1 && m.config.MaxStall > 0 {
			m.config.Violation(edge, "ready has not come in time")
		}
	case valid:
		m.waited = 0
		m.items++
		if m.config.Item != nil {
			m.config.Item(verilator.Beat{Data: data, Last: last, Cycle: edge})
		}
	}
}

// compare checks an item that was not taken at the last edge.
func (m *Monitor) compare(edge uint64, valid bool, data uint64, last bool) {
	switch {
	case !valid:
		m.waited = 0
		m.config.Violation(edge, "valid was withdrawn before ready took the item")
	case data != m.data:
		m.config.Violation(edge, "data changed while the item waited for ready")
	case last != m.last:
		m.config.Violation(edge, "last changed while the item waited for ready")
	}
}
