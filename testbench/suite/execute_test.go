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
	check.Equal(t, "calls, done, passed, failed", []int{calls, done, report.Passed(), report.Failed()}, []int{6, 6, 6, 0})
	five := report.Results[1]
	check.Equal(t, "seeds", seeds(five), []uint64{1, 2, 3, 4, 5})
	check.Equal(t, "stats", five.Stats(), Stats{Cycles: 15, Packets: 5, Bytes: 50})
}

// seeds are those that a scenario was run with.
func seeds(r Result) (all []uint64) {
	for _, run := range r.Runs {
		all = append(all, run.Seed)
	}
	return all
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
			check.Equal(t, "seeds", seeds(report.Results[0]), test.want)
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
		check.Equal(t, "what filter "+filter+" chooses", strings.Join(got, " "), want)
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
		check.Fails(t, test.text, check.Err(Execute(t.Context(), test.o)), ErrOptions, test.text)
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
	check.Equal(t, "passed and failed", []int{report.Passed(), report.Failed()}, []int{4, 2})
	runs := report.Results[0].Runs
	check.Equal(t, "reproduce", runs[1].Reproduce(), "go run ./cmd/lmmc sim --run broken --seed 2 --wave")
	check.Equal(t, "waves", report.Waves(), []string{filepath.Join(dir, "broken-2.fst")})
	check.Error(t, check.Err(os.Stat(dir)))
	check.Equal(t, "log", runs[1].Log, []string{"seed 2 begins"})
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
	check.Equal(t, "wave", wave, filepath.Join(dir, "s-1.fst"))
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
	check.Fails(t, "cancelled", err, context.Canceled)
	check.Equal(t, "passed and failed, of those not cut short", []int{report.Passed(), report.Failed()}, []int{2, 0})
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
	check.Fails(t, "cancelled", err, context.Canceled)
	check.Equal(t, "failed", report.Failed(), 1)
}

func TestExecuteStopsWithoutTools(t *testing.T) {
	var runs atomic.Int32
	s := Scenario{Name: "s", Seeds: 50, Run: func(context.Context, *Run) error {
		runs.Add(1)
		return fmt.Errorf("build: %w", verilator.ErrTool)
	}}
	_, err := Execute(t.Context(), Options{Scenarios: []Scenario{s}, Options: campaign.Options{Jobs: 1}})
	check.Fails(t, "without a tool", err, verilator.ErrTool)
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
