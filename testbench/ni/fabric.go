package ni

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// Cable joins link LinkA of node A with link LinkB of node B, both ways. A may be B.
type Cable struct {
	A, LinkA     int
	B, LinkB     int
	Latency      int     // clocks each way; 0: 1
	BitErrorRate float64 // of each bit of each symbol; on a line of one wire, of its level at each clock
}

// Config describes a Fabric.
type Config struct {
	Params   rtl.Params
	Nodes    int
	Cables   []Cable
	Peers    []Socket // ports with an endpoint in Go at their end; link 0: instead of a Host
	RTL      fs.FS    // the modules, laid out like rtl.FS; nil: rtl.FS
	Seed     uint64
	Threads  int                // 0: 1
	Quantum  int                // clocks between two looks of the hosts at their ports; 0: the time of 8 symbols on the slowest port, at least 32
	Optimize verilator.Optimize // of the C++ compiler
	Fresh    bool               // see verilator.Design
	Record   uint64             // clocks before a failure that DumpWaves can show; 0: none
	Wave     string             // path of waves of the whole run, as of DumpWaves; "": none
	// Alarm is called once, when Cycles has come to AlarmAt; nil: it is not.
	Alarm   func(*Fabric) error
	AlarmAt uint64
	// Coverage gets the coverage of every node when the fabric is closed; nil: none is counted. It excludes Record.
	Coverage *verilator.Collector
}

// Socket names a link of a node.
type Socket struct{ Node, Link int }

// Node is a network interface with its host.
type Node struct {
	Model *verilator.Model
	Host  *Host // nil if Config.Peers names the host port
	Rst   *bool
	clock *verilator.Clock
	// Image is what the receive buffer ought to hold, as far as the writes asked for by Traffic go.
	Image []byte
}

// Wire is one direction of a lane of a cable.
type Wire struct {
	From, To Socket
	Lane     int
	*verilator.Link
}

// Fabric is a set of network interfaces joined by cables, in lock-step on one clock.
type Fabric struct {
	Config Config
	Params rtl.Params
	Nodes  []*Node
	Wires  []Wire
	Peers  map[Socket]*Port
	Cycles uint64

	ctx    context.Context
	net    *verilator.Network
	ports  []*Port
	nonces *testbench.Rand
	symbol int // clocks, on the slowest port
}

// resetClocks is how long reset is held: longer than iCE40 block RAM reads as zero after configuration.
const resetClocks = 64

// Open compiles the network interface and builds a fabric of it, out of reset. When ctx ends, so does every run, with ctx's
// error. Close it.
func Open(ctx context.Context, c Config) (*Fabric, error) {
	c.Threads = max(c.Threads, 1)
	p := c.Params.WithDefaults()
	if c.RTL == nil {
		c.RTL = rtl.FS
	}
	design, err := DesignFrom(c.RTL, p)
	if err != nil {
		return nil, err
	}
	design.Optimize, design.Coverage, design.Fresh = c.Optimize, c.Coverage != nil, c.Fresh
	design.Trace = c.Record > 0 || c.Wave != ""
	design.Checkpoint = design.Trace && !design.Coverage // with a wave too, so that a failure and its repetition share one compilation
	lib, err := verilator.Build(ctx, design)
	if err != nil {
		return nil, err
	}
	host, link := p.SymbolClocks()
	symbol := max(host, link)
	if c.Quantum == 0 {
		c.Quantum = max(32, 8*symbol)
	}
	f := &Fabric{ctx: ctx, Config: c, Params: p, Peers: map[Socket]*Port{}, symbol: symbol}
	if err := try.Run(func() { f.build(lib) }); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *Fabric) build(lib *verilator.Library) {
	rng := testbench.NewRand(f.Config.Seed).Split("fabric")
	f.nonces = rng.Split("nonces")
	var models []*verilator.Model
	for i := range f.Config.Nodes {
		m := try.Get(lib.New(verilator.Config{Name: fmt.Sprintf("ni%d", i), Seed: rng.Uint64(), Record: f.Config.Record}))
		node := &Node{Model: m, Image: make([]byte, f.Params.BufferBytes())}
		f.Nodes = append(f.Nodes, node)
		models = append(models, m)
		var pins struct {
			Rst *bool `port:"rst"`
		}
		try.OK(m.Bind(&pins))
		node.Rst = pins.Rst
		node.clock = try.Get(m.Clock("clk", 2, 0))
		try.OK(Quiet(m, f.Params))
		if slices.Contains(f.Config.Peers, Socket{Node: i}) {
			continue
		}
		node.Host = try.Get(OpenHost(m, node.clock, f.Params, epoch(rng)))
		node.Host.checked(f.Params, 0)
		f.ports = append(f.ports, node.Host.Port)
	}
	for _, s := range f.Config.Peers {
		n := f.Nodes[s.Node]
		port := try.Get(openPort(f.Params, n.Model, n.clock, s.Link, EndConfig(f.Params, s.Link, rng)))
		port.checked(f.Params, s.Link)
		f.Peers[s] = port
		f.ports = append(f.ports, port)
	}
	f.net = try.Get(verilator.NewNetwork(f.Config.Threads, models...))
	for _, c := range f.Config.Cables {
		a, b := Socket{c.A, c.LinkA}, Socket{c.B, c.LinkB}
		f.wire(a, b, c, rng)
		f.wire(b, a, c, rng)
	}
	if f.Config.Wave != "" {
		for i, n := range f.Nodes {
			try.OK(n.Model.Trace(f.wavePath(f.Config.Wave, i)))
		}
	}
	try.OK(f.Reset())
	for i, n := range f.Nodes {
		if f.Config.Coverage != nil {
			try.OK(f.Config.Coverage.Start(n.Model))
		}
		if n.Host != nil {
			try.OK(f.Identify(i))
		}
	}
}

// Identify gives a node its number, which is that in Nodes and 1, and another nonce. Until its host has done so after a reset, its links are down.
func (f *Fabric) Identify(node int) error {
	return errors.Join(f.WriteRegister(node, linkproto.RegNodeID, uint32(node+1)), f.WriteRegister(node, linkproto.RegNonce, Nonce(f.nonces)))
}

// DumpWaves writes the last Config.Record clocks of every node and returns the first node's file: path itself, or with several
// nodes path with the node's name before the suffix.
func (f *Fabric) DumpWaves(path string) (string, error) {
	var errs []error
	for i, n := range f.Nodes {
		_, err := n.Model.DumpWave(f.wavePath(path, i))
		errs = append(errs, err)
	}
	return f.wavePath(path, 0), errors.Join(errs...)
}

// WavePath is the first node's file of Config.Wave.
func (f *Fabric) WavePath() string { return f.wavePath(f.Config.Wave, 0) }

func (f *Fabric) wavePath(path string, node int) string {
	if len(f.Nodes) == 1 {
		return path
	}
	suffix := filepath.Ext(path)
	return fmt.Sprintf("%s-ni%d%s", strings.TrimSuffix(path, suffix), node, suffix)
}

// wire joins the lanes of two ports, one way.
func (f *Fabric) wire(from, to Socket, c Cable, rng *testbench.Rand) {
	for lane := range f.Params.LanesOf(from.Link) {
		_, tx := f.Params.Lane(from.Link, lane)
		rx, _ := f.Params.Lane(to.Link, lane)
		link := try.Get(verilator.Connect(verilator.LinkConfig{
			From: f.Nodes[from.Node].clock, Output: tx, To: f.Nodes[to.Node].clock, Input: rx,
			Latency: max(c.Latency, 1), Idle: f.Params.Idle(), BitErrorRate: c.BitErrorRate, Seed: rng.Uint64(),
		}))
		f.Wires = append(f.Wires, Wire{from, to, lane, link})
	}
}

func epoch(rng *testbench.Rand) uint8 { return uint8(1 + rng.IntN(255)) }

// Nonce is one that a node may have.
func Nonce(rng *testbench.Rand) uint32 { return rng.Uint32() | 1 }

// EndConfig is that of an end in Go at a port of a network interface with parameters p: a host, or some port of some node. It bears silence, so that
// what the network interface says can be kept from it for as long as a test likes.
func EndConfig(p rtl.Params, port int, rng *testbench.Rand) flowctl.Config {
	c := flowctl.Config{MaxPacket: p.MaxPacket(), Routes: p.TakesRoutes(), AckDelay: p.AckDelay, WordTimer: p.WordTimer, Retry: p.Retry, Silence: -1, Epoch: epoch(rng)}
	if port > 0 {
		c.Node, c.Nonce, c.Port = uint16(rng.Uint32()), Nonce(rng), uint8(rng.Between(1, linkproto.MaxVia))
	}
	return c
}

// Reset resets all nodes at once, whose hosts are to Identify them then; hosts and peers keep their state, and so see their network interface restart.
func (f *Fabric) Reset() error {
	from := f.Nodes[0].clock.Cycles() + 4 // a register each way, and what the first clock does
	for _, n := range f.Nodes {
		*n.Rst = true
	}
	if err := f.net.Run(resetClocks); err != nil {
		return err
	}
	for _, n := range f.Nodes {
		*n.Rst = false
	}
	for _, p := range f.ports {
		for _, w := range p.wires {
			if err := w.rested(from); err != nil {
				return err
			}
		}
		p.discard()
	}
	return f.Run(64)
}

// Run runs for at least n symbol times of the slowest port, which are clocks with the direct PHY, in whole quanta.
func (f *Fabric) Run(n int) error { return f.RunClocks(n * f.symbol) }

// RunClocks runs for at least n clocks, in whole quanta.
func (f *Fabric) RunClocks(n int) error {
	for done := 0; done < n; done += f.Config.Quantum {
		if err := f.quantum(); err != nil {
			return err
		}
	}
	return nil
}

// Timeout is the error of a wait that did not end.
type Timeout struct {
	Since, Clocks uint64
	What          string
}

func (t *Timeout) Error() string {
	return fmt.Sprintf("ni: after %d clocks still waiting for %s", t.Clocks, t.What)
}

// Until runs until done, at most limit symbol times of the slowest port; then the error is a Timeout for what.
func (f *Fabric) Until(limit int, what string, done func() bool) error {
	for start := f.Cycles; !done(); {
		if f.Cycles-start >= uint64(limit*f.symbol) {
			return &Timeout{start, uint64(limit * f.symbol), what}
		}
		if err := f.quantum(); err != nil {
			return err
		}
	}
	return nil
}

func (f *Fabric) quantum() error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	q := f.Config.Quantum
	f.each(func(p *Port) { p.before(q) })
	if err := f.net.Run(uint64(q)); err != nil {
		return err
	}
	f.Cycles += uint64(q)
	if at := f.Config.AlarmAt; f.Config.Alarm != nil && f.Cycles-uint64(q) < at && at <= f.Cycles {
		if err := f.Config.Alarm(f); err != nil {
			return err
		}
	}
	f.each(func(p *Port) { p.after(q) })
	for _, s := range f.Config.Peers {
		if err := f.Peers[s].check(f.Nodes[s.Node]); err != nil {
			return fmt.Errorf("node %d, link %d: %w", s.Node, s.Link, err)
		}
	}
	for i, n := range f.Nodes {
		if n.Host == nil {
			continue
		}
		if err := errors.Join(n.Host.check(n), n.Host.poll()); err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
	}
	return nil
}

// each calls do for every port, on as many threads as the network runs on; ports share nothing.
func (f *Fabric) each(do func(*Port)) {
	threads := f.Config.Threads
	if threads <= 1 || len(f.ports) < 8 {
		for _, p := range f.ports {
			do(p)
		}
		return
	}
	var group sync.WaitGroup
	for t := range threads {
		group.Go(func() {
			for i := t; i < len(f.ports); i += threads {
				do(f.ports[i])
			}
		})
	}
	group.Wait()
}

// Close releases the models.
func (f *Fabric) Close() error {
	var errs []error
	if f.net != nil {
		errs = append(errs, f.net.Close())
	}
	for _, n := range f.Nodes {
		if f.Config.Coverage != nil {
			errs = append(errs, f.Config.Coverage.Add(n.Model))
		}
		errs = append(errs, n.Model.Close())
	}
	return errors.Join(errs...)
}
