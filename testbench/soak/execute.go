package soak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/verilator"
)

// Options says what Execute runs. The zero value is one round of every case.
type Options struct {
	// Links and Faults choose cases by name; nil means all.
	Links, Faults []string
	// Rates replace those of the faults; nil means each fault's own.
	Rates []float64
	// Seed is that of the first round; the following rounds count up.
	Seed uint64
	// Rounds is how many rounds there are at most; 0 means 1, or as many as For and Packets ask for.
	Rounds int
	// For begins no further run after so much time; 0 means no such limit.
	For time.Duration
	// Packets begins no further round once so many have arrived; 0 means no such limit.
	Packets uint64
	// Jobs is how many runs go on at a time; 0 means as many as there are CPUs.
	Jobs int
	// Wave makes every run write a wave, not only those that fail.
	Wave bool
	// WaveDir is the folder for waves; "" means build/waves.
	WaveDir string
	// RTL is the folder of the modules to try, laid out like rtl/; "" means those that this program was built with.
	RTL string
	// Progress is called after each run, by one goroutine at a time; nil for none.
	Progress func(Progress)
}

// Progress says how far Execute is.
type Progress struct {
	Round   int // the present one, from 1
	Runs    uint64
	Packets uint64
	Failed  int
	Last    Case
}

// mostFailures is after how many a campaign ends: more would tell the same.
const mostFailures = 10

// Execute runs the campaign. A run that fails is no error of Execute: Report.Failed counts them. It returns an error for wrong options, when
// ctx ends (the report then holds what was done until then), and one that wraps verilator.ErrTool when a tool is missing.
func Execute(ctx context.Context, o Options) (Report, error) {
	cases, err := o.cases()
	if err != nil {
		return Report{}, err
	}
	if err := o.prepare(); err != nil {
		return Report{}, err
	}
	c := &campaign{options: o, report: Report{Seed: o.Seed, Failures: []Failure{}}, rows: map[Case]*Row{}}
	for _, k := range cases {
		l, _, _ := k.kinds()
		c.report.Rows = append(c.report.Rows, Row{Case: k, SymbolCycles: l.symbol, Counters: map[string]uint64{}})
	}
	for i, k := range cases {
		c.rows[k] = &c.report.Rows[i]
	}
	start := time.Now()
	for round := 0; c.goesOn(ctx, round, start); round++ {
		c.report.Rounds++
		c.round(ctx, cases, o.Seed+uint64(round), start)
	}
	for i := range c.report.Rows {
		c.report.Rows[i].close()
	}
	slices.SortFunc(c.report.Failures, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(a.Seed, b.Seed), cmp.Compare(slices.Index(cases, a.Case), slices.Index(cases, b.Case)))
	})
	c.report.Seconds = time.Since(start).Seconds()
	if c.err != nil {
		return c.report, c.err
	}
	return c.report, context.Cause(ctx)
}

// prepare checks the options and fills in what they leave open.
func (o *Options) prepare() error {
	switch {
	case o.Rounds < 0 || o.Jobs < 0 || o.For < 0:
		return fmt.Errorf("%w: rounds, jobs and time must not be negative", ErrOptions)
	case o.Rounds == 0 && o.For == 0 && o.Packets == 0:
		o.Rounds = 1
	}
	if o.Jobs == 0 {
		o.Jobs = runtime.NumCPU()
	}
	if o.WaveDir == "" {
		o.WaveDir = filepath.Join("build", "waves")
	}
	if o.RTL != "" {
		if _, err := rtl.HashOf(os.DirFS(o.RTL)); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrOptions, o.RTL, err)
		}
	}
	if err := os.MkdirAll(o.WaveDir, 0o777); err != nil {
		return fmt.Errorf("soak: folder for waves: %w", err)
	}
	return nil
}

// campaign is Execute at work.
type campaign struct {
	options Options
	mutex   sync.Mutex
	report  Report
	rows    map[Case]*Row
	err     error // a tool is missing
}

// goesOn reports whether another round is to begin.
func (c *campaign) goesOn(ctx context.Context, round int, start time.Time) bool {
	o := c.options
	return ctx.Err() == nil && c.err == nil && c.report.Failed < mostFailures && !(o.Rounds > 0 && round >= o.Rounds) &&
		!(o.Packets > 0 && c.report.Packets >= o.Packets) && !(o.For > 0 && time.Since(start) >= o.For)
}

// round runs every case once.
func (c *campaign) round(ctx context.Context, cases []Case, seed uint64, start time.Time) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	queue := make(chan Case)
	var workers sync.WaitGroup
	for range min(c.options.Jobs, len(cases)) {
		workers.Go(func() {
			for k := range queue {
				if !c.note(ctx, once(ctx, c.options, k, seed)) {
					cancel()
				}
			}
		})
	}
	for _, k := range cases {
		if c.options.For > 0 && time.Since(start) >= c.options.For {
			break
		}
		select {
		case queue <- k:
		case <-ctx.Done():
		}
	}
	close(queue)
	workers.Wait()
}

// note takes a run into the report; false means that no more need be run.
func (c *campaign) note(ctx context.Context, x outcome) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case x.err != nil && ctx.Err() != nil: // cut short, which says nothing about the link
		return false
	case errors.Is(x.err, verilator.ErrTool):
		c.err = x.err
		return false
	}
	c.rows[x.Case].add(x)
	c.report.Runs++
	c.report.Packets += x.row.Packets
	if x.err != nil {
		c.report.Failed++
		c.report.Failures = append(c.report.Failures, Failure{x.Case, x.seed, x.err.Error(), x.wave, x.again(c.options)})
	}
	if c.options.Progress != nil {
		c.options.Progress(Progress{c.report.Rounds, c.report.Runs, c.report.Packets, c.report.Failed, x.Case})
	}
	return c.report.Failed < mostFailures
}
