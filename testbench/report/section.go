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

// state is how a kind of check stands.
type state string

const (
	passed  state = "passed"
	failed  state = "failed"
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
	Headline    string
	Stamp       *results.Stamp
}

var order = []string{"scenarios", "figures", "cases", "coverage", "proofs", "mutants", "faults", "conformance"}

// sections judges what is there.
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
		headline, good := benchHeadline(d)
		add(bench, &d.Stamp, good, headline)
	}
	cases := section{Name: "cases", Title: "Cases of the protocol", Command: "make sim"}
	if in.Sim == nil || len(in.Sim.Functional) == 0 {
		add(cases, nil, false, "")
	} else {
		hit, bins, excluded := countCases(in.Sim.Functional)
		add(cases, &in.Sim.Stamp, true, fmt.Sprintf("%d of %d cases came up, %d more cannot", hit, bins, excluded))
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
		add(proofs, &d.Stamp, d.Failed == 0, fmt.Sprintf("%d of %d proofs made, in %s", d.Proved, d.Proved+d.Failed, elapsed(d.Seconds)))
	}
	mutants := section{Name: "mutants", Title: "Mutants", Command: "make mutate"}
	if d := in.Mutate; d == nil {
		add(mutants, nil, false, "")
	} else {
		add(mutants, &d.Stamp, d.Share >= figures.LeastKilled, mutateHeadline(d))
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
			s.State, s.Headline = partly, s.Headline+"; that is not made of this RTL"
			all[conform.Name] = s
		}
	}
	return all
}

func mutateHeadline(d *mutate.Report) string {
	return fmt.Sprintf("%s of %s mutants killed, %d change nothing, %d survive: %s of those that matter are noticed",
		thousands(d.Killed), thousands(d.Tried), d.Equivalent+d.Explained, d.Survived, percent(d.Share))
}

func soakHeadline(d *soak.Report) string {
	var injected, recovered, bad uint64
	for _, r := range d.Rows {
		injected, recovered, bad = injected+r.Injected, recovered+r.Recovered, bad+r.Lost+r.Wrong+r.Wedged
	}
	return fmt.Sprintf("%s packets under %s faults in %s runs: recovered from %s; runs with a packet lost or wrong, or a link wedged: %d",
		thousands(d.Packets), thousands(injected), thousands(d.Runs), thousands(recovered), bad)
}

func conformHeadline(d *conformance.Report) string {
	headline := fmt.Sprintf("%d of %d cases passed on %s", d.Count(conformance.Pass), len(d.Results), d.Target)
	if n := d.Count(conformance.Skip); n > 0 {
		headline += fmt.Sprintf(", %d cannot be done there", n)
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
	return fmt.Sprintf("%s of %s blocks and branches of the RTL reached, %d more explained, %d not; %s of %s signal bits toggled, %d more explained",
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

// benchHeadline also says whether no figure is bad. A rate that was taken quickly may miss: the machine may have been busy.
func benchHeadline(d *figures.BenchDocument) (headline string, good bool) {
	must, aim, excused := 0, 0, 0
	for _, f := range d.Figures {
		switch f.Verdict {
		case figures.Pass:
			must, aim = must+1, aim+1
		case figures.AimMissed:
			must++
		case figures.Miss:
			if d.Quick && f.Timed {
				excused++
			}
		}
	}
	headline = fmt.Sprintf("%d of %d figures reach what they must, %d of them what they should", must, len(d.Figures), aim)
	if excused > 0 {
		headline += fmt.Sprintf("; rates, measured in short, that miss: %d", excused)
	}
	return headline, must+excused == len(d.Figures)
}

// result is the verdict on all sections.
type result struct {
	State state
	Text  string
	Rest  string // what the verdict does not cover
}

func verdict(sections map[string]section) result {
	titles := map[state][]string{}
	for _, name := range order {
		s := sections[name]
		titles[s.State] = append(titles[s.State], strings.ToLower(s.Title))
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
	case len(titles[passed]) == 0:
		r.State, r.Text = missing, "Nothing of this RTL has been checked"
	default:
		r.State, r.Text = passed, "Passed: "+list(passed)
	}
	return r
}
