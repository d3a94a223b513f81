package spi

import (
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
)

// Master drives a design that is a device.
type Master struct {
	*bus.Port
	signals
	config Config
}

// NewMaster drives the bus of the ports with a prefix. Methods that move words are called between Select and Deselect.
func NewMaster(b *testbench.Bench, prefix string, c Config) (*Master, error) {
	p, err := bus.Open(b, "spi", prefix, c.Config)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	m := &Master{Port: p, config: c}
	if err := m.find(p, false); err != nil {
		return nil, err
	}
	m.sclk.Set(c.idle())
	m.cs.Set(1)
	return m, nil
}

// Select begins a transfer.
func (m *Master) Select(c *testbench.Task) {
	m.sclk.Set(m.config.idle())
	m.cs.Set(0)
	m.Wait(c, m.config.Half)
}

// Deselect ends it.
func (m *Master) Deselect(c *testbench.Task) {
	m.Wait(c, m.config.Half)
	m.cs.Set(1)
	m.Wait(c, m.config.Half)
}

// Exchange sends words on MOSI and returns what has come on MISO meanwhile.
func (m *Master) Exchange(c *testbench.Task, words ...uint64) []uint64 {
	m.fit(c, words)
	came := make([]uint64, len(words))
	for i, w := range words {
		came[i] = m.word(c, m.config.Bits, 0, 1, &w)
	}
	return came
}

// Send sends words over 1, 2 or 4 lanes.
func (m *Master) Send(c *testbench.Task, lanes int, words ...uint64) {
	m.lanes(m.Port, lanes)
	m.fit(c, words)
	for _, w := range words {
		m.word(c, m.config.Bits/lanes, 0, lanes, &w)
	}
}

// Receive returns n words that come over 1, 2 or 4 lanes.
func (m *Master) Receive(c *testbench.Task, lanes, n int) []uint64 {
	m.lanes(m.Port, lanes)
	words := make([]uint64, n)
	for i := range words {
		words[i] = m.word(c, m.config.Bits/lanes, 0, lanes, nil)
	}
	return words
}

// Dummy lets SCLK go on for n periods.
func (m *Master) Dummy(c *testbench.Task, n int) { m.word(c, n, 0, 0, nil) }

// fit refuses words of more bits than the bus has.
func (m *Master) fit(c *testbench.Task, words []uint64) {
	for _, w := range words {
		if m.config.Bits < 64 && w>>m.config.Bits != 0 {
			c.Fatalf("%s: word %#x has more than %d bits", m.Port, w, m.config.Bits)
		}
	}
}

// word moves bits for so many periods of SCLK. One lane sends on MOSI and receives on MISO.
func (m *Master) word(c *testbench.Task, periods, first, lanes int, out *uint64) (in uint64) {
	from := first
	if lanes == 1 {
		from = 1
	}
	put := func(n int) {
		if out != nil {
			m.write(first, lanes, m.config.bits(*out, n, lanes))
		}
	}
	idle := m.config.idle()
	for n := range periods {
		if !m.config.late() {
			put(n)
			m.Wait(c, m.config.Half)
		}
		sample := func() {
			if lanes > 0 {
				in = m.config.put(in, m.read(from, lanes), n, lanes)
			}
		}
		if !m.config.late() {
			sample()
		}
		m.sclk.Set(1 - idle)
		if m.config.late() {
			put(n)
			m.Wait(c, m.config.Half)
			sample()
		} else {
			m.Wait(c, m.config.Half)
		}
		m.sclk.Set(idle)
		if m.config.late() {
			m.Wait(c, m.config.Half)
		}
	}
	return in
}
