package probe

import (
	"context"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

// NIPair is two network interfaces joined by their links on one model, with a host each.
type NIPair struct {
	Model  *verilator.Model
	A, B   *ni.Host
	Params rtl.Params
	Pins   struct {
		Rst      *bool   `port:"rst"`
		EOP      *uint32 `port:"eop_at"`
		Written  *uint32 `port:"written_at"`
		Resumed  *uint32 `port:"resumed_at"`
		Released *uint32 `port:"released_at"`
	}
}

// OpenNIPair gives b's first frame to a.
func OpenNIPair(ctx context.Context) (*NIPair, error) {
	lib, err := verilator.Build(ctx, Design("ni_pair", nil))
	if err != nil {
		return nil, err
	}
	p := &NIPair{Params: rtl.Params{}.WithDefaults()}
	if p.Model, err = lib.New(verilator.Config{Seed: 1}); err != nil {
		return nil, err
	}
	if err := p.attach(); err != nil {
		p.Model.Close()
		return nil, err
	}
	return p, nil
}

func (p *NIPair) attach() (err error) {
	if err := p.Model.Bind(&p.Pins); err != nil {
		return err
	}
	if _, err := p.Model.Clock("clk", 2, 0); err != nil {
		return err
	}
	if p.A, err = ni.NewHost(p.Model, "a_rx", "a_tx", p.Params, 1); err != nil {
		return err
	}
	if p.B, err = ni.NewHost(p.Model, "b_rx", "b_tx", p.Params, 2); err != nil {
		return err
	}
	*p.Pins.Rst = true
	if err := p.Model.Run(64); err != nil {
		return err
	}
	*p.Pins.Rst = false
	grant := linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.FrameReg(0), Value: 1<<31 | 1}
	if err := p.B.Request(grant, func(linkproto.Packet) {}); err != nil {
		return err
	}
	return p.Run(2000)
}

// Run runs n clocks, and lets the hosts look at their ports every 16.
func (p *NIPair) Run(n int) error {
	for done := 0; done < n; done += 16 {
		if err := p.Turn(16); err != nil {
			return err
		}
	}
	return nil
}

// Turn runs n clocks between two looks of the hosts at their ports.
func (p *NIPair) Turn(n int) error { return ni.Turn(p.Model, n, p.A, p.B) }

// LinkPair is two link endpoints on one model, packets in and out on either side.
type LinkPair struct {
	Model   *verilator.Model
	Sources [2]*verilator.Source
	Sinks   [2]*verilator.Sink
	// StopAt and SilentAt are the clocks in which STOP was raised last, and in which the sender let out its last symbol of a frame.
	StopAt, SilentAt *uint32
	// Disturbances counts clocks in which a packet was dropped or sent again.
	Disturbances *uint32
}

func OpenLinkPair(ctx context.Context, cable int, seed uint64) (*LinkPair, error) {
	lib, err := verilator.Build(ctx, Design("link_pair", map[string]int{"CABLE": cable}))
	if err != nil {
		return nil, err
	}
	l := &LinkPair{}
	if l.Model, err = lib.New(verilator.Config{Seed: seed}); err != nil {
		return nil, err
	}
	if err := l.attach(seed); err != nil {
		l.Model.Close()
		return nil, err
	}
	return l, nil
}

func (l *LinkPair) attach(seed uint64) error {
	var pins struct {
		RstA   *bool   `port:"rst_a"`
		RstB   *bool   `port:"rst_b"`
		StopAt *uint32 `port:"stop_at"`
		Silent *uint32 `port:"silent_at"`
		Bad    *uint32 `port:"disturbances"`
	}
	if err := l.Model.Bind(&pins); err != nil {
		return err
	}
	l.StopAt, l.SilentAt, l.Disturbances = pins.StopAt, pins.Silent, pins.Bad
	if _, err := l.Model.Clock("clk", 2, 0); err != nil {
		return err
	}
	*pins.RstA, *pins.RstB = true, true
	if err := l.Model.Run(64); err != nil {
		return err
	}
	for i, side := range []string{"a", "b"} {
		in, out := verilator.Stream(side+"s"), verilator.Stream(side+"m")
		out.Seed = seed + uint64(i)
		var err error
		if l.Sources[i], err = l.Model.Source(in); err != nil {
			return err
		}
		if l.Sinks[i], err = l.Model.Sink(out); err != nil {
			return err
		}
	}
	*pins.RstA, *pins.RstB = false, false
	return nil
}
