package conformance

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// Options say what Execute does. The zero value runs all cases.
type Options struct {
	// Filter chooses cases, as Choose does.
	Filter string
	// Seed determines everything random; 0 means 1.
	Seed uint64
	// Effort is by how much more a case does than usual; 0 means 1.
	Effort int
	// Jobs is how many cases run at a time, each on a target of its own; 0 means 1. On what is not a simulation it is always 1.
	Jobs int
	// Timeout is how long, by the clock on the wall, a case may take before it counts as hanging; 0 means 10 minutes, and for a simulation an
	// hour: a netlist is slow, the machine may be busy, and what the target fails to do it is waited for in the target's time.
	Timeout time.Duration
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
	r := &Report{Target: target, Seed: o.Seed, Effort: o.Effort, Results: []Result{}}
	if err := r.explore(ctx, target); err != nil {
		return nil, err
	}
	jobs, timeout := 1, 10*time.Minute
	if r.several {
		jobs, timeout = max(jobs, o.Jobs), time.Hour
	}
	if o.Timeout == 0 {
		o.Timeout = timeout
	}
	r.all(ctx, cases, jobs, o)
	r.Seconds = time.Since(start).Seconds()
	return r, context.Cause(ctx)
}

// all executes cases, some at a time. The results are in the order of the cases, without those that did not end before ctx did.
func (r *Report) all(ctx context.Context, cases []Case, jobs int, o Options) {
	var (
		mutex    sync.Mutex
		begun    int
		progress = Progress{Total: len(cases)}
		done     = make([]*Result, len(cases))
		workers  sync.WaitGroup
	)
	tell := func() {
		if o.Progress != nil {
			o.Progress(progress)
		}
	}
	next := func() int {
		mutex.Lock()
		defer mutex.Unlock()
		if begun == len(cases) || ctx.Err() != nil {
			return -1
		}
		progress.Next = cases[begun].Name
		tell()
		begun++
		return begun - 1
	}
	end := func(i int, x Result) {
		mutex.Lock()
		defer mutex.Unlock()
		done[i] = &x
		if progress.Done++; x.Verdict == Fail {
			progress.Failed++
		}
	}
	for range min(jobs, len(cases)) {
		workers.Go(func() {
			for i := next(); i >= 0; i = next() {
				if x := r.execute(ctx, cases[i], o); ctx.Err() == nil {
					end(i, x)
				}
			}
		})
	}
	workers.Wait()
	for _, x := range done {
		if x != nil {
			r.Results = append(r.Results, *x)
		}
	}
	if progress.Next = ""; ctx.Err() == nil {
		tell()
	}
}

// explore opens the target for the first time, to learn what it is and where its cables go.
func (r *Report) explore(ctx context.Context, target string) error {
	l, err := plug(ctx, target)
	if err != nil {
		return err
	}
	r.several = l.transport.Timing().VirtualTime
	b := newBench(l, r.Seed)
	err = b.open(ctx)
	if err == nil {
		r.Identity = b.id
		r.Links, r.lost = b.trace(ctx)
	}
	return errors.Join(err, b.close())
}

func (r *Report) execute(ctx context.Context, c Case, o Options) Result {
	name := fnv.New64()
	name.Write([]byte(c.Name))
	b := &bench{seed: o.Seed, rng: rand.New(rand.NewPCG(o.Seed, name.Sum64())), links: r.Links, lost: r.lost, effort: o.Effort}
	start := time.Now()
	limit, cancel := context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("it hangs: it took longer than %v", o.Timeout))
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- b.run(limit, r.Target, c, o) }()
	var err error
	select {
	case err = <-ended:
	case <-limit.Done():
		select {
		case err = <-ended:
		case <-time.After(grace):
			b = &bench{} // it may still be written to
			err = fmt.Errorf("%w, and did not end in %v after it was told to", context.Cause(limit), grace)
		}
	}
	return r.result(c, b, err, time.Since(start))
}

// run runs a case.
func (b *bench) run(ctx context.Context, target string, c Case, o Options) (err error) {
	if b.line, err = plug(ctx, target); err != nil {
		return err
	}
	if o.Transcripts != "" {
		tape := b.line.record(target, o.Seed)
		defer func() {
			if why := skipped(""); err != nil && !errors.As(err, &why) {
				b.transcript = filepath.Join(o.Transcripts, strings.ReplaceAll(c.Name, "/", "-")+".rec")
				err = errors.Join(err, tape.keep(b.transcript))
			}
		}()
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.open(ctx); err != nil {
		return err
	}
	limit, cancel := b.limit(ctx)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return c.run(limit, b)
}
