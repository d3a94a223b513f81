package ethernet

import (
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/verilator"
)

// gmii is GMII (clause 35), or MII (clause 22) over four bits, the low ones first.
type gmii struct {
	data, valid, error *testbench.Signal
	half               bool
	high               octet // what is left of an octet
	pause              bool  // the second half of an idle octet comes next
}

func (g *gmii) find(p *bus.Port, d verilator.Direction) error {
	if err := p.Find(
		bus.Wire{To: &g.data, Name: "rxd|txd|d", Direction: d},
		bus.Wire{To: &g.valid, Name: "rx_dv|tx_en|dv|en", Direction: d, Width: 1},
		bus.Wire{To: &g.error, Name: "rx_er|tx_er|er", Direction: d, Width: 1, Optional: true},
	); err != nil {
		return err
	}
	if w := g.data.Width(); w != 8 && w != 4 {
		return fmt.Errorf("%s: %w: %s has %d bits, want 8, or 4 for MII", p, verilator.ErrPort, g.data.Name(), w)
	}
	return nil
}

func (g *gmii) set(x octet) {
	g.data.Set(uint64(x.value))
	g.valid.Set(bus.Bit(x.valid))
	if g.error != nil {
		g.error.Set(bus.Bit(x.error))
	}
}

func (g *gmii) send(s *Source) {
	g.set(octet{})
	s.Run(func() {}, func() {
		if g.half {
			g.half = false
			g.set(g.high)
			return
		}
		x := s.next(1)
		if g.data.Width() == 4 {
			g.half, g.high = true, octet{x.value >> 4, x.valid, x.error}
		}
		g.set(x)
	})
}

func (g *gmii) receive(s *Sink) {
	s.Run(func() {
		if s.InReset() {
			g.half = false
			s.restart()
			return
		}
		x := octet{byte(g.data.Get()), g.valid.Is(), g.error != nil && g.error.Is()}
		switch {
		case !x.valid && x.error && x.value != 0x01 && x.value != 0x0F && x.value != 0x1F && g.data.Width() == 8:
			s.Violate(RuleGMII, "ER without EN with data %#x, which is reserved", x.value)
			fallthrough
		case !x.valid:
			if g.half {
				s.Violate(RuleOctets, "a frame ends after half an octet")
			}
			g.half = false
			if !g.pause {
				s.take(x)
			}
			g.pause = !g.pause && g.data.Width() == 4
		case g.data.Width() == 8:
			s.take(x)
		case !g.half:
			g.half, g.high, g.pause = true, x, false
		default:
			g.half = false
			s.take(octet{g.high.value | x.value<<4, true, x.error || g.high.error})
		}
	}, nil)
}

// rgmii is RGMII 2.0: the low half of an octet and EN with the rising edge, the high half and EN xor ER with the falling one.
type rgmii struct{ data, ctl *testbench.Signal }

func (r *rgmii) find(p *bus.Port, d verilator.Direction) error {
	return p.Find(
		bus.Wire{To: &r.data, Name: "rxd|txd|rd|td", Direction: d, Width: 4},
		bus.Wire{To: &r.ctl, Name: "rx_ctl|tx_ctl|rx_dv|tx_en", Direction: d, Width: 1},
	)
}

func (r *rgmii) send(s *Source) {
	r.data.Set(0)
	r.ctl.Set(0)
	s.Bench.Background(s.String(), func(c *testbench.Task) {
		for {
			x := s.next(1)
			c.Falling(s.Clock)
			r.data.Set(uint64(x.value))
			r.ctl.Set(bus.Bit(x.valid))
			c.Rising(s.Clock)
			r.data.Set(uint64(x.value >> 4))
			r.ctl.Set(bus.Bit(x.valid != x.error))
		}
	})
}

func (r *rgmii) receive(s *Sink) {
	s.Bench.Background(s.String(), func(c *testbench.Task) {
		for {
			c.Rising(s.Clock)
			low, valid := r.data.Get(), r.ctl.Is()
			c.Falling(s.Clock)
			x := octet{byte(low | r.data.Get()<<4), valid, r.ctl.Is() != valid}
			s.take(x)
		}
	})
}

// Control characters of XGMII (table 46-3).
const (
	idle, start, terminate, failure = 0x07, 0xFB, 0xFD, 0xFE
	sequence                        = 0x9C
)

// xgmii is XGMII (clause 46) of four lanes, or eight.
type xgmii struct {
	data, control *testbench.Signal
	inFrame       bool
}

func (x *xgmii) find(p *bus.Port, d verilator.Direction) error {
	if err := p.Find(
		bus.Wire{To: &x.data, Name: "rxd|txd|d", Direction: d},
		bus.Wire{To: &x.control, Name: "rxc|txc|c", Direction: d},
	); err != nil {
		return err
	}
	if w := x.data.Width(); w != 32 && w != 64 || x.control.Width() != w/8 {
		return fmt.Errorf("%s: %w: %s has %d bits and %s has %d: want 32 and 4, or 64 and 8", p, verilator.ErrPort, x.data.Name(), w, x.control.Name(), x.control.Width())
	}
	return nil
}

func (x *xgmii) send(s *Source) {
	was := false
	put := func() {
		var data, control uint64
		for lane := range x.control.Width() {
			o := s.next(4)
			v, c := uint64(o.value), uint64(0)
			switch {
			case o.valid && !was:
				v, c = start, 1
			case o.error:
				v, c = failure, 1
			case !o.valid && was:
				v, c = terminate, 1
			case !o.valid:
				v, c = idle, 1
			}
			was = o.valid
			data |= v << (8 * lane)
			control |= c << lane
		}
		x.data.Set(data)
		x.control.Set(control)
	}
	put()
	s.Run(func() {}, put)
}

func (x *xgmii) receive(s *Sink) {
	s.Run(func() {
		if s.InReset() {
			x.inFrame = false
			s.restart()
			return
		}
		data, control := x.data.Get(), x.control.Get()
		for lane := range x.control.Width() {
			x.lane(s, lane, byte(data>>(8*lane)), control>>lane&1 != 0)
		}
	}, nil)
}

func (x *xgmii) lane(s *Sink, lane int, v byte, control bool) {
	switch {
	case control && v == start:
		if lane%4 != 0 {
			s.Violate(RuleStart, "Start in lane %d, want lane 0", lane%4)
		}
		if x.inFrame {
			s.Violate(RuleEnd, "Start within a frame")
			s.take(octet{})
		}
		x.inFrame = true
		s.take(octet{preambleOctet, true, false})
	case !x.inFrame && control && (v == idle || v == terminate):
		s.take(octet{})
	case !x.inFrame && control && v == sequence, !x.inFrame && !control && lane%4 != 0: // an ordered set, and its data
		s.take(octet{})
	case control && v == terminate:
		x.inFrame = false
		s.take(octet{})
	case control && v == failure:
		s.take(octet{v, x.inFrame, x.inFrame})
	case control && v == idle:
		s.Violate(RuleEnd, "Idle within a frame, want Terminate")
		x.inFrame = false
		s.take(octet{})
	case control:
		s.Violate(RuleXGMII, "control character %#x in lane %d is reserved", v, lane)
		s.take(octet{v, x.inFrame, x.inFrame})
	case !x.inFrame:
		s.Violate(RuleStart, "data %#x in lane %d between frames", v, lane)
	default:
		s.take(octet{v, true, false})
	}
}
