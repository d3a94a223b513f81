package mutate

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
)

// Planted is a bug of the kind that engineers make, in a module, with the checks that find it. A file MODULE.txt holds those of a module:
//
//	NAME (KIND): what is wrong
//	  old   text that is once in the module's file, whatever blanks are in it; the part in «» is what is replaced, without them all of it
//	  new   what stands there instead: for a part that ends with a semicolon statements, else an expression
//	  test  FOLDER TEST
//	  proof NAME
//	  sim   SCENARIO [SEEDS]
//
// Each check named must find it. A line that begins with "#" is a comment.
type Planted struct {
	Module, Name, Kind, Doc string
	Old, New                string
	Finders                 []Finder
}

// Finder is a check that finds a bug: a Go test, a proof of lmmc prove, or a scenario of lmmc sim.
type Finder struct {
	Kind string // test, proof or sim
	What string
	try  bool // whether it does find it is the question
}

func (f Finder) String() string { return f.Kind + " " + f.What }

// ErrPlanted is wrapped by errors about the set of planted bugs.
var ErrPlanted = errors.New("planted bug")

// ID is the value of MutantVar that selects the bug. It does not depend on the other bugs, so these can change without a model being compiled again.
func (p Planted) ID() int {
	h := fnv.New32a()
	h.Write([]byte(p.FullName()))
	return int(h.Sum32()>>1) | 1
}

// FullName is MODULE/NAME.
func (p Planted) FullName() string { return p.Module + "/" + p.Name }

var (
	plantedHead = regexp.MustCompile(`^([a-z0-9-]+) \(([a-z -]+)\): (\S.*)$`)
	plantedLine = regexp.MustCompile(`^  (old|new|test|proof|sim)(?: +(\S.*))?$`)
)

// ReadPlanted reads the files of a folder, in the order of their names.
func ReadPlanted(dir string) (all []Planted, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%w: no MODULE.txt in %s", ErrPlanted, dir)
	}
	for _, file := range files {
		data, fileErr := os.ReadFile(file)
		bugs, parseErr := parsePlanted(strings.TrimSuffix(filepath.Base(file), ".txt"), string(data))
		if parseErr != nil {
			parseErr = fmt.Errorf("%s:%w", file, parseErr)
		}
		err = errors.Join(err, fileErr, parseErr)
		all = append(all, bugs...)
	}
	ids := map[int]string{}
	for _, p := range all {
		if other, taken := ids[p.ID()]; taken {
			err = errors.Join(err, fmt.Errorf("%w %s has the number of %s: give it another name", ErrPlanted, p.FullName(), other))
		}
		ids[p.ID()] = p.FullName()
	}
	return all, err
}

func parsePlanted(module, text string) (all []Planted, err error) {
	names := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " ")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if f := plantedHead.FindStringSubmatch(line); f != nil && !names[f[1]] {
			names[f[1]] = true
			all = append(all, Planted{Module: module, Name: f[1], Kind: f[2], Doc: f[3]})
			continue
		}
		f := plantedLine.FindStringSubmatch(line)
		if f == nil || len(all) == 0 || f[1] != "new" && f[2] == "" {
			return all, fmt.Errorf("%d: %w: want a new \"NAME (KIND): what is wrong\", or below one \"  old|new|test|proof|sim TEXT\": %q", i+1, ErrPlanted, line)
		}
		switch p := &all[len(all)-1]; f[1] {
		case "old":
			p.Old = f[2]
		case "new":
			p.New = f[2]
		default:
			p.Finders = append(p.Finders, Finder{Kind: f[1], What: f[2]})
		}
	}
	for _, p := range all {
		if p.Old == "" || len(p.Finders) == 0 || p.New == "" && !p.statement() {
			err = errors.Join(err, fmt.Errorf(" %w %s: want an old text, a new one and a check that finds it", ErrPlanted, p.FullName()))
		}
	}
	return all, err
}

// part returns what is replaced, and what stands before and behind it in Old.
func (p Planted) part() (before, old, behind string) {
	before, rest, marked := strings.Cut(p.Old, "«")
	if !marked {
		return "", p.Old, ""
	}
	old, behind, _ = strings.Cut(rest, "»")
	return before, old, behind
}

func (p Planted) statement() bool {
	_, old, _ := p.part()
	return strings.HasSuffix(old, ";")
}

var blanks = regexp.MustCompile(`\s+`)

// find returns where in the source the bug goes. Blanks and ends of lines are all the same.
func (p Planted) find(source string) (begin, end int, err error) {
	loosely := func(text string) string { return blanks.ReplaceAllLiteralString(regexp.QuoteMeta(text), `\s+`) }
	before, old, behind := p.part()
	pattern := regexp.MustCompile(loosely(before) + "(" + loosely(old) + ")" + loosely(behind))
	places := pattern.FindAllStringSubmatchIndex(source, -1)
	if len(places) != 1 {
		return 0, 0, fmt.Errorf("%w %s: %q is %d times in the source, want once: correct the entry in %s.txt", ErrPlanted, p.FullName(), before+old+behind, len(places), p.Module)
	}
	return places[0][2], places[0][3], nil
}

// Apply returns the source with the bug.
func (p Planted) Apply(source string) (string, error) {
	begin, end, err := p.find(source)
	if err != nil {
		return "", err
	}
	text := "(" + p.New + ")"
	if p.statement() {
		text = "begin " + p.New + " end"
	}
	return source[:begin] + text + source[end:], nil
}

// Select returns the source with all these bugs of the module, of which MutantVar selects one.
func Select(source, module string, bugs []Planted) (result string, err error) {
	failed := try.Run(func() {
		var all []edit
		for _, p := range bugs {
			begin, end, findErr := p.find(source)
			try.OK(findErr)
			all = append(all, edit{p, begin, end})
		}
		slices.SortStableFunc(all, func(a, b edit) int {
			if a.begin != b.begin {
				return a.begin - b.begin
			}
			return b.end - a.end
		})
		ports := headerEnd(source, module)
		for _, e := range all {
			if e.begin < ports {
				try.Failf("%w %s: the ports and parameters of a module cannot be selected", ErrPlanted, e.FullName())
			}
		}
		result = "/* verilator lint_off WIDTH */\n" + source[:ports] + "\n    " + fmt.Sprintf(selectorText, 31) + "\n" + render(source, ports, len(source), all)
	})
	return result, failed
}

// edit is a bug's place in a source.
type edit struct {
	Planted
	begin, end int
}

// render returns a stretch of the source with its edits, which are in order, outer ones before those in them.
func render(source string, from, to int, all []edit) string {
	var s strings.Builder
	for len(all) > 0 {
		outer := all[0]
		if outer.begin < from || outer.end > to {
			try.Failf("%w %s: its place overlaps with that of another bug and is not within it", ErrPlanted, outer.FullName())
		}
		same, inner := 0, 0
		for inner < len(all) && all[inner].begin < outer.end {
			if all[inner].begin == outer.begin && all[inner].end == outer.end {
				same++
			}
			inner++
		}
		old := render(source, outer.begin, outer.end, all[same:inner])
		s.WriteString(source[from:outer.begin])
		s.WriteString(choose(all[:same], old))
		from, all = outer.end, all[inner:]
	}
	return s.String() + source[from:to]
}

// choose is the old text when none of the bugs is selected.
func choose(bugs []edit, old string) string {
	var s strings.Builder
	if bugs[0].statement() {
		s.WriteString("begin ")
		for _, b := range bugs {
			fmt.Fprintf(&s, "if (%s == 32'd%d) begin %s end else ", selector, b.ID(), b.New)
		}
		return s.String() + "begin " + old + " end end"
	}
	s.WriteString("(")
	for _, b := range bugs {
		fmt.Fprintf(&s, "%s == 32'd%d ? (%s) : ", selector, b.ID(), b.New)
	}
	return s.String() + "(" + old + "))"
}

// selectPlanted puts the modules with the bugs of a plan into the current folder.
func selectPlanted(files map[string]string, modules []string, plan []Planted) {
	of := map[string][]Planted{}
	for _, p := range plan {
		of[p.Module] = append(of[p.Module], p)
	}
	for _, module := range modules {
		if len(of[module]) == 0 || files[module] == "" {
			continue
		}
		source := try.Get(os.ReadFile(files[module]))
		text := try.Get(Select(string(source), module, of[module]))
		try.OK(os.WriteFile(module+".v", []byte(text), 0o666))
	}
}
