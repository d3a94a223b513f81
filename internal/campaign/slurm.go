package campaign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Slurm runs the jobs of a campaign as one array of tasks on a cluster, each task several jobs. A task is this program again, with WorkerCommand. Results
// come back through a folder. Slurm's own variables choose partition, time limit and account: SBATCH_PARTITION, SBATCH_TIMELIMIT, SBATCH_ACCOUNT.
type Slurm struct {
	Share string // folder that all nodes see under this path; Options.Store is ignored, as results are kept here
	// Args are the arguments of this program that lead to the same call of Run, with the same jobs.
	Args []string
	// Again is the command with which a user continues what was cut short.
	Again string
	// Tasks is how many tasks there are; 0 is four for each CPU of the cluster. There are never more than jobs, or than the cluster allows.
	Tasks int
}

// Errors that tell why a cluster did not run jobs.
var (
	ErrLauncher = errors.New("launcher not found") // Slurm's programs are not installed
	ErrCluster  = errors.New("slurm")              // Slurm refused the array or lost some of it
)

const (
	scanEvery = 200 * time.Millisecond // looking for results
	askLatest = 15 * time.Second       // asking the queue, which is a load for its controller
	keepRuns  = 24 * time.Hour         // folders of arrays that left something
)

// Shorter in tests.
var (
	askSoonest  = time.Second
	settle      = 5 * time.Second // how long a result may take to be seen here after its task has ended
	unreachable = 2 * time.Minute // how long the controller may be silent
)

// plan is what a task knows of the campaign, in the file plan.json.
type plan struct {
	Share   string
	Args    []string
	Jobs    []planned
	Pending []int // indices of Jobs that the array runs: task t those at t, t+Tasks, t+2*Tasks...
	Tasks   int
}

type planned struct{ Name, Key string }

func (p *plan) share(task int) (jobs []int) {
	for k := task; k < len(p.Pending); k += p.Tasks {
		jobs = append(jobs, p.Pending[k])
	}
	return jobs
}

func resultFile(dir string, job int) string { return filepath.Join(dir, fmt.Sprintf("%d.result", job)) }

// launch runs pending jobs on the cluster and returns when all have ended, or no more results are to be expected.
func (c *campaign[T]) launch(ctx context.Context, pending []int) error {
	for _, program := range []string{"sbatch", "squeue", "scancel", "scontrol"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: %s of Slurm is not in PATH: install slurm-client, or leave out --launcher slurm to run the jobs on this machine", ErrLauncher, program)
		}
	}
	limits, err := clusterLimits(ctx)
	if err != nil {
		return err
	}
	share, err := filepath.Abs(c.Slurm.Share)
	if err != nil {
		return err
	}
	prune(share)
	if err := os.MkdirAll(share, 0o777); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(share, "slurm-")
	if err != nil {
		return err
	}
	a := &array[T]{campaign: c, dir: dir, missing: map[int]int{}, broken: map[int]error{}, ended: map[int]ended{}, seen: map[string]bool{},
		plan: plan{Share: share, Args: c.Slurm.Args, Jobs: c.planned(), Pending: pending, Tasks: limits.tasks(len(pending), c.Slurm.Tasks)}}
	if err := errors.Join(a.prepare(), ctx.Err()); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	if err := a.submit(ctx); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	return a.watch(ctx)
}

// prune removes folders of arrays of which nobody will ask any more.
func prune(share string) {
	old, _ := filepath.Glob(filepath.Join(share, "slurm-*")) // the pattern is right
	for _, dir := range old {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > keepRuns {
			os.RemoveAll(dir)
		}
	}
}

// limits are those of a cluster's configuration.
type limits struct{ arraySize, jobCount, cpus int }

// tasks says how many tasks an array has.
func (l limits) tasks(jobs, wanted int) int {
	if wanted == 0 {
		wanted = max(4*l.cpus, 1)
	}
	return max(1, min(jobs, wanted, l.arraySize, l.jobCount))
}

var (
	limitLine = regexp.MustCompile(`(?m)^(MaxArraySize|MaxJobCount)\s*=\s*(\d+)`)
	nodeCPUs  = regexp.MustCompile(`\bCPUTot=(\d+)`)
)

func clusterLimits(ctx context.Context) (limits, error) {
	l := limits{arraySize: 1001, jobCount: 10_000} // Slurm's defaults
	config, err := ask(ctx, "scontrol", "show", "config")
	if err != nil {
		return l, fmt.Errorf("%w: scontrol show config: %w; is the controller running, and does SLURM_CONF name the cluster's configuration?", ErrCluster, err)
	}
	for _, m := range limitLine.FindAllStringSubmatch(config, -1) {
		n, err := strconv.Atoi(m[2])
		switch {
		case err != nil:
		case m[1] == "MaxArraySize":
			l.arraySize = n
		default:
			l.jobCount = n
		}
	}
	if l.arraySize == 0 {
		return l, fmt.Errorf("%w: the cluster allows no arrays (MaxArraySize = 0 in its configuration)", ErrCluster)
	}
	nodes, err := ask(ctx, "scontrol", "--oneliner", "show", "nodes")
	if err != nil {
		return l, fmt.Errorf("%w: scontrol show nodes: %w", ErrCluster, err)
	}
	for _, m := range nodeCPUs.FindAllStringSubmatch(nodes, -1) {
		n, _ := strconv.Atoi(m[1]) // digits
		l.cpus += n
	}
	return l, nil
}

// ask runs a program of Slurm's. The error is what it said.
func ask(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("no answer in a minute"))
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else if text := strings.TrimSpace(said.String()); err != nil && text != "" {
		err = errors.New(strings.ReplaceAll(text, "\n", "; "))
	}
	return out.String(), err
}

// array is an array of tasks at work.
type array[T any] struct {
	*campaign[T]
	plan    plan
	dir     string
	id      string        // Slurm's number of the array
	missing map[int]int   // the task of each job that has no result yet
	broken  map[int]error // why a result could not be read
	ended   map[int]ended // tasks that are over
	seen    map[string]bool
}

// ended is how a task ended.
type ended struct {
	state, reason, node string
	when                time.Time
}

// prepare fills the folder with all that a task needs.
func (a *array[T]) prepare() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	// A program that go run has built is not where other nodes see it, and is gone when this process ends.
	program := filepath.Join(a.dir, "program")
	if os.Link(self, program) != nil {
		data, err := os.ReadFile(self)
		if err == nil {
			err = WriteFile(program, data, 0o777)
		}
		if err != nil {
			return fmt.Errorf("copying the program for the nodes: %w", err)
		}
	}
	text, err := json.Marshal(a.plan)
	if err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\nexec %s %s %s \"$SLURM_ARRAY_TASK_ID\"\n", quote(program), WorkerCommand, quote(a.dir))
	return errors.Join(WriteFile(filepath.Join(a.dir, "plan.json"), text, 0o666), WriteFile(filepath.Join(a.dir, "task.sh"), []byte(script), 0o777))
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (a *array[T]) submit(ctx context.Context) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	// Not under ctx: an array whose number nobody learns could not be cancelled. No requeue: what is lost is reported, and run again when asked for.
	out, err := ask(context.WithoutCancel(ctx), "sbatch", "--parsable", "--job-name=lmmc", "--no-requeue", fmt.Sprintf("--array=0-%d", a.plan.Tasks-1),
		"--chdir="+here, "--output="+strings.ReplaceAll(a.logFile("%a"), " ", "\\ "), filepath.Join(a.dir, "task.sh"))
	if err != nil {
		return fmt.Errorf("%w: sbatch refuses the array of %d tasks: %w\nsinfo shows partitions and their limits; SBATCH_PARTITION, SBATCH_TIMELIMIT and SBATCH_ACCOUNT choose others, "+
			"--tasks makes a smaller array, and without --launcher slurm the jobs run here", ErrCluster, a.plan.Tasks, err)
	}
	a.id, _, _ = strings.Cut(strings.TrimSpace(out), ";") // and the cluster's name
	for task := range a.plan.Tasks {
		for _, job := range a.plan.share(task) {
			a.missing[job] = task
		}
	}
	return nil
}

func (a *array[T]) logFile(task string) string { return filepath.Join(a.dir, "task-"+task+".log") }
