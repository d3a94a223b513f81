package suite

import (
	"fmt"
	"time"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/golden"
)

// Report is what Execute did.
type Report struct {
	Results []Result // in the order of the scenarios
	Elapsed time.Duration
	WaveDir string // where waves lie
}

// Passed counts the runs that succeeded.
func (r Report) Passed() int { return r.count(func(x Result) int { return len(x.Runs) - x.Failed() }) }

// Failed counts the runs that failed.
func (r Report) Failed() int { return r.count(Result.Failed) }

// Cached counts the runs whose outcome is an earlier run's.
func (r Report) Cached() int { return r.count(Result.Cached) }

func (r Report) count(of func(Result) int) (n int) {
	for _, x := range r.Results {
		n += of(x)
	}
	return n
}

// Functional returns the cases of the protocol and how often they came up in all runs; nil if no run counted them.
func (r Report) Functional() *testbench.Coverage {
	var all *testbench.Coverage
	for _, x := range r.Results {
		for _, run := range x.Runs {
			if run.functional == nil {
				continue
			}
			if all == nil {
				all = golden.NewCoverage().Coverage
			}
			if err := all.AddCounts(run.functional); err != nil {
				panic(err) // all scenarios count the same cases
			}
		}
	}
	return all
}

// Waves lists the waves that were written.
func (r Report) Waves() (paths []string) {
	for _, x := range r.Results {
		for _, run := range x.Runs {
			if run.Stats.Wave != "" {
				paths = append(paths, run.Stats.Wave)
			}
		}
	}
	return paths
}

// Result is what came out of a scenario.
type Result struct {
	Scenario Scenario
	Runs     []Outcome // those that were carried out, in the order of their seeds
}

// Failed counts the runs that failed.
func (r Result) Failed() int { return r.count(func(x Outcome) bool { return x.Err != nil }) }

// Cached counts the runs whose outcome is an earlier run's.
func (r Result) Cached() int { return r.count(func(x Outcome) bool { return x.Cached }) }

func (r Result) count(is func(Outcome) bool) (n int) {
	for _, run := range r.Runs {
		if is(run) {
			n++
		}
	}
	return n
}

// Stats sums up the runs; Wave is empty.
func (r Result) Stats() (sum Stats) {
	for _, run := range r.Runs {
		sum.add(run.Stats)
	}
	return sum
}

// Reproduce returns the command that does these runs again.
func (r Result) Reproduce() string {
	if len(r.Runs) == 0 {
		return "go run ./cmd/lmmc sim --run " + r.Scenario.Name
	}
	first := r.Runs[0]
	return fmt.Sprintf("go run ./cmd/lmmc sim%s --run %s --seed %d --seeds %d", first.flags(), first.Scenario, first.Seed, len(r.Runs))
}

// Outcome is what came out of one run.
type Outcome struct {
	Scenario string
	Seed     uint64
	Stats    Stats
	Elapsed  time.Duration
	Err      error    // why it failed; nil if it did not
	Log      []string // the last lines that the scenario logged
	Cached   bool     // an earlier run's outcome

	functional [][]uint64 // counts of the cases of the protocol; nil if the scenario does not count them
	rtl        string
	width      int
	done       bool
}

// Reproduce returns the command that does this run again, with a wave.
func (x Outcome) Reproduce() string {
	return fmt.Sprintf("go run ./cmd/lmmc sim%s --run %s --seed %d --wave", x.flags(), x.Scenario, x.Seed)
}

// flags are those that say what was verified.
func (x Outcome) flags() (flags string) {
	if x.rtl != "" {
		flags = fmt.Sprintf(" --rtl '%s'", x.rtl)
	}
	if x.width != 0 {
		flags += fmt.Sprintf(" --width %d", x.width)
	}
	return flags
}
