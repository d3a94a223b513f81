package mutate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/verilator"
)

// check is something that can kill a mutant: a Go test, or a command that users know.
type check struct {
	name    string // for people, for example "./rtl/link TestRx"
	folder  string // of the test; "" for another command
	dir     string // where it runs
	command []string
	code    string // hash of its own sources, but for the library's modules
	builds  []built

	rewriter string        // value of verilator.RewriteVar, with the mutants that it meets in a stage
	took     time.Duration // processor time of the run without a mutation
	limit    time.Duration // processor time that a run may take
}

// direct says whether the check compiles the module by itself.
func (c *check) direct(module string) bool {
	return slices.ContainsFunc(c.builds, func(b built) bool { return b.Top == module })
}

// concerns says whether the module is in what the check compiles.
func (c *check) concerns(module string) bool {
	return slices.ContainsFunc(c.builds, func(b built) bool { return slices.Contains(b.Modules, module) })
}

// compiles counts the modules that it compiles, in all designs.
func (c *check) compiles() (n int) {
	for _, b := range c.builds {
		n += len(b.Modules)
	}
	return n
}

// outcome is how a check ended.
type outcome int

const (
	passed outcome = iota
	failed
	endless // it took more processor time than limit, or hung
)

// run runs the check with a mutant, or with none for 0, and returns what it printed.
func (c *check) run(ctx context.Context, rewriter string, mutant int, limit time.Duration) (outcome, time.Duration, string) {
	// The limit on processor time holds on a busy machine too; the other one is for a process that waits for ever.
	limited, cancel := context.WithTimeout(ctx, 20*limit)
	defer cancel()
	seconds := strconv.Itoa(int(math.Ceil(limit.Seconds())))
	cmd := exec.CommandContext(limited, "sh", append([]string{"-c", `ulimit -t "$0" && exec "$@"`, seconds}, c.command...)...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), verilator.RewriteVar+"="+rewriter, MutantVar+"="+strconv.Itoa(mutant), "LMMC_WAVES=off", "LMMC_SEED=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	try.OK(ctx.Err()) // whatever its cause: how a check ends that is cut short says nothing
	var exit *exec.ExitError
	switch {
	case err == nil:
		return passed, cpu(cmd), out.String()
	case !errors.As(err, &exit):
		try.OK(err)
	case limited.Err() != nil, signalled(cmd) > 0 && cpu(cmd) >= limit:
		return endless, cpu(cmd), out.String()
	case signalled(cmd) == syscall.SIGKILL && cpu(cmd) < limit/2:
		try.Failf("mutate: %s was killed by somebody else, perhaps for want of memory: --jobs runs fewer at a time", c.name)
	}
	return failed, cpu(cmd), out.String()
}

// signalled is the signal that has ended a command; 0 for none.
func signalled(cmd *exec.Cmd) syscall.Signal {
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return status.Signal()
	}
	return 0
}

func cpu(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

const (
	buildTime = 20 * time.Minute // what compiling everything that a check needs may take
	slowest   = 2 * time.Second  // a run that takes longer may have compiled something: it is timed again
)

// prepare runs the check without a mutation, which compiles what it needs: it must pass.
func (c *check) prepare(ctx context.Context, rewriter string) {
	for range 2 {
		how, took, out := c.run(ctx, rewriter, 0, buildTime)
		if how != passed {
			try.Failf("mutate: %s fails without any mutation, so it can say nothing about mutants:\n%s", c.name, lastLines(out, 30))
		}
		if c.took = took; took < slowest {
			break
		}
	}
	c.limit = 5*time.Second + 5*c.took
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// discover compiles the tests of the library's folders, and finds out which designs each test compiles.
func (l *library) discover(ctx context.Context, o *Options, work string) []*check {
	var checks []*check
	var mutex sync.Mutex
	for _, folder := range l.folders {
		pkg := "./" + filepath.ToSlash(filepath.Join(l.root, folder))
		binary := filepath.Join(work, strings.ReplaceAll(folder, "/", "-")+".test")
		if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, pkg).CombinedOutput(); err != nil {
			try.Failf("mutate: go test -c %s: %w\n%s", pkg, err, out)
		}
		if _, err := os.Stat(binary); err != nil {
			continue // no tests
		}
		dir := try.Get(filepath.Abs(filepath.Join(l.root, folder)))
		code := l.codeOf(ctx, pkg)
		list := exec.CommandContext(ctx, binary, "-test.list", "^Test")
		list.Dir = dir
		out, err := list.Output()
		try.Wrap(err, "mutate: listing the tests of %s", pkg)
		names := strings.Fields(string(out))
		each(o.Jobs, len(names), func(i int) {
			name := names[i]
			if _, skip := o.Skip[name]; skip {
				return
			}
			c := &check{name: pkg + " " + name, folder: folder, dir: dir, code: code, command: []string{binary, "-test.run", "^" + regexp.QuoteMeta(name) + "$",
				"-test.failfast", "-test.timeout", "0", "-test.count", "1"}}
			seen := &check{name: c.name, dir: dir, command: []string{binary, c.command[1], c.command[2], "-test.short"}}
			if seen.look(ctx, o, filepath.Join(work, name+"."+strings.ReplaceAll(folder, "/", "-"))); seen.builds == nil {
				return
			}
			c.builds = seen.builds
			mutex.Lock()
			defer mutex.Unlock()
			checks = append(checks, c)
		})
	}
	for i, command := range o.Commands {
		c := &check{name: strings.Join(append([]string{filepath.Base(command[0])}, command[1:]...), " "), command: command}
		program := try.Get(os.ReadFile(command[0]))
		c.code = campaign.Key(string(program))
		c.look(ctx, o, filepath.Join(work, fmt.Sprint(i)))
		checks = append(checks, c)
	}
	return checks
}

// look runs the check so far that it says what it compiles: each Build fails after having been noted in the file.
func (c *check) look(ctx context.Context, o *Options, file string) {
	command := try.Get(json.Marshal(append(slices.Clone(o.Rewriter), "list", file)))
	c.run(ctx, string(command), 0, 10*time.Second)
	c.builds = readBuilt(file)
}

// readBuilt reads what appendModules wrote; nothing if there is no such file.
func readBuilt(file string) (all []built) {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	try.OK(err)
	for line := range bytes.Lines(data) {
		var b built
		try.Wrap(json.Unmarshal(line, &b), "mutate: %s", file)
		all = append(all, b)
	}
	return all
}
