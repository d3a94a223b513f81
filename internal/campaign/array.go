package campaign

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// watch gathers results until all are there, or those that are not will never come.
func (a *array[T]) watch(ctx context.Context) error {
	ask, next, answered, seen := askSoonest, time.Now().Add(askSoonest), time.Now(), time.Now()
	scan := time.NewTicker(scanEvery)
	defer scan.Stop()
	for {
		err := a.collect()
		switch {
		case err == nil:
			seen = time.Now()
		case time.Since(seen) > unreachable:
			return a.unreached("the folder of results was not to be seen", err)
		default:
			a.once(fmt.Sprintf("%v; looking again", err))
		}
		if len(a.missing) == 0 && ctx.Err() == nil {
			if err := os.RemoveAll(a.dir); err != nil {
				a.Warn(fmt.Sprintf("%v; a later array removes what is left", err))
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return a.cancel(ctx)
		case <-scan.C:
		}
		if time.Now().Before(next) {
			continue
		}
		switch err := a.look(ctx); {
		case ctx.Err() != nil:
		case err == nil:
			answered = time.Now()
		case time.Since(answered) > unreachable:
			return a.unreached("squeue has not answered", err)
		default:
			a.once(fmt.Sprintf("squeue: %v; asking again", err))
		}
		if err == nil && a.over() {
			return a.lost()
		}
		ask = min(ask*3/2, askLatest)
		next = time.Now().Add(ask)
	}
}

// unreached says that an array can be watched no longer.
func (a *array[T]) unreached(what string, err error) error {
	return fmt.Errorf("%w: %s for %v: %w\narray %s may still be running, scancel %[5]s ends it; what it has done is kept, and this continues: %s",
		ErrCluster, what, unreachable, err, a.id, a.Slurm.Again)
}

// collect takes the results that have come.
func (a *array[T]) collect() error {
	files, err := os.ReadDir(a.dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		number, ok := strings.CutSuffix(f.Name(), ".result")
		job, err := strconv.Atoi(number)
		if _, awaited := a.missing[job]; !ok || err != nil || !awaited {
			continue
		}
		if err := a.gather(job, filepath.Join(a.dir, f.Name())); err != nil {
			a.broken[job] = err // perhaps not for ever: the other machine may be writing
			continue
		}
		delete(a.missing, job)
	}
	return nil
}

// cancel ends the array because ctx has ended.
func (a *array[T]) cancel(ctx context.Context) error {
	if _, err := ask(context.WithoutCancel(ctx), "scancel", a.id); err != nil {
		return fmt.Errorf("%w; scancel %s fails, try it again: %w", context.Cause(ctx), a.id, err)
	}
	a.Warn(fmt.Sprintf("array %s is cancelled; this continues: %s", a.id, a.Slurm.Again))
	return context.Cause(ctx)
}

// active are the states of tasks that have not ended.
var active = []string{"PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED",
	"RESV_DEL_HOLD", "SPECIAL_EXIT"}

// ordinary are reasons for which a task waits and that end by themselves.
var ordinary = []string{"None", "", "Priority", "Resources", "JobArrayTaskLimit", "Dependency", "BeginTime", "Prolog", "Cleaning", "QOSJobLimit", "AssocJobLimit", "Licenses", "Reservation"}

// look asks the queue how the tasks are.
func (a *array[T]) look(ctx context.Context) error {
	out, err := ask(ctx, "squeue", "--noheader", "--array", "--states=all", "--jobs="+a.id, "--format=%K|%T|%r|%N")
	if err != nil && !strings.Contains(err.Error(), "Invalid job id") { // forgotten, some minutes after its end
		return err
	}
	now := map[int]bool{}
	for line := range strings.Lines(out) {
		field := strings.SplitN(strings.TrimSpace(line), "|", 4)
		task, err := strconv.Atoi(field[0])
		if err != nil || len(field) < 4 {
			continue
		}
		state, reason, node := field[1], field[2], field[3]
		now[task] = true
		if slices.Contains(active, state) {
			delete(a.ended, task)
			if state == "PENDING" && !slices.Contains(ordinary, reason) {
				a.once(fmt.Sprintf("array %s waits: %s; scontrol show job %[1]s says more, Ctrl-C ends it", a.id, reason))
			}
		} else {
			a.end(task, ended{state: state, reason: reason, node: node})
		}
	}
	for task := range a.plan.Tasks {
		if !now[task] {
			a.end(task, ended{state: "gone", reason: "the queue does not know it any more"})
		}
	}
	return nil
}

func (a *array[T]) end(task int, how ended) {
	if _, known := a.ended[task]; !known {
		how.when = time.Now()
		a.ended[task] = how
	}
}

func (a *array[T]) once(text string) {
	if !a.seen[text] {
		a.seen[text] = true
		a.Warn(text)
	}
}

// over says whether all tasks with missing results have ended, long enough ago for these to be seen.
func (a *array[T]) over() bool {
	for _, task := range a.missing {
		if e, ok := a.ended[task]; !ok || time.Since(e.when) < settle {
			return false
		}
	}
	return len(a.missing) > 0
}

// meaning says what a final state means, for those that have nothing to do with the jobs.
var meaning = map[string]string{
	"TIMEOUT":       "killed by its time limit (SBATCH_TIMELIMIT sets another, --tasks makes more and shorter tasks)",
	"NODE_FAIL":     "its node failed",
	"CANCELLED":     "cancelled",
	"PREEMPTED":     "preempted",
	"OUT_OF_MEMORY": "killed for lack of memory (SBATCH_MEM_PER_CPU asks for more)",
	"BOOT_FAIL":     "its node did not boot",
	"DEADLINE":      "killed by its deadline",
	"FAILED":        "ended before its jobs were done",
	"COMPLETED":     "ended, but its results are not to be seen: is the folder on a file system that all nodes share?",
	"gone":          "not known to the queue any more",
}

// lost says which jobs have no result, and why.
func (a *array[T]) lost() error {
	jobs := map[int][]int{}
	for job, task := range a.missing {
		jobs[task] = append(jobs[task], job)
	}
	var b strings.Builder
	tasks := slices.Sorted(maps.Keys(jobs))
	fmt.Fprintf(&b, "%d of %d jobs have no result, for no fault of theirs:", len(a.missing), len(a.plan.Pending))
	const shown = 5
	for _, task := range tasks[:min(shown, len(tasks))] {
		e := a.ended[task]
		fmt.Fprintf(&b, "\n  task %s_%d, %d jobs: %s", a.id, task, len(jobs[task]), e.state)
		if text := meaning[e.state]; text != "" {
			fmt.Fprintf(&b, ", %s", text)
		}
		if e.node != "" {
			fmt.Fprintf(&b, "; node %s", e.node)
		}
		for _, job := range jobs[task] {
			if err := a.broken[job]; err != nil {
				fmt.Fprintf(&b, "\n    the result of %s: %v", a.jobs[job].Name, err)
				break
			}
		}
		if log, err := os.ReadFile(a.logFile(strconv.Itoa(task))); err == nil && len(bytes.TrimSpace(log)) > 0 {
			lines := strings.Split(strings.TrimSpace(string(log)), "\n")
			fmt.Fprintf(&b, "\n    | %s", strings.Join(lines[max(0, len(lines)-3):], "\n    | "))
		}
	}
	if n := len(tasks) - shown; n > 0 {
		fmt.Fprintf(&b, "\n  and %d more tasks", n)
	}
	fmt.Fprintf(&b, "\nlogs: %s\ncontinue with: %s", a.logFile("*"), a.Slurm.Again)
	return fmt.Errorf("%w: %s", ErrCluster, b.String())
}
