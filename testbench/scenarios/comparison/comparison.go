// Package comparison holds the scenarios that play programs on the RTL and on its models in Go, which must do the same.
package comparison

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/golden"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/stimulus"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Interfaces are the scenarios that compare network interfaces with their model.
var Interfaces = []suite.Scenario{
	{Name: "golden",
		Doc:   "random packets of every kind, traps, faults and restarts, on the RTL and on the model in Go: every answer, TRAP, NOTIFY, byte and counter the same",
		Seeds: 5, Run: against("golden")},
	{Name: "coincidences",
		Doc:   "as golden, with what arrives by two cables aimed at the same clock and at those beside it, links that start again over and over, and full queues",
		Seeds: 8, Run: against("coincidences")},
}

// Size of the programs that a seed stands for.
const (
	goldenRounds  = 2 * stimulus.Kinds // each kind of round twice, once on more than three links
	goldenPackets = 25                 // about, each way on each port in a round
	aimedPackets  = 90
)

// Programs are what scenarios play with a seed on the RTL and on the model, by name.
var Programs = map[string]func(seed uint64) stimulus.Program{
	"golden":       func(seed uint64) stimulus.Program { return stimulus.Draw(seed, goldenRounds, goldenPackets) },
	"coincidences": func(seed uint64) stimulus.Program { return stimulus.DrawAimed(seed, aimedPackets) },
}

// against plays the program of the seed on the RTL and on the model.
func against(name string) func(context.Context, *suite.Run) error {
	return func(ctx context.Context, r *suite.Run) error {
		p := Programs[name](r.Seed)
		err := harness.OnFabric(ctx, r, golden.FabricConfig(p.Params, r.Seed), compare(ctx, r, p))
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w\nshrink: go run ./cmd/lmmc shrink --run %s %d", err, name, r.Seed)
		}
		return err
	}
}

// Play plays a program once on the RTL and on the model.
func Play(ctx context.Context, r *suite.Run, p stimulus.Program) error {
	c := golden.FabricConfig(p.Params, p.Seed)
	c.Wave, c.RTL = r.Wave, r.RTL
	return harness.Once(ctx, r, c, compare(ctx, r, p), nil)
}

func compare(ctx context.Context, r *suite.Run, p stimulus.Program) func(*ni.Fabric) {
	return func(f *ni.Fabric) {
		reference := try.Get(golden.NewModel(ctx, p.Params, p.Seed, try.Get(rtl.HashOf(f.Config.RTL))))
		result, err := golden.Check(p, golden.NewRTL(f), reference)
		r.Stats.Packets = result.Packets
		r.Functional = result.Coverage.Coverage
		try.OK(err)
	}
}
