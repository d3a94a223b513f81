// Package virtuallink holds the scenario of virtual links whose other ends break the rules, on the RTL and on the model.
package virtuallink

import (
	"context"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/model"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Scenarios are those of this package.
var Scenarios = []suite.Scenario{
	{Name: "hostile-node",
		Doc: "other nodes play their ends of virtual links by hand: they say what is wrong, late, again, or nothing, and so does the host; the network interface " +
			"says the same as the model, within the same times, and has the same registers, completions and bytes",
		Seeds: 2, Run: run},
}

// Sizes of scenario hostile-node: contexts 1 and 2 have regions as in scenario messages, and each virtual link has a frame behind them.
const (
	nodeSelf  = 1
	nodeLinks = 8
	nodeSteps = 200
	// A run goes on until it has tested all that it is to test: one in thirty lacks datagrams or a long silence after nodeSteps, fewer than one in a million after so many.
	nodeMost = 600
	// What happens in RTL may be so many clocks later or earlier than in the model, since it counts time for all virtual links in turn.
	nodeSlack = 400
)

// world is a network interface and its model, which are told the same by their hosts and by what is at their cables.
type world struct {
	run      *suite.Run
	rng      *testbench.Rand
	sides    [2]*side // RTL and model
	model    *model.NI
	contexts int
	links    [nodeLinks]*farEnd
	engines  []*nodeContext
	late     map[string]bool // virtual links whose peer has said GO: with it RETRY begins anew, or has gone on
	history  []string        // of the steps
	tried    map[string]int
}

func run(ctx context.Context, r *suite.Run) error {
	c := ni.Config{Params: harness.Messages, Nodes: 1, Seed: r.Seed, Peers: []ni.Socket{{Link: 1}, {Link: 2}}}
	if r.Width > 1 {
		c.Params.Contexts = 0 // which the RTL carries out at WIDTH 1 only
	}
	return harness.OnFabric(ctx, r, c, func(f *ni.Fabric) {
		w := &world{run: r, rng: testbench.NewRand(r.Seed).Split("hostile-node"), contexts: f.Params.Contexts, late: map[string]bool{}, tried: map[string]int{}}
		w.open(f)
		for !w.enough() {
			if w.tried["steps"] == nodeMost {
				w.failf("the run tests too little: %v", w.tried)
			}
			w.step()
		}
		w.compareBuffers()
		r.Stats.Packets += uint64(w.tried["steps"])
	})
}

// open makes both sides, and sets them up.
func (w *world) open(f *ni.Fabric) {
	p := f.Params
	w.model = try.Get(model.New(model.Config{
		Router: p.Router, Frames: p.Frames, PageBytes: p.PageBytes, ReplayBytes: p.ReplayBytes, RxBytes: p.RxBytes, Headroom: p.Headroom, AckDelay: p.AckDelay,
		WordTimer: p.WordTimer, Retry: p.Retry, RetryLimit: p.RetryLimit, Barriers: p.Barriers, Virtual: p.Virtual, VirtualSlots: p.VLSlots,
		VirtualWindow: p.VLWindow, VirtualRetry: p.VLRetry, Contexts: p.Contexts,
	}))
	rng := w.rng.Split("model")
	host := try.Get(ni.JoinHost(w.model.Port(0), p, epoch(rng)))
	ports := []*ni.Port{try.Get(ni.JoinPort(w.model.Port(1), ni.EndConfig(p, 1, rng))), try.Get(ni.JoinPort(w.model.Port(2), ni.EndConfig(p, 2, rng)))}
	w.sides[0] = newSide("RTL", f.Nodes[0].Host, []*ni.Port{f.Peers[ni.Socket{Link: 1}], f.Peers[ni.Socket{Link: 2}]}, func() error { return f.Run(1) })
	w.sides[1] = newSide("model", host, ports, func() error {
		if err := ni.Exchange(instantly{}, nodeLook, ports...); err != nil {
			return err
		}
		return ni.Turn(instantly{}, nodeLook, host)
	})
	w.set(linkproto.RegNodeID, nodeSelf)
	w.set(linkproto.RegNonce, ni.Nonce(rng))
	w.await("links to come up", func(s *side) bool { return s.ports[0].Link.Status().Up && s.ports[1].Link.Status().Up })
	for node := range 3 {
		w.set(linkproto.RouteReg(uint16(nodeSelf+1+node)), linkproto.RoutePort.In(uint32(1+node%2)))
	}
	w.set(linkproto.GroupReg(0), 1) // whose packets are this node's
	memory := w.rng.Bytes(p.BufferBytes())
	for at := 0; at < len(memory); at += harness.MessagePage {
		w.ask(linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: uint32(at), Data: memory[at : at+harness.MessagePage]})
	}
	w.set(linkproto.FrameReg(frameOf(0)), linkproto.FrameLink.In(1)|linkproto.FrameValid.In(1))
	for number := 1; number < nodeLinks; number++ {
		e := &farEnd{number: number, world: w}
		if w.contexts > 0 && number <= 3 {
			e.context = (number + 1) / 2
		}
		w.links[number] = e
		w.set(linkproto.FrameReg(e.frame()), linkproto.FrameVL.In(uint32(number))|linkproto.FrameLink.In(1)|linkproto.FrameValid.In(1))
	}
	for number := 1; number <= 2 && w.contexts > 0; number++ {
		w.engines = append(w.engines, &nodeContext{world: w, number: number})
	}
	w.settle()
}

func epoch(rng *testbench.Rand) uint8 { return uint8(rng.Between(1, 255)) }

// instantly runs what takes no time.
type instantly struct{}

func (instantly) Run(uint64) error { return nil }

// do has something happen on both sides at once.
func (w *world) do(what string, act func(*side) error) {
	w.history = append(w.history, fmt.Sprint(w.sides[1].clock, " ", what))
	for _, s := range w.sides {
		try.Wrap(act(s), "%s: %s", s.name, what)
	}
}

// look lets both sides run for a look.
func (w *world) look() {
	for _, s := range w.sides {
		try.OK(s.look())
	}
}

// await waits for both sides.
func (w *world) await(what string, so func(*side) bool) {
	for clocks := 0; !so(w.sides[0]) || !so(w.sides[1]); clocks += nodeLook {
		if clocks > 100_000 {
			w.failf("still waiting for %s: %v on the RTL side, %v on the model's", what, so(w.sides[0]), so(w.sides[1]))
		}
		w.look()
	}
}

// set has a register written, ask has a request carried out.
func (w *world) set(r linkproto.Reg, value uint32) {
	w.ask(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: r, Value: value})
}

func (w *world) ask(p linkproto.Packet) {
	w.await("room for a request", func(s *side) bool { return s.room() })
	w.do(fmt.Sprintf("%v of %v, address %#x: %#x % x", p.Type, p.Reg, p.Addr, p.Value, p.Data), func(s *side) error {
		return s.host.Request(p, func(a linkproto.Packet) {
			s.say("answers", fmt.Sprintf("%v %v %#x % x", a.Type, a.Status, a.Value, a.Data))
		})
	})
}

// read returns what both sides answer, which must be the same.
func (w *world) read(p linkproto.Packet) (answer linkproto.Packet) {
	both := w.readBoth(p)
	if a, b := both[0], both[1]; a.Status != b.Status || a.Value != b.Value || !slices.Equal(a.Data, b.Data) {
		w.failf("%v, address %#x: the RTL reads %#x % x, the model %#x % x", p.Reg, p.Addr, a.Value, a.Data, b.Value, b.Data)
	}
	return *both[0]
}

// readBoth returns what each side answers.
func (w *world) readBoth(p linkproto.Packet) (have [2]*linkproto.Packet) {
	w.await("room for a request", func(s *side) bool { return s.room() })
	for i, s := range w.sides {
		try.OK(s.host.Request(p, func(a linkproto.Packet) {
			a.Data, a.Tag = slices.Clone(a.Data), 0
			have[i] = &a
		}))
	}
	w.await("an answer", func(s *side) bool { return have[slices.Index(w.sides[:], s)] != nil })
	return have
}

func (w *world) register(r linkproto.Reg) uint32 {
	return w.read(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: r}).Value
}

// settle waits until both have said the same, and no timer of a virtual link is about to run out or has just done so; then what they have said is compared.
func (w *world) settle() {
	const (
		patience = 6000            // timers that run out one after the other add up
		moment   = 1100            // what happens next takes less
		calm     = nodeSlack + 256 // until a timer has run out in the RTL too, and what it sends first has come whole
	)
	for clocks, differ, since := 0, 0, calm; clocks < 256 || differ < patience && (since < calm || differ > 0); clocks += nodeLook {
		w.look()
		if differ += nodeLook; w.sides[0].says(w.sides[1], w.late) {
			differ = 0
		}
		if since += nodeLook; w.model.VirtualIdle() < moment {
			since = 0
		}
	}
	if err := w.sides[0].differs(w.sides[1], w.late); err != nil {
		w.failf("%v", err)
	}
	for _, s := range w.sides {
		s.forget()
	}
}

// quiet waits until a virtual link has said nothing for so many clocks.
func (w *world) quiet(e *farEnd, clocks int) {
	for w.settle(); slices.ContainsFunc(w.sides[:], func(s *side) bool { return s.clock < s.before[e.said()]+clocks }); w.settle() {
	}
}

// failf fails, and says what happened before.
func (w *world) failf(format string, args ...any) {
	for _, line := range w.history[max(len(w.history)-20, 0):] {
		w.run.Log("%s", line)
	}
	try.Failf("step %d: "+format, append([]any{w.tried["steps"]}, args...)...)
}

// compareBuffers compares the receive buffers, but for completions, which may be in another order, and the bytes of receives, which are compared when these are completed.
func (w *world) compareBuffers() {
	p := w.sides[0].host.Params
	const rings = (linkproto.RingCompletions + 2) * linkproto.RingEntry * harness.RegionRing
	for frame := range p.Frames {
		at := frame * p.PageBytes % (harness.RegionFrames * p.PageBytes)
		if frame/harness.RegionFrames < len(w.engines) && (at >= rings/2 && at < rings || at >= rings+harness.RegionRing*harness.MessageMost) {
			continue
		}
		w.read(linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(frame * p.PageBytes), Count: uint16(p.PageBytes)})
	}
}
