package switches

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/model"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

// Params are those of a switch, or of a network interface with a router.
type Params struct {
	Ports, PageBytes, Slots, Width int
	NI                             bool // whose slots and tables have their usual sizes
	Barriers                       bool
}

// Sizes and times of all switches here: small, so that cables that are cut are soon noticed.
const (
	nodes      = 64
	groups     = 16
	ackDelay   = 64
	wordTimer  = 512
	retry      = 2048
	headroom   = 256
	rxBytes    = 1024
	look       = 16   // symbol times between two looks at the ports
	someTime   = 1500 // for what is underway, and for acknowledgements
	noticed    = (linkproto.SilentTimers+1)*wordTimer + someTime
	impatience = 400_000
)

// World is a switch with an endpoint in Go at each of its ports.
type World struct {
	Params Params
	ports  []*ni.Port // by port; there is none at 0
	host   *ni.Host   // nil for a switch
	run    ni.Runner
	clocks int
	passed func(model.Passage)     // is called with what the model's router has dealt with
	dealt  func(model.Observation) // is called with what the model of a network interface has dealt with
	rest   func() bool             // nothing waits in the model's router; nil: who knows
	nonce  func(uint32)
	close  func() error
}

// end is the configuration of an endpoint at a port, the only one of node 100 + port.
func (p Params) end(port int, rng *testbench.Rand) flowctl.Config {
	return flowctl.Config{
		MaxPacket: linkproto.MaxRoute(p.PageBytes), Routes: true, Barriers: p.Barriers, AckDelay: ackDelay, WordTimer: wordTimer, Retry: retry,
		Node: uint16(100 + port), Nonce: ni.Nonce(rng), Port: 1, Epoch: uint8(rng.Between(1, 255)),
	}
}

// NewModel is the world of a switch in Go.
func NewModel(p Params, seed uint64) (*World, error) {
	w := &World{Params: p, ports: []*ni.Port{nil}, run: idle{}, close: func() error { return nil }}
	rng := testbench.NewRand(seed).Split("model")
	return w, try.Run(func() {
		if p.NI {
			w.modelNI(rng)
			return
		}
		s := try.Get(model.NewSwitch(model.Config{
			Router: p.Ports, PageBytes: p.PageBytes, ReplayBytes: 2048, RxBytes: rxBytes, Headroom: headroom, Slots: p.Slots, Nodes: nodes, Groups: groups,
			AckDelay: ackDelay, WordTimer: wordTimer, Retry: retry, Epoch: uint8(rng.Between(1, 255)), Barriers: p.Barriers,
			Passed: func(o model.Passage) {
				if w.passed != nil {
					w.passed(o)
				}
			},
		}))
		w.nonce, w.rest = s.SetNonce, func() bool { return !s.Busy() }
		for port := 1; port <= p.Ports; port++ {
			w.ports = append(w.ports, try.Get(ni.JoinPort(s.Port(port), p.end(port, rng))))
		}
	})
}

// idle runs what takes no time.
type idle struct{}

func (idle) Run(uint64) error { return nil }

// RTL says how NewRTL makes a switch.
type RTL struct {
	Modules  fs.FS                // laid out like rtl.FS; nil: that
	Coverage *verilator.Collector // gets the coverage when the world is closed; nil: none is counted
	Wave     string               // path of waves of the whole run; "": none
}

// NewRTL is the world of a switch in Verilog. When ctx ends, so does every run. Close it.
func NewRTL(ctx context.Context, p Params, seed uint64, c RTL) (w *World, err error) {
	w = &World{Params: p, ports: []*ni.Port{nil}, close: func() error { return nil }}
	err = try.Run(func() { w.open(ctx, seed, c) })
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func (w *World) open(ctx context.Context, seed uint64, c RTL) {
	if c.Modules == nil {
		c.Modules = rtl.FS
	}
	p, rng := w.Params, testbench.NewRand(seed).Split("rtl")
	d := p.design(c.Modules)
	d.Coverage, d.Trace = c.Coverage != nil, c.Wave != ""
	w.simulate(ctx, d, rng, c)
}

// design is the switch, or the network interface.
func (p Params) design(modules fs.FS) verilator.Design {
	if p.NI {
		return try.Get(ni.DesignFrom(modules, p.params()))
	}
	d := verilator.Design{
		Top: "net_direct", Sources: try.Get(rtl.SourcesIn(modules)), FS: modules, IncludeDirs: rtl.IncludeDirs, Params: map[string]string{},
	}
	for name, value := range map[string]int{
		"PORTS": p.Ports, "PAGE_BYTES": p.PageBytes, "REPLAY_BYTES": 2048, "RX_BYTES": rxBytes, "HEADROOM": headroom, "ACK_DELAY": ackDelay,
		"WORD_TIMER": wordTimer, "RETRY": retry, "SLOTS": p.Slots, "NODES": nodes, "GROUPS": groups, "WIDTH": max(p.Width, 1),
	} {
		d.Params[name] = strconv.Itoa(value)
	}
	if p.Barriers {
		d.Params["BARRIER"] = "1"
	}
	return d
}

// lines are the fields of a port's line.
func (p Params) lines(port int) (rx, tx string) {
	if p.NI {
		return p.params().Lines(port)
	}
	line := fmt.Sprintf("[%d:%d]", 9*port-1, 9*port-9)
	return "line_rx" + line, "line_tx" + line
}

func (w *World) simulate(ctx context.Context, d verilator.Design, rng *testbench.Rand, c RTL) {
	p := w.Params
	m := try.Get(try.Get(verilator.Build(ctx, d)).New(verilator.Config{Name: "switch", Seed: rng.Uint64()}))
	w.close = func() error {
		var err error
		if c.Coverage != nil {
			err = c.Coverage.Add(m)
		}
		return errors.Join(err, m.Close())
	}
	var reset struct {
		Rst *bool `port:"rst"`
	}
	try.OK(m.Bind(&reset))
	try.Get(m.Clock("clk", 2, 0))
	if c.Wave != "" {
		try.OK(m.Trace(c.Wave))
	}
	for port := 1; port <= p.Ports; port++ {
		rx, tx := p.lines(port)
		w.ports = append(w.ports, try.Get(ni.NewPort(m, rx, tx, p.end(port, rng))))
	}
	if p.NI {
		rx, tx := p.lines(0)
		w.host = try.Get(ni.NewHost(m, rx, tx, p.params(), 7))
	} else {
		var pins struct {
			Nonce *uint32 `port:"nonce"`
		}
		try.OK(m.Bind(&pins))
		w.nonce = func(nonce uint32) { *pins.Nonce = nonce }
	}
	*reset.Rst = true
	try.OK(m.Run(64))
	*reset.Rst = false
	if c.Coverage != nil {
		try.OK(c.Coverage.Start(m))
	}
	w.run = until{ctx, m}
}

// until runs a model as long as a context lasts.
type until struct {
	ctx context.Context
	m   *verilator.Model
}

func (u until) Run(cycles uint64) error {
	if err := u.ctx.Err(); err != nil {
		return err
	}
	return u.m.Run(cycles)
}

// Close releases what the world needs.
func (w *World) Close() error { return w.close() }

// Clocks is how many have passed.
func (w *World) Clocks() int { return w.clocks }

// step lets some clocks pass.
func (w *World) step() error {
	w.clocks += look
	if w.host != nil {
		return ni.Turn(ports{w}, look, w.host)
	}
	return ports{w}.Run(look)
}

// ports runs a world but for its host.
type ports struct{ *World }

func (w ports) Run(cycles uint64) error { return ni.Exchange(w.run, int(cycles), w.ports[1:]...) }
