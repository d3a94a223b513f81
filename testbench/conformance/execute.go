package conformance

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/verilator"
)

// Options say what Execute does. The zero value runs all cases.
type Options struct {
	// Peer is for a target that another process serves, as in unix:PATH: the other node, served likewise. Cases run between the two then; "" for other targets.
	Peer string
	// Filter chooses cases, as Choose does.
	Filter string
	// Seed determines everything random; 0 means 1.
	Seed uint64
	// Effort is by how much more a case does than usual; 0 means 1.
	Effort int
	// Options say how many cases run at a time, each on a target of its own, and where; 0 means 1. What is not a simulation runs one at a time on
	// this machine. Timeout 0 is 10 minutes, and for a simulation an hour: a netlist is slow, the machine may be busy, and what the target
	// fails to do it is waited for in the target's time. Of the targets model: and rtl:, which follow from the program and the target's text, it is
	// kept what passed.
	campaign.Options
	// Transcripts is the folder for recordings of what went over the cable in the cases that fail, for package hostdrv/replay; "" for none.
	Transcripts string
	// Progress is called before the first case and after each, one call at a time; nil for none.
	Progress func(Progress)

	cases []Case // nil: Cases()
}

// Progress says how far Execute is.
type Progress struct {
	Done, Total, Failed int
	Next                string // name of the last case that was begun, "" after the last
}

// grace is how long a case that hangs may take to end once it is told to.
const grace = 10 * time.Second

// Execute runs cases on a target, one after the other. A case that fails is no error: the report says so. It returns an error for wrong
// options, if the target cannot be opened in the first place, and when ctx ends; the report holds what was done until then.
func Execute(ctx context.Context, target string, o Options) (*Report, error) {
	if o.cases == nil {
		o.cases = Cases()
	}
	cases, err := Choose(o.cases, o.Filter)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Effort < 0 || o.Effort > 1000:
		return nil, fmt.Errorf("%w: an effort of %d, want 1 to 1000", ErrOptions, o.Effort)
	case o.Jobs < 0:
		return nil, fmt.Errorf("%w: %d jobs, want 1 at least", ErrOptions, o.Jobs)
	}
	o.Effort = max(o.Effort, 1)
	if o.Seed == 0 {
		o.Seed = 1
	}
	start := time.Now()
	r := &Report{Target: target, Peer: o.Peer, Seed: o.Seed, Effort: o.Effort, Results: []Result{}}
	if err := r.explore(ctx, target); err != nil {
		return nil, err
	}
	o.Grace = grace
	if !r.several {
		o.Jobs = 1
		if o.Slurm != nil {
			return nil, fmt.Errorf("%w: %s is no simulation, so it runs on this machine only", ErrOptions, target)
		}
	}
	o.Jobs = max(o.Jobs, 1)
	if o.Timeout == 0 {
		if o.Timeout = 10 * time.Minute; r.several {
			o.Timeout = time.Hour
		}
	}
	err = r.all(ctx, cases, o)
	r.Seconds = time.Since(start).Seconds()
	return r, err
}

// all executes cases. The results are in the order of the cases, without those that did not end before ctx did.
func (r *Report) all(ctx context.Context, cases []Case, o Options) error {
	var (
		mutex    sync.Mutex
		progress = Progress{Total: len(cases)}
	)
	tell := func(change func()) {
		mutex.Lock()
		defer mutex.Unlock()
		if change(); o.Progress != nil {
			o.Progress(progress)
		}
	}
	base, err := r.key(ctx, o)
	if err != nil {
		return err
	}
	var jobs []campaign.Job[Result]
	for _, c := range cases {
		job := campaign.Job[Result]{Name: c.Name, Run: func(ctx context.Context) (Result, error) {
			tell(func() { progress.Next = c.Name })
			return r.execute(ctx, c, o)
		}}
		if base != "" {
			job.Key = campaign.Key("conform", base, r.Target, fmt.Sprint(r.Seed, r.Effort), c.Name)
		}
		jobs = append(jobs, job)
	}
	found, err := campaign.Run(ctx, jobs, o.Options, func(p campaign.Progress, _ campaign.Result[Result]) error {
		mutex.Lock()
		defer mutex.Unlock()
		progress.Done, progress.Failed = p.Done, p.Failed
		return nil
	})
	for i, x := range found {
		if !x.Done {
			continue
		}
		if x.Err != nil && x.Value.Name == "" { // it has not ended
			x.Value = r.result(cases[i], &bench{}, x.Err, x.Elapsed)
		}
		x.Value.Cached = x.Cached
		r.Results = append(r.Results, x.Value)
	}
	if err == nil {
		tell(func() { progress.Next = "" })
	}
	return err
}

// key hashes what all cases follow from; "" if that is more than is known here, or nothing is kept.
func (r *Report) key(ctx context.Context, o Options) (string, error) {
	scheme, _, _ := strings.Cut(r.Target, ":")
	if !slices.Contains([]string{"model", "rtl"}, scheme) || o.Store == "" && o.Slurm == nil {
		return "", nil
	}
	return verilator.ResultKey(ctx, nil)
}

// explore opens the target for the first time, to learn what it is and where its cables go.
func (r *Report) explore(ctx context.Context, target string) error {
	l, err := plug(ctx, target, r.Peer)
	if err != nil {
		return err
	}
	r.several = l.timing().VirtualTime
	b := newBench(l, r.Seed)
	err = try.Run(func() {
		b.open(ctx)
		r.Identity = b.id
		r.Links, r.lost = b.trace(ctx)
	})
	return errors.Join(err, b.close())
}

// execute runs a case. The error is why it failed.
func (r *Report) execute(ctx context.Context, c Case, o Options) (Result, error) {
	name := fnv.New64()
	name.Write([]byte(c.Name))
	b := &bench{seed: o.Seed, rng: rand.New(rand.NewPCG(o.Seed, name.Sum64())), links: r.Links, lost: r.lost, effort: o.Effort}
	start := time.Now()
	err := b.run(ctx, r.Target, c, o)
	x := r.result(c, b, err, time.Since(start))
	switch {
	case errors.Is(ctx.Err(), context.Canceled): // cut short, which says nothing about the target
		return x, ctx.Err()
	case x.Verdict != Fail:
		return x, nil
	}
	return x, err
}

// run runs a case.
func (b *bench) run(ctx context.Context, target string, c Case, o Options) (err error) {
	if o.Peer != "" && !c.byPorts() {
		return skipped("needs a network interface that this program drives; other processes drive " + target + " and " + o.Peer)
	}
	if b.line, err = plug(ctx, target, o.Peer); err != nil {
		return err
	}
	if o.Transcripts != "" && b.line.network == nil && b.line.pair == nil { // of one network interface alone, a replay would say nothing
		tape := b.line.record(target, o.Seed)
		defer func() {
			if why := skipped(""); err != nil && !errors.As(err, &why) {
				b.transcript = filepath.Join(o.Transcripts, strings.ReplaceAll(c.Name, "/", "-")+".rec")
				err = errors.Join(err, tape.keep(b.transcript))
			}
		}()
	}
	defer func() { err = errors.Join(err, b.close()) }()
	return campaign.Protect(func() error {
		return try.Run(func() {
			b.open(ctx)
			limit, cancel := b.limit(ctx)
			defer cancel()
			c.run(limit, b)
		})
	})
}
