package testbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/stafflink/lmmc/verilator"
)

// CoverageRun is what one bench covered: a file in the folder that the variable LMMC_COVERAGE names. With the variable set every bench made with New counts
// the lines, branches and toggles of its designs, and leaves no wave, since a simulation that counts takes no checkpoints.
type CoverageRun struct {
	Bench string `json:"bench"`
	Seed  uint64 `json:"seed"`
	// Points are places in the Verilog. Of the kind "toggle" those after Bench.Reset count.
	Points verilator.Points `json:"points"`
	// Functional are the bins of what Bench.Cover was given.
	Functional []CoveragePoint `json:"functional"`
}

// covered is a Coverage with what stands before the names of its points.
type covered struct {
	*Coverage
	prefix string
}

// Cover says that the bench counts its cases in c, so that they are part of its CoverageRun.
func (b *Bench) Cover(c *Coverage) { b.CoverAs("", c) }

// CoverAs is Cover with a prefix before the names of the points there. Of one Coverage the first call counts.
func (b *Bench) CoverAs(prefix string, c *Coverage) {
	if !slices.ContainsFunc(b.covered, func(have covered) bool { return have.Coverage == c }) {
		b.covered = append(b.covered, covered{c, prefix})
	}
}

// startCoverage leaves out toggles until now: those of a reset.
func (b *Bench) startCoverage() error {
	if b.config.coverage == "" {
		return nil
	}
	var errs []error
	for _, i := range b.instances {
		errs = append(errs, b.counted.Start(i.model))
	}
	return errors.Join(errs...)
}

// keepCoverage writes what the bench has covered.
func (b *Bench) keepCoverage() error {
	dir := b.config.coverage
	if dir == "" {
		return nil
	}
	run := CoverageRun{Bench: b.Name(), Seed: b.Seed(), Functional: []CoveragePoint{}}
	for _, i := range b.instances {
		if err := b.counted.Add(i.model); err != nil {
			return err
		}
	}
	run.Points = b.counted.Points()
	for i, p := range run.Points {
		if path, err := filepath.Abs(p.File); err == nil {
			if _, err := os.Stat(path); err == nil { // else it is embedded in the program
				run.Points[i].File = path
			}
		}
	}
	for _, c := range b.covered {
		for _, p := range c.Document() {
			p.Name = c.prefix + p.Name
			run.Functional = append(run.Functional, p)
		}
	}
	text, err := json.Marshal(run)
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(dir, fmt.Sprintf("%s-%d-*.json", fileName(b.Name()), b.Seed())); err == nil {
			_, err = f.Write(text)
			err = errors.Join(err, f.Close())
		}
	}
	if err != nil {
		return fmt.Errorf("testbench: coverage: %w", err)
	}
	return nil
}

// MergeCoverage reads all runs of a folder and adds their counts: points by place, whatever the instance, and bins by name. It returns how many there were.
// A bin that one run excludes and another counts is counted.
func MergeCoverage(dir string) (sum CoverageRun, runs int, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return sum, 0, fmt.Errorf("testbench: coverage: %w", err)
	}
	if len(files) == 0 {
		return sum, 0, fmt.Errorf("testbench: no runs in %s: LMMC_COVERAGE=%s go test ./... leaves them", dir, dir)
	}
	counts := map[verilator.Point]uint64{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		var run CoverageRun
		if err == nil {
			err = json.Unmarshal(text, &run)
		}
		if err != nil {
			return sum, 0, fmt.Errorf("testbench: coverage: %s: %w", file, err)
		}
		for _, p := range run.Points {
			n := p.Count
			p.Count = 0
			counts[p] += n
		}
		for _, p := range run.Functional {
			sum.addFunctional(p)
		}
	}
	for p, n := range counts {
		p.Count = n
		sum.Points = append(sum.Points, p)
	}
	slices.SortFunc(sum.Points, verilator.Point.Compare)
	return sum, len(files), nil
}

func (r *CoverageRun) addFunctional(p CoveragePoint) {
	i := slices.IndexFunc(r.Functional, func(q CoveragePoint) bool { return q.Name == p.Name })
	if i < 0 {
		r.Functional = append(r.Functional, p)
		return
	}
	to := &r.Functional[i]
	for _, b := range p.Bins {
		if k := slices.IndexFunc(to.Bins, func(c CoverageBin) bool { return c.Name == b.Name }); k >= 0 {
			to.Bins[k].Hits += b.Hits
		} else {
			to.Bins = append(to.Bins, b)
		}
	}
	for _, e := range p.Excluded {
		if !slices.ContainsFunc(to.Excluded, func(f ExcludedBin) bool { return f.Name == e.Name }) {
			to.Excluded = append(to.Excluded, e)
		}
	}
	to.Excluded = slices.DeleteFunc(to.Excluded, func(e ExcludedBin) bool {
		return slices.ContainsFunc(to.Bins, func(b CoverageBin) bool { return b.Name == e.Name })
	})
}
