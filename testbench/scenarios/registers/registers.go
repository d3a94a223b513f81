// Package registers holds the scenarios that read and write all registers, against what their tables promise.
package registers

import (
	"context"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Scenarios are those of this package.
var Scenarios = []suite.Scenario{
	{Name: "registers", Doc: "all registers of a test build, read and written in bursts and amid traffic and resets: each answer is what the tables promise, and remote writes obey the frame table",
		Seeds: 1, Run: walking(harness.Debugged, (*walk).whole)},
	{Name: "registers-router", Doc: "the same on a network interface with a router, whose tables are asked for while they are being cleared",
		Seeds: 1, Run: walking(routerParams, (*walk).routed)},
	{Name: "registers-contexts", Doc: "registers of contexts of messages, whose regions hold their rings or not, and tails that are as far ahead as may be, or further, or go back",
		Seeds: 1, Run: walking(harness.Messages, (*walk).contexts)},
}

// routerParams are those of a network interface with a router, that of scenario router.
var routerParams = rtl.Params{
	Router: 3, Barriers: true, Frames: 2, PageBytes: 64, ReplayBytes: 2048, RxBytes: 1024, Headroom: 256, AckDelay: 64, WordTimer: 512, Retry: 2048,
}

// walk walks through the registers of a network interface.
type walk struct {
	*harness.Harness
	regs   *registerMap
	expect []answer       // in order
	notes  map[int]span   // bytes of each frame that NOTIFY has told of
	seen   map[string]int // what has been tried
}

// answer is the answer that a request must get.
type answer struct {
	linkproto.Packet
	known uint32 // bits of Value
	about string
}

// span is a range of bytes in a frame, both ends included.
type span struct{ first, last int }

func (s span) and(t span) span { return span{min(s.first, t.first), max(s.last, t.last)} }

// walking runs a walk on a network interface with an endpoint in Go on each of its cables.
func walking(p rtl.Params, body func(*walk)) func(context.Context, *suite.Run) error {
	return func(ctx context.Context, r *suite.Run) error {
		c := ni.Config{Params: p, Nodes: 1, Seed: r.Seed}
		if r.Width > 1 {
			c.Params.Contexts = 0 // which the RTL carries out at WIDTH 1 only
		}
		for link := range p.Cables() {
			c.Peers = append(c.Peers, ni.Socket{Link: link + 1})
		}
		return harness.OnFabric(ctx, r, c, func(f *ni.Fabric) {
			w := &walk{
				Harness: &harness.Harness{Fabric: f, Suite: r, Rand: testbench.NewRand(r.Seed).Split("registers"), Node: f.Nodes[0]},
				regs:    newRegisterMap(f.Params, try.Get(rtl.HashOf(f.Config.RTL))), notes: map[int]span{}, seen: map[string]int{},
			}
			w.Node.Host.Received = w.received
			w.identify()
			w.reset()
			body(w)
			for _, what := range []string{"read", "write", "refused", "malformed", "reset"} {
				if w.seen[what] == 0 {
					try.Failf("%s: never tried: the run tests too little", what)
				}
			}
		})
	}
}
