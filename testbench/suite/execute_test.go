package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/golden"
	"github.com/stafflink/lmmc/verilator"
)

// count is a scenario that succeeds and counts its seed as cycles.
func count(name string, seeds int) Scenario {
	return Scenario{Name: name, Doc: "counts", Seeds: seeds, Run: func(_ context.Context, r *Run) error {
		r.Stats = Stats{Cycles: r.Seed, Packets: 1, Bytes: 10}
		return nil
	}}
}

func TestExecuteRunsEverySeedInOrder(t *testing.T) {
	scenarios := []Scenario{count("one", 0), count("five", 5)}
	var calls, done int
	report, err := Execute(t.Context(), Options{Scenarios: scenarios, Options: campaign.Options{Jobs: 3}, Progress: func(p Progress) {
		calls++
		done = p.Done
		if p.Total != 6 || p.Failed != 0 {
			t.Errorf("progress %+v", p)
		}
	}})
	check.Fatal(t, err)
	if calls != 6 || done != 6 || report.Passed() != 6 || report.Failed() != 0 {
		t.Errorf("%d calls, %d done, %d passed, %d failed", calls, done, report.Passed(), report.Failed())
	}
	five := report.Results[1]
	for i, run := range five.Runs {
		if run.Seed != uint64(i+1) {
			t.Errorf("run %d has seed %d", i, run.Seed)
		}
	}
	if got, want := five.Stats(), (Stats{Cycles: 15, Packets: 5, Bytes: 50}); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
}

func TestExecuteChoosesSeeds(t *testing.T) {
	zero, ten := uint64(0), uint64(10)
	for _, test := range []struct {
		name string
		o    Options
		want []uint64
	}{
		{"the scenario's own", Options{}, []uint64{1, 2, 3}},
		{"a number", Options{Seeds: 2}, []uint64{1, 2}},
		{"one seed", Options{Seed: &ten}, []uint64{10}},
		{"seed zero", Options{Seed: &zero}, []uint64{0}},
		{"from a seed", Options{Seed: &ten, Seeds: 2}, []uint64{10, 11}},
		{"a wave means one", Options{Wave: true}, []uint64{1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.o.Scenarios = []Scenario{count("x", 3)}
			test.o.WaveDir = t.TempDir()
			report := check.Must(Execute(t.Context(), test.o))(t)
			var got []uint64
			for _, run := range report.Results[0].Runs {
				got = append(got, run.Seed)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("seeds %v, want %v", got, test.want)
			}
		})
	}
}

func TestExecuteFilters(t *testing.T) {
	all := []Scenario{count("link", 1), count("link-errors", 1), count("pages", 1)}
	for filter, want := range map[string]string{
		"":       "link link-errors pages",
		"link":   "link", // an exact name wins over a match
		"link-":  "link-errors",
		"^.*s$":  "link-errors pages",
		"(?i)PA": "pages",
	} {
		report := check.Must(Execute(t.Context(), Options{Scenarios: all, Filter: filter}))(t)
		var got []string
		for _, r := range report.Results {
			got = append(got, r.Scenario.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("filter %q chooses %v, want %s", filter, got, want)
		}
	}
}

func TestExecuteRefusesOptions(t *testing.T) {
	all := []Scenario{count("link", 1)}
	for _, test := range []struct {
		o    Options
		text string
	}{
		{Options{Scenarios: all, Filter: "nothing"}, "there are: link"},
		{Options{Scenarios: all, Filter: "("}, "missing closing )"},
		{Options{Scenarios: all, Seeds: -1}, "seeds"},
		{Options{Scenarios: all, Options: campaign.Options{Jobs: -1}}, "jobs"},
		{Options{Scenarios: []Scenario{}}, "no scenarios"},
	} {
		_, err := Execute(t.Context(), test.o)
		if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%+v: error %v, want one with %q", test.o, err, test.text)
		}
	}
}

func TestExecuteReportsFailures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "waves")
	broken := Scenario{Name: "broken", Seeds: 4, Run: func(_ context.Context, r *Run) error {
		r.Log("seed %d begins", r.Seed)
		r.Stats.Cycles = 7
		switch r.Seed {
		case 2:
			wave, err := r.FailureWave()
			if err != nil {
				return err
			}
			r.Stats.Wave = wave
			return errors.New("byte 5 differs")
		case 3:
			panic("out of range")
		}
		return nil
	}}
	report := check.Must(Execute(t.Context(), Options{Scenarios: []Scenario{broken, count("good", 2)}, WaveDir: dir}))(t)
	if report.Passed() != 4 || report.Failed() != 2 {
		t.Errorf("%d passed, %d failed", report.Passed(), report.Failed())
	}
	runs := report.Results[0].Runs
	if got, want := runs[1].Reproduce(), "go run ./cmd/lmmc sim --run broken --seed 2 --wave"; got != want {
		t.Errorf("reproduce with %q, want %q", got, want)
	}
	wave := filepath.Join(dir, "broken-2.fst")
	if got := report.Waves(); !slices.Equal(got, []string{wave}) {
		t.Errorf("waves %v, want %s", got, wave)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("the folder for waves was not made: %v", err)
	}
	if !slices.Equal(runs[1].Log, []string{"seed 2 begins"}) {
		t.Errorf("log %q", runs[1].Log)
	}
	var panicked *campaign.PanicError
	if !errors.As(runs[2].Err, &panicked) || panicked.Value != "out of range" || !strings.Contains(panicked.Stack, "execute_test.go") {
		t.Errorf("the panic became %v", runs[2].Err)
	}
}

func TestExecuteKeepsTheLastLinesOfALog(t *testing.T) {
	talker := Scenario{Name: "talker", Run: func(_ context.Context, r *Run) error {
		for i := range 3 * maxLog {
			r.Log("line %d", i)
		}
		return nil
	}}
	report := check.Must(Execute(t.Context(), Options{Scenarios: []Scenario{talker}}))(t)
	log := report.Results[0].Runs[0].Log
	if len(log) != maxLog || log[maxLog-1] != fmt.Sprintf("line %d", 3*maxLog-1) {
		t.Errorf("%d lines, the last is %q", len(log), log[len(log)-1])
	}
}

func TestExecuteNamesWaves(t *testing.T) {
	dir := t.TempDir()
	var wave string
	s := Scenario{Name: "s", Run: func(_ context.Context, r *Run) error { wave = r.Wave; return nil }}
	check.Must(Execute(t.Context(), Options{Scenarios: []Scenario{s}, Wave: true, WaveDir: dir}))(t)
	if want := filepath.Join(dir, "s-1.fst"); wave != want {
		t.Errorf("wave %q, want %q", wave, want)
	}
}

func TestExecuteEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := Scenario{Name: "s", Seeds: 10, Run: func(ctx context.Context, r *Run) error {
		if r.Seed < 3 {
			return nil
		}
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}}
	report, err := Execute(ctx, Options{Scenarios: []Scenario{s}, Options: campaign.Options{Jobs: 1}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if report.Passed() != 2 || report.Failed() != 0 {
		t.Errorf("%d passed, %d failed: want the two runs that were not cut short", report.Passed(), report.Failed())
	}
}

func TestExecuteGivesUpARunThatDoesNotEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	defer close(release)
	s := Scenario{Name: "s", Run: func(context.Context, *Run) error {
		cancel()
		<-release
		return nil
	}}
	report, err := Execute(ctx, Options{Scenarios: []Scenario{s}, Options: campaign.Options{Grace: time.Millisecond}})
	if !errors.Is(err, context.Canceled) || report.Failed() != 1 {
		t.Errorf("error %v, %d failed", err, report.Failed())
	}
}

func TestExecuteStopsWithoutTools(t *testing.T) {
	var runs atomic.Int32
	s := Scenario{Name: "s", Seeds: 50, Run: func(context.Context, *Run) error {
		runs.Add(1)
		return fmt.Errorf("build: %w", verilator.ErrTool)
	}}
	_, err := Execute(t.Context(), Options{Scenarios: []Scenario{s}, Options: campaign.Options{Jobs: 1}})
	if !errors.Is(err, verilator.ErrTool) {
		t.Errorf("error %v", err)
	}
	if runs.Load() > 2 {
		t.Errorf("%d runs though the first could tell", runs.Load())
	}
}

// What is kept of a run is all that the report shows of it.
func TestExecuteKeeps(t *testing.T) {
	runs := 0
	s := Scenario{Name: "s", Seeds: 3, Run: func(_ context.Context, r *Run) error {
		runs++
		r.Log("seed %d", r.Seed)
		r.Stats = Stats{Cycles: r.Seed, Packets: 2, Bytes: 3}
		c := golden.NewCoverage()
		counts := c.Counts()
		counts[0][0] = r.Seed
		r.Functional = c.Coverage
		return c.AddCounts(counts)
	}}
	o := Options{Scenarios: []Scenario{s}, Options: campaign.Options{Store: t.TempDir(), Jobs: 1}}
	first := check.Must(Execute(t.Context(), o))(t)
	again, err := Execute(t.Context(), o)
	if err != nil || runs != 3 || again.Cached() != 3 || again.Passed() != 3 || first.Cached() != 0 {
		t.Errorf("%v, %d runs, %d and %d cached", err, runs, first.Cached(), again.Cached())
	}
	if diff := cmp.Diff(first.Functional().Document(), again.Functional().Document()); diff != "" || len(first.Functional().Unhit()) == 0 {
		t.Errorf("other cases came up (-first +again):\n%s", diff)
	}
	for i, run := range again.Results[0].Runs {
		if old := first.Results[0].Runs[i]; run.Stats != old.Stats || !slices.Equal(run.Log, old.Log) || run.Elapsed != old.Elapsed {
			t.Errorf("%+v, was %+v", run, old)
		}
	}
	for _, change := range []struct {
		name string
		do   func()
	}{
		{"other modules", func() { o.RTL = "../../rtl" }},
		{"another environment", func() { o.RTL = ""; t.Setenv("LMMC_SOMETHING", "3") }},
		{"modules rewritten", func() { t.Setenv(verilator.RewriteVar, "[]") }},
		{"a wave", func() {
			os.Unsetenv(verilator.RewriteVar)
			os.Unsetenv("LMMC_SOMETHING")
			o.Wave, o.Seeds, o.WaveDir = true, 3, t.TempDir()
		}},
	} {
		change.do()
		if r, err := Execute(t.Context(), o); err != nil || r.Cached() != 0 {
			t.Errorf("%s: %v, %d cached", change.name, err, r.Cached())
		}
	}
}
