package scenarios

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
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

// TestWaves fails by a wait that does not end: there are waves of its beginning, and of its end.
func TestWaves(t *testing.T) {
	waits := suite.Scenario{Name: "waits", Run: func(ctx context.Context, r *suite.Run) error {
		return onFabric(ctx, r, ni.Pair(rtl.Params{}, 1), func(f *ni.Fabric) {
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

// TestRefusable checks that the host's end takes every request that the interface must refuse, up to the longest there is.
func TestRefusable(t *testing.T) {
	for _, page := range []int{64, 256} {
		s := &harness{Fabric: &ni.Fabric{Params: rtl.Params{PageBytes: page}.WithDefaults()}, rng: testbench.NewRand(uint64(page))}
		longest := 0
		for range 100_000 {
			raw := s.refusable().raw
			longest = max(longest, len(raw))
			if len(raw) < linkproto.HeaderBytes {
				t.Fatalf("a request of % x, which is no packet", raw)
			}
		}
		if longest != s.Params.MaxPacket() {
			t.Errorf("with pages of %d bytes the longest request has %d, want %d", page, longest, s.Params.MaxPacket())
		}
	}
}
