// Package debug holds the scenarios of test builds: of the trace buffer and of the error injectors.
package debug

import (
	"context"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/suite"
	"github.com/stafflink/lmmc/verilator"
)

// Scenarios are those of this package.
var Scenarios = []suite.Scenario{
	{Name: "inject", Doc: "error injectors at every port of two NIs, all kinds of faults: nothing lost, exactly the symbols of the plan are hit", Seeds: 2, Run: injecting},
	{Name: "inject-exact", Doc: "what leaves behind an injector, symbol by symbol, against the model: all kinds of faults, plans of few symbols, begun anew, stopped, cables cut", Seeds: 1,
		Run: injectingExactly},
	{Name: "trace", Doc: "the trace buffer of an NI under faults, traps and STOP: it tells what the counters count, in an order that can be", Seeds: 1, Run: tracing},
	{Name: "trace-exact", Doc: "strays, damaged words and STOP by all ports at once, whose clocks are known: the ring holds each, or tells that it was lost; triggers, restarts", Seeds: 1,
		Run: harness.WithPeers(harness.Debugged, []int{1, 2}, traceExactly)},
}

// onDebugged is a run on a fabric of two test builds, with traffic.
func onDebugged(ctx context.Context, r *suite.Run, body func(*ni.Fabric, *ni.Traffic)) error {
	c := ni.Pair(harness.Debugged, 1+testbench.NewRand(r.Seed).Split("plan").IntN(40))
	c.Cables = append(c.Cables, ni.Cable{A: 0, LinkA: 2, B: 1, LinkB: 2})
	c.Seed = r.Seed
	return harness.OnFabric(ctx, r, c, func(f *ni.Fabric) {
		t := try.Get(ni.NewTraffic(f, r.Seed))
		defer harness.Count(r, t)
		body(f, t)
	})
}

// injecting is traffic with the injectors of all ports running.
func injecting(ctx context.Context, r *suite.Run) error {
	return onDebugged(ctx, r, func(f *ni.Fabric, t *ni.Traffic) {
		rng := testbench.NewRand(r.Seed).Split("injectors")
		t.Illegal, t.MaxSize = 0.05, 100
		features := try.Get(f.ReadRegister(0, linkproto.RegFeatures))
		if linkproto.FeatureInjector.Of(features) == 0 || linkproto.FeatureTrace.Of(features) == 0 {
			try.Failf("FEATURES of a test build are %#x", features)
		}
		var sources []*testbench.FaultSource
		for node := range f.Nodes {
			for port := range 2 {
				most := 1e-3
				if port == 0 {
					most = 1e-4 // register reads by the hundred go this way
				}
				draw := func() float64 { return harness.Rate(rng, 1e-6, most) }
				rates := testbench.FaultRates{BitError: draw(), Drop: draw(), Duplicate: draw(), Burst: draw(), Stuck: draw(), Unplug: draw() / 10,
					Open: uint64(rng.IntN(512))}
				seed := rng.Uint64()
				try.OK(f.Inject(node, port, try.Get(rates.Source(seed)), 0))
				sources = append(sources, try.Get(rates.Source(seed)))
			}
		}
		try.OK(t.Send(300), t.Settle())
		all := uint64(0)
		for i, s := range sources {
			node, port := i/2, i%2
			symbols, hits, err := f.StopInjecting(node, port)
			try.OK(err)
			counts := s.Plan(uint64(symbols)).Hits(uint64(symbols))
			all += counts.Total()
			if uint64(hits) != counts.Total() {
				try.Failf("node %d, port %d: %d of %d symbols were hit, want %s", node, port, hits, symbols, counts)
			}
			r.Log("node %d, port %d: of %d symbols hit %s", node, port, symbols, counts)
		}
		if all == 0 {
			try.Failf("no symbol was hit: the run tests too little")
		}
		try.OK(t.Check(), t.CheckCounters(false))
	})
}

// tracing records what happens at a network interface with hostile cables, in several recordings.
func tracing(ctx context.Context, r *suite.Run) error {
	return onDebugged(ctx, r, func(f *ni.Fabric, t *ni.Traffic) {
		rng := testbench.NewRand(r.Seed).Split("recorder")
		x := &recorder{Fabric: f, run: r, rng: rng, traffic: t, kinds: map[linkproto.TraceEvent]int{}}
		for range 8 {
			x.record()
		}
		x.trigger()
		try.OK(t.Settle(), t.Check())
		for _, e := range []linkproto.TraceEvent{linkproto.EvMissing, linkproto.EvFound, linkproto.EvPeerStop, linkproto.EvPeerGo, linkproto.EvTrapped,
			linkproto.EvResumed, linkproto.EvInjected, linkproto.TraceEvent(linkproto.CntReplays)} {
			if x.kinds[e] == 0 {
				try.Failf("%v was never recorded: the run tests too little", e)
			}
		}
	})
}

// recorder makes things happen at node 0 and reads what its trace buffer says of them.
type recorder struct {
	*ni.Fabric
	run     *suite.Run
	rng     *testbench.Rand
	traffic *ni.Traffic
	kinds   map[linkproto.TraceEvent]int
}

// record compares one recording with the counters.
func (x *recorder) record() {
	source := try.Get(testbench.FaultRates{BitError: 1e-3}.Source(x.rng.Uint64()))
	before := try.Get(x.Counters(0, 1))
	try.OK(x.StartTrace(0, linkproto.TraceSetup{Ports: []int{0, 1}}), x.Inject(0, 1, source, 3000))
	for _, w := range x.Wires {
		try.OK(w.Inject(harness.FaultPlan(x.rng, x.Params, w.Stats().Samples, 4, 3000)...))
	}
	for node := range x.Nodes {
		try.Wrap(try.Run(func() { x.trap(node) }), "a trap at node %d", node)
	}
	try.OK(x.traffic.Settle())
	trace := try.Get(x.ReadTrace(0))
	after := try.Get(x.Counters(0, 1))
	if trace.Triggered || int(trace.Written) != len(trace.Entries) {
		try.Failf("%d records written, %d there, triggered %v", trace.Written, len(trace.Entries), trace.Triggered)
	}
	x.compare(trace, before, after)
}

// trap lets a node trap, and go on only when more has been sent to it than its receive FIFO holds.
func (x *recorder) trap(node int) {
	trapped := false
	x.Nodes[node].Host.Received = func(p linkproto.Packet) { trapped = trapped || p.Type == linkproto.TypeTrap }
	page := linkproto.Packet{Type: linkproto.TypePage, Via: 1, Frame: uint16(x.Params.Frames - 1), Port: x.rng.Uint32()}
	try.OK(x.Until(100_000, "room for a PAGE", func() bool { return x.Nodes[1-node].Host.Forward(page) == nil }))
	since := x.Cycles
	try.OK(x.Until(1_000_000, "the TRAP", func() bool {
		try.OK(x.traffic.Offer(2))
		if !trapped {
			since = x.Cycles
		}
		return x.Cycles > since+2500
	}))
	if answer := try.Get(x.Ask(node, linkproto.Packet{Type: linkproto.TypeResume, Via: 1})); answer.Status != linkproto.StatusOK {
		try.Failf("RESUME is answered %v", answer.Status)
	}
}

// compare holds a recording of the link against its counters, and its levels against each other.
func (x *recorder) compare(trace linkproto.Trace, before, after [linkproto.NumCounters]uint32) {
	var text strings.Builder
	fail := func(format string, args ...any) {
		try.OK(trace.Format(&text))
		x.run.Log("%s", text.String())
		try.Failf(format, args...)
	}
	var told [linkproto.NumCounters]uint32
	levels := map[linkproto.TraceEvent]bool{}
	down := map[linkproto.TraceEvent]linkproto.TraceEvent{ // what ends a level, by what begins it
		linkproto.EvPeerStop: linkproto.EvPeerGo, linkproto.TraceEvent(linkproto.CntStops): linkproto.EvGo,
		linkproto.EvMissing: linkproto.EvFound, linkproto.EvTrapped: linkproto.EvResumed,
	}
	for i, e := range trace.Entries {
		if i > 0 && e.Time < trace.Entries[i-1].Time {
			fail("entry %d is older than the one before", i)
		}
		for _, event := range e.Events {
			x.kinds[event]++
			if e.Port != 1 {
				continue
			}
			if event < linkproto.NumCounters {
				told[event]++
			}
			for begin, end := range down {
				if e.Lost || trace.Lost > 0 {
					break
				}
				if (event == begin) == levels[begin] && (event == begin || event == end) {
					fail("clock %d: %v when it was so already", e.Time, event)
				}
				if event == begin || event == end {
					levels[begin] = event == begin
				}
			}
		}
	}
	for c := range told {
		counted := after[c] - before[c]
		if told[c] > counted || trace.Lost == 0 && told[c] != counted {
			fail("%v: %d in the trace, %d counted, %d lost", linkproto.Counter(c), told[c], counted, trace.Lost)
		}
	}
}

// trigger records around the first frame that is found missing.
func (x *recorder) trigger() {
	const post = 5
	setup := linkproto.TraceSetup{Ports: []int{1}, Trigger: []linkproto.TraceEvent{linkproto.EvMissing}, Post: post}
	try.OK(x.StartTrace(0, setup))
	w := x.Wires[1] // to node 0
	var flips []verilator.Fault
	for at := w.Stats().Samples + 500; len(flips) < 100; at += uint64(x.rng.IntN(1000)) {
		flips = append(flips, verilator.Fault{Kind: verilator.Flip, At: at, Value: 1})
	}
	try.OK(w.Inject(flips...))
	try.OK(x.Until(1_000_000, "the trigger and what follows it", func() bool {
		try.OK(x.traffic.Offer(2))
		return try.Get(x.ReadRegister(0, linkproto.TraceControl.Reg())) == linkproto.TraceTriggered.In(1)
	}))
	trace := try.Get(x.ReadTrace(0))
	for i, e := range trace.Entries {
		if e.Trigger {
			if !slices.Contains(e.Events, linkproto.EvMissing) || len(trace.Entries)-1-i != post {
				try.Failf("entry %d of %d triggered with %v", i, len(trace.Entries), e.Events)
			}
			return
		}
	}
	try.Failf("no entry of %d triggered", len(trace.Entries))
}
