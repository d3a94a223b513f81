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
	bus.Set(s.stall, bus.Bit(s.Stall.Now() || len(s.open) >= mostOpen-1))
	if s.InReset() || s.Stall.Now() {
		return
	}
	var a bus.Access
	switch n := &s.is; {
	case !s.cyc.Is(): // the master has ended the cycle
		return
	case s.config.Pipelined && len(s.open) > 0:
		a = s.open[0]
	case !s.config.Pipelined && n.cyc && n.stb && !n.answered():
		a = bus.Access{Write: n.we, Addr: n.adr * s.config.unit(s.bytes()), Data: n.dat, Mask: n.sel}
	default:
		return
	}
	if a.Write && a.Mask == 0 { // no byte of it is to be written
		s.ack.Set(1)
		return
	}
	err := a.Perform(s.target, a.Addr, s.bytes())
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
