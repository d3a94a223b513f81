package figures

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/stafflink/lmmc/internal/try"
)

var checkoutFigures = []Figure{
	{Name: "test_cpu_minutes", Doc: "CPU time of make test on a fresh clone of this checkout's commit, with empty caches of models and of the Go tool",
		Unit: "min", Must: new(28.0), Aim: new(18.0), Better: Lower, Timed: true, Long: true, Measure: steps(testCPU)},
	{Name: "test_again_cpu_minutes", Doc: "CPU time of make test there once more, after a change of one RTL module",
		Unit: "min", Must: new(10.0), Aim: new(5.0), Better: Lower, Timed: true, Long: true, Measure: steps(testAgainCPU)},
	{Name: "go_lines", Doc: "lines of Go in this checkout's commit, tests included, without generated files",
		Unit: "lines", Must: new(98_000.0), Aim: new(90_000.0), Better: Lower, Long: true, Measure: steps(goLines)},
}

// changed is the module that test_again_cpu_minutes changes.
const changed = "rtl/ni/ni_notify.v"

func testCPU(ctx context.Context) Measurement { return measureTests(ctx, false) }

func testAgainCPU(ctx context.Context) Measurement { return measureTests(ctx, true) }

// measureTests runs make test in a clone with caches of its own. With again it runs it twice, the second time with a module changed, and measures that.
func measureTests(ctx context.Context, again bool) Measurement {
	dir := try.Get(os.MkdirTemp("", "lmmc-test-*"))
	defer removeAll(dir)
	clone := filepath.Join(dir, "clone")
	if out, err := exec.CommandContext(ctx, "git", "clone", "--quiet", ".", clone).CombinedOutput(); err != nil {
		try.Failf("git clone of the present folder (run this in a checkout): %w: %s", err, bytes.TrimSpace(out))
	}
	used, summary, err := makeTest(ctx, clone, dir)
	note := "changed: nothing"
	if err == nil && again {
		try.OK(changeModule(filepath.Join(clone, changed)))
		note = "changed: " + changed
		used, summary, err = makeTest(ctx, clone, dir)
	}
	try.OK(err)
	return Measurement{Value: used.Minutes(), Note: note + "; " + summary}
}

// makeTest returns the CPU time that make test took with all that it started and waited for, and the last line that it printed.
func makeTest(ctx context.Context, clone, caches string) (time.Duration, string, error) {
	if err := exec.CommandContext(ctx, filepath.Join(clone, "scripts/deps"), "test").Run(); err != nil {
		return 0, "", fmt.Errorf("scripts/deps test: %w (run make deps)", err)
	}
	cmd := exec.CommandContext(ctx, "make", "test")
	cmd.Dir = clone
	cmd.Env = append(os.Environ(), "LMMC_CACHE="+filepath.Join(caches, "lmmc"), "GOCACHE="+filepath.Join(caches, "go"))
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return 0, "", err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	last := lines[len(lines)-1]
	if err != nil {
		err = fmt.Errorf("make test: %w: %s", err, strings.Join(lines[max(0, len(lines)-20):], "\n"))
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), last, err
}

// changeModule gives a module another content and the same meaning. Its last line stays `resetall, as a test of the checkout wants it.
func changeModule(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(bytes.TrimSuffix(text, []byte("`resetall\n")), "// Changed.\n`resetall\n"...), 0o666)
}

// removeAll also removes what the Go tool has made read-only.
func removeAll(dir string) {
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o777)
		}
		return nil
	})
	os.RemoveAll(dir)
}

func goLines(ctx context.Context) Measurement {
	out, err := exec.CommandContext(ctx, "git", "ls-files", "-z", "*.go").Output()
	try.Wrap(err, "git ls-files (run this in a checkout)")
	lines, files := 0, 0
	for _, name := range strings.Split(strings.Trim(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		try.OK(err)
		if head, _, _ := bytes.Cut(text, []byte("\npackage ")); bytes.Contains(head, []byte("// Code generated ")) {
			continue
		}
		lines += bytes.Count(text, []byte("\n"))
		files++
	}
	return Measurement{Value: float64(lines), Note: fmt.Sprintf("in %d files", files)}
}
