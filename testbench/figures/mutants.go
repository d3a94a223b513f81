package figures

import (
	"context"
	"fmt"
	"os"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/mutate"
	"github.com/stafflink/lmmc/verilator"
)

// LeastKilled is the share of the mutants that must be killed, of those that are not equivalent to the module.
const LeastKilled = 0.97

// RewriterCommand is the command of lmmc that calls mutate.Rewrite.
const RewriterCommand = "mutant-modules"

// Mutants says how the modules of the network interface are tested, for mutate.Run in the root of a checkout. The program is lmmc.
func Mutants(lmmc string) mutate.Options {
	return mutate.Options{
		Root: "rtl", Rewriter: []string{lmmc, RewriterCommand}, Explanations: "rtl/equivalent.txt",
		Skip: map[string]string{
			"TestSecondSimulator":        "compares with the modules as they are",
			"TestSecondSimulatorOnLines": "the same",
			"TestPortWithoutRoom":        "fails an assertion, of which the netlist of a mutant has none",
		},
		Commands: [][]string{
			{lmmc, "sim", "--run", "^(pair-small|pair-faults|hostile-peer|hostile-host|paging-peers)$", "--seeds", "1", "--jobs", "1"},
		},
	}
}

// Planted says how the planted bugs are found, for mutate.RunPlanted in the root of a checkout. The program is lmmc.
func Planted(lmmc string) mutate.PlantedOptions {
	return mutate.PlantedOptions{Root: "rtl", Dir: "testbench/mutate/planted", Rewriter: []string{lmmc, RewriterCommand}, Lmmc: lmmc}
}

var mutantFigures = []Figure{
	{Name: "mutants_killed", Doc: "share of 1,000 mutants of the modules that the tests kill, of those that change anything", Must: new(LeastKilled), Aim: new(0.99),
		Long: true, Measure: steps(mutantsKilled)},
	{Name: "planted_found", Doc: "share of the bugs planted by hand that a test, a proof or a scenario finds, each by all that must find it",
		Must: new(1.0), Aim: new(1.0), Long: true, Measure: steps(plantedFound)},
	{Name: "planted_found_sim", Doc: "share of them that a scenario of lmmc sim finds", Must: new(0.6), Aim: new(0.8),
		Long: true, Measure: steps(plantedFoundSim)},
}

func plantedFound(ctx context.Context) Measurement {
	report, whole := planted(ctx), 0
	for _, p := range report.Bugs {
		if len(p.Missed) == 0 {
			whole++
		}
	}
	return Measurement{Value: float64(whole) / float64(report.Tried), Note: fmt.Sprintf(
		"%d bugs, %d of %d checks find what they must; lmmc mutate --planted lists them", report.Tried, report.Checks-report.Missed, report.Checks)}
}

func plantedFoundSim(ctx context.Context) Measurement {
	report := planted(ctx)
	return Measurement{Value: float64(report.FoundSim) / float64(report.Tried), Note: fmt.Sprintf("%d of %d", report.FoundSim, report.Tried)}
}

// planted tries the planted bugs; what is found is kept, so that the second figure takes it from the first.
func planted(ctx context.Context) mutate.PlantedReport {
	o := Planted(try.Get(os.Executable()))
	o.Store = try.Get(verilator.CacheDir("results"))
	if Quick(ctx) {
		o.Modules = []string{"fifo_sync", "link_state"}
	}
	return try.Get(mutate.RunPlanted(ctx, o))
}

func mutantsKilled(ctx context.Context) Measurement {
	lmmc := try.Get(os.Executable())
	o := Mutants(lmmc)
	o.Count, o.Seed = 1000, 1
	if Quick(ctx) {
		o.Count = 24
	}
	report := try.Get(mutate.Run(ctx, o))
	return Measurement{Value: report.Share, Note: fmt.Sprintf("%d mutants of %d modules: %d killed, %d proved equivalent, %d explained, %d survive; lmmc mutate lists them",
		report.Tried, len(report.Modules), report.Killed, report.Equivalent, report.Explained, report.Survived)}
}
