package ethernet

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/verilator"
)

// Config says what an interface is like. The zero value works.
type Config struct {
	bus.Config
	// Speed is that of RGMII in Mbit/s: 1000, 100 or 10; 0 means 1000. Below 1000 half an octet goes with each clock.
	Speed int
	// MaxFrame is the longest frame; 0 means 1518 octets.
	MaxFrame int
	// MinGap is the shortest gap between frames that a Sink takes; 0 means 12 octets.
	MinGap int
	// Item is called with each frame that a Sink has received.
	Item func(Frame)
}

func (c *Config) slow() bool { return c.Speed == 100 || c.Speed == 10 }

func (c *Config) check(p pins) error {
	_, can := p.(*rgmii)
	switch {
	case c.Speed == 0 || can && (c.Speed == 1000 || c.slow()):
		return nil
	case can:
		return fmt.Errorf("Config.Speed is %d Mbit/s: want 1000, 100 or 10", c.Speed)
	}
	return errors.New("Config.Speed is for RGMII: what others send with a clock follows from their width")
}

// Source drives an interface of the design that receives. Throttled, it leaves longer gaps.
type Source struct {
	*bus.Port
	bus.Stall
	pins  pins
	queue []Frame
	now   []octet // on their way
	gap   int     // idle octets since the last frame
	lane  int     // of the octet to come, counted in octets since the beginning
	sent  uint64
}

// NewGMIISource drives GMII, or MII if the data has 4 bits: RXD or TXD, RX_DV or TX_EN, RX_ER or TX_ER.
func NewGMIISource(b *testbench.Bench, prefix string, c Config) (*Source, error) {
	return newSource(b, "gmii", prefix, c, &gmii{})
}

// NewRGMIISource drives RGMII (version 2.0) on both edges of the clock: RXD or TXD, RX_CTL or TX_CTL.
func NewRGMIISource(b *testbench.Bench, prefix string, c Config) (*Source, error) {
	return newSource(b, "rgmii", prefix, c, &rgmii{slow: c.slow()})
}

// NewXGMIISource drives XGMII of 32 or 64 bits: RXD or TXD, RXC or TXC.
func NewXGMIISource(b *testbench.Bench, prefix string, c Config) (*Source, error) {
	return newSource(b, "xgmii", prefix, c, &xgmii{})
}

func newSource(b *testbench.Bench, kind, prefix string, c Config, pins pins) (*Source, error) {
	p, err := bus.Open(b, kind, prefix, c.Config)
	if err != nil {
		return nil, err
	}
	if err := c.check(pins); err != nil {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	if err := pins.find(p, verilator.In); err != nil {
		return nil, err
	}
	s := &Source{Port: p, Stall: p.Stalls(), pins: pins, gap: MinGap}
	pins.send(s)
	return s, nil
}

// Put queues frames.
func (s *Source) Put(frames ...Frame) { s.queue = append(s.queue, frames...) }

// Send queues a frame of some data, padded to the least length, and waits until it has gone.
func (s *Source) Send(c *testbench.Task, data []byte) {
	s.Put(Frame{Data: Pad(data)})
	s.Drain(c)
}

// Drain waits until all frames have gone.
func (s *Source) Drain(c *testbench.Task) {
	c.Until(func() bool { return len(s.queue) == 0 && len(s.now) == 0 }, 0)
}

// Sent is how many frames have gone.
func (s *Source) Sent() uint64 { return s.sent }

// next returns the next octet. A frame begins where its lane is a multiple of align.
func (s *Source) next(align int) octet {
	reset := s.InReset()
	if reset {
		s.now = nil // what is cut off is lost, as on a cable
	}
	if !reset && len(s.now) == 0 && len(s.queue) > 0 && s.lane%align == 0 {
		gap := s.queue[0].Gap
		if gap == 0 {
			gap = MinGap
		}
		if s.gap >= gap && !s.Stall.Now() {
			s.now, s.queue = s.queue[0].octets(), s.queue[1:]
		}
	}
	s.lane++
	if len(s.now) == 0 {
		s.gap++
		return octet{}
	}
	x := s.now[0]
	s.now = s.now[1:]
	if s.gap = 0; len(s.now) == 0 {
		s.sent++
	}
	return x
}

// pins is an interface as wires.
type pins interface {
	find(p *bus.Port, d verilator.Direction) error
	send(s *Source)
	receive(s *Sink)
}
