package harness

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/suite"
)

// TestWaves fails by a wait that does not end: there are waves of its beginning, and of its end.
func TestWaves(t *testing.T) {
	waits := suite.Scenario{Name: "waits", Run: func(ctx context.Context, r *suite.Run) error {
		return OnFabric(ctx, r, ni.Pair(rtl.Params{}, 1), func(f *ni.Fabric) {
			try.OK(f.Run(50_000), f.Until(100_000, "Godot", func() bool { return false }))
		})
	}}
	report := check.Must(suite.Execute(t.Context(), suite.Options{Scenarios: []suite.Scenario{waits}, Seeds: 1, WaveDir: t.TempDir()}))(t)
	run := report.Results[0].Runs[0]
	check.Fails(t, "the wait", run.Err, nil)
	check.Contains(t, "error", run.Err.Error(), "after 100000 clocks still waiting for Godot")
	check.Contains(t, "log", strings.Join(run.Log, "\n"), "wave of the beginning of that wait: ")
	_, began, _ := strings.Cut(run.Log[len(run.Log)-1], "wait: ")
	for _, wave := range []string{began, run.Stats.Wave} {
		if info := check.Must(os.Stat(wave))(t); info.Size() < 1000 {
			t.Errorf("%s has %d bytes", wave, info.Size())
		}
	}
}
