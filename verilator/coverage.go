package verilator

// #include "runtime/call.h"
import "C"

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// Coverage writes how often each point was reached to a file, in Verilator's format, which ReadCoverage and
// verilator_coverage read. It needs Design.Coverage.
func (m *Model) Coverage(path string) error {
	if err := m.usable(); err != nil {
		return err
	}
	if !m.lib.design.Coverage {
		return fmt.Errorf("%w: Model.Coverage needs Design.Coverage (%s)", ErrNotBuilt, m.lib.design.Top)
	}
	f, err := os.Create(path) // Verilator does not say when it cannot write
	if err != nil {
		return fmt.Errorf("verilator: coverage: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("verilator: coverage: %w", err)
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	if C.lm_coverage(m.lib.engine, m.c, name) != 0 {
		return fmt.Errorf("verilator: cannot write coverage to %s", path)
	}
	return nil
}

// Point is a place in the Verilog that a run can reach.
type Point struct {
	// File, Line and Column say where.
	File         string
	Line, Column int
	// Kind is "line", "branch", "toggle" or what else Verilator counts.
	Kind string
	// What is the branch or the signal bit.
	What string
	// Lines are those that run when a line or branch point is reached, as Verilator writes them: "29,31-33".
	Lines string
	// Hierarchy is the module instance, without the model's name.
	Hierarchy string
	// Count is how often it was reached.
	Count uint64
}

// Points is coverage from one or more runs, sorted by place.
type Points []Point

// ReadCoverage reads files that Model.Coverage wrote and adds the counts of equal points.
func ReadCoverage(paths ...string) (Points, error) {
	sum := map[Point]uint64{}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("verilator: coverage: %w", err)
		}
		err = addCoverage(sum, f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("verilator: coverage %s: %w", path, err)
		}
	}
	return sorted(sum), nil
}

func sorted(sum map[Point]uint64) Points {
	points := make(Points, 0, len(sum))
	for p, n := range sum {
		p.Count = n
		points = append(points, p)
	}
	slices.SortFunc(points, Point.Compare)
	return points
}

// Compare orders points by place.
func (p Point) Compare(q Point) int {
	return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column),
		cmp.Compare(p.Kind, q.Kind), cmp.Compare(p.What, q.What), cmp.Compare(p.Hierarchy, q.Hierarchy))
}

// addCoverage reads lines C '\x01key\x02value…' count.
func addCoverage(sum map[Point]uint64, r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), "C '")
		if !ok {
			continue
		}
		end := strings.LastIndex(rest, "' ")
		if end < 0 {
			return fmt.Errorf("not a coverage line: %q", lines.Text())
		}
		n, err := strconv.ParseUint(rest[end+2:], 10, 64)
		if err != nil {
			return err
		}
		var p Point
		for item := range strings.SplitSeq(rest[:end], "\x01") {
			key, value, _ := strings.Cut(item, "\x02")
			switch key {
			case "f":
				p.File = value
			case "l":
				p.Line, _ = strconv.Atoi(value)
			case "n":
				p.Column, _ = strconv.Atoi(value)
			case "page":
				p.Kind, _, _ = strings.Cut(strings.TrimPrefix(value, "v_"), "/")
			case "o":
				p.What = strings.TrimSuffix(strings.TrimSuffix(value, ":0->1"), ":1->0") // which later versions count apart
			case "S":
				p.Lines = value
			case "h":
				p.Hierarchy = value
			}
		}
		sum[p] += n
	}
	return lines.Err()
}
