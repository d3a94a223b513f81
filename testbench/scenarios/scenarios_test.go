package scenarios

import (
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/suite"
)

// TestScenarios runs the scenarios of bad input, of restarts and other ends, of lines, of test builds, of registers, of messages and of remote paging with one seed each.
func TestScenarios(t *testing.T) {
	for _, s := range All() {
		group, _, _ := strings.Cut(s.Name, "-")
		others := []string{"ni-reset", "recabled", "silent-peer", "small-peer", "withheld", "pair-serial", "pair-uart", "lanes", "inject", "inject-exact", "trace", "trace-exact", "messages", "routed", "overlap"}
		if group == "hostile" || group == "paging" || group == "registers" || slices.Contains(others, s.Name) {
			t.Run(s.Name, func(t *testing.T) { once(t, s) })
		}
	}
}

// once runs a scenario with one seed.
func once(t *testing.T, s suite.Scenario) {
	t.Helper()
	report := check.Must(suite.Execute(t.Context(), suite.Options{Scenarios: []suite.Scenario{s}, Seeds: 1, WaveDir: t.ArtifactDir()}))(t)
	run := report.Results[0].Runs[0]
	if run.Err != nil {
		t.Errorf("%v\n%s\nagain: %s", run.Err, strings.Join(run.Log, "\n"), run.Reproduce())
	}
	if run.Stats.Packets == 0 || run.Stats.Cycles == 0 {
		t.Errorf("nothing was done: %+v", run.Stats)
	}
}
