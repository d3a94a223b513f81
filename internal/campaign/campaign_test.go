package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stafflink/lmmc/internal/check"
)

var errTool = errors.New("no such tool")

// counted returns jobs that give the squares of their numbers and count how often they were run. Job 7 of 10 fails.
func counted(n int, runs *atomic.Int32) (jobs []Job[int]) {
	for i := range n {
		jobs = append(jobs, Job[int]{Name: fmt.Sprintf("square %d", i), Key: Key("square", fmt.Sprint(i)), Run: func(context.Context) (int, error) {
			runs.Add(1)
			if i%10 == 7 {
				return -i, fmt.Errorf("%d is unlucky", i)
			}
			return i * i, nil
		}})
	}
	return jobs
}

func TestRunKeepsWhatPassed(t *testing.T) {
	var runs atomic.Int32
	jobs := counted(20, &runs)
	store := t.TempDir()
	for i, want := range []struct{ runs, cached int32 }{{20, 0}, {2, 18}} {
		runs.Store(0)
		var last Progress
		calls := 0
		found, err := Run(t.Context(), jobs, Options{Jobs: 3, Store: store}, func(p Progress, r Result[int]) error {
			calls++
			last = p
			return nil
		})
		check.Fatal(t, err)
		if calls != 20 || last.Done != 20 || last.Total != 20 || last.Failed != 2 || last.Cached != int(want.cached) || runs.Load() != want.runs {
			t.Errorf("run %d: %d calls, %+v, %d jobs run; want %+v", i, calls, last, runs.Load(), want)
		}
		for k, r := range found {
			switch failed := k%10 == 7; {
			case !r.Done, failed != (r.Err != nil), failed && (r.Value != -k || r.Cached), !failed && r.Value != k*k:
				t.Errorf("run %d: job %d: %+v", i, k, r)
			}
		}
	}
	runs.Store(0)
	if _, err := Run(t.Context(), jobs, Options{Store: store, Again: true}, nil); err != nil || runs.Load() != 20 {
		t.Errorf("again: %v, %d jobs run", err, runs.Load())
	}
	jobs[3].Key = Key("square", "3", "with another tool")
	jobs[4].Key = ""
	runs.Store(0)
	if _, err := Run(t.Context(), jobs, Options{Store: store}, nil); err != nil || runs.Load() != 4 {
		t.Errorf("one key changed, one without: %v, %d jobs run, want these and the 2 that fail", err, runs.Load())
	}
}

func TestRunSuspectsWhatIsKept(t *testing.T) {
	for name, spoil := range map[string]func(text string) string{
		"another version":  func(s string) string { return strings.Replace(s, header, "lmmc result 999\n", 1) },
		"half written":     func(s string) string { return s[:len(s)-3] },
		"damaged":          func(s string) string { return strings.Replace(s, `"value":9`, `"value":8`, 1) },
		"empty":            func(string) string { return "" },
		"something else":   func(string) string { return strings.Repeat("\x00", 200) },
		"of another shape": func(string) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			var runs atomic.Int32
			jobs := counted(5, &runs)
			store := t.TempDir()
			check.Must(Run(t.Context(), jobs, Options{Store: store}, nil))(t)
			file := keptFile(store, jobs[3].Key)
			text := check.Must(os.ReadFile(file))(t)
			check.Fatal(t, os.WriteFile(file, []byte(spoil(string(text))), 0o666))
			if name == "of another shape" {
				check.Fatal(t, writeEntry(file, entry{Name: "x", Value: []byte(`"text"`)}))
			}
			var said []string
			runs.Store(0)
			found, err := Run(t.Context(), jobs, Options{Store: store, Warn: func(s string) { said = append(said, s) }}, nil)
			if err != nil || runs.Load() != 1 || found[3].Value != 9 || found[3].Cached || !found[2].Cached {
				t.Errorf("%v, %d jobs run, %+v", err, runs.Load(), found)
			}
			want := "damaged or half written"
			if name == "another version" {
				want = "kept by another version"
			}
			if len(said) != 1 || !strings.HasPrefix(said[0], "1 results in "+store) || !strings.Contains(said[0], want) {
				t.Errorf("said %q", said)
			}
			if left, _ := filepath.Glob(filepath.Join(store, ".new-*")); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

func TestRunContinuesAfterInterrupt(t *testing.T) {
	var runs atomic.Int32
	jobs := counted(6, &runs)
	ctx, cancel := context.WithCancel(t.Context())
	last := jobs[4].Run
	jobs[4].Run = func(ctx context.Context) (int, error) {
		cancel()
		<-ctx.Done()
		return 0, ctx.Err()
	}
	o := Options{Jobs: 1, Store: t.TempDir()}
	found, err := Run(ctx, jobs, o, nil)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "4 of 6 jobs are done and kept") || found[4].Done || found[5].Done || !found[3].Done {
		t.Errorf("%v, %+v", err, found)
	}
	jobs[4].Run = last
	runs.Store(0)
	found, err = Run(t.Context(), jobs, o, nil)
	if err != nil || runs.Load() != 2 || found[5].Value != 25 || !found[0].Cached {
		t.Errorf("%v, %d jobs run, %+v", err, runs.Load(), found)
	}
}

func TestRunEnds(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	stop := errors.New("enough")
	for _, test := range []struct {
		name string
		run  func(ctx context.Context) (int, error)
		o    Options
		done func(Progress, Result[int]) error
		err  error  // of Run
		text string // in the error of the job
	}{
		{name: "panic", run: func(context.Context) (int, error) { panic("out of range") }, text: "panic: out of range"},
		{name: "fatal", run: func(context.Context) (int, error) { return 0, fmt.Errorf("yosys: %w", errTool) }, o: Options{Fatal: []error{errTool}}, err: errTool, text: "yosys"},
		{name: "time limit", run: func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, context.Cause(ctx) }, o: Options{Timeout: time.Millisecond}, text: "longer than 1ms"},
		{name: "left behind", run: func(context.Context) (int, error) { <-never; return 0, nil },
			o: Options{Timeout: time.Millisecond, Grace: time.Millisecond}, text: "still running 1ms after it was told to stop (it hangs"},
		{name: "enough", run: func(context.Context) (int, error) { return 0, errors.New("bad") }, done: func(Progress, Result[int]) error { return stop }, err: stop, text: "bad"},
	} {
		t.Run(test.name, func(t *testing.T) {
			later := false
			jobs := []Job[int]{{Name: "first", Run: test.run}, {Name: "second", Run: func(context.Context) (int, error) { later = true; return 0, nil }}}
			test.o.Jobs = 1
			found, err := Run(t.Context(), jobs, test.o, test.done)
			if !errors.Is(err, test.err) || err != nil && test.err == nil {
				t.Errorf("Run returns %v, want %v", err, test.err)
			}
			if !found[0].Done || found[0].Err == nil || !strings.Contains(found[0].Err.Error(), test.text) {
				t.Errorf("the job's error is %v, want %q", found[0].Err, test.text)
			}
			if later != (test.err == nil) || found[1].Done != later {
				t.Errorf("second job run: %v", later)
			}
		})
	}
}

func TestRunLimitsJobs(t *testing.T) {
	var now, most atomic.Int32
	var jobs []Job[int]
	for range 12 {
		jobs = append(jobs, Job[int]{Run: func(context.Context) (int, error) {
			n := now.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			time.Sleep(time.Millisecond)
			now.Add(-1)
			return 0, nil
		}})
	}
	if _, err := Run(t.Context(), jobs, Options{Jobs: 2}, nil); err != nil || most.Load() != 2 {
		t.Errorf("%v, %d at a time, want 2", err, most.Load())
	}
}

// A job that waits for what others make lets them run, and has its turn again afterwards.
func TestRunGoesOnAside(t *testing.T) {
	made := make(chan struct{})
	var now atomic.Int32
	alone := func() error {
		if n := now.Add(1); n != 1 {
			return fmt.Errorf("%d jobs at a time", n)
		}
		time.Sleep(time.Millisecond)
		now.Add(-1)
		return nil
	}
	waits := func(ctx context.Context) (int, error) {
		Aside(ctx, func() {
			select {
			case <-made:
			case <-ctx.Done():
			}
		})
		return 0, errors.Join(context.Cause(ctx), alone())
	}
	makes := func(context.Context) (int, error) { close(made); return 0, alone() }
	jobs := []Job[int]{{Name: "a", Run: waits}, {Name: "b", Run: waits}, {Name: "c", Run: makes}, {Name: "d", Run: waits}}
	found, err := Run(t.Context(), jobs, Options{Jobs: 1, Timeout: 10 * time.Second}, nil)
	check.Fatal(t, err)
	for i, r := range found {
		check.Fatal(t, r.Err)
		check.Equal(t, jobs[i].Name+" is done", r.Done, true)
	}
}

func TestKeys(t *testing.T) {
	t.Setenv("CAMPAIGN_A", "1")
	t.Setenv("CAMPAIGN_B", "2")
	a := fstest.MapFS{"x/a.v": {Data: []byte("module a;")}, "b.v": {Data: []byte("")}}
	b := fstest.MapFS{"x/a.v": {Data: []byte("module a; ")}, "b.v": {Data: []byte("")}}
	hashA, errA := HashFS(a)
	hashB, errB := HashFS(b)
	program, err := Program()
	if err := errors.Join(errA, errB, err); err != nil || len(program) != 64 {
		t.Fatal(program, err)
	}
	seen := map[string]bool{}
	for _, key := range []string{Key(), Key(""), Key("ab", "c"), Key("a", "bc"), Key(hashA), Key(hashB), Key(Environment("CAMPAIGN_")), Key(Environment("CAMPAIGN_", "CAMPAIGN_B"))} {
		if seen[key] || len(key) != 32 {
			t.Errorf("key %s", key)
		}
		seen[key] = true
	}
}
