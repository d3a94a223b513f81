package suite

import (
	"strings"
	"testing"
)

// TestHostile runs the scenarios of bad input and restarts with one seed each.
func TestHostile(t *testing.T) {
	for _, s := range Scenarios() {
		if !strings.HasPrefix(s.Name, "hostile-") && !strings.HasPrefix(s.Name, "peer-") && s.Name != "ni-reset" && s.Name != "host-flood" && s.Name != "host-restart" {
			continue
		}
		t.Run(s.Name, func(t *testing.T) { once(t, s) })
	}
}

// once runs a scenario with one seed.
func once(t *testing.T, s Scenario) {
	t.Helper()
	report, err := Execute(t.Context(), Options{Scenarios: []Scenario{s}, Seeds: 1, WaveDir: t.ArtifactDir()})
	if err != nil {
		t.Fatal(err)
	}
	run := report.Results[0].Runs[0]
	if run.Err != nil {
		t.Errorf("%v\n%s\nagain: %s", run.Err, strings.Join(run.Log, "\n"), run.Reproduce())
	}
	if run.Stats.Packets == 0 || run.Stats.Cycles == 0 {
		t.Errorf("nothing was done: %+v", run.Stats)
	}
}
