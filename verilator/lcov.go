package verilator

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// WriteLCOV writes lines and branches in the format of LCOV's geninfo, as editors, genhtml and CI systems read it. Toggles have no place in it.
func (points Points) WriteLCOV(w io.Writer) error {
	out := bufio.NewWriter(w)
	for len(points) > 0 {
		end := slices.IndexFunc(points, func(p Point) bool { return p.File != points[0].File })
		if end < 0 {
			end = len(points)
		}
		points[:end].writeFile(out)
		points = points[end:]
	}
	return out.Flush()
}

func (points Points) writeFile(out io.Writer) {
	lines := map[int]uint64{}
	type branch struct {
		Point
		block, number int
	}
	var branches []branch
	for _, p := range points {
		if p.Kind == "toggle" {
			continue
		}
		for _, line := range p.Reached() {
			// A line in a branch and in the block around it runs as often as the more frequent of both.
			lines[line] = max(lines[line], p.Count)
		}
		if p.Kind == "branch" {
			b := branch{Point: p}
			if n := len(branches); n > 0 && branches[n-1].Line == p.Line {
				b.block, b.number = branches[n-1].block, branches[n-1].number+1
				if branches[n-1].Column != p.Column {
					b.block, b.number = b.block+1, 0
				}
			}
			branches = append(branches, b)
		}
	}
	fmt.Fprintf(out, "TN:\nSF:%s\n", points[0].File)
	hit := 0
	for _, b := range branches {
		fmt.Fprintf(out, "BRDA:%d,%d,%d,%d\n", b.Line, b.block, b.number, b.Count)
		if b.Count > 0 {
			hit++
		}
	}
	fmt.Fprintf(out, "BRF:%d\nBRH:%d\n", len(branches), hit)
	hit = 0
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(out, "DA:%d,%d\n", line, lines[line])
		if lines[line] > 0 {
			hit++
		}
	}
	fmt.Fprintf(out, "LF:%d\nLH:%d\nend_of_record\n", len(lines), hit)
}

// Reached returns the numbers of Lines; not nil.
func (p Point) Reached() []int {
	lines := []int{}
	for part := range strings.SplitSeq(p.Lines, ",") {
		from, to, ranged := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if ranged && err == nil {
			last, err = strconv.Atoi(to)
		}
		for n := first; err == nil && n <= last; n++ {
			lines = append(lines, n)
		}
	}
	return lines
}
