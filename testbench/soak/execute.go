package soak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/verilator"
)

// Options says what Execute runs. The zero value is one round of every case.
type Options struct {
	// Options say how many runs go on at a time, where, and where results are kept. With For or Packets that must be this machine.
	campaign.Options
	// Links and Faults choose cases by name; nil means all.
	Links, Faults []string
	// Rates replace those of the faults; nil means each fault's own.
	Rates []float64
	// Seed is that of the first round; the following rounds count up.
	Seed uint64
	// Rounds is how many rounds there are at most; 0 means 1, or as many as For and Packets ask for.
	Rounds int
	// For ends the campaign after so much time; 0 means no such limit.
	For time.Duration
	// Packets begins no further round once so many have arrived; 0 means no such limit.
	Packets uint64
	// Wave makes every run write a wave, not only those that fail.
	Wave bool
	// WaveDir is the folder for waves; "" means build/waves.
	WaveDir string
	// RTL is the folder of the modules to try, laid out like rtl/; "" means those that this program was built with.
	RTL string
	// Progress is called after each run, by one goroutine at a time; nil for none.
	Progress func(Progress)

	modules fs.FS // those in RTL
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
	key := ""
	if (o.Store != "" || o.Slurm != nil) && !o.Wave {
		if key, err = verilator.ResultKey(ctx, o.modules); err != nil {
			return Report{}, err
		}
	}
	r := &rounds{options: o, key: key, cases: cases, report: Report{Seed: o.Seed, Failures: []Failure{}}}
	for _, k := range cases {
		l, _, _ := k.kinds()
		r.report.Rows = append(r.report.Rows, Row{Case: k, SymbolCycles: l.symbol, Counters: map[string]uint64{}, recovery: histogram{}})
	}
	if o.For > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, o.For, errEnough)
		defer cancel()
		ctx = limited
	}
	at, start := 1, time.Now() // rounds at a time
	if o.For == 0 && o.Packets == 0 {
		at = o.Rounds
	}
	for err == nil && (o.Rounds == 0 || r.report.Rounds < o.Rounds) && (o.Packets == 0 || r.report.Packets < o.Packets) {
		err = r.run(ctx, at)
	}
	if errors.Is(err, errEnough) {
		err = nil
	}
	for i := range r.report.Rows {
		r.report.Rows[i].close()
	}
	slices.SortFunc(r.report.Failures, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(a.Seed, b.Seed), cmp.Compare(slices.Index(cases, a.Case), slices.Index(cases, b.Case)))
	})
	r.report.Seconds = time.Since(start).Seconds()
	return r.report, err
}

// prepare checks the options and fills in what they leave open.
func (o *Options) prepare() error {
	switch {
	case o.Slurm != nil && (o.For > 0 || o.Packets > 0):
		return fmt.Errorf("%w: a cluster is given a number of rounds, not a time or a number of packets", ErrOptions)
	case o.Rounds < 0 || o.Jobs < 0 || o.For < 0:
		return fmt.Errorf("%w: rounds, jobs and time must not be negative", ErrOptions)
	case o.Rounds == 0 && o.For == 0 && o.Packets == 0:
		o.Rounds = 1
	}
	o.Fatal = []error{verilator.ErrTool}
	if o.WaveDir == "" {
		o.WaveDir = filepath.Join("build", "waves")
	}
	var err error
	if o.modules, err = rtl.Folder(o.RTL); err != nil {
		return fmt.Errorf("%w: %w", ErrOptions, err)
	}
	if err := os.MkdirAll(o.WaveDir, 0o777); err != nil {
		return fmt.Errorf("soak: folder for waves: %w", err)
	}
	return nil
}

// errEnough ends a campaign that has run for long enough, or has failed often enough.
var errEnough = errors.New("enough")

// rounds is Execute at work.
type rounds struct {
	options Options
	key     string // of what all runs follow from; "" if nothing is kept
	cases   []Case
	report  Report
}

// run runs every case once in each of n rounds.
func (r *rounds) run(ctx context.Context, n int) error {
	var jobs []campaign.Job[outcome]
	var seeds []uint64
	for round := range n {
		for _, k := range r.cases {
			seed := r.options.Seed + uint64(r.report.Rounds+round)
			job := campaign.Job[outcome]{Name: fmt.Sprintf("%v seed %d", k, seed), Run: func(ctx context.Context) (outcome, error) { return once(ctx, r.options, k, seed) }}
			if r.key != "" {
				job.Key = campaign.Key("soak", r.key, fmt.Sprintf("%+v", k), fmt.Sprint(seed))
			}
			jobs, seeds = append(jobs, job), append(seeds, seed)
		}
	}
	before := r.report.Rounds
	_, err := campaign.Run(ctx, jobs, r.options.Options, func(p campaign.Progress, found campaign.Result[outcome]) error {
		i, k := p.Last%len(r.cases), r.cases[p.Last%len(r.cases)]
		r.report.Rows[i].add(found.Value.Row, found.Value.Recovery)
		r.report.Rounds = max(r.report.Rounds, before+1+p.Last/len(r.cases))
		r.report.Runs++
		r.report.Packets += found.Value.Row.Packets
		if found.Cached {
			r.report.Cached++
		}
		if found.Err != nil {
			r.report.Failed++
			r.report.Failures = append(r.report.Failures, Failure{k, seeds[p.Last], found.Err.Error(), found.Value.Wave, k.again(r.options, seeds[p.Last])})
		}
		if r.options.Progress != nil {
			r.options.Progress(Progress{r.report.Rounds, r.report.Runs, r.report.Packets, r.report.Failed, k})
		}
		if r.report.Failed >= mostFailures {
			return errEnough
		}
		return nil
	})
	return err
}
