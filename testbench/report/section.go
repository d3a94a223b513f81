package report

import (
	"fmt"
	"strings"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/conformance"
	"github.com/stafflink/lmmc/testbench/figures"
	"github.com/stafflink/lmmc/testbench/mutate"
	"github.com/stafflink/lmmc/testbench/prove"
	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/testbench/soak"
	"github.com/stafflink/lmmc/testbench/suite"
)

// state is the outcome of a kind of check.
type state string

const (
	passed  state = "passed"
	failed  state = "failed"
	near    state = "near"        // passed, except for rates that a short run may miss
	stale   state = "stale"       // found in other sources
	missing state = "not run yet" // nothing was found
	partly  state = "incomplete"  // nothing is wrong, and something was not tried
)

// Class is the state as a class name.
func (s state) Class() string { return strings.ReplaceAll(string(s), " ", "-") }

// section heads the results of one command.
type section struct {
	Name, Title string
	Command     string // that finds them
	State       state
	Missed      int // rates, when State is near
	Headline    string
	Stamp       *results.Stamp
}

// Label is the state in words.
func (s section) Label() string {
	if s.State == near {
		return "passed, " + ratesMissed(s.Missed)
	}
	return string(s.State)
}

func ratesMissed(n int) string {
	if n == 1 {
		return "1 rate missed"
	}
	return fmt.Sprintf("%d rates missed", n)
}

var order = []string{"scenarios", "figures", "cases", "coverage", "proofs", "mutants", "faults", "conformance"}

// finding is what a document says of a kind of check; the zero value: there is none.
type finding struct {
	stamp    *results.Stamp
	good     bool
	headline string
	missed   int  // rates that a short run may miss
	partly   bool // something was not tried
}

// of judges a document, if it is there.
func of[D any](document *D, judge func(*D) finding) finding {
	if document == nil {
		return finding{}
	}
	return judge(document)
}

// sections judges the documents.
func (in Input) sections() map[string]section {
	all := map[string]section{}
	add := func(name, title, command string, f finding) {
		s := section{Name: name, Title: title, Command: command, Stamp: f.stamp, Headline: f.headline, Missed: f.missed}
		switch {
		case f.stamp == nil:
			s.State = missing
		case f.stamp.RTL != in.Stamp.RTL:
			s.State = stale
		case !f.good:
			s.State = failed
		case f.missed > 0:
			s.State = near
		case f.partly:
			s.State = partly
		default:
			s.State = passed
		}
		all[name] = s
	}
	add("scenarios", "Scenarios", "make sim", of(in.Sim, func(d *suite.SimDocument) finding {
		return finding{stamp: &d.Stamp, good: d.Failed == 0, headline: simHeadline(d)}
	}))
	add("figures", "Figures", "make bench", of(in.Bench, judgeBench))
	add("cases", "Cases of the protocol", "make sim", of(in.Sim, judgeCases))
	add("coverage", "Coverage", "make coverage", of(in.Coverage, func(d *suite.CoverageDocument) finding {
		return finding{stamp: &d.Stamp, good: d.Good(), headline: coverageHeadline(d)}
	}))
	add("proofs", "Proofs", "make prove", of(in.Prove, func(d *prove.Document) finding {
		return finding{stamp: &d.Stamp, good: d.Failed == 0,
			headline: fmt.Sprintf("%d of %d properties proved, in %s", d.Proved, d.Proved+d.Failed, elapsed(d.Seconds))}
	}))
	add("mutants", "Mutants", "make mutate", of(in.Mutate, func(d *mutate.Report) finding {
		return finding{stamp: &d.Stamp, good: !d.FallsShort(figures.LeastKilled), headline: mutateHeadline(d)}
	}))
	add("faults", "Fault campaign", "make soak", of(in.Soak, func(d *soak.Report) finding {
		return finding{stamp: &d.Stamp, good: d.Failed == 0, headline: soakHeadline(d)}
	}))
	add("conformance", "Conformance", "go run ./cmd/lmmc conform 'rtl:?links=3&frames=8'", of(in.Conform, in.judgeConform))
	add("network", "Networks", "go run ./cmd/lmmc net bench star 16", in.judgeNetwork())
	return all
}

func judgeCases(d *suite.SimDocument) finding {
	if len(d.Functional) == 0 {
		return finding{}
	}
	hit, bins, excluded := countCases(d.Functional)
	return finding{stamp: &d.Stamp, good: true, partly: hit < bins, headline: fmt.Sprintf("%d of %d cases covered, %d more impossible", hit, bins, excluded)}
}

func mutateHeadline(d *mutate.Report) string {
	return fmt.Sprintf("%s of %s mutants killed, %d equivalent, %d survive: %s of the others killed",
		thousands(d.Killed), thousands(d.Tried), d.Equivalent+d.Explained, d.Survived, percent(d.Share))
}

func soakHeadline(d *soak.Report) string {
	var injected, recovered, bad uint64
	for _, r := range d.Rows {
		injected, recovered, bad = injected+r.Injected, recovered+r.Recovered, bad+r.Lost+r.Wrong+r.Wedged
	}
	return fmt.Sprintf("%s packets under %s faults in %s runs: recovery from %s; packets lost or wrong, or links wedged: %d",
		thousands(d.Packets), thousands(injected), thousands(d.Runs), thousands(recovered), bad)
}

func (in Input) judgeConform(d *conformance.Report) finding {
	f := finding{stamp: &d.Stamp, good: d.Count(conformance.Fail) == 0, partly: fmt.Sprintf("%016x", d.Identity.Hash) != in.Stamp.RTL}
	f.headline = fmt.Sprintf("%d of %d cases passed on %s", d.Count(conformance.Pass), len(d.Results), d.Target)
	if n := d.Count(conformance.Skip); n > 0 {
		f.headline += fmt.Sprintf(", %d skipped", n)
	}
	if f.partly {
		f.headline += "; not built from this RTL"
	}
	return f
}

func countCases(points []testbench.CoveragePoint) (hit, bins, excluded int) {
	for _, p := range points {
		bins, excluded = bins+len(p.Bins), excluded+len(p.Excluded)
		for _, b := range p.Bins {
			if b.Hits > 0 {
				hit++
			}
		}
	}
	return hit, bins, excluded
}

func coverageHeadline(d *suite.CoverageDocument) string {
	code, toggles := d.Sum()
	return fmt.Sprintf("%s of %s blocks and branches reached, %d more explained, %d open; %s of %s signal bits toggled, %d more explained",
		thousands(code.Hit), thousands(code.All), code.Explained, code.Open(), thousands(toggles.Hit), thousands(toggles.All), toggles.Explained)
}

func simHeadline(d *suite.SimDocument) string {
	var cycles, packets uint64
	for _, s := range d.Scenarios {
		cycles, packets = cycles+s.Cycles, packets+s.Packets
	}
	return fmt.Sprintf("%d of %d runs of %d scenarios passed: %s packets in %s clock cycles, every byte compared",
		d.Passed, d.Passed+d.Failed, len(d.Scenarios), thousands(packets), thousands(cycles))
}

// judgeBench forgives the rates that a short run may miss.
func judgeBench(d *figures.BenchDocument) finding {
	must, aim, missed := 0, 0, 0
	for _, f := range d.Figures {
		switch f.Verdict {
		case figures.Pass:
			must, aim = must+1, aim+1
		case figures.AimMissed:
			must++
		case figures.Miss:
			if tolerated(f, d.Quick) {
				missed++
			}
		}
	}
	headline := fmt.Sprintf("%d of %d figures within limits, %d of them reach their aim", must, len(d.Figures), aim)
	if missed > 0 {
		headline += "; " + ratesMissed(missed) + " in a short run"
	}
	if len(d.Left) > 0 {
		headline += fmt.Sprintf("; %d slow ones not measured", len(d.Left))
	}
	return finding{stamp: &d.Stamp, good: must+missed == len(d.Figures), headline: headline, missed: missed}
}

// result is the verdict on all sections.
type result struct {
	State state
	Text  string
	Rest  string // what the verdict does not cover
}

func verdict(sections map[string]section) result {
	titles := map[state][]string{}
	var good []string
	for _, name := range order {
		s := sections[name]
		titles[s.State] = append(titles[s.State], strings.ToLower(s.Title))
		if s.State == passed || s.State == near {
			good = append(good, strings.ToLower(s.Title))
		}
	}
	list := func(s state) string { return strings.Join(titles[s], ", ") }
	var rest []string
	for _, s := range []struct {
		state
		text string
	}{{stale, "from other sources: "}, {partly, "incomplete: "}, {missing, "not run yet: "}} {
		if len(titles[s.state]) > 0 {
			rest = append(rest, s.text+list(s.state))
		}
	}
	r := result{Rest: strings.Join(rest, "; ")}
	switch {
	case len(titles[failed]) > 0:
		r.State, r.Text = failed, "Failed: "+list(failed)
	case good == nil:
		r.State, r.Text = missing, "No check of this RTL has run"
	case len(titles[near]) > 0:
		r.State, r.Text = near, "Passed, "+ratesMissed(sections["figures"].Missed)+": "+strings.Join(good, ", ")
	default:
		r.State, r.Text = passed, "Passed: "+strings.Join(good, ", ")
	}
	return r
}
