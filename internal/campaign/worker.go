package campaign

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// WorkerCommand is the argument, with a folder and the number of a task after it, by which a task of an array calls the program. The program then
// calls OpenTask, and with what it returns does what it does for these arguments, up to Run.
const WorkerCommand = "campaign-worker"

// ErrShareDone is what Run returns in a task when its share of the jobs is done: the caller has nothing to report.
var ErrShareDone = errors.New("campaign: this task's share of the jobs is done")

// worker is a task of an array.
type worker struct {
	plan
	dir  string
	task int
}

type workerKey struct{}

func workerOf(ctx context.Context) *worker {
	w, _ := ctx.Value(workerKey{}).(*worker)
	return w
}

// OpenTask prepares a task: under the context that it returns, Run runs the task's share of the jobs, and returns ErrShareDone. The arguments are Slurm.Args.
func OpenTask(ctx context.Context, dir, task string) (context.Context, []string, error) {
	w := &worker{dir: dir}
	text, err := os.ReadFile(filepath.Join(dir, "plan.json"))
	if err == nil {
		err = json.Unmarshal(text, &w.plan)
	}
	if err == nil {
		w.task, err = strconv.Atoi(task)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("campaign: task %s in %s: %w", task, dir, err)
	}
	return context.WithValue(ctx, workerKey{}, w), w.Args, nil
}

func (c *campaign[T]) planned() (all []planned) {
	for _, job := range c.jobs {
		all = append(all, planned{job.Name, job.Key})
	}
	return all
}

// runShare runs a task's jobs, and writes their results where they are gathered and kept.
func (c *campaign[T]) runShare(ctx context.Context, w *worker) error {
	if have := c.planned(); !slices.Equal(have, w.Jobs) {
		return fmt.Errorf("campaign: on this node the %d jobs of %q are others than the %d planned: its programs, tools or environment differ",
			len(have), w.Args, len(w.Jobs))
	}
	c.Store, c.Jobs = w.Share, 1
	if n, err := strconv.Atoi(os.Getenv("SLURM_CPUS_ON_NODE")); err == nil && n > 0 {
		c.Jobs = n
	}
	var errs []error
	c.local(ctx, w.share(w.task), func(i int, r Result[T]) {
		if !r.Done {
			return
		}
		err := c.write(resultFile(w.dir, i), i, r)
		c.mutex.Lock()
		defer c.mutex.Unlock()
		if err != nil {
			errs = append(errs, fmt.Errorf("the result of %s: %w", c.jobs[i].Name, err))
		}
	})
	return cmp.Or(errors.Join(append(errs, context.Cause(ctx))...), ErrShareDone)
}

// write writes what came out of a job, passed or failed.
func (c *campaign[T]) write(file string, i int, r Result[T]) error {
	value, err := json.Marshal(r.Value)
	if err != nil {
		return err
	}
	e := entry{Name: c.jobs[i].Name, Elapsed: r.Elapsed, Value: value}
	if r.Err != nil {
		e.Failed, e.Error = true, r.Err.Error()
		e.Fatal = 1 + slices.IndexFunc(c.Fatal, func(fatal error) bool { return errors.Is(r.Err, fatal) })
	}
	return writeEntry(file, e)
}

// remoteError is why a job failed in another process. It is the error of Options.Fatal that it was there.
type remoteError struct {
	text string
	is   error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.is }

// gather takes the result of a job from a file that a task wrote.
func (c *campaign[T]) gather(i int, file string) error {
	e, err := readEntry(file)
	if err != nil {
		return err
	}
	r := Result[T]{Elapsed: e.Elapsed, Done: true}
	if err := json.Unmarshal(e.Value, &r.Value); err != nil {
		return err
	}
	if e.Failed {
		failed := &remoteError{text: e.Error}
		if e.Fatal > 0 && e.Fatal <= len(c.Fatal) {
			failed.is = c.Fatal[e.Fatal-1]
		}
		r.Err = failed
	}
	c.take(i, r)
	return nil
}
