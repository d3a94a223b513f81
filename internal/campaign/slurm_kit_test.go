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
		if err := WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
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
	if err := WriteFile(filepath.Join(dir, "pid"), fmt.Append(nil, run.Process.Pid), 0o666); err != nil {
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
	warn := o.Warn
	o.Warn = func(s string) {
		said = append(said, s)
		if warn != nil {
			warn(s)
		}
	}
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
