// Package mutate measures how much a design's tests see: it changes the modules in many small ways, by Yosys' mutate, and runs the tests
// with each mutant. One that no test fails with shows what nobody checks, or changes nothing that could be seen.
//
// All mutants of a run are in the modules at once, and an environment variable selects one (MutantVar). So each design is compiled once,
// and a mutant is a run of a test's program. The tests know nothing of it: verilator.Build lets a program rewrite what it
// compiles (verilator.RewriteVar), which here is Rewrite. What a test compiles is found by letting it fail at the first design that it asks for, in
// each subtest.
package mutate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/internal/try"
)

// Options says what Run does.
type Options struct {
	// Root is the folder whose folders hold the modules, with their tests beside them, relative to the current folder, which is the
	// root of the Go module.
	Root string
	// Modules to change; none means all.
	Modules []string
	// Count is how many mutants are tried, of all modules together.
	Count int
	// Seed determines which.
	Seed uint64
	// Only tries just these mutants; nil means those that Count and Seed say.
	Only []Mutant
	// Options say how many checks run at a time, and where it is kept which mutants are killed or equivalent.
	campaign.Options
	// Rewriter is the program that calls Rewrite with its arguments, and arguments to go before those.
	Rewriter []string
	// Skip names Go tests that say nothing, with the reason.
	Skip map[string]string
	// Commands are run with the mutants that the tests let live: arguments of programs that build designs with package verilator.
	Commands [][]string
	// Explanations is the file of Explanations; "" or a missing file means none.
	Explanations string
	// Trust takes a mutant that is explained, and that its module's tests let live, for explained without more checks: few such mutants cost a small
	// sample most of its time, since only survivors meet the folder's tests, those of other folders, and Commands.
	Trust bool
	// Progress is called with what goes on, by one goroutine at a time; nil for none.
	Progress func(format string, args ...any)
}

// ErrOptions is wrapped by the errors of Run about its Options.
var ErrOptions = errors.New("mutate")

// ErrWrong is wrapped by an error about an explanation of a mutant that a check killed.
var ErrWrong = errors.New("wrong explanation")

// Run makes mutants, runs the checks with them, and reports all. A survivor is no error. A mutant meets, until one kills it: the tests of
// its module, a proof of equivalence, the other tests of its folder, the tests of other folders, and Options.Commands. See Options.Trust.
func Run(ctx context.Context, o Options) (report Report, err error) {
	failed := try.Run(func() { report, err = run(ctx, o) })
	return report, cmp.Or(failed, err)
}

func run(ctx context.Context, o Options) (Report, error) {
	start := time.Now()
	o.Jobs = cmp.Or(o.Jobs, runtime.NumCPU())
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	l := openLibrary(o.Root)
	modules := o.modules(l)
	if o.Only == nil {
		modules = draw(modules, o.Count, o.Seed)
	}
	explanations := readExplanations(o.Explanations, l)
	work := try.Get(os.MkdirTemp("", "mutate"))
	defer os.RemoveAll(work)

	r := &running{Options: o, library: l, base: base(ctx), explanations: explanations}
	o.Progress("looking what the tests compile")
	r.checks = l.discover(ctx, &o, work)
	o.Progress("choosing mutants of %d modules", len(modules))
	l.parametrise(ctx, modules, r.checks, o.Jobs)
	var mutants []Mutant
	if o.Only != nil {
		mutants = l.find(ctx, o.Only)
	} else {
		mutants = l.plan(ctx, modules, o.Count, o.Seed, o.Jobs)
	}
	r.begin(mutants)
	r.stages(ctx)
	r.excuse()
	err := r.wrong()
	report := l.report(o, r.results, r.done, time.Since(start))
	report.Cached = r.cached
	return report, err
}

func (o *Options) modules(l *library) []string {
	all := slices.Sorted(maps.Keys(l.files))
	if o.Count < 1 && o.Only == nil || o.Count > maxMutants {
		try.Failf("%w: %d mutants: want 1 to %d", ErrOptions, o.Count, maxMutants)
	}
	chosen := slices.Sorted(slices.Values(o.Modules))
	if o.Only != nil {
		chosen = nil
		for _, m := range o.Only {
			chosen = append(chosen, m.Module)
		}
		slices.Sort(chosen)
	}
	if len(chosen) == 0 && o.Only == nil {
		return all
	}
	for _, name := range chosen {
		if _, ok := l.files[name]; !ok {
			try.Failf("%w: there is no module %q in %s%s; there are: %s", ErrOptions, name, l.root, nearest.Hint(name, all), strings.Join(all, ", "))
		}
	}
	return slices.Compact(chosen)
}

// running is a Run.
type running struct {
	Options
	*library
	base         string // of all keys
	explanations []Explanation
	results      []*result
	checks       []*check
	done         []Stage
	cached       int // verdicts of earlier runs

	mutex sync.Mutex
}

func (r *running) begin(mutants []Mutant) {
	for _, m := range mutants {
		lines := readLines(filepath.Join(r.root, r.files[m.Module]))
		res := &result{Mutant: m, source: "-"}
		if n := m.Line; n > 0 && n <= len(lines) {
			res.source = lines[n-1]
		}
		r.results = append(r.results, res)
	}
}

// stages runs the checks, the nearest and quickest first.
func (r *running) stages(ctx context.Context) {
	r.stage(ctx, "module tests", func(c *check, m Mutant) bool { return c.folder == r.folder(m) && c.direct(m.Module) })
	r.prove(ctx)
	if r.Trust {
		r.excuse()
	}
	r.stage(ctx, "folder tests", func(c *check, m Mutant) bool { return c.folder == r.folder(m) && !c.direct(m.Module) })
	r.stage(ctx, "other tests", func(c *check, m Mutant) bool { return c.folder != "" && c.folder != r.folder(m) })
	r.stage(ctx, "commands", func(c *check, m Mutant) bool { return c.folder == "" })
}

func (r *running) folder(m Mutant) string { return filepath.Dir(r.files[m.Module]) }

func (r *running) alive() []*result {
	return slices.DeleteFunc(slices.Clone(r.results), func(res *result) bool { return res.state != alive })
}

// stage runs those checks with each mutant that it has to do with, until one kills it. What a check compiles has just its mutants: a design
// with those of all modules takes long, and with many copies of modules more memory than there is.
func (r *running) stage(ctx context.Context, name string, has func(*check, Mutant) bool) {
	of := func(res *result) []*check {
		return slices.DeleteFunc(slices.Clone(r.checks), func(c *check) bool { return !c.concerns(res.Module) || !has(c, res.Mutant) })
	}
	alive := slices.DeleteFunc(r.alive(), func(res *result) bool { return len(of(res)) == 0 })
	meets := map[*check][]Mutant{}
	for _, res := range alive {
		for _, c := range of(res) {
			meets[c] = append(meets[c], res.Mutant)
		}
	}
	needed := slices.SortedFunc(maps.Keys(meets), byName)
	once := map[*check]func() error{}
	begun := 0
	for _, c := range needed {
		once[c] = sync.OnceValue(func() error {
			r.locked(func() { r.Progress("%s: %d of %d run without a mutation", name, begun, len(needed)); begun++ })
			return try.Run(func() {
				c.rewriter = layPlan(meets[c], r.Rewriter)
				c.prepare(ctx, c.rewriter)
			})
		})
	}
	// Many mutants meet the quickest check first, so that all run before the first mutant of which nothing is kept. For a few it costs less to begin
	// with what compiles the fewest modules.
	few := len(alive) < len(needed)
	prepare := sync.OnceFunc(func() {
		if !few {
			each(r.Jobs, len(needed), func(i int) { try.OK(once[needed[i]]()) })
		}
	})
	r.judge(ctx, name, alive, r.Jobs, func(m Mutant, i int) string { return r.checkKey(m, of(alive[i])) }, func(ctx context.Context, res *result) verdict {
		prepare()
		checks := of(res)
		slices.SortFunc(checks, func(a, b *check) int {
			if few {
				return cmp.Or(cmp.Compare(a.compiles(), b.compiles()), byName(a, b))
			}
			return cmp.Or(cmp.Compare(a.took, b.took), byName(a, b))
		})
		for _, c := range checks {
			try.OK(once[c]())
			how, _, out := c.run(ctx, c.rewriter, res.ID, c.limit)
			if how == passed {
				continue
			}
			if len(r.Only) == 1 {
				r.locked(func() { r.Progress("%s says:\n%s", c.name, lastLines(out, 30)) })
			}
			if how == endless {
				return verdict{timedOut, c.name}
			}
			return verdict{killed, c.name}
		}
		try.OK(errSurvives)
		return verdict{}
	})
}

func byName(a, b *check) int { return cmp.Compare(a.name, b.name) }

// judge does a stage: a job for each mutant, which passes if the mutant does not survive it.
func (r *running) judge(ctx context.Context, name string, mutants []*result, jobs int, key func(m Mutant, i int) string, do func(context.Context, *result) verdict) {
	if len(mutants) == 0 {
		return
	}
	start := time.Now()
	stage := Stage{Name: name, Tried: len(mutants)}
	var all []campaign.Job[verdict]
	for i, res := range mutants {
		all = append(all, campaign.Job[verdict]{Name: res.Name(), Key: key(res.Mutant, i), Run: func(ctx context.Context) (v verdict, err error) {
			err = try.Run(func() { v = do(ctx, res) })
			return v, err
		}})
	}
	o := r.Options.Options
	o.Jobs = jobs
	_, err := campaign.Run(ctx, all, o, func(p campaign.Progress, found campaign.Result[verdict]) error {
		r.locked(func() {
			if found.Err == nil {
				mutants[p.Last].state, mutants[p.Last].by = found.Value.State, found.Value.By
				stage.Killed++
			}
			if found.Cached {
				r.cached++
			}
			r.Progress("%s: %d of %d mutants, %d killed", name, p.Done, p.Total, stage.Killed)
		})
		if errors.Is(found.Err, errSurvives) {
			return nil
		}
		return found.Err
	})
	stage.Seconds = time.Since(start).Seconds()
	r.done = append(r.done, stage)
	try.OK(err)
}

func (r *running) locked(do func()) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	do()
}

// prove takes out the mutants that provably change nothing: all those of a module at once, of which that is not kept.
func (r *running) prove(ctx context.Context) {
	slots := make(chan struct{}, r.Jobs)
	same := map[string]func() (map[int]bool, error){} // by module
	alive := r.alive()
	for _, res := range alive {
		if same[res.Module] != nil {
			continue
		}
		same[res.Module] = sync.OnceValues(func() (map[int]bool, error) {
			slots <- struct{}{}
			defer func() { <-slots }()
			var left []Mutant
			r.locked(func() {
				for _, other := range r.alive() {
					if other.Module == res.Module {
						left = append(left, other.Mutant)
					}
				}
			})
			return r.equivalent(ctx, res.Module, left)
		})
	}
	// As many jobs as mutants: those of a module wait for the first of them.
	r.judge(ctx, ProofStage, alive, max(1, len(alive)), func(m Mutant, _ int) string { return r.proofKey(m) }, func(_ context.Context, res *result) verdict {
		if !try.Get(same[res.Module]())[res.ID] {
			try.OK(errSurvives)
		}
		return verdict{State: equivalent}
	})
}

// explained calls do for each explanation of a mutant.
func (r *running) explained(do func(*result, Explanation)) {
	for _, res := range r.results {
		for _, e := range r.explanations {
			if e.covers(res.Mutant, res.source) {
				do(res, e)
			}
		}
	}
}

// excuse takes those mutants that are alive and explained for explained.
func (r *running) excuse() {
	r.explained(func(res *result, e Explanation) {
		if res.state == alive {
			res.state, res.by = explained, e.Reason
		}
	})
}

// wrong returns an error for each explanation of a mutant that a check killed.
func (r *running) wrong() error {
	var errs []error
	r.explained(func(res *result, e Explanation) {
		if res.state == killed || res.state == timedOut {
			errs = append(errs, fmt.Errorf("%s:%d: %w: it covers %s, which %s kills", r.Explanations, e.line, ErrWrong, res.Name(), res.by))
		}
	})
	return errors.Join(errs...)
}
