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

// BenchDocument is what lmmc bench found: what it prints with --json, and keeps as results "bench".
type BenchDocument struct {
	Stamp   results.Stamp    `json:"stamp"`
	Quick   bool             `json:"quick"` // rates were taken with fewer repetitions
	Figures []FigureDocument `json:"figures"`
}

// FigureDocument is a figure.
type FigureDocument struct {
	Name      string   `json:"name"`
	Value     *float64 `json:"value"` // null when it could not be measured
	Unit      string   `json:"unit"`
	Must      *float64 `json:"must"`
	Aim       *float64 `json:"aim"`
	Baseline  *float64 `json:"baseline"`
	Doc       string   `json:"doc"`
	Better    Better   `json:"better"`
	Timed     bool     `json:"timed"`
	Published string   `json:"published"`
	Verdict   Verdict  `json:"verdict"`
	Note      string   `json:"note"`
	Error     string   `json:"error"` // why there is no value; "" when there is
}

// Verdict says how a figure compares with what it must and should be.
type Verdict string

// The verdicts, best first.
const (
	Pass      Verdict = "pass"
	AimMissed Verdict = "pass, aim missed"
	Miss      Verdict = "MISS"
	NoValue   Verdict = "FAIL"
)

// Verdict compares the value with Must and Aim.
func (m Measured) Verdict() Verdict {
	switch {
	case m.Err != nil:
		return NoValue
	case !m.MeetsMust():
		return Miss
	case !m.MeetsAim():
		return AimMissed
	}
	return Pass
}

// NewBenchDocument makes a document of what Measure returned.
func NewBenchDocument(stamp results.Stamp, quick bool, all []Measured) BenchDocument {
	out := BenchDocument{Stamp: stamp, Quick: quick, Figures: []FigureDocument{}}
	for _, m := range all {
		f := FigureDocument{
			Name: m.Name, Unit: m.Unit, Must: m.Must, Aim: m.Aim, Baseline: m.Baseline, Doc: m.Doc, Better: m.Better, Timed: m.Timed,
			Published: m.Published, Verdict: m.Verdict(), Note: m.Note,
		}
		if f.Better == "" {
			f.Better = Higher
		}
		if m.Err == nil {
			f.Value = &m.Value
		} else {
			f.Error = m.Err.Error()
		}
		out.Figures = append(out.Figures, f)
	}
	return out
}
