package report

import (
	"fmt"
	"strings"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/conformance"
	"github.com/stafflink/lmmc/testbench/figures"
	"github.com/stafflink/lmmc/testbench/mutate"
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

// sections judges the documents.
func (in Input) sections() map[string]section {
	all := map[string]section{}
	add := func(s section, stamp *results.Stamp, good bool, headline string) {
		s.Stamp, s.Headline = stamp, headline
		switch {
		case stamp == nil:
			s.State, s.Headline = missing, ""
		case stamp.RTL != in.Stamp.RTL:
			s.State = stale
		case good:
			s.State = passed
		default:
			s.State = failed
		}
		all[s.Name] = s
	}
	scenarios := section{Name: "scenarios", Title: "Scenarios", Command: "make sim"}
	if d := in.Sim; d == nil {
		add(scenarios, nil, false, "")
	} else {
		add(scenarios, &d.Stamp, d.Failed == 0, simHeadline(d))
	}
	bench := section{Name: "figures", Title: "Figures", Command: "make bench"}
	if d := in.Bench; d == nil {
		add(bench, nil, false, "")
	} else {
		headline, missed, good := benchHeadline(d)
		add(bench, &d.Stamp, good, headline)
		if s := all[bench.Name]; s.State == passed && missed > 0 {
			s.State, s.Missed = near, missed
			all[bench.Name] = s
		}
	}
	cases := section{Name: "cases", Title: "Cases of the protocol", Command: "make sim"}
	if in.Sim == nil || len(in.Sim.Functional) == 0 {
		add(cases, nil, false, "")
	} else {
		hit, bins, excluded := countCases(in.Sim.Functional)
		add(cases, &in.Sim.Stamp, true, fmt.Sprintf("%d of %d cases covered, %d more impossible", hit, bins, excluded))
		if s := all[cases.Name]; s.State == passed && hit < bins {
			s.State = partly
			all[cases.Name] = s
		}
	}
	coverage := section{Name: "coverage", Title: "Coverage", Command: "make coverage"}
	if d := in.Coverage; d == nil {
		add(coverage, nil, false, "")
	} else {
		add(coverage, &d.Stamp, d.Good(), coverageHeadline(d))
	}
	proofs := section{Name: "proofs", Title: "Proofs", Command: "make prove"}
	if d := in.Prove; d == nil {
		add(proofs, nil, false, "")
	} else {
		add(proofs, &d.Stamp, d.Failed == 0, fmt.Sprintf("%d of %d properties proved, in %s", d.Proved, d.Proved+d.Failed, elapsed(d.Seconds)))
	}
	mutants := section{Name: "mutants", Title: "Mutants", Command: "make mutate"}
	if d := in.Mutate; d == nil {
		add(mutants, nil, false, "")
	} else {
		add(mutants, &d.Stamp, !d.FallsShort(figures.LeastKilled), mutateHeadline(d))
	}
	faults := section{Name: "faults", Title: "Fault campaign", Command: "make soak"}
	if d := in.Soak; d == nil {
		add(faults, nil, false, "")
	} else {
		add(faults, &d.Stamp, d.Failed == 0, soakHeadline(d))
	}
	conform := section{Name: "conformance", Title: "Conformance", Command: "go run ./cmd/lmmc conform 'rtl:?links=3&frames=8'"}
	if d := in.Conform; d == nil {
		add(conform, nil, false, "")
	} else {
		add(conform, &d.Stamp, d.Count(conformance.Fail) == 0, conformHeadline(d))
		if s := all[conform.Name]; s.State == passed && fmt.Sprintf("%016x", d.Identity.Hash) != in.Stamp.RTL {
			s.State, s.Headline = partly, s.Headline+"; not built from this RTL"
			all[conform.Name] = s
		}
	}
	return all
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

func conformHeadline(d *conformance.Report) string {
	headline := fmt.Sprintf("%d of %d cases passed on %s", d.Count(conformance.Pass), len(d.Results), d.Target)
	if n := d.Count(conformance.Skip); n > 0 {
		headline += fmt.Sprintf(", %d skipped", n)
	}
	return headline
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

// benchHeadline also counts the rates that a short run may miss, and says whether no other figure misses its limit.
func benchHeadline(d *figures.BenchDocument) (headline string, missed int, good bool) {
	must, aim := 0, 0
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
	headline = fmt.Sprintf("%d of %d figures within limits, %d of them reach their aim", must, len(d.Figures), aim)
	if missed > 0 {
		headline += "; " + ratesMissed(missed) + " in a short run"
	}
	return headline, missed, must+missed == len(d.Figures)
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
	if len(titles[stale]) > 0 {
		rest = append(rest, "from other sources: "+list(stale))
	}
	if len(titles[partly]) > 0 {
		rest = append(rest, "incomplete: "+list(partly))
	}
	if len(titles[missing]) > 0 {
		rest = append(rest, "not run yet: "+list(missing))
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
