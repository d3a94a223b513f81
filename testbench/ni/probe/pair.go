package probe

import (
	"context"

	"github.com/stafflink/lmmc/internal/try"
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

// open makes a model of a module and has it attached.
func open(ctx context.Context, module string, params map[string]int, seed uint64, attach func(*verilator.Model)) error {
	lib, err := verilator.Build(ctx, Design(module, params))
	if err != nil {
		return err
	}
	m, err := lib.New(verilator.Config{Seed: seed})
	if err != nil {
		return err
	}
	if err = try.Run(func() { attach(m) }); err != nil {
		m.Close()
	}
	return err
}

// OpenNIPair gives b's first frame to a.
func OpenNIPair(ctx context.Context) (*NIPair, error) {
	p := &NIPair{Params: rtl.Params{}.WithDefaults()}
	return p, open(ctx, "ni_pair", nil, 1, p.attach)
}

func (p *NIPair) attach(m *verilator.Model) {
	p.Model = m
	try.OK(m.Bind(&p.Pins))
	try.Get(m.Clock("clk", 2, 0))
	p.A = try.Get(ni.NewHost(m, "a_rx", "a_tx", p.Params, 1))
	p.B = try.Get(ni.NewHost(m, "b_rx", "b_tx", p.Params, 2))
	*p.Pins.Rst = true
	try.OK(m.Run(64))
	*p.Pins.Rst = false
	grant := linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.FrameReg(0), Value: 1<<31 | 1}
	try.OK(p.B.Request(grant, func(linkproto.Packet) {}))
	for i, h := range []*ni.Host{p.A, p.B} {
		try.OK(h.Request(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RegNonce, Value: 0x12345678 << i}, func(linkproto.Packet) {}))
	}
	try.OK(p.Run(3000))
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

	status *uint16 // of the first end
	line   *uint16 // from the second one
	silent *bool
}

// Up reports whether the link of the first end is up.
func (l *LinkPair) Up() bool { return linkproto.StatusUp.Of(uint32(*l.status)) != 0 }

// Spoken is the symbol that the second end says.
func (l *LinkPair) Spoken() linkproto.Symbol { return linkproto.Symbol(*l.line) }

// Silence keeps the second end in reset, where it says nothing.
func (l *LinkPair) Silence(on bool) { *l.silent = on }

func OpenLinkPair(ctx context.Context, cable int, seed uint64) (*LinkPair, error) {
	l := &LinkPair{}
	return l, open(ctx, "link_pair", map[string]int{"CABLE": cable}, seed, func(m *verilator.Model) { l.attach(m, seed) })
}

func (l *LinkPair) attach(m *verilator.Model, seed uint64) {
	l.Model = m
	var pins struct {
		RstA   *bool   `port:"rst_a"`
		RstB   *bool   `port:"rst_b"`
		Status *uint16 `port:"a_status"`
		Line   *uint16 `port:"b_line"`
		StopAt *uint32 `port:"stop_at"`
		Silent *uint32 `port:"silent_at"`
		Bad    *uint32 `port:"disturbances"`
	}
	try.OK(m.Bind(&pins))
	l.StopAt, l.SilentAt, l.Disturbances = pins.StopAt, pins.Silent, pins.Bad
	l.status, l.line, l.silent = pins.Status, pins.Line, pins.RstB
	try.Get(m.Clock("clk", 2, 0))
	*pins.RstA, *pins.RstB = true, true
	try.OK(m.Run(64))
	for i, side := range []string{"a", "b"} {
		in, out := verilator.Stream(side+"s"), verilator.Stream(side+"m")
		out.Seed = seed + uint64(i)
		l.Sources[i] = try.Get(m.Source(in))
		l.Sinks[i] = try.Get(m.Sink(out))
	}
	*pins.RstA, *pins.RstB = false, false
}
