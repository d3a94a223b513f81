package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
)

// TestMain makes this program what a task of an array runs and, under their names, Slurm's programs.
func TestMain(m *testing.M) {
	if name := filepath.Base(os.Args[0]); strings.HasPrefix(name, "s") && os.Getenv(fakeVariable) != "" {
		os.Exit(fakeSlurm(os.Getenv(fakeVariable), name, os.Args[1:]))
	}
	if len(os.Args) > 1 && os.Args[1] == WorkerCommand {
		if err := task(os.Args[2], os.Args[3]); err != nil && !errors.Is(err, ErrShareDone) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	askSoonest, settle, unreachable = 50*time.Millisecond, 300*time.Millisecond, 500*time.Millisecond
	os.Exit(m.Run())
}

func task(dir, number string) error {
	ctx, args, err := OpenTask(context.Background(), dir, number)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	_, err = Run(ctx, squares(n), Options{Fatal: []error{errTool}}, nil)
	return err
}

const (
	hangVariable = "CAMPAIGN_TEST_HANG" // a file that a task makes, after its first job, to hang ever after
	toolVariable = "CAMPAIGN_TEST_TOOL" // set: all jobs miss a tool
	keyVariable  = "CAMPAIGN_TEST_KEY"  // goes into the keys
)

// squares are jobs for a cluster. Number 17 fails.
func squares(n int) (jobs []Job[int]) {
	begun := 0
	for i := range n {
		jobs = append(jobs, Job[int]{Name: fmt.Sprintf("square %d", i), Key: Key(fmt.Sprint(i), os.Getenv(keyVariable)), Run: func(ctx context.Context) (int, error) {
			if begun++; begun > 1 && os.Getenv(hangVariable) != "" {
				if err := os.WriteFile(os.Getenv(hangVariable), nil, 0o666); err != nil {
					return 0, err
				}
				time.Sleep(time.Hour)
			}
			switch {
			case os.Getenv(toolVariable) != "":
				return 0, fmt.Errorf("cannot compile: %w", errTool)
			case i == 17:
				return -17, errors.New("17 is unlucky")
			}
			return i * i, nil
		}})
	}
	return jobs
}

// The fake Slurm keeps its state in a folder: tasks/N holds the state of task N as squeue tells it, pid/N its process, and the files below tell it what to
// do wrong. Each has the text that the program says.
const (
	fakeVariable = "CAMPAIGN_TEST_SLURM"
	refuse       = "refuse"    // sbatch refuses
	unreached    = "unreached" // squeue does not reach the controller
	fate         = "fate"      // "TASK STATE|REASON|NODE": what becomes of a task after its first job; "TASK gone": Slurm forgets the array
	waits        = "waits"     // no task ever begins, for this reason
	oddConfig    = "config"    // what scontrol show config says
	truncate     = "truncate"  // cut the last byte of every result
	differs      = "differs"   // the nodes' environment makes other keys
	submitted    = "submitted" // made by sbatch: its arguments
	cancelled    = "cancelled" // made by scancel
	idle         = "idle"      // made after the last task
)

func fakeSlurm(dir, name string, args []string) int {
	read := func(file string) string { text, _ := os.ReadFile(filepath.Join(dir, file)); return string(text) }
	say := func(text string) int { fmt.Fprintln(os.Stderr, text); return 1 }
	write := func(file, text string) {
		if err := writeFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
			panic(err)
		}
	}
	switch {
	case name == "scontrol" && args[0] == "show" && args[1] == "config":
		fmt.Print(read(oddConfig))
		return 0
	case name == "scontrol":
		fmt.Println("NodeName=n1 Arch=x86_64 CPUAlloc=0 CPUEfctv=2 CPUTot=2 CPULoad=0.1\nNodeName=n2 CPUAlloc=0 CPUTot=3 State=IDLE")
		return 0
	case name == "sbatch" && read(refuse) != "":
		return say(read(refuse))
	case name == "sbatch":
		write(submitted, strings.Join(args, "\n"))
		i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "--array=0-") })
		last, _ := strconv.Atoi(strings.TrimPrefix(args[i], "--array=0-"))
		for task := range last + 1 {
			write(fmt.Sprintf("tasks/%d", task), "PENDING|Resources|")
		}
		if read(waits) == "" {
			supervisor := exec.Command(os.Args[0], args[len(args)-1], fmt.Sprint(last))
			supervisor.Args[0] = "supervise"
			supervisor.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := supervisor.Start(); err != nil {
				panic(err)
			}
		}
		fmt.Println("42;cluster")
		return 0
	case name == "supervise":
		last, _ := strconv.Atoi(args[1])
		for task := range last + 1 {
			if read(cancelled) == "" {
				write(fmt.Sprintf("tasks/%d", task), "RUNNING|None|n1")
				state := fakeTask(dir, args[0], task, read)
				write(fmt.Sprintf("tasks/%d", task), state)
			}
		}
		write(idle, "yes")
		return 0
	case name == "squeue" && read(unreached) != "":
		return say(read(unreached))
	case name == "squeue":
		tasks, _ := filepath.Glob(filepath.Join(dir, "tasks", "*"))
		for _, file := range tasks {
			state := read("tasks/" + filepath.Base(file))
			if state == "gone" {
				return say("slurm_load_jobs error: Invalid job id specified")
			}
			if reason := read(waits); reason != "" && strings.HasPrefix(state, "PENDING") {
				state = "PENDING|" + reason + "|"
			}
			fmt.Printf("%s|%s\n", filepath.Base(file), state)
		}
		return 0
	case name == "scancel":
		write(cancelled, args[0])
		tasks, _ := filepath.Glob(filepath.Join(dir, "tasks", "*"))
		for _, file := range tasks {
			write("tasks/"+filepath.Base(file), "CANCELLED|None|")
		}
		if pid, err := strconv.Atoi(read("pid")); err == nil {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		return 0
	}
	return say("what is " + name)
}

// fakeTask runs a task and returns the state in which it ends.
func fakeTask(dir, script string, number int, read func(string) string) string {
	run := exec.Command("sh", script)
	log, err := os.Create(filepath.Join(filepath.Dir(script), fmt.Sprintf("task-%d.log", number)))
	if err != nil {
		panic(err)
	}
	defer log.Close()
	run.Stdout, run.Stderr = log, log
	run.Env = append(os.Environ(), fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", number), fakeVariable+"=")
	if read(differs) != "" {
		run.Env = append(run.Env, keyVariable+"=other")
	}
	doomed, how, _ := strings.Cut(read(fate), " ")
	hung := filepath.Join(dir, "hung")
	if doomed == fmt.Sprint(number) {
		run.Env = append(run.Env, hangVariable+"="+hung)
	}
	if err := run.Start(); err != nil {
		panic(err)
	}
	if err := writeFile(filepath.Join(dir, "pid"), fmt.Append(nil, run.Process.Pid), 0o666); err != nil {
		panic(err)
	}
	if doomed == fmt.Sprint(number) {
		await(hung)
		if how == "" { // until it is cancelled
			run.Wait()
			return "CANCELLED|None|"
		}
		run.Process.Kill()
		run.Wait()
		return how
	}
	if err := run.Wait(); err != nil {
		return "FAILED|NonZeroExitCode|n1"
	}
	if read(truncate) != "" {
		results, _ := filepath.Glob(filepath.Join(filepath.Dir(script), "*.result"))
		for _, file := range results {
			if info, err := os.Stat(file); err == nil {
				os.Truncate(file, info.Size()-1)
			}
		}
	}
	return "COMPLETED|None|n1"
}

// await waits for a file.
func await(file string) {
	for range 1000 {
		if _, err := os.Stat(file); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

const config = "Configuration data as of 2026-11-22T13:00:00\nMaxArraySize            = 1001\nMaxJobCount             = 10000\nMaxJobId                = 67043328\n"

// fake makes a cluster that does as the files say.
func fake(t *testing.T, files map[string]string) string {
	t.Helper()
	self := check.Must(os.Executable())(t)
	bin, dir := t.TempDir(), t.TempDir()
	for _, name := range []string{"sbatch", "squeue", "scancel", "scontrol"} {
		check.Fatal(t, os.Symlink(self, filepath.Join(bin, name)))
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv(fakeVariable, dir)
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(dir, submitted)); err == nil && files[waits] == "" {
			fakeSlurm(dir, "scancel", []string{"42"})
			await(filepath.Join(dir, idle))
		}
	})
	for name, text := range files {
		set(t, dir, name, text)
	}
	if _, ok := files[oddConfig]; !ok {
		set(t, dir, oddConfig, config)
	}
	return dir
}

func set(t *testing.T, dir, name, text string) {
	t.Helper()
	check.Fatal(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
}

func cluster(t *testing.T, jobs int) Options {
	share := filepath.Join(t.TempDir(), "with 'odd' name")
	return Options{Slurm: &Slurm{Share: share, Args: []string{fmt.Sprint(jobs)}, Again: "lmmc sim --launcher slurm"}, Fatal: []error{errTool}}
}

// runs are run on the cluster; it returns how many results were kept before.
func onCluster(t *testing.T, ctx context.Context, o Options, n int) ([]Result[int], int, []string, error) {
	t.Helper()
	var said []string
	cached := 0
	o.Warn = func(s string) { said = append(said, s) }
	found, err := Run(ctx, squares(n), o, func(p Progress, _ Result[int]) error { cached = p.Cached; return nil })
	return found, cached, said, err
}

func checkSquares(t *testing.T, found []Result[int]) {
	t.Helper()
	for i, r := range found {
		if i == 17 {
			if r.Err == nil || r.Err.Error() != "17 is unlucky" || r.Value != -17 {
				t.Errorf("job 17: %+v", r)
			}
		} else if !r.Done || r.Err != nil || r.Value != i*i {
			t.Errorf("job %d: %+v", i, r)
		}
	}
}

func TestSlurm(t *testing.T) {
	dir := fake(t, nil)
	o := cluster(t, 200)
	found, cached, said, err := onCluster(t, t.Context(), o, 200)
	if err != nil || cached != 0 || len(said) > 0 {
		t.Fatalf("%v, %d kept, said %q", err, cached, said)
	}
	checkSquares(t, found)
	args, err := os.ReadFile(filepath.Join(dir, submitted))
	if err != nil || !strings.Contains(string(args), "--array=0-19\n") { // four for each of 5 CPUs
		t.Errorf("sbatch was called with %s, %v", args, err)
	}
	if left, _ := filepath.Glob(filepath.Join(o.Slurm.Share, "slurm-*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	found, cached, _, err = onCluster(t, t.Context(), o, 200)
	if err != nil || cached != 199 {
		t.Errorf("the second time: %v, %d kept", err, cached)
	}
	checkSquares(t, found)
}

func TestSlurmHeedsLimits(t *testing.T) {
	for _, test := range []struct {
		config string
		tasks  int // asked for
		last   string
	}{
		{strings.Replace(config, "1001", "7", 1), 0, "--array=0-6\n"},
		{strings.Replace(config, "10000", "5", 1), 0, "--array=0-4\n"},
		{config, 3, "--array=0-2\n"},
		{config, 1000, "--array=0-29\n"},
	} {
		dir := fake(t, map[string]string{oddConfig: test.config})
		o := cluster(t, 30)
		o.Slurm.Tasks = test.tasks
		found, _, _, err := onCluster(t, t.Context(), o, 30)
		check.Fatal(t, err)
		checkSquares(t, found)
		if args, _ := os.ReadFile(filepath.Join(dir, submitted)); !strings.Contains(string(args), test.last) {
			t.Errorf("%s: sbatch was called with %s, want %s", test.config, args, test.last)
		}
	}
}

func TestSlurmRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"the queue":  {map[string]string{refuse: "sbatch: error: Batch job submission failed: Invalid partition name specified"}, []string{"sbatch refuses", "Invalid partition name", "SBATCH_PARTITION", "sinfo"}},
		"no arrays":  {map[string]string{oddConfig: "MaxArraySize = 0\n"}, []string{"allows no arrays"}},
		"no answers": {map[string]string{unreached: "slurm_load_jobs error: Unable to contact slurm controller", fate: "0 "}, []string{"squeue has not answered", "Unable to contact", "scancel 42", "lmmc sim --launcher slurm"}},
	} {
		t.Run(name, func(t *testing.T) {
			fake(t, test.files)
			_, _, _, err := onCluster(t, t.Context(), cluster(t, 30), 30)
			if !errors.Is(err, ErrCluster) {
				t.Errorf("got %v, want ErrCluster", err)
			}
			for _, want := range test.want {
				if !strings.Contains(fmt.Sprint(err), want) {
					t.Errorf("%v lacks %q", err, want)
				}
			}
		})
	}
	t.Run("not installed", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		if _, _, _, err := onCluster(t, t.Context(), cluster(t, 30), 30); !errors.Is(err, ErrLauncher) || !strings.Contains(err.Error(), "install slurm-client") {
			t.Errorf("got %v, want ErrLauncher", err)
		}
	})
}

// What a cluster loses is reported with what became of it, and the same campaign goes on from there.
func TestSlurmLosesTasks(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		kept  int // results that are there in spite of it
		want  []string
	}{
		"node":         {map[string]string{fate: "2 NODE_FAIL|None|n2"}, 25, []string{"5 of 30 jobs have no result", "task 42_2, 5 jobs: NODE_FAIL, its node failed; node n2"}},
		"time limit":   {map[string]string{fate: "2 TIMEOUT|TimeLimit|n2"}, 25, []string{"TIMEOUT, killed by its time limit", "SBATCH_TIMELIMIT"}},
		"cancelled":    {map[string]string{fate: "2 CANCELLED|None|"}, 25, []string{"42_2, 5 jobs: CANCELLED"}},
		"half written": {map[string]string{truncate: "yes"}, -1, []string{"COMPLETED, ended, but its results are not to be seen", "damaged or half written"}},
		"forgotten":    {map[string]string{fate: "2 gone"}, 25, []string{"42_2, 5 jobs: gone, not known to the queue any more"}},
		"other tools":  {map[string]string{differs: "yes"}, 0, []string{"30 of 30 jobs have no result", "FAILED", "its programs, tools or environment differ"}},
	} {
		t.Run(name, func(t *testing.T) {
			fake(t, test.files)
			o := cluster(t, 30)
			o.Slurm.Tasks = 5
			_, _, _, err := onCluster(t, t.Context(), o, 30)
			if !errors.Is(err, ErrCluster) {
				t.Errorf("got %v, want ErrCluster", err)
			}
			for _, want := range append(test.want, "continue with: lmmc sim --launcher slurm") {
				if !strings.Contains(fmt.Sprint(err), want) {
					t.Errorf("%v\nlacks %q", err, want)
				}
			}
			fake(t, nil)
			found, cached, _, err := onCluster(t, t.Context(), o, 30)
			if err != nil || test.kept >= 0 && cached != test.kept {
				t.Errorf("continued: %v, %d kept before, want %d", err, cached, test.kept)
			}
			checkSquares(t, found)
		})
	}
}

func TestSlurmIsInterrupted(t *testing.T) {
	dir := fake(t, map[string]string{fate: "3 "}) // hangs
	o := cluster(t, 30)
	o.Slurm.Tasks = 5
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		await(filepath.Join(dir, "hung"))
		time.Sleep(2 * scanEvery)
		cancel()
	}()
	_, _, said, err := onCluster(t, ctx, o, 30)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "of 30 jobs are done and kept") {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, cancelled)); err != nil || string(text) != "42" {
		t.Errorf("scancel was not called: %q, %v", text, err)
	}
	if len(said) != 1 || !strings.Contains(said[0], "array 42 is cancelled; this continues: lmmc sim --launcher slurm") {
		t.Errorf("said %q", said)
	}
	fake(t, nil)
	found, cached, _, err := onCluster(t, t.Context(), o, 30)
	if err != nil || cached != 18 { // tasks 0 to 2 but for job 17, and one job of task 3
		t.Errorf("continued: %v, %d kept before", err, cached)
	}
	checkSquares(t, found)
}

func TestSlurmWaits(t *testing.T) {
	fake(t, map[string]string{waits: "PartitionDown"})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, _, said, err := onCluster(t, ctx, cluster(t, 30), 30)
	if !errors.Is(err, context.DeadlineExceeded) || len(said) != 2 || !strings.Contains(said[0], "array 42 waits: PartitionDown") {
		t.Errorf("%v, said %q", err, said)
	}
}

func TestSlurmMissesATool(t *testing.T) {
	fake(t, nil)
	t.Setenv(toolVariable, "yes")
	if _, _, _, err := onCluster(t, t.Context(), cluster(t, 30), 30); !errors.Is(err, errTool) || !strings.Contains(err.Error(), "cannot compile") {
		t.Errorf("got %v, want the error of the task", err)
	}
}
