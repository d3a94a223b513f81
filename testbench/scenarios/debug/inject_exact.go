package debug

import (
	"context"
	"errors"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/suite"
)

// twins are two network interfaces that do the same clock for clock, but for the injector of the first: what leaves the second is what goes
// into that. Their peers hear nothing while it matters.
type twins struct {
	*ni.Fabric
	run     *suite.Run
	rng     *testbench.Rand
	link    int
	out     [2]map[uint64]linkproto.Symbol // by node, what leaves by link in a clock; IDLE is left out
	came    uint64                         // when the last write of CONTROL has come
	orders  []controlWrite                 // of this round
	plan    testbench.FaultSource          // that is programmed
	count   uint32
	delays  []uint64 // clocks that a write of CONTROL may take from then on, as far as is known
	hits    uint64
	doubles int
}

// controlWrite is a write of CONTROL.
type controlWrite struct {
	clock, clocks          uint64 // when it has come, and how many pass before the registers are read
	value                  uint32
	plan                   testbench.FaultSource
	count                  uint32
	control, symbols, hits uint32
}

// injectingExactly compares what leaves behind an injector, symbol by symbol, with what testbench.Injector makes of what goes into it.
func injectingExactly(ctx context.Context, r *suite.Run) error {
	c := ni.Config{Params: harness.Debugged, Nodes: 2, Seed: r.Seed}
	for node := range 2 {
		for link := range harness.Debugged.Links {
			c.Peers = append(c.Peers, ni.Socket{Node: node, Link: 1 + link})
		}
	}
	return harness.OnFabric(ctx, r, c, func(f *ni.Fabric) {
		x := &twins{Fabric: f, run: r, rng: testbench.NewRand(r.Seed).Split("twins"), delays: anyDelay()}
		for node, n := range f.Nodes {
			n.Host.Tap = x.listen(node)
		}
		tested := func() bool { return x.doubles > 0 && len(x.delays) == 1 }
		for round := 0; round < 16 || round < 64 && !tested(); round++ {
			try.Wrap(try.Run(func() { x.round(round%4 == 3) }), "round %d", round)
		}
		r.Log("%d hits, %d duplicates; a write of CONTROL takes %v clocks", x.hits, x.doubles, x.delays)
		if !tested() {
			try.Failf("%d hits, %d duplicates, a write of CONTROL takes %v clocks: the run tests too little", x.hits, x.doubles, x.delays)
		}
	})
}

// listen notes when CONTROL is written at the first node.
func (x *twins) listen(node int) func(bool, uint64, linkproto.Symbol) {
	d := linkproto.NewDeframer(x.Params.MaxPacket())
	d.TakeAny()
	return func(toNI bool, clock uint64, s linkproto.Symbol) {
		if !toNI || node != 0 {
			return
		}
		ev, _ := d.Next([]linkproto.Symbol{s})
		var p linkproto.Packet
		if ev.Kind == linkproto.EventFrame && p.Decode(ev.Payload) == nil && p.Type == linkproto.TypeRegWrite && p.Reg == linkproto.InjectControl.Reg(x.link) {
			x.came = clock
		}
	}
}

// begin makes the twins one.
func (x *twins) begin() {
	x.link = x.rng.Between(1, x.Params.Links)
	nonce, epoch := ni.Nonce(x.rng), uint8(x.rng.Between(1, 255))
	for node, n := range x.Nodes {
		try.OK(n.Host.Restart(epoch))
		for link := 1; link <= x.Params.Links; link++ {
			p := x.Peers[ni.Socket{Node: node, Link: link}]
			p.Swallow, p.Tap = nil, nil
			try.OK(p.Restart(ni.EndConfig(x.Params, link, testbench.NewRand(uint64(nonce)).Split("peer"))))
		}
	}
	try.OK(x.Reset())
	x.write(linkproto.RegNodeID, 1, 1)
	x.write(linkproto.RegNonce, nonce, nonce)
	try.OK(x.Until(100_000, "the links to come up", func() bool {
		for _, p := range x.Peers {
			if !p.Link.Status().Up {
				return false
			}
		}
		return true
	}), x.Run(x.rng.IntN(3000)))
	for node := range x.Nodes {
		p, out := x.Peers[ni.Socket{Node: node, Link: x.link}], map[uint64]linkproto.Symbol{}
		x.out[node] = out
		p.Swallow = func([]linkproto.Symbol) []linkproto.Symbol { return nil }
		p.Tap = func(toNI bool, clock uint64, s linkproto.Symbol) {
			if !toNI && s != linkproto.SymIdle {
				out[clock] = s
			}
		}
	}
	x.orders = nil
}

// ask has both hosts ask the same in the same clock, but for the value, and returns the answer of the first.
func (x *twins) ask(p linkproto.Packet, values ...uint32) (first linkproto.Packet) {
	done := 0
	for i := range x.Nodes {
		p.Value = values[i]
		try.OK(x.Nodes[i].Host.Request(p, func(a linkproto.Packet) {
			if a.Status != linkproto.StatusOK {
				try.Failf("node %d: %v of register %v is answered %v", i, p.Type, p.Reg, a.Status)
			}
			if i == 0 {
				first = a
			}
			done++
		}))
	}
	try.OK(x.Until(10_000, "the answers", func() bool { return done == len(x.Nodes) }))
	return first
}

func (x *twins) write(r linkproto.Reg, first, second uint32) {
	x.ask(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: r}, first, second)
}

func (x *twins) read(r linkproto.InjectReg) uint32 {
	return x.ask(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: r.Reg(x.link)}, 0, 0).Value
}

// send has packets sent by the link.
func (x *twins) send(n int) {
	for range n {
		p := linkproto.Packet{Type: linkproto.TypeWrite, Via: uint8(x.link), Addr: x.rng.Uint32(), Data: x.rng.Bytes(x.rng.IntN(x.Params.PageBytes))}
		for _, node := range x.Nodes {
			if err := node.Host.Forward(p); !errors.Is(err, ni.ErrNoCredit) && !errors.Is(err, ni.ErrBusy) {
				try.OK(err)
			}
		}
		x.run.Stats.Packets++
	}
}

// program writes a plan.
func (x *twins) program(duplicates bool) {
	draw := func(most float64) float64 { return testbench.Pick(x.rng, 0, 0, most/10, most) }
	rates := testbench.FaultRates{BitError: draw(0.02), Drop: draw(0.1), Burst: draw(0.05), Stuck: draw(0.02), Unplug: draw(0.02), Open: uint64(x.rng.IntN(512)),
		BurstLength: 1 << x.rng.IntN(13), StuckLength: 1 << x.rng.IntN(6), UnplugLength: 1 << x.rng.IntN(8)}
	x.count = uint32(testbench.Pick(x.rng, 0, 1, 2, 3, 20, 500, 2000))
	if duplicates {
		rates.Duplicate, x.count = 0.02, 0
	}
	s := try.Get(rates.Source(x.rng.Uint64()))
	if x.rng.IntN(3) == 0 { // chances to the bit: just not, or just
		n := s.Seed
		for range 40 {
			if code := n >> 61; code > 1 && code != 3 && code < 7 && s.Chances[code] == 0 {
				s.Chances[code] = uint32(n>>32)&(1<<29-1) + uint32(x.rng.IntN(2))
			}
			n ^= n << 13
			n ^= n >> 7
			n ^= n << 17
		}
	}
	x.plan = *s
	lengths := uint32(0)
	for i, field := range linkproto.InjectLengthFields {
		lengths |= field.In(uint32(s.Lengths[i]))
	}
	values := append([]uint32{uint32(s.Seed), uint32(s.Seed >> 32), x.count}, append(s.Chances[1:7:7], lengths, uint32(s.Open))...)
	for i, v := range values {
		x.write((linkproto.InjectSeedLo + linkproto.InjectReg(i)).Reg(x.link), v, v)
	}
}

// command writes CONTROL of the first twin, 0 to the other, has packets sent, and reads what is counted some clocks later.
func (x *twins) command(value uint32, packets, clocks int) {
	x.write(linkproto.InjectControl.Reg(x.link), value, 0)
	x.orders = append(x.orders, controlWrite{clock: x.came, clocks: uint64(clocks), value: value, plan: x.plan, count: x.count})
	x.send(packets)
	try.OK(x.Run(clocks))
	o := &x.orders[len(x.orders)-1]
	o.control, o.symbols, o.hits = x.read(linkproto.InjectControl), x.read(linkproto.InjectSymbols), x.read(linkproto.InjectHits)
}

// round has plans run, one after the other, of which some are begun anew or stopped, and the cable cut.
func (x *twins) round(duplicates bool) {
	run, cut := linkproto.InjectRun.In(1), linkproto.InjectCut.In(1)
	x.begin()
	if duplicates { // of one frame: what they delay is as it was
		x.program(true)
		x.command(run, 1, 1500)
	} else {
		for range 3 {
			x.program(false)
			for range x.rng.Between(1, 3) {
				x.command(testbench.Pick(x.rng, 0, run, run, run, cut, run|cut), x.rng.IntN(3), x.rng.IntN(2000))
			}
			x.command(0, 0, x.rng.IntN(200)) // what is programmed has effect at once
		}
	}
	var s sent
	x.delays = narrow(x.delays, func(delay uint64) {
		now := sent{twins: x, after: delay}
		now.compare()
		s = now
	})
	x.doubles += s.doubles
	x.hits += s.all
}
