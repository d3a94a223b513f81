// Package suite runs scenarios: verification runs of the network interface, each repeated over seeds.
//
// Execute runs scenarios side by side and gathers what came out, as a Report, which becomes a document or JUnit XML. The command lmmc
// prints it; nothing here prints. Package scenarios lists the scenarios.
package suite

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
	// Width, unless 0, is the WIDTH of all network interfaces, whatever the scenario says.
	Width int
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
