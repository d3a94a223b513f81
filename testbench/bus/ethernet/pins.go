package ethernet

import (
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/verilator"
)

// nibbles are octets over four bits, the low ones first.
type nibbles struct {
	half  bool  // an octet has begun
	high  octet // what is left of it to send, or its low half that has come
	pause bool  // the second half of an idle octet comes next
}

func (n *nibbles) next(s *Source) octet {
	if n.half {
		n.half = false
		return n.high
	}
	x := s.next(1)
	n.half, n.high = true, octet{x.value >> 4, x.valid, x.error}
	x.value &= 0xF
	return x
}

func (n *nibbles) take(s *Sink, x octet) {
	switch {
	case s.InReset():
		*n = nibbles{}
		s.restart()
	case !x.valid:
		if n.half {
			s.Violate(RuleOctets, "a frame ends after half an octet")
		}
		n.half = false
		if !n.pause {
			s.take(x)
		}
		n.pause = !n.pause
	case !n.half:
		if n.pause && !s.inside && s.any {
			s.gap-- // its last octet was but half of one
		}
		n.half, n.high, n.pause = true, x, false
	default:
		n.half = false
		s.take(octet{n.high.value | x.value<<4, true, x.error || n.high.error})
	}
}

// gmii is GMII (clause 35), or MII (clause 22) over four bits.
type gmii struct {
	data, valid, error *testbench.Signal
	nibbles            nibbles
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
		if g.data.Width() == 4 {
			g.set(g.nibbles.next(s))
			return
		}
		g.set(s.next(1))
	})
}

func (g *gmii) receive(s *Sink) {
	s.Run(func() {
		x := octet{byte(g.data.Get()), g.valid.Is(), g.error != nil && g.error.Is()}
		if g.data.Width() == 4 {
			g.nibbles.take(s, x)
			return
		}
		if !x.valid && x.error && x.value != 0x01 && x.value != 0x0F && x.value != 0x1F && !s.InReset() {
			s.Violate(RuleGMII, "ER without EN with data %#x, which is reserved", x.value)
		}
		s.take(x)
	}, nil)
}

// rgmii is RGMII 2.0: EN with the rising edge, EN xor ER with the falling one; at 1 Gbit/s the low half of an octet with the rising edge and the
// high half with the falling one, and below that a half with both edges of a clock.
type rgmii struct {
	data, ctl, clock *testbench.Signal
	slow             bool
	nibbles          nibbles
}

func (r *rgmii) find(p *bus.Port, d verilator.Direction) error {
	return p.Find(
		bus.Wire{To: &r.data, Name: "rxd|txd|rd|td", Direction: d, Width: 4},
		bus.Wire{To: &r.ctl, Name: "rx_ctl|tx_ctl|rx_dv|tx_en", Direction: d, Width: 1},
		bus.Wire{To: &r.clock, Name: "txc|tx_clk", Direction: verilator.Out, Width: 1, Optional: true},
	)
}

func (r *rgmii) send(s *Source) {
	r.data.Set(0)
	r.ctl.Set(0)
	s.Bench.Background(s.String(), func(c *testbench.Task) {
		for {
			var x octet
			if r.slow {
				x = r.nibbles.next(s)
				x.value |= x.value << 4
			} else {
				x = s.next(1)
			}
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
	if r.slow && r.clock != nil {
		r.follow(s)
		return
	}
	s.Bench.Background(s.String(), func(c *testbench.Task) {
		for {
			c.Rising(s.Clock)
			x := octet{byte(r.data.Get()), r.ctl.Is(), false}
			c.Falling(s.Clock)
			x.error = r.ctl.Is() != x.valid
			if r.slow {
				r.nibbles.take(s, x)
				continue
			}
			x.value |= byte(r.data.Get() << 4)
			s.take(x)
		}
	})
}

// follow receives with the edges of a clock that the design makes.
func (r *rgmii) follow(s *Sink) {
	var x octet
	was := false
	s.Run(func() {
		now := r.clock.Is()
		switch {
		case now && !was:
			x = octet{byte(r.data.Get()), r.ctl.Is(), false}
		case was && !now:
			x.error = r.ctl.Is() != x.valid
			r.nibbles.take(s, x)
		}
		was = now
	}, nil)
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
	ordered       bool // Sequence stands in lane 0, and data in the three others
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
	if lane%4 == 0 {
		x.ordered = !x.inFrame && control && v == sequence
	}
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
	case !x.inFrame && control && v == idle:
		s.take(octet{})
	case x.ordered && (lane%4 == 0 || !control):
		s.take(octet{})
	case control && v == terminate:
		if !x.inFrame {
			s.Violate(RuleEnd, "Terminate in lane %d between frames", lane)
		}
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
		s.take(octet{})
	default:
		s.take(octet{v, true, false})
	}
}
