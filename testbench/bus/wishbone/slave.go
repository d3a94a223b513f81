package wishbone

import (
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
)

// mostOpen is how many requests a pipelined slave takes before it has answered the first.
const mostOpen = 8

// Slave answers a design that is a master. It answers an access that the target refuses with ERR.
type Slave struct {
	*Monitor
	bus.Stall
	target bus.Target
	early  *bus.Access // the next word of a burst, which is answered ahead of its request
}

// NewSlave answers the bus of the ports with a prefix from a memory or registers.
func NewSlave(b *testbench.Bench, prefix string, c Config, t bus.Target) (*Slave, error) {
	monitor, err := newMonitor(b, prefix, c, false)
	if err != nil {
		return nil, err
	}
	s := &Slave{Monitor: monitor, Stall: monitor.Stalls(), target: t}
	s.silent()
	s.Run(s.see, s.drive)
	return s, nil
}

func (s *Slave) silent() {
	s.ack.Set(0)
	bus.Set(s.signals.err, 0)
	bus.Set(s.rty, 0)
}

func (s *Slave) drive() {
	s.silent()
	if s.goOn(); s.InReset() || !s.cyc.Is() { // the master has ended the cycle
		s.early = nil
	}
	bus.Set(s.stall, bus.Bit(s.Stall.Now() || len(s.open) >= mostOpen-1))
	if s.InReset() || s.Stall.Now() {
		return
	}
	var a bus.Access
	switch n := &s.is; {
	case !s.cyc.Is():
		return
	case s.config.Pipelined && len(s.open) > 0:
		a = s.open[0]
	case s.early != nil:
		s.answer(*s.early, s.early.Err)
		return
	case !s.config.Pipelined && n.cyc && n.stb && !n.answered():
		a = s.access(n)
	default:
		return
	}
	if a.Write && a.Mask == 0 { // no byte of it is to be written
		s.ack.Set(1)
		return
	}
	err := a.Perform(s.target, a.Addr, s.bytes())
	s.answer(a, err)
}

func (s *Slave) access(n *now) bus.Access {
	return bus.Access{Write: n.we, Addr: n.adr * s.config.unit(s.bytes()), Data: n.dat, Mask: n.sel}
}

// goOn carries out a write that was answered ahead, and prepares the next word of a burst.
func (s *Slave) goOn() {
	if s.config.Pipelined || !s.taken {
		return
	}
	n := &s.is
	if s.early != nil && n.we && n.ack && n.sel != 0 {
		a := s.access(n)
		if err := a.Perform(s.target, a.Addr, s.bytes()); err != nil {
			s.Bench.Errorf("%s: %v, after the word of a burst was acknowledged", s, err)
		}
	}
	s.early = nil
	adr, known := s.burst.next(s.config.unit(s.bytes()), uint64(s.bytes()))
	if !known {
		return
	}
	s.early = &bus.Access{Write: n.we, Addr: adr * s.config.unit(s.bytes())}
	switch memory, bounded := s.target.(interface {
		Check(address uint64, n int) error
	}); {
	case !n.we:
		s.early.Err = s.early.Perform(s.target, s.early.Addr, s.bytes())
	case bounded:
		s.early.Err = memory.Check(s.early.Addr, s.bytes())
	default:
		s.early.Err = s.target.WriteLanes(s.early.Addr, make([]byte, s.bytes()), 0) // whether there is anything
	}
}

// answer ends an access with ACK, or ERR.
func (s *Slave) answer(a bus.Access, err error) {
	switch {
	case err == nil:
		s.ack.Set(1)
		if !a.Write {
			bus.Set(s.datS, a.Data)
		}
	case s.signals.err == nil:
		s.Bench.Errorf("%s: %v, and the bus has no ERR to say so", s, err)
	default:
		s.signals.err.Set(1)
	}
}
