package suite

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/verilator"
)

// CoverageDocument is what the runs of lmmc sim --coverage reached of the RTL: kept as results "coverage".
type CoverageDocument struct {
	Stamp results.Stamp  `json:"stamp"`
	Runs  int            `json:"runs"`
	Files []FileCoverage `json:"files"`
	// Stale are the explanations of holes that are none.
	Stale []string `json:"stale"`
	// Functional lists the cases of the protocol and how often they came up, as SimDocument does.
	Functional []testbench.CoveragePoint `json:"functional"`
}

// FileCoverage is what was reached of a module.
type FileCoverage struct {
	File    string `json:"file"`
	Code    Tally  `json:"code"`    // blocks of statements, and branches
	Toggles Tally  `json:"toggles"` // bits of signals, both ways
	Holes   []Hole `json:"holes"`
}

// Tally counts points.
type Tally struct {
	All       int `json:"all"`
	Hit       int `json:"hit"`
	Explained int `json:"explained"` // not hit, with a reason
}

// Add sums up.
func (t *Tally) Add(u Tally) {
	t.All, t.Hit, t.Explained = t.All+u.All, t.Hit+u.Hit, t.Explained+u.Explained
}

// Open is how many points were neither hit nor explained.
func (t Tally) Open() int { return t.All - t.Hit - t.Explained }

// Hole is what was not reached: a block of statements, a branch, or bits of a signal.
type Hole struct {
	Kind    string   `json:"kind"` // "block", "if", "else" and the like; "toggle"
	Signals string   `json:"signals"`
	Line    int      `json:"line"`
	Points  int      `json:"points"`
	First   int      `json:"first"`  // line of the first of Source
	Source  []string `json:"source"` // the lines around
	Missed  []int    `json:"missed"` // those of them that never ran; none for an else that is not written
	Reason  string   `json:"reason"` // why that is right; "" when nobody has said
}

// Sum adds up all modules.
func (d CoverageDocument) Sum() (code, toggles Tally) {
	for _, f := range d.Files {
		code.Add(f.Code)
		toggles.Add(f.Toggles)
	}
	return code, toggles
}

// Good reports whether every hole in the code is explained and every explanation is of a hole.
func (d CoverageDocument) Good() bool {
	code, _ := d.Sum()
	return code.Open() == 0 && len(d.Stale) == 0
}

// explanation is a line of coverage.txt.
type explanation struct {
	file, kind, place, reason string
	used                      bool
}

//go:embed coverage.txt
var coverageText string

// explanations reads a list like coverage.txt.
func explanations(text string) ([]*explanation, error) {
	var list []*explanation
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(line, " | ", 4)
		if len(parts) != 4 || slices.Contains(parts, "") {
			return nil, fmt.Errorf("suite: coverage.txt, line %d: want file | kind | place | reason, have %q", number, line)
		}
		_, badFile := path.Match(parts[0], "")
		var badSignal error
		if parts[1] == "toggle" {
			_, badSignal = path.Match(parts[2], "")
		}
		if err := errors.Join(badFile, badSignal); err != nil {
			return nil, fmt.Errorf("suite: coverage.txt, line %d: %w", number, err)
		}
		list = append(list, &explanation{file: parts[0], kind: parts[1], place: parts[2], reason: parts[3]})
	}
	return list, nil
}

// isAt reports whether the explanation is of a line of source or, for toggles, of a signal.
func (e *explanation) isAt(place string) bool {
	if e.kind != "toggle" {
		return e.place == place
	}
	match, _ := path.Match(e.place, place)
	return match
}

// explain finds the reason for a hole. place is the line of source, or the name of a signal.
func explain(list []*explanation, file, kind, place string) string {
	for _, e := range list {
		inFile, _ := path.Match(e.file, file)
		if inFile && e.kind == kind && e.isAt(place) {
			e.used = true
			return e.reason
		}
	}
	return ""
}

// NewCoverageDocument sums up points, whose files are in modules, and looks up why holes are there. Unless whole, the points are of a part of
// the suite only, or of more than its own seeds, and no explanation is stale.
func NewCoverageDocument(stamp results.Stamp, runs int, points verilator.Points, modules fs.FS, whole bool) (CoverageDocument, error) {
	d := CoverageDocument{Stamp: stamp, Runs: runs, Files: []FileCoverage{}, Stale: []string{}, Functional: []testbench.CoveragePoint{}}
	list, err := explanations(coverageText)
	if err != nil {
		return d, err
	}
	for len(points) > 0 {
		name := points[0].File
		end := slices.IndexFunc(points, func(p verilator.Point) bool { return p.File != name })
		if end < 0 {
			end = len(points)
		}
		source, err := fs.ReadFile(modules, name)
		if err != nil {
			return d, fmt.Errorf("suite: coverage: %w", err)
		}
		d.Files = append(d.Files, coverageOf(name, points[:end], strings.Split(string(source), "\n"), list))
		points = points[end:]
	}
	for _, e := range list {
		if whole && !e.used {
			d.Stale = append(d.Stale, fmt.Sprintf("%s | %s | %s", e.file, e.kind, e.place))
		}
	}
	return d, nil
}

func coverageOf(name string, points verilator.Points, source []string, list []*explanation) FileCoverage {
	f := FileCoverage{File: name, Holes: []Hole{}}
	functions := functionLines(source)
	bits := map[string]int{} // by signal, the place of its hole
	for _, p := range points {
		tally := &f.Code
		if p.Kind == "toggle" {
			tally = &f.Toggles
		}
		tally.All++
		if p.Count > 0 {
			tally.Hit++
			continue
		}
		place := strings.TrimSpace(source[p.Line-1])
		kind := p.What
		signal, _, _ := strings.Cut(p.What, "[")
		if p.Kind == "toggle" {
			place, kind = signal, "toggle"
		}
		reason := explain(list, name, kind, place)
		if reason == "" && functions[p.Line] {
			reason = inFunction
		}
		if reason != "" {
			tally.Explained++
		}
		if p.Kind != "toggle" {
			h := Hole{Kind: kind, Line: p.Line, Points: 1, Missed: p.Reached(), Reason: reason}
			h.excerpt(source)
			f.Holes = append(f.Holes, h)
			continue
		}
		if i, ok := bits[signal]; ok && f.Holes[i].Line == p.Line {
			h := &f.Holes[i]
			h.Signals, h.Points = h.Signals+", "+p.What, h.Points+1
			continue
		}
		h := Hole{Kind: kind, Signals: p.What, Line: p.Line, Points: 1, Missed: []int{}, Reason: reason}
		h.excerpt(source)
		f.Holes = append(f.Holes, h)
		bits[signal] = len(f.Holes) - 1
	}
	slices.SortStableFunc(f.Holes, func(a, b Hole) int { return cmp.Compare(a.Line, b.Line) })
	return f
}

// inFunction explains holes that are none: a function is copied to where it is called, and then simplified.
const inFunction = "inside a function, where Verilator loses counts; the module's own test tries it with every input or many"

// functionLines are the lines of source inside functions.
func functionLines(source []string) map[int]bool {
	in := map[int]bool{}
	inside := false
	for i, line := range source {
		line, _, _ = strings.Cut(line, "//")
		words := strings.FieldsFunc(line, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		inside = inside || slices.Contains(words, "function")
		in[i+1] = inside
		if slices.Contains(words, "endfunction") {
			inside = false
		}
	}
	return in
}

// excerpt takes the missed lines with what stands around them.
func (h *Hole) excerpt(source []string) {
	const around, most = 2, 16
	last := h.Line
	if len(h.Missed) > 0 {
		last = max(last, h.Missed[len(h.Missed)-1])
	}
	h.First = max(h.Line-around, 1)
	h.Source = source[h.First-1 : min(last+around, h.First-1+most, len(source))]
}
