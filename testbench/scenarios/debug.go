package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/suite"
	"github.com/stafflink/lmmc/verilator"
)

// debugged is a test build: a network interface with a trace buffer and error injectors.
var debugged = rtl.Params{PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024, Trace: 1024, Inject: true}

var debugScenarios = []suite.Scenario{
	{Name: "inject", Doc: "error injectors at every port of two NIs, all kinds of faults: nothing lost, exactly the symbols of the plan are hit", Seeds: 3, Run: injecting},
	{Name: "trace", Doc: "the trace buffer of an NI under faults, traps and STOP: it tells what the counters count, in an order that can be", Seeds: 3, Run: tracing},
}

// injecting is traffic with the injectors of all ports running.
func injecting(ctx context.Context, r *suite.Run) error {
	rng := testbench.NewRand(r.Seed).Split("plan")
	c := ni.Pair(debugged, 1+rng.IntN(40))
	c.Seed = r.Seed
	return onFabric(ctx, r, c, func(f *ni.Fabric) error {
		r.Stats = suite.Stats{}
		rng := testbench.NewRand(r.Seed).Split("injectors")
		t, err := ni.NewTraffic(f, r.Seed)
		if err != nil {
			return err
		}
		t.Illegal, t.MaxSize = 0.05, 100
		features, err := f.ReadRegister(0, linkproto.RegFeatures)
		if err != nil {
			return err
		}
		if linkproto.FeatureInjector.Of(features) == 0 || linkproto.FeatureTrace.Of(features) == 0 {
			return fmt.Errorf("FEATURES of a test build are %#x", features)
		}
		var sources []*testbench.FaultSource
		for node := range f.Nodes {
			for port := range 2 {
				most := 1e-3
				if port == 0 {
					most = 1e-4 // register reads by the hundred go this way
				}
				draw := func() float64 { return rate(rng, 1e-6, most) }
				rates := testbench.FaultRates{BitError: draw(), Drop: draw(), Duplicate: draw(), Burst: draw(), Stuck: draw(), Unplug: draw() / 10,
					Open: uint64(rng.IntN(512))}
				seed := rng.Uint64()
				program, err := rates.Source(seed)
				if err != nil {
					return err
				}
				if err := f.Inject(node, port, program, 0); err != nil {
					return err
				}
				again, _ := rates.Source(seed)
				sources = append(sources, again)
			}
		}
		if err := errors.Join(t.Send(300), t.Settle()); err != nil {
			return err
		}
		for _, s := range t.Streams {
			r.Stats.Packets, r.Stats.Bytes = r.Stats.Packets+uint64(s.Sent), r.Stats.Bytes+uint64(s.Bytes)
		}
		all := uint64(0)
		for i, s := range sources {
			node, port := i/2, i%2
			symbols, hits, err := f.StopInjecting(node, port)
			if err != nil {
				return err
			}
			counts := s.Plan(uint64(symbols)).Hits(uint64(symbols))
			all += counts.Total()
			if uint64(hits) != counts.Total() {
				return fmt.Errorf("node %d, port %d: %d of %d symbols were hit, want %s", node, port, hits, symbols, counts)
			}
			r.Log("node %d, port %d: of %d symbols hit %s", node, port, symbols, counts)
		}
		if all == 0 {
			return errors.New("no symbol was hit: the run tests too little")
		}
		return errors.Join(t.Check(), t.CheckCounters(false))
	})
}

// tracing records what happens at a network interface with hostile cables, in several recordings.
func tracing(ctx context.Context, r *suite.Run) error {
	rng := testbench.NewRand(r.Seed).Split("plan")
	c := ni.Pair(debugged, 1+rng.IntN(40))
	c.Seed = r.Seed
	return onFabric(ctx, r, c, func(f *ni.Fabric) error {
		r.Stats = suite.Stats{}
		rng := testbench.NewRand(r.Seed).Split("recorder")
		t, err := ni.NewTraffic(f, r.Seed)
		if err != nil {
			return err
		}
		x := &recorder{Fabric: f, run: r, rng: rng, traffic: t, kinds: map[linkproto.TraceEvent]int{}}
		for range 8 {
			if err := x.record(); err != nil {
				return err
			}
		}
		if err := errors.Join(x.trigger(), t.Settle(), t.Check()); err != nil {
			return err
		}
		for _, e := range []linkproto.TraceEvent{linkproto.EvMissing, linkproto.EvFound, linkproto.EvPeerStop, linkproto.EvPeerGo, linkproto.EvTrapped,
			linkproto.EvResumed, linkproto.EvInjected, linkproto.TraceEvent(linkproto.CntReplays)} {
			if x.kinds[e] == 0 {
				return fmt.Errorf("%v was never recorded: the run tests too little", e)
			}
		}
		for _, s := range t.Streams {
			r.Stats.Packets, r.Stats.Bytes = r.Stats.Packets+uint64(s.Sent), r.Stats.Bytes+uint64(s.Bytes)
		}
		return nil
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
func (x *recorder) record() error {
	source, err := testbench.FaultRates{BitError: 1e-3}.Source(x.rng.Uint64())
	if err != nil {
		return err
	}
	before, err := x.Counters(0, 1)
	if err != nil {
		return err
	}
	if err := errors.Join(x.StartTrace(0, linkproto.TraceSetup{}), x.Inject(0, 1, source, 3000)); err != nil {
		return err
	}
	for _, w := range x.Wires {
		if err := w.Inject(faultPlan(x.rng, x.Params, w.Stats().Samples, 4, 3000)...); err != nil {
			return err
		}
	}
	for node := range x.Nodes {
		if err := x.trap(node); err != nil {
			return fmt.Errorf("a trap at node %d: %w", node, err)
		}
	}
	if err := x.traffic.Settle(); err != nil {
		return err
	}
	trace, err := x.ReadTrace(0)
	if err != nil {
		return err
	}
	after, err := x.Counters(0, 1)
	if err != nil {
		return err
	}
	if trace.Triggered || int(trace.Written) != len(trace.Entries) {
		return fmt.Errorf("%d records written, %d there, triggered %v", trace.Written, len(trace.Entries), trace.Triggered)
	}
	return x.compare(trace, before, after)
}

// trap lets a node trap, and go on only when more has been sent to it than its receive FIFO holds.
func (x *recorder) trap(node int) error {
	trapped := false
	x.Nodes[node].Host.Received = func(p linkproto.Packet) { trapped = trapped || p.Type == linkproto.TypeTrap }
	page := linkproto.Packet{Type: linkproto.TypePage, Via: 1, Frame: uint16(x.Params.Frames - 1), Port: x.rng.Uint32()}
	err := x.Until(100_000, "room for a PAGE", func() bool { return x.Nodes[1-node].Host.Forward(page) == nil })
	if err != nil {
		return err
	}
	var failed error
	since := x.Cycles
	err = x.Until(1_000_000, "the TRAP", func() bool {
		failed = x.traffic.Offer(2)
		if !trapped {
			since = x.Cycles
		}
		return failed != nil || x.Cycles > since+2500
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	answer, err := x.Ask(node, linkproto.Packet{Type: linkproto.TypeResume, Via: 1})
	if err == nil && answer.Status != linkproto.StatusOK {
		err = fmt.Errorf("RESUME is answered %v", answer.Status)
	}
	return err
}

// compare holds a recording of the link against its counters, and its levels against each other.
func (x *recorder) compare(trace linkproto.Trace, before, after [linkproto.NumCounters]uint32) error {
	var text strings.Builder
	fail := func(format string, args ...any) error {
		if err := trace.Format(&text); err != nil {
			return err
		}
		x.run.Log("%s", text.String())
		return fmt.Errorf(format, args...)
	}
	var told [linkproto.NumCounters]uint32
	levels := map[linkproto.TraceEvent]bool{}
	down := map[linkproto.TraceEvent]linkproto.TraceEvent{ // what ends a level, by what begins it
		linkproto.EvPeerStop: linkproto.EvPeerGo, linkproto.TraceEvent(linkproto.CntStops): linkproto.EvGo,
		linkproto.EvMissing: linkproto.EvFound, linkproto.EvTrapped: linkproto.EvResumed,
	}
	for i, e := range trace.Entries {
		if i > 0 && e.Time < trace.Entries[i-1].Time {
			return fail("entry %d is older than the one before", i)
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
					return fail("clock %d: %v when it was so already", e.Time, event)
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
			return fail("%v: %d in the trace, %d counted, %d lost", linkproto.Counter(c), told[c], counted, trace.Lost)
		}
	}
	return nil
}

// trigger records around the first frame that is found missing.
func (x *recorder) trigger() error {
	const post = 5
	setup := linkproto.TraceSetup{Ports: []int{1}, Trigger: []linkproto.TraceEvent{linkproto.EvMissing}, Post: post}
	if err := x.StartTrace(0, setup); err != nil {
		return err
	}
	w := x.Wires[1] // to node 0
	var flips []verilator.Fault
	for at := w.Stats().Samples + 500; len(flips) < 100; at += uint64(x.rng.IntN(1000)) {
		flips = append(flips, verilator.Fault{Kind: verilator.Flip, At: at, Value: 1})
	}
	if err := w.Inject(flips...); err != nil {
		return err
	}
	err := x.Until(1_000_000, "the trigger and what follows it", func() bool {
		if x.traffic.Offer(2) != nil {
			return true
		}
		v, err := x.ReadRegister(0, linkproto.TraceControl.Reg())
		return err != nil || v == linkproto.TraceTriggered.In(1)
	})
	if err != nil {
		return err
	}
	trace, err := x.ReadTrace(0)
	if err != nil {
		return err
	}
	for i, e := range trace.Entries {
		if e.Trigger {
			if !slices.Contains(e.Events, linkproto.EvMissing) || len(trace.Entries)-1-i != post {
				return fmt.Errorf("entry %d of %d triggered with %v", i, len(trace.Entries), e.Events)
			}
			return nil
		}
	}
	return fmt.Errorf("no entry of %d triggered", len(trace.Entries))
}
