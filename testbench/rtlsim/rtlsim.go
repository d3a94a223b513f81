// Package rtlsim is the transport to simulated network interfaces (NIs): their Verilog, compiled by Verilator, in this process.
//
// Importing it makes targets such as "rtl:" and "rtl:?links=2&frames=8" known to hostdrv.Open: one NI whose links are cabled to each
// other, 1 to 2, 3 to 4 and so on, an odd last one to itself. Options are links, frames, page (bytes), replay (bytes), rx (bytes), trace
// (records of the trace buffer), routes (1: it takes ROUTEs), latency (clocks of a cable), seed, record (clocks that a wave can show, see Target) and uart, which makes
// the host port a UART with so many clocks a bit, where it takes a symbol a clock otherwise. New makes any other network, with a transport
// for each of its NIs.
package rtlsim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

func init() { hostdrv.Register("rtl", open) }

// Rate is the nominal clock of a simulated NI in Hz, which its time in seconds follows from. A tick is a clock, or the time of a byte on a UART.
const Rate = 125e6

// Config describes a network.
type Config struct {
	Params  rtl.Params // the links are not UARTs
	Chip    *Chip      // what is simulated; nil: the RTL of an NI with these parameters
	NIs     int        // 0: 1
	Cables  []ni.Cable // between links; one from a link to itself loops it back
	Seed    uint64     // of what the RTL leaves uninitialised
	Threads int        // 0: 1
	Record  uint64     // clocks of which DumpWave can show at least the last; 0: none, which is faster
	Quantum int        // ticks between two looks of a driver at its cable; 0: 32
	Hz      float64    // of the clock, unless there is a chip; 0: Rate
}

// Chip is a design around NIs' RTL or made of it, such as the netlist of a board: it has the ports clk, host_rx, host_tx, link_rx and
// link_tx of module ni_lines, resets itself when it gets power, and has set its UARTs' divisors.
type Chip struct {
	Design verilator.Design
	Hz     float64 // of its clock
}

const (
	quantum     = 32 // of Config
	resetClocks = 64 // longer than block RAM of an iCE40 reads as zero after configuration
)

// Network is a simulation of NIs joined by cables.
type Network struct {
	*lockstep.World
	// Wires are the directions of the cables, two for each in their order, one for a loop.
	Wires []*verilator.Link
	sim   *simulation
	tick  float64
}

// Tick is the time of a tick, in clocks at Rate.
func (n *Network) Tick() float64 { return n.tick }

type simulation struct {
	net    *verilator.Network
	nodes  []*node
	params rtl.Params
	looped []bool // links of the first NI that hear what it says itself, or say that, by their numbers from 0
	tick   int    // clocks
	renew  func() // gives a chip power again; nil for RTL, which has a reset
}

// node is one NI.
type node struct {
	model *verilator.Model
	clock *verilator.Clock
	rst   *bool // nil for a chip
	host  line
	in    []linkproto.Symbol
	watch *watch // nil: nobody looks
	sends bool   // its host does, in this run
	heard bool   // something has come by a wire (Rack)
}

// New compiles the NI, which takes a while the first time, and builds the network. Close it, unless it has one driver only and that is
// to close it (see lockstep.World.Sole).
func New(ctx context.Context, c Config) (*Network, error) {
	c.NIs, c.Threads = max(c.NIs, 1), max(c.Threads, 1)
	if c.Params.LinkPHY == rtl.UART {
		return nil, errors.New("rtlsim: only network interfaces with the direct or the serial PHY at their links")
	}
	c.Params = c.Params.WithDefaults()
	rate := cmp.Or(c.Hz, Rate)
	if c.Chip != nil {
		rate = c.Chip.Hz
	}
	lib, err := verilator.Build(ctx, c.design())
	if err != nil {
		return nil, err
	}
	n := newNetwork(c)
	s := n.sim
	if c.Chip != nil {
		s.renew = func() {
			if c.NIs > 1 {
				try.Failf("rtlsim: a chip of several is not reset: all would lose their power")
			}
			try.OK(s.Close())
			s.net, s.nodes, n.Wires = nil, nil, nil
			n.build(lib, c)
		}
	}
	if err := try.Run(func() { n.build(lib, c) }); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	turn := cmp.Or(c.Quantum, quantum)
	n.World = lockstep.New(s, c.NIs, turn, turn, rate/float64(s.tick))
	n.tick = float64(s.tick) * Rate / rate
	return n, nil
}

// Open is the transport to any design with the ports clk, host_rx and host_tx, a UART with so many clocks a bit that carries symbols as module phy_uart
// has it. The design resets itself when it gets power.
func Open(ctx context.Context, c Chip, divisor int, seed uint64) (hostdrv.Transport, error) {
	n, err := New(ctx, Config{Params: rtl.Params{HostPHY: rtl.UART, HostDivisor: divisor}, Chip: &c, Seed: seed})
	if err != nil {
		return nil, err
	}
	t, err := n.Sole()
	if err = errors.Join(err, n.settle()); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return &chipTarget{t, n}, nil
}

// settle lets a design that has got power come out of its reset, and forgets what it has sent meanwhile: a host is never as quick.
func (n *Network) settle() error {
	return n.Between(func() error { return n.sim.reset(n.sim.nodes...) })
}

// chipTarget is a design alone, which is reset by taking its power.
type chipTarget struct {
	hostdrv.Transport
	n *Network
}

// Reset implements hostdrv.Resetter.
func (t *chipTarget) Reset() error { return errors.Join(t.n.Reset(0), t.n.settle()) }

// newNetwork is one of which nothing has been built.
func newNetwork(c Config) *Network {
	s := &simulation{params: c.Params, looped: make([]bool, max(c.Params.Links, 0))}
	s.tick, _ = c.Params.SymbolClocks()
	return &Network{sim: s}
}

func (n *Network) build(lib *verilator.Library, c Config) {
	s := n.sim
	rng := rand.New(rand.NewPCG(c.Seed, 1))
	var models []*verilator.Model
	for i := range c.NIs {
		m := try.Get(lib.New(verilator.Config{Name: fmt.Sprintf("ni%d", i), Seed: rng.Uint64(), Record: c.Record}))
		at := &node{model: m}
		s.nodes = append(s.nodes, at)
		models = append(models, m)
		at.attach(c.Params, c.Chip == nil)
	}
	s.net = try.Get(verilator.NewNetwork(c.Threads, models...))
	for _, cable := range c.Cables {
		n.plug(cable, rng)
	}
	try.OK(s.reset(s.nodes...))
}

// attach gives a node its clock and its host's line, and looks for the reset of what has one.
func (n *node) attach(p rtl.Params, reset bool) {
	if reset {
		var pins struct {
			Rst *bool `port:"rst"`
		}
		try.OK(n.model.Bind(&pins), ni.Quiet(n.model, p))
		n.rst = pins.Rst
	}
	n.clock = try.Get(n.model.Clock("clk", 2, 0))
	n.host = newLine(p, n.model, n.clock)
}

func (n *Network) plug(c ni.Cable, rng *rand.Rand) {
	type end struct{ ni, link int }
	a, b := end{c.A, c.LinkA}, end{c.B, c.LinkB}
	ways := [][2]end{{a, b}, {b, a}}
	if a == b {
		ways = ways[:1]
	}
	for _, way := range ways {
		from, to := n.sim.nodes[way[0].ni], n.sim.nodes[way[1].ni]
		_, tx := n.sim.params.Lines(way[0].link)
		rx, _ := n.sim.params.Lines(way[1].link)
		n.Wires = append(n.Wires, try.Get(verilator.Connect(verilator.LinkConfig{
			From: from.clock, Output: tx, To: to.clock, Input: rx,
			Latency: max(c.Latency, 1), Idle: n.sim.params.Idle(), BitErrorRate: c.BitErrorRate, Seed: rng.Uint64(),
		})))
	}
	if c.A == 0 && c.B == 0 {
		n.sim.looped[c.LinkA-1], n.sim.looped[c.LinkB-1] = true, true
	}
}

// Reset resets an NI, as when its board is powered off and on. The others and all drivers go on.
func (n *Network) Reset(ni int) error {
	return n.Between(func() error {
		if n.sim.renew != nil {
			return try.Run(n.sim.renew)
		}
		return n.sim.reset(n.sim.nodes[ni])
	})
}

// DumpWave writes a wave (FST) of the last clocks of an NI, at least Config.Record of them if so many have passed.
func (n *Network) DumpWave(ni int, path string) error {
	return n.Between(func() error {
		_, err := n.sim.nodes[ni].model.DumpWave(path)
		return err
	})
}

// reset resets RTL, and waits for chips to do so.
func (s *simulation) reset(nodes ...*node) error {
	set := func(level bool) {
		for _, n := range nodes {
			if n.rst != nil {
				*n.rst = level
			}
		}
	}
	set(true)
	if err := s.run(resetClocks); err != nil {
		return err
	}
	set(false)
	for _, n := range nodes {
		n.in = n.in[:0] // what it sends before means nothing
	}
	return nil
}

// Turn runs all NIs for n ticks, and for as long as a UART has bytes to send.
func (s *simulation) Turn(n int, lines []lockstep.Line) (passed int, err error) {
	for i, at := range s.nodes {
		at.host.put(lines[i].Out)
		n = max(n, at.host.pending()/s.tick) // less than a tick may be left for the next turn
	}
	if err := s.run(n * s.tick); err != nil {
		return n, err
	}
	for i, at := range s.nodes {
		lines[i].In, at.in = at.in, lines[i].In[:0]
	}
	return n, nil
}

// run runs all NIs for some clocks and collects what they send.
func (s *simulation) run(clocks int) error {
	for clocks > 0 {
		n := min(clocks, chunk)
		clocks -= n
		for _, at := range s.nodes {
			at.sends = at.host.pending() > 0
			at.host.advance(n)
		}
		if err := s.net.Run(uint64(n)); err != nil {
			return err
		}
		for _, at := range s.nodes {
			at.in = at.host.get(at.in)
			if at.watch != nil {
				at.watch.passed(n, at.sends, at.heard)
				at.heard = false
			}
		}
	}
	return nil
}

// Close gives the models free.
func (s *simulation) Close() error {
	var errs []error
	if s.net != nil {
		errs = append(errs, s.net.Close())
	}
	for _, n := range s.nodes {
		errs = append(errs, n.model.Close())
	}
	return errors.Join(errs...)
}

// Loop is a Config of one NI whose links are cabled in pairs, an odd last one to itself.
func Loop(p rtl.Params, latency int) Config {
	p = p.WithDefaults()
	c := Config{Params: p, NIs: 1}
	for link := 1; link <= p.Links; link += 2 {
		c.Cables = append(c.Cables, ni.Cable{LinkA: link, LinkB: min(link+1, p.Links), Latency: latency})
	}
	return c
}

// open opens targets "rtl:".
func open(ctx context.Context, target *url.URL) (t hostdrv.Transport, err error) {
	err = try.Run(func() { t = try.Get(NewTarget(try.Get(New(ctx, parse(target))))) })
	return t, err
}

// Design is what a target "rtl:" has Verilator compile.
func Design(target string) (d verilator.Design, err error) {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "rtl" {
		return d, fmt.Errorf("%w: %s is not rtl: with options", hostdrv.ErrTarget, target)
	}
	err = try.Run(func() { d = parse(u).design() })
	return d, err
}

// design is what is simulated.
func (c Config) design() verilator.Design {
	var d verilator.Design
	if c.Chip != nil {
		d = c.Chip.Design
	} else {
		d = ni.Design(c.Params)
	}
	d.Trace, d.Checkpoint = c.Record > 0, c.Record > 0
	return d
}

func parse(target *url.URL) Config {
	if target.Opaque != "" || target.Path != "" || target.Host != "" {
		try.Failf("%w: nothing but options may follow rtl:, as in rtl:?links=2&frames=8", hostdrv.ErrTarget)
	}
	var p rtl.Params
	latency, seed, record, uart, routes := 1, 1, 0, 0, 0
	try.OK(hostdrv.Ints(target, map[string]*int{
		"links": &p.Links, "frames": &p.Frames, "page": &p.PageBytes, "replay": &p.ReplayBytes, "rx": &p.RxBytes, "width": &p.Width, "trace": &p.Trace,
		"routes": &routes, "latency": &latency, "seed": &seed, "record": &record, "uart": &uart,
	}))
	if routes < 0 || routes > 1 {
		try.Failf("%w: routes=%d, want 1 to take ROUTEs or 0", hostdrv.ErrTarget, routes)
	}
	p.Routes = routes == 1
	if p.Links < 0 || p.Links > linkproto.MaxVia {
		try.Failf("%w: links=%d, want 1 to %d", hostdrv.ErrTarget, p.Links, linkproto.MaxVia)
	}
	if p.Width != 0 && !slices.Contains(rtl.Widths, p.Width) {
		try.Failf("%w: width=%d, want 1, 4 or 8 bytes a clock", hostdrv.ErrTarget, p.Width)
	}
	if uart != 0 {
		if uart < 4 || uart > 0xFFFF {
			try.Failf("%w: uart=%d, want 4 to %d clocks a bit", hostdrv.ErrTarget, uart, 0xFFFF)
		}
		p.HostPHY, p.HostDivisor = rtl.UART, uart
	}
	c := Loop(p, latency)
	c.Seed, c.Record = uint64(seed), uint64(record)
	return c
}

// Target is the transport of a target "rtl:", and of others that are a simulation of one NI.
type Target struct {
	*lockstep.Host
	network *Network
}

// NewTarget is the transport to the only NI of a network, which ends with it.
func NewTarget(n *Network) (Target, error) {
	host, err := n.Sole()
	return Target{host, n}, err
}

// DumpWave writes a wave (FST) of the last clocks. The target needs the option record, and must not be closed yet.
func (t Target) DumpWave(path string) error { return t.network.DumpWave(0, path) }

// Reset is for hostdrv.Resetter.
func (t Target) Reset() error { return t.network.Reset(0) }
