package mutate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
)

// Explanation says why no test can tell some mutants from the module: one line of a file, "MODULE | SOURCE | CELL:PORT[BIT]=KIND | REASON".
// SOURCE is the text of the cell's line in the module's file, so that an explanation outlives changes elsewhere, or "-" for a cell that has
// none. CELL is the cell as the mutant's name has it. Its place is the column where it begins, or that and the column behind its end, as in
// @25-46, or nothing for all such cells of the line. A "*" stands for any port, bit or kind, "8-31" for any of these bits, and "[*]" in the name
// of an instance for any number.
type Explanation struct {
	Module, Source, Pin, Reason string

	line int
}

// ErrStale is wrapped by errors about an explanation that no longer says anything about the source.
var ErrStale = errors.New("stale explanation")

// CheckExplanations reads the explanations for the modules below root from a file. An explanation of what is not in the source is an error
// that wraps ErrStale.
func CheckExplanations(root, file string) error {
	return try.Run(func() { readExplanations(file, openLibrary(root)) })
}

// readExplanations reads a file; one that does not exist holds none. It refuses explanations of what is not in the source.
func readExplanations(file string, l *library) []Explanation {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	try.OK(err)
	var all []Explanation
	var errs []error
	for i, text := range strings.Split(string(data), "\n") {
		if text = strings.TrimSpace(text); text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		f := strings.Split(text, " | ")
		if len(f) != 4 {
			errs = append(errs, fmt.Errorf("%s:%d: want MODULE | SOURCE | CELL:PORT[BIT]=KIND | REASON, with \" | \" between them", file, i+1))
			continue
		}
		for j := range f {
			f[j] = strings.TrimSpace(f[j])
		}
		e := Explanation{Module: f[0], Source: f[1], Pin: f[2], Reason: f[3], line: i + 1}
		source, ok := l.files[e.Module]
		if !ok {
			errs = append(errs, fmt.Errorf("%s:%d: %w: there is no module %s", file, i+1, ErrStale, e.Module))
			continue
		}
		path := filepath.Join(l.root, source)
		if e.Source != "-" && !slices.Contains(readLines(path), e.Source) {
			errs = append(errs, fmt.Errorf("%s:%d: %w: %s has no line %q: correct the entry, or delete it", file, i+1, ErrStale, path, e.Source))
		}
		all = append(all, e)
	}
	try.OK(errs...)
	return all
}

// readLines returns the lines of a file without the blanks around them.
func readLines(file string) []string {
	data := try.Get(os.ReadFile(file))
	lines := strings.Split(string(data), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

// covers says whether the explanation is about a mutant whose line reads source.
func (e Explanation) covers(m Mutant, source string) bool {
	if e.Module != m.Module || e.Source != source {
		return false
	}
	cell, pin, _ := strings.Cut(e.Pin, ":")
	from, to, _ := strings.Cut(m.Cell.Place, "-")
	_, from, _ = strings.Cut(from, ".")
	_, to, _ = strings.Cut(to, ".")
	var names []string
	for _, place := range []string{"", from, from + "-" + to} {
		named := m.Cell
		named.Place = place
		name := named.String()
		if place == "" {
			name = strings.Replace(name, "@", "", 1)
		}
		if strings.Contains(cell, "[*]") {
			name = index.ReplaceAllString(name, "[*]")
		}
		names = append(names, name)
	}
	port, rest, _ := strings.Cut(pin, "[")
	bit, kind, _ := strings.Cut(rest, "]=")
	return slices.Contains(names, cell) && (port == "*" || port == m.Port) && coversBit(bit, m.Bit) && (kind == "*" || kind == m.Kind())
}

var index = regexp.MustCompile(`\[\d+\]`)

func coversBit(text string, bit int) bool {
	from, to, is := strings.Cut(text, "-")
	if !is {
		return text == "*" || text == strconv.Itoa(bit)
	}
	low, errLow := strconv.Atoi(from)
	high, errHigh := strconv.Atoi(to)
	return errLow == nil && errHigh == nil && low <= bit && bit <= high
}
