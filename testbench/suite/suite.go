// Package suite holds the verification runs of the network interface and the figures measured on it, and runs them.
//
// A Scenario is one kind of run, repeated over seeds; Execute runs scenarios side by side and gathers what came out. A
// Figure is one measured number with what it must and should reach; Measure takes them one after the other, so that
// none disturbs another. The command lmmc prints both; nothing here prints.
package suite

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// Scenario is one verification run of the network interface: a design, stimulus and checks, fully determined by a seed.
type Scenario struct {
	// Name is made of lower-case letters, digits and dashes; no two are equal.
	Name string
	// Doc says in one line what is checked.
	Doc string
	// Seeds is how many seeds a full run takes; 0 means 1.
	Seeds int
	// Run does the run of r.Seed and returns why it failed. It ends soon after ctx does.
	Run func(ctx context.Context, r *Run) error
}

// Run is what a scenario is given, and where it leaves what it counted.
type Run struct {
	// Seed determines everything random.
	Seed uint64
	// RTL holds the modules to verify; nil means those of package rtl.
	RTL fs.FS
	// Wave is the path of an FST to write of the whole run; "" means none unless the run fails.
	Wave string
	// WaveDir is where the wave of a failure goes; FailureWave names the file.
	WaveDir string
	// Coverage collects which parts of the RTL the run reaches; nil means that nobody asks.
	Coverage *verilator.Collector
	// Log keeps a line for the report of a failure. It is safe for concurrent use.
	Log func(format string, args ...any)
	// Stats is filled by the scenario, as far as it got when it fails.
	Stats Stats
	// Functional counts the cases of the protocol that have come up; nil if the scenario does not.
	Functional *testbench.Coverage

	name string
}

// FailureWave returns the path for the wave of this run's failure, and makes its folder.
func (r *Run) FailureWave() (string, error) {
	if err := os.MkdirAll(r.WaveDir, 0o777); err != nil {
		return "", fmt.Errorf("suite: folder for waves: %w", err)
	}
	return filepath.Join(r.WaveDir, waveName(r.name, r.Seed)), nil
}

func waveName(scenario string, seed uint64) string { return fmt.Sprintf("%s-%d.fst", scenario, seed) }

// Stats counts what a run simulated.
type Stats struct {
	Cycles  uint64 // clock cycles
	Packets uint64 // packets checked
	Bytes   uint64 // bytes of payload checked
	Wave    string // path of the FST that was written; "" for none
}

func (s *Stats) add(t Stats) {
	s.Cycles += t.Cycles
	s.Packets += t.Packets
	s.Bytes += t.Bytes
}

// Better says which way a figure improves.
type Better string

const (
	Higher Better = "higher"
	Lower  Better = "lower"
)

// Figure is one measured number of lmmc bench.
type Figure struct {
	// Name is made of lower-case letters, digits and underscores; no two are equal.
	Name string
	// Doc says in one line what is measured.
	Doc string
	// Unit is what Value counts, for example "cycles"; "" for a fraction.
	Unit string
	// Must is the worst value that passes, Aim the one worked for, Baseline what it is compared with; nil for none.
	Must, Aim, Baseline *float64
	// Published is what others have published of the like, with its name; "" for nothing.
	Published string
	// Better is Higher unless set.
	Better Better
	// Timed says that the value is a matter of seconds, so that a busy machine can spoil it.
	Timed bool
	// Long says that it takes longer than others, up to many minutes: a quick run leaves it out unless it is named.
	Long bool
	// Measure takes the measurement.
	Measure func(ctx context.Context) (Measurement, error)
}

// Measurement is what a Figure's Measure found.
type Measurement struct {
	Value    float64
	Baseline *float64 // measured in the same run; nil means Figure.Baseline
	Note     string   // how it came about, in a few words
}

// The registry. Clean and faulty traffic first; further files scenarios_*.go append to scenarios in their init functions.
var (
	scenarios = slices.Clone(trafficScenarios)
	figures   = slices.Concat(wireFigures, idleFigures, faultFigures, speedFigures, mutantFigures)
)

// Scenarios returns all scenarios, in the order in which they run.
func Scenarios() []Scenario { return slices.Clone(scenarios) }

// Figures returns all figures, in the order in which they are measured.
func Figures() []Figure { return slices.Clone(figures) }
