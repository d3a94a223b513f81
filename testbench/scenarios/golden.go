package scenarios

import (
	"context"

	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/golden"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/stimulus"
	"github.com/stafflink/lmmc/testbench/suite"
)

var goldenScenarios = []suite.Scenario{
	{Name: "golden",
		Doc:   "random packets of every kind, traps, faults and restarts, on the RTL and on the model in Go: every answer, TRAP, NOTIFY, byte and counter the same",
		Seeds: 10, Run: againstModel},
}

// Size of the programs that a seed stands for.
const (
	goldenRounds  = 2 * stimulus.Kinds // each kind of round twice
	goldenPackets = 25                 // about, each way on each port in a round
)

// againstModel plays the program of the seed on the RTL and on the model.
func againstModel(ctx context.Context, r *suite.Run) error {
	p := stimulus.Draw(r.Seed, goldenRounds, goldenPackets)
	return onFabric(ctx, r, golden.FabricConfig(p.Params, r.Seed), func(f *ni.Fabric) error {
		tree := f.Config.RTL
		hash, err := rtl.HashOf(tree)
		if err != nil {
			return err
		}
		reference, err := golden.NewModel(ctx, p.Params, r.Seed, hash)
		if err != nil {
			return err
		}
		result, err := golden.Check(p, golden.NewRTL(f), reference)
		r.Stats.Packets = result.Packets
		r.Functional = result.Coverage.Coverage
		return err
	})
}
