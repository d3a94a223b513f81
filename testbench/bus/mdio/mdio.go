// Package mdio models the management interface of Ethernet PHYs, MDC and MDIO (IEEE 802.3 clauses 22.2.4 and 45.3): a station, devices, and a checker of
// frames.
package mdio

import (
	"cmp"
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/verilator"
)

// Config says what an interface is like. The zero value works.
type Config struct {
	bus.Config
	// Half is how many clocks half a period of MDC takes that a Station makes; 0 means 4.
	Half uint64
	// NoPreamble says that frames may begin without a preamble (22.2.4.5.2).
	NoPreamble bool
	// Item is called with each frame that a PHY has seen.
	Item func(Frame)
}

// Frame is a frame of management.
type Frame struct {
	// Clause is 22 or 45.
	Clause int
	// Op is the operation: for clause 22 Read22 or Write; for clause 45 Address, Write, ReadNext or Read.
	Op Op
	// PHY and Register are addresses of five bits; of clause 45 they are port and device.
	PHY, Register byte
	Data          uint16
}

// Op is the operation code of a frame.
type Op byte

// Operations. Clause 22 has Write and Read22.
const (
	Address  Op = 0
	Write    Op = 1
	Read22   Op = 2
	ReadNext Op = 2
	Read     Op = 3
)

// reads reports whether data comes from the PHY.
func (f *Frame) reads() bool { return f.Op == Read22 || f.Op == Read }

// Rules, by the clauses of IEEE 802.3.
const (
	RulePreamble   = "IEEE 802.3, 22.2.4.5.2" // 32 ones
	RuleOp         = "IEEE 802.3, 22.2.4.5.4" // the operation code
	RuleTurnaround = "IEEE 802.3, 22.2.4.5.7" // for a write 10; for a read the station lets go, until the data have come
	RuleEdge       = "IEEE 802.3, 22.3.4"     // the station changes MDIO away from the rising edge of MDC
)

// Registers is what a PHY does. For clause 45 the address is that which Address frames have set.
type Registers interface {
	Read(device int, address uint16) uint16
	Write(device int, address uint16, v uint16)
}

// Memory is Registers that keep what is written, for any number of devices; those of clause 22 are device -1.
type Memory map[int]map[uint16]uint16

// Read implements Registers.
func (m Memory) Read(device int, address uint16) uint16 { return m[device][address] }

// Write implements Registers.
func (m Memory) Write(device int, address uint16, v uint16) {
	if m[device] == nil {
		m[device] = map[uint16]uint16{}
	}
	m[device][address] = v
}

// PHY answers a design that is a station, and checks it. It has one address.
type PHY struct {
	*bus.Port
	config             Config
	mdc, in, out, t, e *testbench.Signal
	address            byte
	registers          Registers

	clock  uint64
	was    uint64 // MDIO a clock ago
	ones   int
	bits   int // of the frame
	shift  uint32
	frame  Frame
	ours   bool
	at     map[int]uint16 // addresses of clause 45
	send   uint16
	frames uint64

	coverage testbench.Coverage
	ops      *testbench.Point
}

// NewPHY answers the interface of the ports with a prefix: MDC, MDIO_O, MDIO_I, and MDIO_T (1 lets go) or MDIO_OE (1 drives).
func NewPHY(b *testbench.Bench, prefix string, c Config, address byte, r Registers) (*PHY, error) {
	p, err := bus.Open(b, "mdio", prefix, c.Config)
	if err != nil {
		return nil, err
	}
	if address > 31 {
		return nil, fmt.Errorf("%s: PHY address %d: want 0 to 31", p, address)
	}
	y := &PHY{Port: p, config: c, address: address, registers: r, at: map[int]uint16{}, was: 1}
	if err := p.Find(
		bus.Wire{To: &y.mdc, Name: "mdc", Direction: verilator.Out, Width: 1},
		bus.Wire{To: &y.out, Name: "mdio_o|mdio_out|mdo|mdio", Direction: verilator.Out, Width: 1},
		bus.Wire{To: &y.in, Name: "mdio_i|mdio_in|mdi|mdio", Direction: verilator.In, Width: 1},
		bus.Wire{To: &y.t, Name: "mdio_t", Direction: verilator.Out, Width: 1, Optional: true},
		bus.Wire{To: &y.e, Name: "mdio_oe|mdio_en", Direction: verilator.Out, Width: 1, Optional: true},
	); err != nil {
		return nil, err
	}
	y.in.Set(1)
	y.Cover(&y.coverage)
	y.ops = y.coverage.Point("operation", testbench.Value("22 write", 1), testbench.Value("22 read", 2), testbench.Value("45 address", 4), testbench.Value("45 write", 5),
		testbench.Value("45 read, next", 6), testbench.Value("45 read", 7))
	p.Run(func() {}, y.drive)
	return y, nil
}

// Frames is how many frames have been seen for this PHY.
func (y *PHY) Frames() uint64 { return y.frames }

// Coverage counts operations.
func (y *PHY) Coverage() *testbench.Coverage { return &y.coverage }

// driven is whether the station drives MDIO.
func (y *PHY) driven() bool {
	switch {
	case y.t != nil:
		return !y.t.Is()
	case y.e != nil:
		return y.e.Is()
	}
	return !(y.frame.reads() && y.bits >= 14)
}

// line is MDIO as the station leaves it: 1 by the pull-up when nobody drives it.
func (y *PHY) line() uint64 {
	if y.driven() {
		return y.out.Get()
	}
	return 1
}

func (y *PHY) drive() {
	clock, line := y.mdc.Get(), y.line()
	rose, was := clock == 1 && y.clock == 0, y.was
	y.clock, y.was = clock, line
	if y.InReset() {
		y.bits, y.ones = 0, 0
		y.in.Set(1)
		return
	}
	if !rose {
		return
	}
	if y.driven() && line != was {
		y.Violate(RuleEdge, "MDIO changes to %d with the rising edge of MDC", line)
	}
	y.bit(line)
}

func (y *PHY) bit(v uint64) {
	switch {
	case y.bits == 0 && v == 1:
		y.ones++
		return
	case y.bits == 0:
		if y.ones < 32 && !y.config.NoPreamble {
			y.Violate(RulePreamble, "a preamble of %d ones, want 32", y.ones)
		}
		y.ones, y.shift, y.frame = 0, 0, Frame{}
	}
	y.bits++
	y.shift = y.shift<<1 | uint32(v)
	if y.frame.reads() && y.bits >= 15 && (y.t != nil || y.e != nil) && y.driven() {
		y.Violate(RuleTurnaround, "the station drives MDIO with bit %d of a read: want it to let go from the turnaround on, bit 15", y.bits)
	}
	switch {
	case y.bits == 14:
		y.head()
	case y.bits == 15 || y.bits == 16:
		y.turn(v)
	case y.bits == 32:
		y.end()
		return
	}
	if y.frame.reads() && y.ours && y.bits >= 15 && y.bits < 32 { // 0 in the second half of the turnaround, then data
		if y.bits == 15 {
			y.in.Set(0)
		} else {
			y.in.Set(uint64(y.send >> (31 - y.bits)))
		}
	}
}

// head is behind start, operation and addresses.
func (y *PHY) head() {
	f := &y.frame
	f.Op, f.PHY, f.Register = Op(y.shift>>10&3), byte(y.shift>>5&31), byte(y.shift&31)
	if f.Clause = 45; y.shift>>12&3 == 1 {
		f.Clause = 22
		if f.Op != Write && f.Op != Read22 {
			y.Violate(RuleOp, "operation code %02b in a frame of clause 22, want 01 or 10", f.Op)
		}
	}
	y.ours = f.PHY == y.address
	if !y.ours || !f.reads() {
		return
	}
	device := int(f.Register)
	if f.Clause == 22 {
		y.send = y.registers.Read(-1, uint16(f.Register))
		return
	}
	y.send = y.registers.Read(device, y.at[device])
	if f.Op == ReadNext && y.at[device] < 0xFFFF { // where it stays (45.3)
		y.at[device]++
	}
}

func (y *PHY) turn(v uint64) {
	if want := uint64(16 - y.bits); !y.frame.reads() && v != want {
		y.Violate(RuleTurnaround, "bit %d of the turnaround of a write is %d, want %d", y.bits-14, v, want)
	}
}

func (y *PHY) end() {
	f := &y.frame
	y.bits = 0
	y.in.Set(1)
	if !y.ours {
		return
	}
	f.Data = uint16(y.shift)
	device := int(f.Register)
	switch {
	case f.reads():
		f.Data = y.send
	case f.Clause == 22:
		y.registers.Write(-1, uint16(f.Register), f.Data)
	case f.Op == Address:
		y.at[device] = f.Data
	default:
		y.registers.Write(device, y.at[device], f.Data)
	}
	y.frames++
	kind := int64(f.Op)
	if f.Clause == 45 {
		kind += 4
	}
	y.ops.Sample(kind)
	if y.config.Item != nil {
		y.config.Item(*f)
	}
}

// Station drives a design that is a PHY.
type Station struct {
	*bus.Port
	config             Config
	mdc, out, in, t, e *testbench.Signal // out is what the design takes
}

// NewStation drives the interface of the ports with a prefix: MDC, MDIO_I, MDIO_O, and perhaps MDIO_T or MDIO_OE.
func NewStation(b *testbench.Bench, prefix string, c Config) (*Station, error) {
	p, err := bus.Open(b, "mdio", prefix, c.Config)
	if err != nil {
		return nil, err
	}
	c.Half = cmp.Or(c.Half, 4)
	s := &Station{Port: p, config: c}
	if err := p.Find(
		bus.Wire{To: &s.mdc, Name: "mdc", Direction: verilator.In, Width: 1},
		bus.Wire{To: &s.out, Name: "mdio_i|mdio_in|mdi|mdio", Direction: verilator.In, Width: 1},
		bus.Wire{To: &s.in, Name: "mdio_o|mdio_out|mdo|mdio", Direction: verilator.Out, Width: 1},
		bus.Wire{To: &s.t, Name: "mdio_t", Direction: verilator.Out, Width: 1, Optional: true},
		bus.Wire{To: &s.e, Name: "mdio_oe|mdio_en", Direction: verilator.Out, Width: 1, Optional: true},
	); err != nil {
		return nil, err
	}
	s.out.Set(1)
	s.mdc.Set(0)
	return s, nil
}

// Do sends a frame, and returns what a read has brought. Without an answer that is 0xFFFF, and the error says so.
func (s *Station) Do(c *testbench.Task, f Frame) (uint16, error) {
	if f.PHY > 31 || f.Register > 31 || f.Op > Read {
		return 0, fmt.Errorf("%s: %+v: want a PHY and a register up to 31, and an operation up to %d", s, f, Read)
	}
	if !s.config.NoPreamble {
		for range 32 {
			s.bit(c, 1)
		}
	}
	start := uint32(1)
	if f.Clause == 45 {
		start = 0
	}
	head := start<<12 | uint32(f.Op&3)<<10 | uint32(f.PHY&31)<<5 | uint32(f.Register&31)
	for i := 13; i >= 0; i-- {
		s.bit(c, head>>i&1)
	}
	data, in := uint32(2)<<16|uint32(f.Data), uint32(0)
	for i := 17; i >= 0; i-- {
		out := data >> i & 1
		if f.reads() {
			out = 1
		}
		in = in<<1 | s.bit(c, out)
	}
	s.bit(c, 1)
	switch {
	case !f.reads():
		return 0, nil
	case in>>16&1 != 0:
		return 0xFFFF, fmt.Errorf("%s: no PHY at address %d answers", s, f.PHY)
	}
	return uint16(in), nil
}

// bit sends a bit, and returns what MDIO is just before the rising edge of MDC.
func (s *Station) bit(c *testbench.Task, v uint32) uint32 {
	s.out.Set(uint64(v))
	s.Wait(c, s.config.Half)
	in := uint32(1)
	if (s.t == nil || !s.t.Is()) && (s.e == nil || s.e.Is()) {
		in = uint32(s.in.Get())
	}
	s.mdc.Set(1)
	s.Wait(c, s.config.Half)
	s.mdc.Set(0)
	return in
}
