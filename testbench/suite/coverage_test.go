package suite

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/verilator"
)

func TestCoverageOf(t *testing.T) {
	source := strings.Split("reg [3:0] n;\nalways @(posedge clk)\n  if (a) begin\n    n <= 1;\n    m <= 2;\n  end else n <= 2;\n", "\n")
	points := verilator.Points{
		{File: "x.v", Line: 1, Kind: "toggle", What: "n[0]", Count: 5},
		{File: "x.v", Line: 1, Kind: "toggle", What: "n[2]"},
		{File: "x.v", Line: 1, Kind: "toggle", What: "n[3]"},
		{File: "x.v", Line: 3, Kind: "branch", What: "if", Lines: "3-5"},
		{File: "x.v", Line: 3, Kind: "branch", What: "else", Lines: "6", Count: 9},
		{File: "x.v", Line: 6, Kind: "line", What: "block", Lines: "6"},
	}
	list, err := explanations("# a comment\n\n*.v | toggle | n | small | numbers\nx.v | if | if (a) begin | never a\ny.v | block | end else n <= 2; | another file\n")
	check.Fatal(t, err)
	have := coverageOf("x.v", points, source, list)
	want := FileCoverage{File: "x.v", Code: Tally{All: 3, Hit: 1, Explained: 1}, Toggles: Tally{All: 3, Hit: 1, Explained: 2}, Holes: []Hole{
		{Kind: "toggle", Signals: "n[2], n[3]", Line: 1, Points: 2, First: 1, Source: source[:3], Missed: []int{}, Reason: "small | numbers"},
		{Kind: "if", Line: 3, Points: 1, First: 1, Source: source, Missed: []int{3, 4, 5}, Reason: "never a"},
		{Kind: "block", Line: 6, Points: 1, First: 4, Source: source[3:], Missed: []int{6}},
	}}
	check.Equal(t, "coverage", have, want)
	check.Equal(t, "open", have.Code.Open(), 1)
	check.Equal(t, "used explanations", []bool{list[0].used, list[1].used, list[2].used}, []bool{true, true, false})
}

func TestExplanationsMalformed(t *testing.T) {
	for _, text := range []string{"x.v | if | a", "x.v | if |  | why", "x.v", "[ | if | a | why", "x.v | toggle | [ | why"} {
		check.Fails(t, text, check.Err(explanations(text)), nil, "line 1")
	}
}

// TestExplanationsFit holds that every explanation is of a place that there is, so that most of those that have become stale are found
// without a run; lmmc sim --coverage finds the others.
func TestExplanationsFit(t *testing.T) {
	list := check.Must(explanations(coverageText))(t)
	for _, e := range list {
		found := false
		for _, name := range rtl.Sources() {
			source := check.Must(rtl.FS.ReadFile(name))(t)
			file := fstest.MapFS{name: {}}
			if match, _ := file.Glob(e.file); len(match) == 0 {
				continue
			}
			for line := range strings.Lines(string(source)) {
				found = found || strings.TrimSpace(line) == e.place || e.kind == "toggle" && slices.ContainsFunc(strings.FieldsFunc(line, notInName), e.isAt)
			}
		}
		if !found {
			t.Errorf("coverage.txt explains %s | %s | %s, which is not in the RTL: remove it, or correct its place", e.file, e.kind, e.place)
		}
	}
}

func notInName(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

func TestFunctionLines(t *testing.T) {
	have := functionLines(strings.Split("wire a; // function\nfunction f(input b);\n  f = b;\nendfunction\nfunction g(input b); g = b; endfunction\nassign a = f(1);", "\n"))
	for line, want := range []bool{false, false, true, true, true, true, false} {
		check.Equal(t, fmt.Sprintf("line %d is in a function", line), have[line], want)
	}
}

// TestStaleExplanations holds that an explanation without a hole is told, of whole runs only.
func TestStaleExplanations(t *testing.T) {
	for _, whole := range []bool{true, false} {
		d := check.Must(NewCoverageDocument(results.Stamp{}, 1, nil, rtl.FS, whole))(t)
		if stale := len(d.Stale) > 0; stale != whole || d.Good() == whole {
			t.Errorf("without any hole, whole %v: stale %q, good %v", whole, d.Stale, d.Good())
		}
	}
}
