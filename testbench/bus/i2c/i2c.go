// Package i2c models I2C buses (UM10204, NXP) with addresses of 7 and 10 bits: masters, targets that stretch the clock, arbitration between masters, and a
// checker of what goes over the wires. Lines are open-drain: each is 1 unless somebody pulls it to 0.
package i2c

import (
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/verilator"
)

// Config says what a bus is like.
type Config struct {
	bus.Config
	// Quarter is how many clocks a quarter of a bit of a Master takes; 0 means 4.
	Quarter uint64
	// Hold is how many clocks after a falling edge of SCL a Target changes SDA; 0 means 2.
	Hold uint64
	// Low and High are the least numbers of clocks that SCL is 0 and 1 (tLOW; tHIGH and tHD;STA); 0 means that they are not checked.
	Low, High uint64
	// Item is called with each byte that has gone over the bus.
	Item func(Byte)
}

// Byte is a byte on the bus.
type Byte struct {
	// Address says that it is the first after a START: seven bits of address, and 1 for reading. Of a 10-bit address it has the high bits.
	Address bool
	// Low says that it has the low bits of a 10-bit address.
	Low   bool
	Value byte
	// Ack says that it was acknowledged.
	Ack bool
}

// Rules, by the sections of UM10204.
const (
	RuleDrain  = "UM10204, 3.1.1"    // nobody drives a line to 1
	RuleByte   = "UM10204, 3.1.5"    // START and STOP come between bytes of eight bits and an acknowledge bit
	RuleNack   = "UM10204, 3.1.6"    // STOP or START follows a byte that was not acknowledged
	RuleVoid   = "UM10204, 3.1.10"   // STOP does not follow START at once
	RuleTen    = "UM10204, 3.1.11"   // a device with a 10-bit address is read after it was addressed for writing
	RuleTiming = "UM10204, table 10" // tLOW and tHIGH
)

// wire is SCL or SDA of the design.
type wire struct {
	in, out, t, oe *testbench.Signal
}

func (w *wire) wires(name string) []bus.Wire {
	return []bus.Wire{
		{To: &w.in, Name: name + "_i|" + name + "_in|" + name, Direction: verilator.In, Width: 1},
		{To: &w.out, Name: name + "_o|" + name + "_out", Direction: verilator.Out, Width: 1, Optional: true},
		{To: &w.t, Name: name + "_t", Direction: verilator.Out, Width: 1, Optional: true},
		{To: &w.oe, Name: name + "_oe|" + name + "_en", Direction: verilator.Out, Width: 1, Optional: true},
	}
}

// level is what the design makes of the line; pushes says that it drives it to 1.
func (w *wire) level() (v uint64, pushes bool) {
	drives := true
	switch {
	case w.t != nil:
		drives = !w.t.Is()
	case w.oe != nil:
		drives = w.oe.Is()
	case w.out == nil:
		return 1, false
	default:
		return w.out.Get(), false // pulled by a 0, left by a 1
	}
	if !drives {
		return 1, false
	}
	if w.out == nil {
		return 0, false
	}
	return w.out.Get(), w.out.Is()
}

// end is what a participant pulls: 0 for a line that it pulls down.
type end struct{ scl, sda uint64 }

// Bus is a bus with a design on it.
type Bus struct {
	*bus.Port
	config   Config
	scl, sda wire
	ends     []*end
	targets  []*Target
	line     end // the levels now
	was      end

	begun    bool // between START and STOP
	first    bool // the byte is the first after a START
	low      bool // the byte is the second of a 10-bit address
	ten      byte // the first byte of the 10-bit address that was written since the last STOP; 0 for none
	fresh    bool // no bit since START
	bits     int  // rising edges of SCL in this byte
	value    uint16
	nack     bool
	since    uint64 // clocks since the last edge of SCL
	resets   uint64 // clocks in reset
	edges    uint64
	coverage testbench.Coverage
	bytes    *testbench.Point
	starts   *testbench.Point
	widths   *testbench.Point
}

// NewBus makes a bus of the ports with a prefix: prefix_scl_i, _scl_o, _scl_t (1 lets go) or _scl_oe (1 drives), and those of SDA. A design
// without outputs for SCL does not drive it.
func NewBus(b *testbench.Bench, prefix string, c Config) (*Bus, error) {
	p, err := bus.Open(b, "i2c", prefix, c.Config)
	if err != nil {
		return nil, err
	}
	if c.Quarter == 0 {
		c.Quarter = 4
	}
	if c.Hold == 0 {
		c.Hold = 2
	}
	i := &Bus{Port: p, config: c, line: end{1, 1}, was: end{1, 1}}
	if err := p.Find(append(i.scl.wires("scl"), i.sda.wires("sda")...)...); err != nil {
		return nil, err
	}
	if i.sda.out == nil && i.sda.t == nil && i.sda.oe == nil {
		return nil, fmt.Errorf("%s: %w: the design has no output for SDA: name one in Names[\"sda_o\"], Names[\"sda_t\"] or Names[\"sda_oe\"]", p, verilator.ErrPort)
	}
	i.Cover(&i.coverage)
	i.bytes = i.coverage.Point("byte", testbench.Value("address, acknowledged", 3), testbench.Value("address, not acknowledged", 2),
		testbench.Value("data, acknowledged", 1), testbench.Value("data, not acknowledged", 0))
	i.starts = i.coverage.Point("START", testbench.Value("first", 0), testbench.Value("repeated", 1))
	i.widths = i.coverage.Point("bits of an address", testbench.Values(7, 10)...)
	i.scl.in.Set(1)
	i.sda.in.Set(1)
	p.Run(func() {}, i.drive)
	return i, nil
}

// Coverage counts bytes, STARTs and addresses.
func (i *Bus) Coverage() *testbench.Coverage { return &i.coverage }

func (i *Bus) join() *end {
	e := &end{1, 1}
	i.ends = append(i.ends, e)
	return e
}

// settle makes the lines of what all pull.
func (i *Bus) settle() {
	scl, pushScl := i.scl.level()
	sda, pushSda := i.sda.level()
	if (pushScl || pushSda) && !i.InReset() {
		i.Violate(RuleDrain, "the design drives a line to 1: SCL %v, SDA %v", pushScl, pushSda)
	}
	for _, e := range i.ends {
		scl, sda = scl&e.scl, sda&e.sda
	}
	i.line = end{scl, sda}
	i.scl.in.Set(scl)
	i.sda.in.Set(sda)
}

func (i *Bus) drive() {
	if i.InReset() {
		i.restart()
		return
	}
	i.settle()
	i.since++
	was, now := i.was, i.line
	i.was = now
	start := was.scl == 1 && now.scl == 1 && was.sda == 1 && now.sda == 0
	stop := was.scl == 1 && now.scl == 1 && was.sda == 0 && now.sda == 1
	switch {
	case start || stop:
		i.frame(start)
	case was.scl == 0 && now.scl == 1:
		i.time("low", i.config.Low)
		i.rise(now.sda)
	case was.scl == 1 && now.scl == 0:
		i.time("high", i.config.High)
		i.fall()
	}
	for _, t := range i.targets {
		t.step(was, now, start, stop)
	}
	i.settle()
}

// restart lets the lines go, and forgets what was under way.
func (i *Bus) restart() {
	i.resets++
	i.was, i.line, i.begun, i.ten = end{1, 1}, end{1, 1}, false, 0
	for _, e := range i.ends {
		*e = end{1, 1}
	}
	for _, t := range i.targets {
		t.restart()
	}
	i.scl.in.Set(1)
	i.sda.in.Set(1)
}

func (i *Bus) time(what string, least uint64) {
	if i.edges++; i.edges > 1 && i.begun && least > 0 && i.since < least {
		if i.fresh && i.bits == 0 {
			what = "high after START" // tHD;STA is as long as tHIGH
		}
		i.Violate(RuleTiming, "SCL was %s for %d clocks, want %d", what, i.since, least)
	}
	i.since = 0
}

// frame is at a START or a STOP.
func (i *Bus) frame(start bool) {
	name := "STOP"
	if start {
		name = "START"
	}
	switch {
	case i.begun && i.bits > 1:
		i.Violate(RuleByte, "%s after %d bits of a byte", name, i.bits-1)
	case i.begun && i.fresh && !start:
		i.Violate(RuleVoid, "STOP follows START")
	}
	if start {
		repeated := int64(0)
		if i.begun {
			repeated = 1
		}
		i.starts.Sample(repeated)
	}
	i.begun, i.first, i.fresh, i.bits, i.value, i.nack, i.low = start, start, start, 0, 0, false, false
	if !start {
		i.ten = 0
	}
	i.since = 0
}

func (i *Bus) rise(sda uint64) {
	if !i.begun {
		return
	}
	i.bits++
	i.value = i.value<<1 | uint16(sda)
}

func (i *Bus) fall() {
	if !i.begun {
		return
	}
	if i.bits > 0 {
		i.fresh = false
	}
	if i.nack && i.bits == 1 {
		i.Violate(RuleNack, "another byte follows one that was not acknowledged")
		i.nack = false
	}
	if i.bits < 9 {
		return
	}
	b := Byte{Address: i.first, Low: i.low, Value: byte(i.value >> 1), Ack: i.value&1 == 0}
	kind := int64(0)
	if i.low = false; b.Address {
		kind = 2
		i.address(b)
	}
	if b.Ack {
		kind++
	}
	i.bytes.Sample(kind)
	i.nack, i.first, i.bits, i.value = !b.Ack, false, 0, 0
	if i.config.Item != nil {
		i.config.Item(b)
	}
}

// tenBits is what the first byte of a 10-bit address begins with (section 3.1.11); two bits of address and the one for reading follow.
const tenBits = 0xF0

// address takes the first byte after a START.
func (i *Bus) address(b Byte) {
	if b.Value&^7 != tenBits {
		i.widths.Sample(7)
		i.ten = 0
		return
	}
	i.widths.Sample(10)
	switch reading := b.Value&1 != 0; {
	case reading && i.ten != b.Value&^1:
		i.Violate(RuleTen, "a read from a 10-bit address, %#x, that was not written before the repeated START", b.Value)
	case !reading:
		i.ten, i.low = b.Value, b.Ack
	}
}
