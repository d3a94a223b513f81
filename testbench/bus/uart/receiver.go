package uart

import (
	"fmt"
	"math"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/verilator"
)

// Rules. No single standard has them all.
const (
	RuleStart  = "UART, start bit"  // it is 0 for a bit
	RuleTiming = "UART, bit time"   // edges lie where the start bit says
	RuleParity = "UART, parity bit" // it fits the data
	RuleStop   = "UART, stop bit"   // it is 1
)

// Receiver watches an output of the design, or an input that something else drives.
type Receiver struct {
	*bus.Port
	config Config
	line   *testbench.Signal
	was    uint64
	busy   bool
	broken bool // a break or an error: nothing begins before the line has been 1
	clocks uint64
	sample int // number of the next bit
	bits   uint64
	now    Character
	gap    uint64 // clocks since the last character
	first  bool

	received []Character
	count    uint64
	coverage testbench.Coverage
	what     *testbench.Point
	idle     *testbench.Point
}

// NewReceiver watches a port.
func NewReceiver(b *testbench.Bench, port string, c Config) (*Receiver, error) {
	p, err := bus.Open(b, "uart", port, c.Config)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	if c.Tolerance == 0 {
		c.Tolerance = 0.1 + 1/c.Bit
	}
	r := &Receiver{Port: p, config: c, was: 1, first: true}
	if err := p.Find(bus.Wire{To: &r.line, Direction: verilator.Out, Width: 1}); err != nil {
		if p.Find(bus.Wire{To: &r.line, Direction: verilator.In, Width: 1}) != nil {
			return nil, err
		}
	}
	r.Cover(&r.coverage)
	r.what = r.coverage.Point("character", testbench.Value("good", 0), testbench.Value("parity error", 1), testbench.Value("framing error", 2), testbench.Value("break", 3))
	if c.Parity == None {
		r.what.Without("the line has no parity", "parity error")
	}
	r.idle = r.coverage.Point("gap", testbench.Value("none", 0), testbench.Value("less than a bit", 1), testbench.Value("longer", 2))
	p.Run(r.see, nil)
	return r, nil
}

// Coverage counts what came, and gaps between characters.
func (r *Receiver) Coverage() *testbench.Coverage { return &r.coverage }

// Count is how many characters have come.
func (r *Receiver) Count() uint64 { return r.count }

// Get waits for the next character.
func (r *Receiver) Get(c *testbench.Task) Character {
	c.Until(func() bool { return len(r.received) > 0 }, 0)
	x := r.received[0]
	r.received = r.received[1:]
	return x
}

// Bytes waits for n characters and returns their data.
func (r *Receiver) Bytes(c *testbench.Task, n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(r.Get(c).Data)
	}
	return data
}

func (r *Receiver) see() {
	v := r.line.Get()
	fell, rose := v == 0 && r.was == 1, v == 1 && r.was == 0
	r.was = v
	if r.InReset() {
		r.busy, r.broken, r.first = false, v == 0, true
		return
	}
	if r.broken {
		r.broken = v == 0
		return
	}
	if !r.busy {
		if r.gap++; fell {
			r.begin()
		}
		return
	}
	r.clocks++
	if r.sample > 0 && (fell || rose) {
		r.edge()
	}
	if !r.busy || float64(r.clocks) < (float64(r.sample)+0.5)*r.config.Bit-0.5 {
		return
	}
	r.bits |= v << r.sample
	r.sample++
	switch {
	case r.sample == 1 && v == 1:
		r.Violate(RuleStart, "the line was 0 for less than half a bit")
		r.busy = false
	case r.sample == r.config.before()+1:
		r.end()
	}
}

// begin is at the falling edge of a start bit.
func (r *Receiver) begin() {
	if !r.first {
		bits := float64(r.gap)/r.config.Bit - r.config.Stop + 0.5 // it counts from the middle of the stop bit
		r.idle.Sample(int64(min(2, max(0, math.Floor(bits+0.9)))))
		if bits < -r.config.Tolerance-0.01 {
			r.Violate(RuleStop, "the next character begins %.2f bits early", -bits)
		}
	}
	r.busy, r.clocks, r.sample, r.bits, r.first = true, 0, 0, 0, false
	r.now = Character{Edge: r.Clock.Cycles() + 1}
}

// edge checks where an edge within a character lies.
func (r *Receiver) edge() {
	at := float64(r.clocks) / r.config.Bit
	if off := at - math.Round(at); math.Abs(off) > r.config.Tolerance {
		r.Violate(RuleTiming, "an edge lies %.2f bits after that of the start bit: want whole bits, give or take %.2f", at, r.config.Tolerance)
	}
}

// end is in the middle of the stop bit.
func (r *Receiver) end() {
	c := &r.config
	r.busy, r.gap = false, 0
	r.now.Data = uint16(r.bits >> 1 & (1<<c.Data - 1))
	stop := r.bits >> c.before() & 1
	r.now.Break = stop == 0 && r.bits == 0
	r.now.Framing = stop == 0 && !r.now.Break
	r.now.Parity = !r.now.Break && c.Parity != None && r.bits>>(c.Data+1)&1 != c.parity(r.now.Data)
	r.broken = stop == 0
	r.first = r.broken
	switch {
	case r.now.Break:
		r.what.Hit("break")
	case r.now.Framing:
		r.what.Hit("framing error")
		r.Violate(RuleStop, "the stop bit after %#x is 0", r.now.Data)
	case r.now.Parity:
		r.what.Hit("parity error")
		r.Violate(RuleParity, "the parity bit after %#x is %d", r.now.Data, 1-c.parity(r.now.Data))
	default:
		r.what.Hit("good")
	}
	r.count++
	r.received = append(r.received, r.now)
	if c.Item != nil {
		c.Item(r.now)
	}
}
