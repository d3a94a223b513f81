package figures

import (
	"errors"

	"github.com/stafflink/lmmc/testbench/results"
)

// BenchDocument is what lmmc bench found: what it prints with --json, and keeps as results "bench".
type BenchDocument struct {
	Stamp   results.Stamp    `json:"stamp"`
	Quick   bool             `json:"quick"`          // rates were taken with fewer repetitions
	Left    []string         `json:"left,omitempty"` // figures that a quick run leaves out
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
	Skipped   Verdict = "skipped"
)

// Verdict compares the value with Must and Aim.
func (m Measured) Verdict() Verdict {
	switch {
	case errors.Is(m.Err, ErrSkip):
		return Skipped
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
