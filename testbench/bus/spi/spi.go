// Package spi models SPI in its four modes, over one, two or four lanes: a master, devices, a checker of what a master does, and a flash.
package spi

import (
	"cmp"
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/verilator"
)

// Config says what a bus is like. The zero value is mode 0 with words of 8 bits, the highest bit first.
type Config struct {
	bus.Config
	// Mode is 2 CPOL + CPHA, 0 to 3.
	Mode int
	// Bits is the size of a word, up to 64; 0 means 8.
	Bits int
	// LowFirst sends the lowest bit first.
	LowFirst bool
	// Half is how many clocks half a period of SCLK takes that a Master makes; 0 means 4. A design that samples SCLK with its clock needs some.
	Half uint64
}

// Rules, by the terms of the SPI Block Guide (Motorola).
const (
	RuleIdle = "SPI, clock polarity" // SCLK has its idle level when a device is selected and when it is no more
	RuleData = "SPI, clock phase"    // data does not change with the edge that samples it
	RuleWord = "SPI, words"          // a word is sent as a whole
	RuleBoth = "SPI, lanes"          // a lane is driven by one side
)

func (c *Config) check() error {
	c.Bits, c.Half = cmp.Or(c.Bits, 8), cmp.Or(c.Half, 4)
	switch {
	case c.Mode < 0 || c.Mode > 3:
		return fmt.Errorf("Config.Mode is %d: want 0 to 3", c.Mode)
	case c.Bits < 4 || c.Bits > 64 || c.Bits%4 != 0:
		return fmt.Errorf("Config.Bits is %d: want a multiple of 4 up to 64", c.Bits)
	}
	return nil
}

// idle is the level of SCLK between words.
func (c *Config) idle() uint64 { return uint64(c.Mode >> 1) }

// late says that data changes with the first edge of a bit and is sampled with the second (CPHA).
func (c *Config) late() bool { return c.Mode&1 != 0 }

// bits are those of a word that go with its clock n over so many lanes.
func (c *Config) bits(word uint64, n, lanes int) uint64 {
	if c.LowFirst {
		return word >> (n * lanes) & (1<<lanes - 1)
	}
	return word >> (c.Bits - (n+1)*lanes) & (1<<lanes - 1)
}

// put adds them to a word.
func (c *Config) put(word, bits uint64, n, lanes int) uint64 {
	if c.LowFirst {
		return word | bits<<(n*lanes)
	}
	return word | bits<<(c.Bits-(n+1)*lanes)
}

// signals of a bus, lane by lane; lane 0 is MOSI and lane 1 is MISO as long as there is one lane each way.
type signals struct {
	sclk, cs     *testbench.Signal
	to, from, oe [4]*testbench.Signal // the design, as seen from it
}

func (s *signals) find(p *bus.Port, master bool) error {
	clock, names, single := verilator.Out, "mosi|copi|sdo", "miso|cipo|sdi"
	out, in := 0, 1
	if !master {
		clock, names, single = verilator.In, "miso|cipo|sdo", "mosi|copi|sdi"
		out, in = 1, 0
	}
	wires := []bus.Wire{
		{To: &s.sclk, Name: "sclk|sck|clk", Direction: clock, Width: 1},
		{To: &s.cs, Name: "cs_n|csb|ss_n|ssb|ncs|nss|csn|cs|ss|ce_n", Direction: clock, Width: 1},
	}
	for i := range 4 {
		from := bus.Wire{To: &s.from[i], Name: fmt.Sprintf("io%d_o|io%[1]d_do|dq%[1]d_o", i), Direction: verilator.Out, Width: 1, Optional: true}
		to := bus.Wire{To: &s.to[i], Name: fmt.Sprintf("io%d_i|io%[1]d_di|dq%[1]d_i", i), Direction: verilator.In, Width: 1, Optional: true}
		if i == out {
			from.Name, from.Optional = names+"|"+from.Name, false
		}
		if i == in {
			to.Name, to.Optional = single+"|"+to.Name, false
		}
		wires = append(wires, from, to, bus.Wire{To: &s.oe[i], Name: fmt.Sprintf("io%d_oe|dq%[1]d_oe", i), Direction: verilator.Out, Width: 1, Optional: true})
	}
	return p.Find(wires...)
}

// lanes checks that there are so many both ways.
func (s *signals) lanes(p *bus.Port, n int) {
	for i := range n {
		if n > 1 && (s.to[i] == nil || s.from[i] == nil) {
			p.Bench.Fatalf("%s: %d lanes, and the design has no ports for both directions of lane %d: name them in Names[\"io%[3]d_i\"] and Names[\"io%[3]d_o\"]", p, n, i)
		}
	}
}

// read is what the design says on lanes from the first on; one lane alone is MOSI or MISO.
func (s *signals) read(first, n int) (v uint64) {
	for i := range n {
		v |= s.from[first+i].Get() << i
	}
	return v
}

func (s *signals) write(first, n int, v uint64) {
	for i := range n {
		s.to[first+i].Set(v >> i)
	}
}
