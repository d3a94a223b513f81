package scenarios

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/suite"
)

// TestGoldenCoversTheProtocol runs the comparisons with the model as lmmc sim does: they pass, and every case of the protocol, pair of events and rare
// value that can come up does, and every case of routing.
func TestGoldenCoversTheProtocol(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	report := check.Must(suite.Execute(t.Context(), suite.Options{Scenarios: All(), Filter: "golden|coincidences|switch|router", WaveDir: t.TempDir()}))(t)
	for _, result := range report.Results {
		for _, run := range result.Runs {
			if run.Err != nil {
				t.Errorf("%s, seed %d: %v\nagain: %s", run.Scenario, run.Seed, run.Err, run.Reproduce())
			}
		}
	}
	c := report.Functional()
	for _, bin := range c.Unhit() {
		t.Errorf("has not come up: %s", bin)
	}
	for _, bin := range c.Impossible() {
		t.Errorf("came up, though it is said that it cannot: %s", bin)
	}
}
