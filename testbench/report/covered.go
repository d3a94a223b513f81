package report

import (
	"fmt"
	"html/template"
	"io"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/verilator"
)

// Covered is what lmmc coverage found: the runs of the benches of any project, added up.
type Covered struct {
	Stamp      results.Stamp             `json:"stamp"`
	Runs       int                       `json:"runs"`
	Files      []CoveredFile             `json:"files"`
	Functional []testbench.CoveragePoint `json:"functional"`
}

// CoveredFile counts the points of a Verilog file.
type CoveredFile struct {
	File     string       `json:"file"`
	Lines    CoveredTally `json:"lines"` // blocks of statements
	Branches CoveredTally `json:"branches"`
	Toggles  CoveredTally `json:"toggles"`
	Missed   []int        `json:"missed"` // lines at which a block or branch was not reached
}

// CoveredTally is how many of all points were reached.
type CoveredTally struct {
	All int `json:"all"`
	Hit int `json:"hit"`
}

func (t CoveredTally) String() string { return fmt.Sprintf("%d of %d", t.Hit, t.All) }

// NewCovered counts the points of so many runs.
func NewCovered(stamp results.Stamp, sum testbench.CoverageRun, runs int) *Covered {
	c := &Covered{Stamp: stamp, Runs: runs, Files: []CoveredFile{}, Functional: sum.Functional}
	for _, p := range sum.Points {
		c.add(p)
	}
	return c
}

func (c *Covered) add(p verilator.Point) {
	if n := len(c.Files); n == 0 || c.Files[n-1].File != p.File {
		c.Files = append(c.Files, CoveredFile{File: p.File, Missed: []int{}})
	}
	f := &c.Files[len(c.Files)-1]
	tally := &f.Lines
	switch p.Kind {
	case "toggle":
		tally = &f.Toggles
	case "branch":
		tally = &f.Branches
	}
	tally.All++
	if p.Count > 0 {
		tally.Hit++
	} else if n := len(f.Missed); p.Kind != "toggle" && (n == 0 || f.Missed[n-1] != p.Line) {
		f.Missed = append(f.Missed, p.Line)
	}
}

// WriteProject makes the page of a project of its own, which has only Covered. Covered may be nil.
func WriteProject(w io.Writer, name string, stamp results.Stamp, c *Covered) error {
	style, err := files.ReadFile("style.css")
	if err != nil {
		return err
	}
	v := struct {
		Name    string
		Style   template.CSS
		Stamp   results.Stamp
		Covered *Covered
	}{name, template.CSS(style), stamp, c}
	if err := page.ExecuteTemplate(w, "project.html", v); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}
