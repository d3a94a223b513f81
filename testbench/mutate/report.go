package mutate

import (
	"fmt"
	"math"
	"time"

	"github.com/stafflink/lmmc/testbench/results"
)

// Report is what Run found. Its JSON form is what lmmc mutate prints with --json, and keeps as results "mutate".
type Report struct {
	// Stamp is filled in by who keeps the report.
	Stamp      results.Stamp `json:"stamp"`
	Count      int           `json:"count"` // mutants asked for
	Seed       uint64        `json:"seed"`
	Tried      int           `json:"tried"`      // mutants that there are
	Killed     int           `json:"killed"`     // those that a check failed with, TimedOut included
	TimedOut   int           `json:"timed_out"`  // those that made a check run for ever
	Equivalent int           `json:"equivalent"` // those that Yosys proved to change nothing
	Explained  int           `json:"explained"`  // those that a checked-in explanation covers
	Survived   int           `json:"survived"`   // the others
	Cached     int           `json:"cached"`     // of those killed or equivalent, those known from earlier runs
	Share      float64       `json:"share"`      // killed, of those that are neither equivalent nor explained; 1 when there are none
	Stages     []Stage       `json:"stages"`
	Modules    []ModuleTotal `json:"modules"`
	Survivors  []Survivor    `json:"survivors"`
	Excused    []Survivor    `json:"excused"` // those explained
	Seconds    float64       `json:"seconds"`
}

// FallsShort says whether more mutants survive than a sample of this size lets live in 19 cases of 20 where the share of least is killed.
func (r Report) FallsShort(least float64) bool {
	n := float64(r.Killed + r.Survived)
	// The binomial distribution, from no survivor up: what is left is the chance of r.Survived or more.
	left, of := 1.0, math.Pow(least, n)
	for k := range r.Survived {
		left -= of
		of *= (n - float64(k)) / float64(k+1) * (1 - least) / least
	}
	return left < 0.05
}

// Stage is one kind of checks, in the order in which they are run: each sees what the ones before it let live.
type Stage struct {
	Name    string  `json:"name"`
	Tried   int     `json:"tried"`
	Killed  int     `json:"killed"` // or, of the proof, found to be equivalent
	Seconds float64 `json:"seconds"`
}

// Place is FILE:LINE, or the file alone.
func (s Survivor) Place() string {
	if s.Line == 0 {
		return s.File
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// ProofStage is the name of the stage that takes out the mutants that provably change nothing.
const ProofStage = "proof of equivalence"

// ModuleTotal counts the mutants of one module.
type ModuleTotal struct {
	Module     string `json:"module"`
	File       string `json:"file"`
	Tried      int    `json:"tried"`
	Killed     int    `json:"killed"`
	Equivalent int    `json:"equivalent"`
	Explained  int    `json:"explained"`
	Survived   int    `json:"survived"`
}

// Survivor is a mutant that no check failed with.
type Survivor struct {
	Module string `json:"module"`
	File   string `json:"file"`
	Line   int    `json:"line"`   // 0 for a cell that has none
	Source string `json:"source"` // the line's text; "-" for none
	Mutant string `json:"mutant"` // Mutant.Name
	Reason string `json:"reason"` // why it is equivalent; "" when nobody has said
	Again  string `json:"again"`  // the command that tries this mutant alone
}

// result is what is known of a mutant.
type result struct {
	Mutant
	state  state
	by     string // the check or the explanation's reason
	source string
}

type state int

const (
	alive state = iota
	killed
	timedOut
	equivalent
	explained
)

func (r *result) survivor(l *library) Survivor {
	return Survivor{
		Module: r.Module, File: l.root + "/" + l.files[r.Module], Line: r.Line, Source: r.source, Mutant: r.Name(), Reason: r.by,
		Again: "go run ./cmd/lmmc mutate --mutant '" + r.Name() + "'",
	}
}

func (l *library) report(o Options, results []*result, stages []Stage, took time.Duration) Report {
	report := Report{Count: o.Count, Seed: o.Seed, Tried: len(results), Stages: stages, Seconds: took.Seconds(),
		Modules: []ModuleTotal{}, Survivors: []Survivor{}, Excused: []Survivor{}, Share: 1}
	for _, r := range results {
		if n := len(report.Modules); n == 0 || report.Modules[n-1].Module != r.Module {
			report.Modules = append(report.Modules, ModuleTotal{Module: r.Module, File: l.root + "/" + l.files[r.Module]})
		}
		m := &report.Modules[len(report.Modules)-1]
		m.Tried++
		switch r.state {
		case timedOut:
			report.TimedOut++
			fallthrough
		case killed:
			report.Killed++
			m.Killed++
		case equivalent:
			report.Equivalent++
			m.Equivalent++
		case explained:
			report.Explained++
			m.Explained++
			report.Excused = append(report.Excused, r.survivor(l))
		default:
			report.Survived++
			m.Survived++
			report.Survivors = append(report.Survivors, r.survivor(l))
		}
	}
	if n := report.Killed + report.Survived; n > 0 {
		report.Share = float64(report.Killed) / float64(n)
	}
	return report
}
