package uart

import (
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/verilator"
)

// Transmitter drives an input of the design.
type Transmitter struct {
	*bus.Port
	bus.Stall
	config Config
	line   *testbench.Signal
	queue  []Character
	now    []level // of the character that is on its way
	clocks uint64
}

// NewTransmitter drives an input, which it holds at 1 until there is something to send. Throttled, it leaves gaps between characters.
func NewTransmitter(b *testbench.Bench, port string, c Config) (*Transmitter, error) {
	p, err := bus.Open(b, "uart", port, c.Config)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	t := &Transmitter{Port: p, Stall: p.Stalls(), config: c}
	if err := p.Find(bus.Wire{To: &t.line, Direction: verilator.In, Width: 1}); err != nil {
		return nil, err
	}
	t.line.Set(1)
	p.Run(func() {}, t.drive)
	return t, nil
}

// Put queues characters. The bench fails if one has more bits than the line.
func (t *Transmitter) Put(x ...Character) {
	for _, one := range x {
		if one.Data>>t.config.Data != 0 {
			t.Bench.Fatalf("%s: character %#x has more than %d bits", t, one.Data, t.config.Data)
			return
		}
	}
	t.queue = append(t.queue, x...)
}

// Send queues bytes, and waits until the last stop bit has ended.
func (t *Transmitter) Send(c *testbench.Task, data []byte) {
	for _, b := range data {
		t.Put(Character{Data: uint16(b)})
	}
	t.Drain(c)
}

// Drain waits until all is sent.
func (t *Transmitter) Drain(c *testbench.Task) {
	c.Until(func() bool { return len(t.queue) == 0 && len(t.now) == 0 }, 0)
}

func (t *Transmitter) drive() {
	if t.InReset() {
		t.now = nil // what is cut off is lost
		t.line.Set(1)
		return
	}
	t.clocks++
	for len(t.now) > 0 && t.clocks >= t.now[0].until {
		t.now = t.now[1:]
	}
	if len(t.now) == 0 && len(t.queue) > 0 && !t.Stall.Now() {
		t.now, t.queue, t.clocks = t.config.levels(t.queue[0]), t.queue[1:], 0
	}
	if len(t.now) > 0 {
		t.line.Set(t.now[0].value)
	}
}
