package suite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/verilator"
)

// Options says what Execute runs.
type Options struct {
	// Options say how many runs go on at a time, where, and where results are kept.
	campaign.Options
	// Scenarios to choose from; there must be one.
	Scenarios []Scenario
	// Filter chooses by name: the scenario of exactly this name or, if there is none, all that match it as a regular
	// expression. "" chooses all.
	Filter string
	// Seeds is the number of seeds for each scenario; 0 means each one's own, or 1 when Seed or Wave is set.
	Seeds int
	// Seed is the first seed, the following ones count up; nil means 1.
	Seed *uint64
	// Wave makes every run write a wave, not only those that fail.
	Wave bool
	// WaveDir is the folder for waves; "" means build/waves.
	WaveDir string
	// RTL is the folder of the modules to verify, laid out like rtl/; "" means those that this program was built with.
	RTL string
	// Width, unless 0, is the WIDTH of all network interfaces: bytes of packets a clock, 1, 4 or 8.
	Width int
	// Coverage collects which parts of the RTL the runs reach, which makes them several times slower; nil means not to.
	Coverage *verilator.Collector
	// Progress is called after each run, by one goroutine at a time; nil for none.
	Progress func(Progress)

	modules fs.FS // those in RTL
}

// Progress says how far Execute is.
type Progress struct {
	campaign.Progress
	Last Outcome // the run that ended just now
}

// ErrOptions is wrapped by the errors of Execute about its Options.
var ErrOptions = errors.New("suite")

// Execute runs each chosen scenario with each seed and reports all of them. A failing run is no error of Execute:
// Report.Failed counts them. It returns an error for wrong options, when ctx ends (the report then holds what was
// done until then), and one that wraps verilator.ErrTool when a tool is missing, as no run could succeed.
func Execute(ctx context.Context, o Options) (Report, error) {
	chosen, err := o.choose()
	if err != nil {
		return Report{}, err
	}
	if o.WaveDir == "" {
		o.WaveDir = filepath.Join("build", "waves")
	}
	o.Fatal = []error{verilator.ErrTool}
	if o.Wave {
		if err := os.MkdirAll(o.WaveDir, 0o777); err != nil {
			return Report{}, fmt.Errorf("suite: folder for waves: %w", err)
		}
	}
	if o.modules, err = rtl.Folder(o.RTL); err != nil {
		return Report{}, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	first := uint64(1)
	if o.Seed != nil {
		first = *o.Seed
	}

	base, err := o.key(ctx)
	if err != nil {
		return Report{}, err
	}
	var jobs []campaign.Job[simulated]
	var logs []*log
	report := Report{WaveDir: o.WaveDir}
	for _, s := range chosen {
		result := Result{Scenario: s}
		for i := range o.seeds(s) {
			seed := first + uint64(i)
			result.Runs = append(result.Runs, Outcome{Scenario: s.Name, Seed: seed, rtl: o.RTL, width: o.Width})
			job, log := o.job(s, seed)
			if base != "" {
				job.Key = campaign.Key("sim", base, s.Name, fmt.Sprint(seed), fmt.Sprint(o.Width))
			}
			jobs, logs = append(jobs, job), append(logs, log)
		}
		report.Results = append(report.Results, result)
	}

	start := time.Now()
	var all []*Outcome
	for i := range report.Results {
		for k := range report.Results[i].Runs {
			all = append(all, &report.Results[i].Runs[k])
		}
	}
	_, err = campaign.Run(ctx, jobs, o.Options, func(p campaign.Progress, found campaign.Result[simulated]) error {
		all[p.Last].fill(found, logs[p.Last])
		if o.Progress != nil {
			o.Progress(Progress{p, *all[p.Last]})
		}
		return nil
	})
	report.Elapsed = time.Since(start)
	for i := range report.Results {
		report.Results[i].Runs = slices.DeleteFunc(report.Results[i].Runs, func(x Outcome) bool { return !x.done })
	}
	return report, err
}

// key hashes what all runs follow from besides scenario and seed; "" if they leave more than a result, or none of it is kept.
func (o Options) key(ctx context.Context) (string, error) {
	if o.Store == "" && o.Slurm == nil || o.Wave || o.Coverage != nil {
		return "", nil
	}
	return verilator.ResultKey(ctx, o.modules)
}

// choose applies the filter, after a check of the options.
func (o Options) choose() ([]Scenario, error) {
	switch {
	case o.Seeds < 0:
		return nil, fmt.Errorf("%w: %d seeds: at least 1 is needed", ErrOptions, o.Seeds)
	case o.Jobs < 0:
		return nil, fmt.Errorf("%w: %d jobs: at least 1 is needed", ErrOptions, o.Jobs)
	case o.Width != 0 && !slices.Contains(rtl.Widths, o.Width):
		return nil, fmt.Errorf("%w: no network interface is %d bytes wide: want 1, 4 or 8", ErrOptions, o.Width)
	case len(o.Scenarios) == 0:
		return nil, fmt.Errorf("%w: there are no scenarios", ErrOptions)
	}
	chosen, err := campaign.Choose("scenario", o.Scenarios, func(s Scenario) string { return s.Name }, o.Filter)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	return chosen, nil
}

func (o Options) seeds(s Scenario) int {
	switch {
	case o.Seeds > 0:
		return o.Seeds
	case o.Seed != nil || o.Wave:
		return 1
	}
	return max(s.Seeds, 1)
}

// maxLog is how many lines of a run's log are kept: the last ones tell why it failed.
const maxLog = 200

// log is what a run logs.
type log struct {
	mutex sync.Mutex
	lines []string
}

func (l *log) printf(format string, args ...any) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.lines) == maxLog {
		l.lines = slices.Delete(l.lines, 0, 1)
	}
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *log) last() []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return slices.Clone(l.lines)
}

// simulated is what a run leaves.
type simulated struct {
	Stats      Stats
	Log        []string
	Functional [][]uint64 `json:",omitempty"`
}

// job is a run of a scenario, and what it logs.
func (o Options) job(s Scenario, seed uint64) (campaign.Job[simulated], *log) {
	l := &log{}
	return campaign.Job[simulated]{Name: fmt.Sprintf("%s seed %d", s.Name, seed), Run: func(ctx context.Context) (simulated, error) {
		r := &Run{Seed: seed, RTL: o.modules, Width: o.Width, WaveDir: o.WaveDir, Coverage: o.Coverage, Log: l.printf, name: s.Name}
		if o.Wave {
			r.Wave = filepath.Join(o.WaveDir, waveName(s.Name, seed))
		}
		err := campaign.Protect(func() error { return s.Run(ctx, r) })
		found := simulated{Stats: r.Stats, Log: l.last()}
		if r.Functional != nil {
			found.Functional = r.Functional.Counts()
		}
		return found, err
	}}, l
}

// fill takes what came out of the run.
func (x *Outcome) fill(found campaign.Result[simulated], l *log) {
	x.Stats, x.Log, x.Elapsed, x.Err, x.Cached, x.done = found.Value.Stats, found.Value.Log, found.Elapsed, found.Err, found.Cached, found.Done
	x.functional = found.Value.Functional
	if x.Log == nil && x.Err != nil { // it has not ended
		x.Log = l.last()
	}
}
