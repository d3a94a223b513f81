package suite

import (
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/results"
)

// SimDocument is what lmmc sim found: what it prints with --json, and keeps as results "sim".
type SimDocument struct {
	Stamp     results.Stamp      `json:"stamp"`
	Passed    int                `json:"passed"` // runs
	Failed    int                `json:"failed"`
	Cached    int                `json:"cached"` // of these, those of earlier runs
	Seconds   float64            `json:"seconds"`
	WaveDir   string             `json:"wave_dir"`
	Scenarios []ScenarioDocument `json:"scenarios"`
	// Functional lists the cases of the protocol and how often they came up, point by point; none if nothing counted them.
	Functional []testbench.CoveragePoint `json:"functional"`
}

// ScenarioDocument sums up the runs of a scenario.
type ScenarioDocument struct {
	Name      string            `json:"name"`
	Doc       string            `json:"doc"`
	Seeds     int               `json:"seeds"` // that were run; 0: it was not
	FirstSeed uint64            `json:"first_seed"`
	Cycles    uint64            `json:"cycles"`
	Packets   uint64            `json:"packets"`
	Bytes     uint64            `json:"bytes"`
	Failed    int               `json:"failed"`
	Failures  []FailureDocument `json:"failures"`
	Again     string            `json:"again"` // the command that repeats these runs
}

// FailureDocument is a run that failed.
type FailureDocument struct {
	Seed  uint64   `json:"seed"`
	Error string   `json:"error"`
	Log   []string `json:"log"`
	Wave  string   `json:"wave"`
	Again string   `json:"again"` // the command that repeats the run, with a wave
}

// Document returns the report as a document.
func (r Report) Document(stamp results.Stamp) SimDocument {
	out := SimDocument{
		Stamp: stamp, Passed: r.Passed(), Failed: r.Failed(), Cached: r.Cached(), Seconds: r.Elapsed.Seconds(), WaveDir: r.WaveDir,
		Scenarios: []ScenarioDocument{}, Functional: []testbench.CoveragePoint{},
	}
	if c := r.Functional(); c != nil {
		out.Functional = c.Document()
	}
	for _, x := range r.Results {
		stats := x.Stats()
		s := ScenarioDocument{
			Name: x.Scenario.Name, Doc: x.Scenario.Doc, Seeds: len(x.Runs), Cycles: stats.Cycles, Packets: stats.Packets, Bytes: stats.Bytes,
			Failed: x.Failed(), Failures: []FailureDocument{}, Again: x.Reproduce(),
		}
		if len(x.Runs) > 0 {
			s.FirstSeed = x.Runs[0].Seed
		}
		for _, run := range x.Runs {
			if run.Err != nil {
				s.Failures = append(s.Failures, FailureDocument{
					run.Seed, run.Err.Error(), append([]string{}, run.Log...), run.Stats.Wave, run.Reproduce(),
				})
			}
		}
		out.Scenarios = append(out.Scenarios, s)
	}
	return out
}
