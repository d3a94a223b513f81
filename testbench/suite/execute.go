package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/verilator"
)

// Options says what Execute runs.
type Options struct {
	// Scenarios to choose from; there must be one.
	Scenarios []Scenario
	// Filter chooses by name: the scenario of exactly this name or, if there is none, all that match it as a regular
	// expression. "" chooses all.
	Filter string
	// Seeds is the number of seeds for each scenario; 0 means each one's own, or 1 when Seed or Wave is set.
	Seeds int
	// Seed is the first seed, the following ones count up; nil means 1.
	Seed *uint64
	// Jobs is how many runs go on at a time; 0 means as many as there are CPUs.
	Jobs int
	// Wave makes every run write a wave, not only those that fail.
	Wave bool
	// WaveDir is the folder for waves; "" means build/waves.
	WaveDir string
	// Grace is how long a run may take to end once ctx has; 0 means 5 s. A run that takes longer is given up.
	Grace time.Duration
	// RTL is the folder of the modules to verify, laid out like rtl/; "" means those that this program was built with.
	RTL string
	// Coverage collects which parts of the RTL the runs reach, which makes them several times slower; nil means not to.
	Coverage *verilator.Collector
	// Progress is called after each run, by one goroutine at a time; nil for none.
	Progress func(Progress)
}

// Progress says how far Execute is.
type Progress struct {
	Done, Total, Failed int
	Last                Outcome // the run that ended just now
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
	if o.Grace == 0 {
		o.Grace = 5 * time.Second
	}
	if o.Wave {
		if err := os.MkdirAll(o.WaveDir, 0o777); err != nil {
			return Report{}, fmt.Errorf("suite: folder for waves: %w", err)
		}
	}
	if o.RTL != "" {
		if _, err := rtl.HashOf(os.DirFS(o.RTL)); err != nil {
			return Report{}, fmt.Errorf("%w: %s: %w", ErrOptions, o.RTL, err)
		}
	}
	first := uint64(1)
	if o.Seed != nil {
		first = *o.Seed
	}

	// A report with a place for every run, filled by the workers: its order does not depend on theirs.
	report := Report{WaveDir: o.WaveDir}
	var todo []*Outcome
	for _, s := range chosen {
		result := Result{Scenario: s, Runs: make([]Outcome, o.seeds(s))}
		for i := range result.Runs {
			result.Runs[i] = Outcome{Scenario: s.Name, Seed: first + uint64(i), run: s.Run, rtl: o.RTL}
			todo = append(todo, &result.Runs[i])
		}
		report.Results = append(report.Results, result)
	}
	jobs := o.Jobs
	if jobs == 0 {
		jobs = runtime.NumCPU()
	}

	start := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mutex    sync.Mutex
		progress = Progress{Total: len(todo)}
		queue    = make(chan *Outcome)
		workers  sync.WaitGroup
	)
	for range min(jobs, len(todo)) {
		workers.Go(func() {
			for outcome := range queue {
				outcome.execute(ctx, o)
				if errors.Is(outcome.Err, verilator.ErrTool) {
					cancel(outcome.Err)
				}
				mutex.Lock()
				progress.Done++
				progress.Last = *outcome
				if outcome.Err != nil {
					progress.Failed++
				}
				if o.Progress != nil && ctx.Err() == nil {
					o.Progress(progress)
				}
				mutex.Unlock()
			}
		})
	}
feed:
	for _, outcome := range todo {
		if ctx.Err() != nil {
			break
		}
		select {
		case queue <- outcome:
		case <-ctx.Done():
			break feed
		}
	}
	close(queue)
	workers.Wait()
	report.Elapsed = time.Since(start)
	for i := range report.Results {
		report.Results[i].Runs = slices.DeleteFunc(report.Results[i].Runs, func(x Outcome) bool { return !x.done })
	}
	return report, context.Cause(ctx)
}

// choose applies the filter, after a check of the options.
func (o Options) choose() ([]Scenario, error) {
	all := o.Scenarios
	switch {
	case o.Seeds < 0:
		return nil, fmt.Errorf("%w: %d seeds: at least 1 is needed", ErrOptions, o.Seeds)
	case o.Jobs < 0:
		return nil, fmt.Errorf("%w: %d jobs: at least 1 is needed", ErrOptions, o.Jobs)
	case len(all) == 0:
		return nil, fmt.Errorf("%w: there are no scenarios", ErrOptions)
	}
	for _, s := range all {
		if s.Name == o.Filter {
			return []Scenario{s}, nil
		}
	}
	match, err := regexp.Compile(o.Filter)
	if err != nil {
		return nil, fmt.Errorf("%w: filter: %w", ErrOptions, err)
	}
	var chosen []Scenario
	var names []string
	for _, s := range all {
		if match.MatchString(s.Name) {
			chosen = append(chosen, s)
		}
		names = append(names, s.Name)
	}
	if chosen == nil {
		return nil, fmt.Errorf("%w: no scenario matches %q; there are: %s", ErrOptions, o.Filter, strings.Join(names, ", "))
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

// execute does the run and fills the outcome.
func (x *Outcome) execute(ctx context.Context, o Options) {
	var mutex sync.Mutex
	var lines []string
	r := &Run{Seed: x.Seed, WaveDir: o.WaveDir, Coverage: o.Coverage, name: x.Scenario}
	r.Log = func(format string, args ...any) {
		mutex.Lock()
		defer mutex.Unlock()
		if len(lines) == maxLog {
			lines = slices.Delete(lines, 0, 1)
		}
		lines = append(lines, fmt.Sprintf(format, args...))
	}
	if o.RTL != "" {
		r.RTL = os.DirFS(o.RTL)
	}
	if o.Wave {
		r.Wave = filepath.Join(o.WaveDir, waveName(x.Scenario, x.Seed))
	}

	start := time.Now()
	ended := make(chan error, 1)
	go func() {
		ended <- Protect(func() error { return x.run(ctx, r) })
	}()
	var err error
	select {
	case err = <-ended:
		x.Stats, x.Functional = r.Stats, r.Functional
	case <-ctx.Done():
		select {
		case err = <-ended:
			x.Stats, x.Functional = r.Stats, r.Functional
		case <-time.After(o.Grace):
			// The run is still using r: nothing of it may be read.
			err = fmt.Errorf("does not end: still running %v after it was told to stop", o.Grace)
		}
	}
	x.Elapsed = time.Since(start)
	// A run that was only cut short says nothing about the design.
	x.done = err == nil || !cutShort(ctx, err)
	x.Err = err
	mutex.Lock()
	defer mutex.Unlock()
	x.Log = slices.Clone(lines)
}

func cutShort(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}

// PanicError is the failure of a scenario or a measurement that panicked.
type PanicError struct {
	Value any
	Stack string
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.Value, e.Stack) }

// Protect turns a panic of f into an error.
func Protect(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: string(debug.Stack())}
		}
	}()
	return f()
}
