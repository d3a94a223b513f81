// Package uart models asynchronous serial lines: a transmitter and a receiver for characters of 5 to 9 bits with any parity, stop bits and
// clocks a bit, breaks, and errors on purpose.
package uart

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"

	"github.com/stafflink/lmmc/testbench/bus"
)

// Parity is the bit between data and stop bits.
type Parity int

// Parities.
const (
	None  Parity = iota
	Even         // the number of ones, with that of the parity bit, is even
	Odd          // it is odd
	Mark         // always 1
	Space        // always 0
)

// Config says what a line is like. Bit must be set; the rest is 8N1 unless set.
type Config struct {
	bus.Config
	// Bit is the number of clocks a bit, from 2 on; it need not be whole.
	Bit float64
	// Data is the number of data bits, 5 to 9; 0 means 8.
	Data int
	// Parity is none, unless set.
	Parity Parity
	// Stop is the number of stop bits: 1, 1.5 or 2; 0 means 1.
	Stop float64
	// Tolerance is how far an edge may lie from where it should be, in bits, counted from the start bit; 0 means a tenth, and a clock.
	Tolerance float64
	// Item is called with each character that has come.
	Item func(Character)
}

// Character is what goes over a line between two idle states.
type Character struct {
	// Data is the data bits.
	Data uint16
	// Parity says that the parity bit is wrong.
	Parity bool
	// Framing says that the stop bit is 0.
	Framing bool
	// Break says that the line is 0 for a whole character and its stop bit. Sent, it lasts twice as long.
	Break bool
	// Edge is the rising edge of the clock, counted from 1, at which the start bit was seen.
	Edge uint64
}

func (c *Config) check() error {
	c.Data, c.Stop = cmp.Or(c.Data, 8), cmp.Or(c.Stop, 1)
	switch {
	case !(c.Bit >= 2) || c.Bit > 1e9:
		return fmt.Errorf("Config.Bit is %v clocks a bit: want 2 or more", c.Bit)
	case c.Data < 5 || c.Data > 9:
		return fmt.Errorf("Config.Data is %d bits: want 5 to 9", c.Data)
	case c.Stop != 1 && c.Stop != 1.5 && c.Stop != 2:
		return fmt.Errorf("Config.Stop is %v bits: want 1, 1.5 or 2", c.Stop)
	case c.Parity < None || c.Parity > Space:
		return fmt.Errorf("Config.Parity is %d: want None, Even, Odd, Mark or Space", c.Parity)
	case c.Tolerance < 0 || c.Tolerance >= 0.5:
		return fmt.Errorf("Config.Tolerance is %v bits: want less than half a bit", c.Tolerance)
	}
	return nil
}

// parity is the right parity bit of data.
func (c *Config) parity(data uint16) uint64 {
	odd := uint64(bits.OnesCount16(data) & 1)
	switch c.Parity {
	case Odd:
		return 1 - odd
	case Mark:
		return 1
	case Space:
		return 0
	}
	return odd
}

// before is how many bits stand before the stop bits.
func (c *Config) before() int {
	if c.Parity == None {
		return 1 + c.Data
	}
	return 2 + c.Data
}

// level is a level of the line and when it ends, in clocks since the start bit.
type level struct {
	value uint64
	until uint64
}

// levels is what a character is on the line.
func (c *Config) levels(x Character) []level {
	var line []level
	at := 0.0
	add := func(value uint64, n float64) {
		at += n
		line = append(line, level{value, uint64(math.Round(at * c.Bit))})
	}
	if x.Break {
		add(0, 2*(float64(c.before())+c.Stop))
		add(1, c.Stop)
		return line
	}
	add(0, 1)
	for i := range c.Data {
		add(uint64(x.Data>>i&1), 1)
	}
	if c.Parity != None {
		wrong := uint64(0)
		if x.Parity {
			wrong = 1
		}
		add(c.parity(x.Data)^wrong, 1)
	}
	if x.Framing {
		add(0, 1)
	}
	add(1, c.Stop)
	return line
}
