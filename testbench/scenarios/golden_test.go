package scenarios

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/suite"
)

// TestGoldenCoversTheProtocol runs the comparison with the model as lmmc sim does: it passes, and every case of the protocol that can come up does.
func TestGoldenCoversTheProtocol(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	report := check.Must(suite.Execute(t.Context(), suite.Options{Scenarios: All(), Filter: "golden", WaveDir: t.TempDir()}))(t)
	for _, run := range report.Results[0].Runs {
		if run.Err != nil {
			t.Errorf("seed %d: %v\nagain: %s", run.Seed, run.Err, run.Reproduce())
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
