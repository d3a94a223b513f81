package spi

import (
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
)

// Phase is what comes next between a master and a device.
type Phase struct {
	// Lanes is 1, 2 or 4; 0 means 1. With one lane, words go both ways at once, on MOSI and MISO.
	Lanes int
	// Out says that the device sends; it must for Data to go out on more than one lane.
	Out bool
	// Data is the word that is sent.
	Data uint64
	// Dummy, unless 0, is how many periods of SCLK pass without data instead.
	Dummy int
}

// Device is what a Slave does.
type Device interface {
	// Select is called when the device is selected.
	Select() Phase
	// Next is called when a phase has ended, with the word that came in it.
	Next(in uint64) Phase
	// Deselect is called when the device is no longer selected.
	Deselect()
}

// Slave answers a design that is a master, as a device says, and checks the master.
type Slave struct {
	*bus.Port
	signals
	config   Config
	device   Device
	selected bool
	clock    uint64
	phase    Phase
	count    int // periods of the phase that are over
	in       uint64
	before   [4]uint64 // what the design drove a clock ago

	words    uint64
	coverage testbench.Coverage
	lane     *testbench.Point
	length   *testbench.Point
	inSelect int64
}

// NewSlave answers the bus of the ports with a prefix.
func NewSlave(b *testbench.Bench, prefix string, c Config, d Device) (*Slave, error) {
	p, err := bus.Open(b, "spi", prefix, c.Config)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	s := &Slave{Port: p, config: c, device: d, clock: c.idle()}
	if err := s.find(p, true); err != nil {
		return nil, err
	}
	s.release()
	s.Cover(&s.coverage)
	s.lane = s.coverage.Point("lanes", testbench.Values(1, 2, 4)...)
	s.length = s.coverage.Point("words a transfer", testbench.Value("1", 1), testbench.Range("2 to 4", 2, 4), testbench.Range("5 and more", 5, 1<<62))
	p.Run(func() {}, s.drive)
	return s, nil
}

// Words is how many words have been moved.
func (s *Slave) Words() uint64 { return s.words }

// Coverage counts lanes, and lengths of transfers.
func (s *Slave) Coverage() *testbench.Coverage { return &s.coverage }

// release lets all lanes go, to their pull-ups.
func (s *Slave) release() {
	for _, lane := range s.to {
		if lane != nil {
			lane.Set(1)
		}
	}
}

func (s *Slave) drive() {
	clock, selected := s.sclk.Get(), s.cs.Get() == 0 && !s.InReset()
	edge := clock != s.clock && s.selected && selected
	s.clock = clock
	switch {
	case selected && !s.selected:
		if clock != s.config.idle() {
			s.Violate(RuleIdle, "SCLK is %d when the device is selected, want %d in mode %d", clock, s.config.idle(), s.config.Mode)
		}
		s.inSelect = 0
		s.enter(s.device.Select())
		if !s.config.late() {
			s.put()
		}
	case !selected && s.selected:
		s.leave(clock)
	case edge && (clock != s.config.idle()) != s.config.late():
		s.sample()
	case edge:
		s.put()
	}
	s.selected = selected
	for i, lane := range s.from {
		if lane != nil {
			s.before[i] = lane.Get()
		}
	}
}

func (s *Slave) leave(clock uint64) {
	if !s.InReset() {
		if clock != s.config.idle() {
			s.Violate(RuleIdle, "SCLK is %d when the device is deselected, want %d in mode %d", clock, s.config.idle(), s.config.Mode)
		}
		if s.count != 0 && s.phase.Dummy == 0 {
			s.Violate(RuleWord, "the device is deselected after %d of %d bits of a word", s.count*s.phase.Lanes, s.config.Bits)
		}
		s.length.Sample(s.inSelect)
	}
	s.device.Deselect()
	s.release()
}

func (s *Slave) enter(p Phase) {
	if p.Lanes == 0 {
		p.Lanes = 1
	}
	s.lanes(s.Port, p.Lanes)
	s.phase, s.count, s.in = p, 0, 0
}

// put drives what belongs to the period of SCLK that begins.
func (s *Slave) put() {
	s.release()
	p := &s.phase
	switch {
	case p.Dummy > 0:
	case p.Lanes == 1:
		s.write(1, 1, s.config.bits(p.Data, s.count, 1))
	case p.Out:
		for i := range p.Lanes {
			if s.oe[i] != nil && s.oe[i].Is() {
				s.Violate(RuleBoth, "the master drives lane %d while the device sends on it", i)
			}
		}
		s.write(0, p.Lanes, s.config.bits(p.Data, s.count, p.Lanes))
	}
}

func (s *Slave) sample() {
	p := &s.phase
	if p.Dummy == 0 && !(p.Out && p.Lanes > 1) {
		v := s.read(0, p.Lanes)
		for i := range p.Lanes {
			if was := s.before[i]; was != v>>i&1 && !p.Out {
				s.Violate(RuleData, "lane %d changes from %d with the edge of SCLK that samples it", i, was)
			}
		}
		s.in = s.config.put(s.in, v, s.count, p.Lanes)
	}
	s.count++
	length := s.config.Bits / p.Lanes
	if p.Dummy > 0 {
		length = p.Dummy
	}
	if s.count == length {
		if p.Dummy == 0 {
			s.words++
			s.inSelect++
			s.lane.Sample(int64(p.Lanes))
		}
		s.enter(s.device.Next(s.in))
	}
}
