package testbench

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stafflink/lmmc/verilator"
)

// New opens a bench for a test and closes it at the test's end. What goes wrong in the bench fails the test: errors of
// New, Bind, Run and the others end it. A failing test's log says how to repeat it and where the wave is.
func New(t testing.TB, d verilator.Design, c Config) *Bench {
	t.Helper()
	c.Name = cmp.Or(c.Name, nameIn(t))
	c.Watchdog = cmp.Or(c.Watchdog, defaultWatchdog)
	if c.Seed == 0 {
		c.Seed = TestSeed(t)
	}
	if c.Repeat == "" {
		c.Repeat = RepeatCommand(t, c.Seed)
	}
	if c.Log == nil {
		c.Log = t.Output()
	}
	if waveGiven {
		c.Wave = WaveAlways
	}
	if c.coverage = os.Getenv("LMMC_COVERAGE"); c.coverage != "" && !filepath.IsAbs(c.coverage) {
		t.Fatalf("testbench: LMMC_COVERAGE=%s: want an absolute path: tests run in the folders of their packages", c.coverage)
	}
	b, err := Open(t.Context(), d, c)
	if err != nil {
		t.Fatal(err)
	}
	b.t, b.mark = t, t
	t.Cleanup(func() {
		t.Helper()
		for _, failure := range b.failures[b.reported:] {
			t.Error(failure)
		}
		b.panicked = panicking()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if b.Failed() || len(b.waves) > 0 {
			t.Log(b.Report())
		}
	})
	return b
}

// benches counts those of New by test.
var benches sync.Map

// nameIn names a bench after its test, with a number if it is not the test's first.
func nameIn(t testing.TB) string {
	n, counted := benches.LoadOrStore(t, new(atomic.Int64))
	if !counted {
		t.Cleanup(func() { benches.Delete(t) })
	}
	if k := n.(*atomic.Int64).Add(1); k > 1 {
		return fmt.Sprintf("%s#%d", t.Name(), k)
	}
	return t.Name()
}

// Report says how to repeat what the bench did, and where its wave is if there is one.
func (b *Bench) Report() string {
	var s strings.Builder
	fmt.Fprintf(&s, "bench %s, seed %d, %d cycles", b.config.Name, b.config.Seed, b.Cycle())
	if b.config.Repeat != "" {
		fmt.Fprintf(&s, "\nrepeat: %s", b.config.Repeat)
	}
	for _, wave := range b.waves {
		fmt.Fprintf(&s, "\nwave:   %s", wave)
	}
	return s.String()
}

// RepeatCommand returns the command that runs one test again with a seed and leaves a wave, to be given in the folder
// of the module.
func RepeatCommand(t testing.TB, seed uint64) string {
	var levels []string
	for level := range strings.SplitSeq(t.Name(), "/") {
		levels = append(levels, "^"+regexp.QuoteMeta(level)+"$")
	}
	run := strings.ReplaceAll(strings.Join(levels, "/"), "'", `'\''`)
	return fmt.Sprintf("go test %s -run '%s' -seed %d -wave", testedPackage, run, seed)
}

// testedPackage is the package under test as the go command takes it. Tests begin in its folder.
var testedPackage = func() string {
	start, err := os.Getwd()
	if err != nil {
		return "."
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			path, err := filepath.Rel(dir, start)
			if err != nil {
				return "."
			}
			return "./" + filepath.ToSlash(path)
		}
		if dir == filepath.Dir(dir) {
			return "."
		}
	}
}()
