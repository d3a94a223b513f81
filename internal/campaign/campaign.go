// Package campaign runs many jobs: simulations, proofs, mutants. It runs them on this machine or, as an array of tasks, on a Slurm cluster.
//
// A Job whose Key is set and that passes is not run again: its result is kept in a folder under the key, and a later Run takes it from there, as
// does the same Run after Ctrl-C or a crash. Failures are never kept. What is kept is written in one step; what another version wrote, or what is
// damaged, is reported once and run again.
//
// The key decides whether a kept pass is stale, so it must hash everything that the result follows from: the sources, the program or the part of
// it that decides, the versions of the tools, parameters, seed, environment. See Key, Program and HashFS.
package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// Job is something to run that gives a T, which is kept and passed between machines as JSON.
type Job[T any] struct {
	Name string // for people; no two jobs of a campaign have the same
	Key  string // hash of everything that the result follows from; "" for a job that is always run
	// Run does the job. What it returns beside an error counts as well. It ends soon after ctx does.
	Run func(ctx context.Context) (T, error)
}

// Options say how Run runs jobs. The zero value runs all of them on this machine and keeps nothing.
type Options struct {
	Jobs  int    // jobs at a time on this machine; 0 is the number of CPUs
	Store string // folder of kept results; "" keeps and takes none
	Again bool   // run jobs although their results are kept
	Slurm *Slurm // where to run; nil is this machine
	// Fatal are errors with which no other job could pass either, such as a missing tool: the first one ends the campaign.
	Fatal []error
	// Timeout is how much wall-clock time a job may take; 0 is no limit.
	Timeout time.Duration
	// Grace is how long a job may take to end once it is told to; 0 is 5 s. A job that takes longer is left behind.
	Grace time.Duration
	// Warn is told what a user should know while jobs run; nil for nobody.
	Warn func(text string)
}

// Result is what came out of a Job.
type Result[T any] struct {
	Value   T
	Err     error // why the job failed; nil if it passed
	Elapsed time.Duration
	Cached  bool // the result of an earlier run
	Done    bool // false: the job was not run, or was cut short, and all else is zero
}

// Progress says how far Run is.
type Progress struct {
	Done, Total, Failed, Cached int
	Last                        int // index of the job that ended just now
}

// PanicError is the failure of a job that panicked.
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

// Run runs jobs and returns their results in the order of the jobs. It calls done, unless nil, after each, one call at a time; an error of done ends
// the campaign. A job that fails is no error of Run. Run returns an error when ctx ends, one of o.Fatal, that of done, or one that says what is
// wrong with the cluster; the results that there are come with it.
func Run[T any](ctx context.Context, jobs []Job[T], o Options, done func(Progress, Result[T]) error) ([]Result[T], error) {
	if o.Jobs == 0 {
		o.Jobs = runtime.NumCPU()
	}
	if o.Grace == 0 {
		o.Grace = 5 * time.Second
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c := &campaign[T]{Options: o, jobs: jobs, results: make([]Result[T], len(jobs)), done: done, end: end, progress: Progress{Total: len(jobs)}}
	if w := workerOf(ctx); w != nil {
		return nil, c.runShare(ctx, w)
	}
	if o.Slurm != nil {
		c.Store = o.Slurm.Share
	}
	pending := c.recall()
	var err error
	if o.Slurm != nil && len(pending) > 0 {
		err = c.launch(ctx, pending)
	} else {
		c.local(ctx, pending, c.take)
	}
	if cause := context.Cause(ctx); cause != nil && err == nil {
		err = cause
	}
	if kept := c.kept(); kept > 0 && errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%w: %d of %d jobs are done and kept; the same command continues with the others", err, kept, len(jobs))
	}
	return c.results, err
}

// campaign is a Run.
type campaign[T any] struct {
	Options
	jobs    []Job[T]
	results []Result[T]
	done    func(Progress, Result[T]) error
	end     context.CancelCauseFunc

	mutex    sync.Mutex
	progress Progress
}

// recall takes the results that are kept, and returns the indices of the other jobs.
func (c *campaign[T]) recall() (pending []int) {
	other, damaged := 0, 0
	for i, job := range c.jobs {
		if c.Store == "" || job.Key == "" || c.Again {
			pending = append(pending, i)
			continue
		}
		e, err := readEntry(keptFile(c.Store, job.Key))
		r := Result[T]{Elapsed: e.Elapsed, Cached: true, Done: true}
		if err == nil && json.Unmarshal(e.Value, &r.Value) != nil {
			err = errDamaged
		}
		if err == nil {
			c.take(i, r)
			continue
		}
		if errors.Is(err, errVersion) {
			other++
		} else if errors.Is(err, errDamaged) {
			damaged++
		}
		pending = append(pending, i)
	}
	if other > 0 {
		c.Warn(fmt.Sprintf("%d results in %s were kept by another version of this program: these jobs are run again", other, c.Store))
	}
	if damaged > 0 {
		c.Warn(fmt.Sprintf("%d results in %s are damaged or half written: these jobs are run again", damaged, c.Store))
	}
	return pending
}

// kept counts the jobs that need not be run again.
func (c *campaign[T]) kept() (n int) {
	for i, r := range c.results {
		if r.Done && r.Err == nil && c.Store != "" && c.jobs[i].Key != "" {
			n++
		}
	}
	return n
}

// local runs jobs on this machine.
func (c *campaign[T]) local(ctx context.Context, pending []int, take func(i int, r Result[T])) {
	var group sync.WaitGroup
	slots := make(chan struct{}, c.Jobs)
	for _, i := range pending {
		s := &slot{of: slots}
		if !s.enter(ctx) {
			break
		}
		group.Go(func() {
			defer s.end()
			r := c.execute(context.WithValue(ctx, slotKey{}, s), c.jobs[i])
			if r.Done && r.Err == nil && c.Store != "" && c.jobs[i].Key != "" {
				if err := c.write(keptFile(c.Store, c.jobs[i].Key), i, r); err != nil {
					c.Warn(fmt.Sprintf("the result of %s cannot be kept: %v", c.jobs[i].Name, err))
				}
			}
			take(i, r)
		})
	}
	group.Wait()
}

// execute runs a job.
func (c *campaign[T]) execute(parent context.Context, job Job[T]) Result[T] {
	ctx := parent
	if c.Timeout > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("it hangs: it took longer than %v", c.Timeout))
		defer cancel()
		ctx = limited
	}
	start := time.Now()
	ended := make(chan Result[T], 1)
	go func() {
		var r Result[T]
		r.Err = Protect(func() (err error) {
			r.Value, err = job.Run(ctx)
			return err
		})
		ended <- r
	}()
	var r Result[T]
	select {
	case r = <-ended:
	case <-ctx.Done():
		select {
		case r = <-ended:
		case <-time.After(c.Grace):
			r.Err = fmt.Errorf("it does not end: still running %v after it was told to stop (%v)", c.Grace, context.Cause(ctx))
		}
	}
	if r.Err != nil && cutShort(parent, r.Err) { // which says nothing about what it checks
		return Result[T]{}
	}
	r.Elapsed, r.Done = time.Since(start), true
	return r
}

func cutShort(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Cause(ctx)))
}

// take notes what came out of a job.
func (c *campaign[T]) take(i int, r Result[T]) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.results[i] = r
	if !r.Done {
		return
	}
	c.progress.Done++
	c.progress.Last = i
	if r.Cached {
		c.progress.Cached++
	}
	if r.Err != nil {
		c.progress.Failed++
		for _, fatal := range c.Fatal {
			if errors.Is(r.Err, fatal) {
				c.end(r.Err)
			}
		}
	}
	if c.done != nil {
		if err := c.done(c.progress, r); err != nil {
			c.end(err)
		}
	}
}
