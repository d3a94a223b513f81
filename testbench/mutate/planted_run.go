package mutate

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/prove"
	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/verilator"
)

// PlantedOptions says what RunPlanted does.
type PlantedOptions struct {
	// Root is the folder of the modules, as in Options.
	Root string
	// Dir is the folder of the files of Planted.
	Dir string
	// Modules whose bugs are tried, or bugs by MODULE/NAME; none means all.
	Modules []string
	// Scenarios, if any, are tried instead of other checks, with the bugs that no scenario must find, to see whether they do.
	Scenarios []string
	// Options say how many checks run at a time, and where it is kept which bugs are found.
	campaign.Options
	// Rewriter is the program that calls Rewrite with its arguments, and arguments to go before those.
	Rewriter []string
	// Lmmc is the program that simulates scenarios and proves.
	Lmmc string
	// Progress is called with what goes on, by one goroutine at a time; nil for none.
	Progress func(format string, args ...any)
}

// PlantedReport is what RunPlanted found. Its JSON form is what lmmc mutate --planted prints with --json, and keeps as results "planted".
type PlantedReport struct {
	Stamp    results.Stamp   `json:"stamp"`
	Tried    int             `json:"tried"`
	Found    int             `json:"found"`     // by anything
	FoundSim int             `json:"found_sim"` // by a scenario of lmmc sim
	Checks   int             `json:"checks"`    // pairs of a bug and a check that must find it
	Missed   int             `json:"missed"`    // those where it does not
	Cached   int             `json:"cached"`    // those known from earlier runs
	Bugs     []PlantedResult `json:"bugs"`
	Seconds  float64         `json:"seconds"`
}

// PlantedResult is what came out for one bug.
type PlantedResult struct {
	Module  string   `json:"module"`
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Doc     string   `json:"doc"`
	FoundBy []string `json:"found_by"`
	Missed  []string `json:"missed"` // by checks that must find it
}

// plantedPlan is the first argument of Rewrite for a plan of planted bugs.
const plantedPlan = "planted"

// plantedCode is what puts planted bugs into designs and judges checks.
//
//go:embed keep.go planted.go planted_run.go rewrite.go tests.go
var plantedCode embed.FS

// RunPlanted runs, with each planted bug, the checks that must find it. A check that does not is no error.
func RunPlanted(ctx context.Context, o PlantedOptions) (report PlantedReport, err error) {
	failed := try.Run(func() { report = runPlanted(ctx, o) })
	return report, failed
}

func runPlanted(ctx context.Context, o PlantedOptions) PlantedReport {
	start := time.Now()
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	o.Jobs = cmp.Or(o.Jobs, runtime.NumCPU())
	r := &plantedRun{PlantedOptions: o, library: openLibrary(o.Root), checks: map[Finder]*plantedCheck{}}
	r.choose()
	r.tryScenarios()
	r.work = try.Get(os.MkdirTemp("", "planted"))
	defer os.RemoveAll(r.work)
	tools := try.Get(verilator.Tools(ctx))
	r.base = campaign.Key("planted", try.Get(campaign.HashFS(plantedCode)), tools, campaign.Environment("LMMC_", "LMMC_CACHE"))
	r.lay()
	r.discover(ctx)
	report := r.judge(ctx)
	report.Seconds = time.Since(start).Seconds()
	return report
}

// plantedRun is a RunPlanted.
type plantedRun struct {
	PlantedOptions
	*library
	work     string // folder, removed at the end
	base     string // of all keys
	bugs     []Planted
	rewriter string // value of verilator.RewriteVar
	checks   map[Finder]*plantedCheck
	progress sync.Mutex
}

// plantedCheck is a Finder that has been found.
type plantedCheck struct {
	check
	proof   bool
	prepare func() error // runs it without a bug, once
}

// choose reads the bugs and leaves those of the modules asked for.
func (r *plantedRun) choose() {
	r.bugs = try.Get(ReadPlanted(r.Dir))
	for _, p := range r.bugs {
		if r.files[p.Module] == "" {
			try.Failf("%w %s: there is no module %s in %s", ErrPlanted, p.FullName(), p.Module, r.root)
		}
	}
	if len(r.Modules) == 0 {
		return
	}
	var names []string
	for _, p := range r.bugs {
		names = append(names, p.Module, p.FullName())
	}
	for _, name := range r.Modules {
		if !slices.Contains(names, name) {
			hint := ""
			if r.files[name] == "" {
				hint = nearest.Hint(name, names)
			}
			try.Failf("%w: no planted bug is in %s%s", ErrOptions, name, hint)
		}
	}
	r.bugs = slices.DeleteFunc(r.bugs, func(p Planted) bool {
		return !slices.Contains(r.Modules, p.Module) && !slices.Contains(r.Modules, p.FullName())
	})
}

// tryScenarios leaves the bugs that no scenario must find, with the scenarios as their only checks.
func (r *plantedRun) tryScenarios() {
	if len(r.Scenarios) == 0 {
		return
	}
	r.bugs = slices.DeleteFunc(r.bugs, func(p Planted) bool {
		return slices.ContainsFunc(p.Finders, func(f Finder) bool { return f.Kind == "sim" })
	})
	for i := range r.bugs {
		r.bugs[i].Finders = nil
		for _, name := range r.Scenarios {
			r.bugs[i].Finders = append(r.bugs[i].Finders, Finder{Kind: "sim", What: name, try: true})
		}
	}
}

// lay puts a plan of the bugs where Rewrite finds it, without what does not change a module.
func (r *plantedRun) lay() {
	plan := slices.Clone(r.bugs)
	for i := range plan {
		plan[i].Kind, plan[i].Doc, plan[i].Finders = "", "", nil
	}
	r.rewriter = layPlan(plan, append(slices.Clone(r.Rewriter), plantedPlan))
}

// discover makes the checks: it compiles the packages of the tests.
func (r *plantedRun) discover(ctx context.Context) {
	packages := map[string]check{} // by folder
	program := campaign.Key(string(try.Get(os.ReadFile(r.Lmmc))))
	for _, p := range r.bugs {
		for _, f := range p.Finders {
			if r.checks[f] != nil {
				continue
			}
			c := &plantedCheck{check: check{code: program}}
			switch words := strings.Fields(f.What); {
			case f.Kind == "test" && len(words) == 2:
				if _, compiled := packages[words[0]]; !compiled {
					packages[words[0]] = r.compile(ctx, words[0])
				}
				c.check = packages[words[0]]
				c.command = append(slices.Clone(c.command), "-test.run", "^"+regexp.QuoteMeta(words[1])+"$",
					"-test.failfast", "-test.timeout", "0", "-test.count", "1")
			case f.Kind == "sim" && len(words) <= 2:
				seeds := append(words, "1")[1]
				c.command = []string{r.Lmmc, "sim", "--run", "^" + words[0] + "$", "--seeds", seeds, "--jobs", "1",
					"--wave-dir", filepath.Join(r.work, "waves")}
			case f.Kind == "proof" && len(words) == 1:
				c.proof = true
				c.code = campaign.Key(program, try.Get(prove.Tools(ctx)), r.verilog())
				c.command = []string{r.Lmmc, "prove", "--jobs", "1", "--trace-dir", filepath.Join(r.work, "traces"), words[0], "--rtl"}
			default:
				try.Failf("%w %s: want \"test FOLDER TEST\", \"proof NAME\" or \"sim SCENARIO [SEEDS]\", not %q", ErrPlanted, p.FullName(), f)
			}
			c.name = f.String()
			c.prepare = sync.OnceValue(func() error { return try.Run(func() { r.prepare(ctx, c) }) })
			r.checks[f] = c
		}
	}
}

// verilog hashes all Verilog below the root: proofs read more of it than the modules.
func (r *plantedRun) verilog() string {
	var parts []string
	try.OK(filepath.WalkDir(r.root, func(name string, f fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".v" && filepath.Ext(name) != ".vh" {
			return err
		}
		text, err := os.ReadFile(name)
		parts = append(parts, strings.TrimPrefix(name, r.root), string(text))
		return err
	}))
	return campaign.Key(parts...)
}

// compile compiles the tests of a folder, and returns a check without the name of one.
func (r *plantedRun) compile(ctx context.Context, folder string) check {
	r.Progress("compiling the tests of %s", folder)
	binary := filepath.Join(r.work, strings.ReplaceAll(folder, "/", "-")+".test")
	if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, "./"+folder).CombinedOutput(); err != nil {
		try.Failf("mutate: go test -c ./%s: %w\n%s", folder, err, out)
	}
	return check{dir: try.Get(filepath.Abs(folder)), code: r.codeOf(ctx, "./"+folder), command: []string{binary}}
}

// prepare runs the check without a bug: it must pass.
func (r *plantedRun) prepare(ctx context.Context, c *plantedCheck) {
	r.locked("without a bug: %s", c.name)
	sound := c.check
	if c.proof {
		sound.command = append(slices.Clone(c.command), r.root)
	}
	sound.prepare(ctx, r.rewriter)
	if c.limit = sound.limit; c.proof {
		c.limit = buildTime // the sound modules may have been proved earlier, in no time
	}
}

// find runs the check with a bug, and says whether it fails.
func (r *plantedRun) find(ctx context.Context, c *plantedCheck, p Planted) bool {
	try.OK(c.prepare())
	r.locked("%s: %s", p.FullName(), c.name)
	run := c.check
	if c.proof {
		dir := try.Get(os.MkdirTemp(r.work, "rtl"))
		try.OK(os.CopyFS(dir, os.DirFS(r.root)))
		file := filepath.Join(dir, r.files[p.Module])
		text := try.Get(p.Apply(string(try.Get(os.ReadFile(file)))))
		try.OK(os.WriteFile(file, []byte(text), 0o666))
		run.command = append(slices.Clone(c.command), dir)
	}
	how, _, out := run.run(ctx, r.rewriter, p.ID(), c.limit)
	if how == passed && len(r.bugs) == 1 {
		r.locked("%s says:\n%s", c.name, lastLines(out, 30))
	}
	return how == failed || how == endless && !c.proof
}

func (r *plantedRun) locked(format string, args ...any) {
	r.progress.Lock()
	defer r.progress.Unlock()
	r.Progress(format, args...)
}

// key hashes what comes out when the check meets the bug: all modules are part of it.
func (r *plantedRun) key(p Planted, f Finder, modules string) string {
	return campaign.Key(r.base, modules, p.FullName(), p.Old, p.New, f.String(), r.checks[f].code)
}

// plantedJob is a bug with a check that must find it.
type plantedJob struct {
	bug    int // index
	finder Finder
}

// judge runs a job for each bug and check.
func (r *plantedRun) judge(ctx context.Context) PlantedReport {
	modules := campaign.Key(r.texts(slices.Collect(maps.Keys(r.files)))...)
	var pairs []plantedJob
	var jobs []campaign.Job[bool]
	for i, p := range r.bugs {
		for _, f := range p.Finders {
			pairs = append(pairs, plantedJob{i, f})
			run := func(ctx context.Context) (found bool, err error) {
				err = try.Run(func() { found = r.find(ctx, r.checks[f], p) })
				if err == nil && !found {
					err = errSurvives
				}
				return found, err
			}
			jobs = append(jobs, campaign.Job[bool]{Name: p.FullName() + " " + f.String(), Key: r.key(p, f, modules), Run: run})
		}
	}
	results, err := campaign.Run(ctx, jobs, r.Options, func(_ campaign.Progress, result campaign.Result[bool]) error {
		if errors.Is(result.Err, errSurvives) {
			return nil
		}
		return result.Err
	})
	try.OK(err)
	return r.count(pairs, results)
}

// count makes the report.
func (r *plantedRun) count(pairs []plantedJob, results []campaign.Result[bool]) PlantedReport {
	report := PlantedReport{Tried: len(r.bugs), Bugs: make([]PlantedResult, len(r.bugs))}
	for i, p := range r.bugs {
		report.Bugs[i] = PlantedResult{Module: p.Module, Name: p.Name, Kind: p.Kind, Doc: p.Doc, FoundBy: []string{}, Missed: []string{}}
	}
	for j, result := range results {
		b, f := &report.Bugs[pairs[j].bug], pairs[j].finder
		if result.Cached {
			report.Cached++
		}
		switch {
		case result.Err == nil:
			b.FoundBy = append(b.FoundBy, f.String())
			report.Checks++
		case !f.try:
			b.Missed = append(b.Missed, f.String())
			report.Checks++
			report.Missed++
		}
	}
	for _, b := range report.Bugs {
		if len(b.FoundBy) > 0 {
			report.Found++
		}
		if slices.ContainsFunc(b.FoundBy, func(by string) bool { return strings.HasPrefix(by, "sim ") }) {
			report.FoundSim++
		}
	}
	return report
}
