package harness

import (
	"context"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Plan is one run of random traffic, or of remote paging.
type Plan struct {
	Config        ni.Config
	Packets       int     // on each stream, or by each sender
	MaxSize       int     // not for paging
	Illegal, Gap  float64 // not for paging
	ErrorRate     float64 // on the links
	HostErrorRate float64
	Faults        int  // planned ones on each wire
	Clean         bool // nothing but deliveries may happen on the links
}

// Planned is a scenario's run on the fabric of a plan that is drawn from the seed.
func Planned(draw func(*testbench.Rand) Plan, body func(Plan, *ni.Fabric, *suite.Run)) func(context.Context, *suite.Run) error {
	return func(ctx context.Context, r *suite.Run) error {
		p := draw(testbench.NewRand(r.Seed).Split("plan"))
		p.Config.Seed = r.Seed
		return OnFabric(ctx, r, p.Config, func(f *ni.Fabric) { body(p, f, r) })
	}
}

// Disturb plans the faults of all cables, those of the links' wires for the next span symbol times.
func (p Plan) Disturb(f *ni.Fabric, rng *testbench.Rand, span int) {
	for _, w := range f.Wires {
		try.OK(w.SetBitErrorRate(p.ErrorRate))
		try.OK(w.Inject(FaultPlan(rng, f.Params, w.Stats().Samples, p.Faults, span)...))
	}
	for _, n := range f.Nodes {
		if p.HostErrorRate > 0 {
			n.Host.Mangle, n.Host.Swallow = flipBits(rng, p.HostErrorRate), flipBits(rng, p.HostErrorRate)
		}
	}
}

// Count sums up what was sent.
func Count(r *suite.Run, t *ni.Traffic) {
	for _, s := range t.Streams {
		r.Stats.Packets, r.Stats.Bytes = r.Stats.Packets+uint64(s.Sent), r.Stats.Bytes+uint64(s.Bytes)
	}
}
