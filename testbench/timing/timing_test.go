package timing_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/timing"
)

func diagram() timing.Diagram {
	return timing.Diagram{
		Name: "x", Title: "a < b", From: 100, To: 1200,
		Lanes: []timing.Lane{
			{Name: "line", Spans: []timing.Span{
				{From: 90, To: 120, Kind: timing.Frame, Labels: []string{"a frame that began before", "frame"},
					Parts: []timing.Span{{From: 90, To: 91, Kind: timing.Frame, Labels: []string{"S"}}, {From: 91, To: 120, Kind: timing.Frame, Labels: []string{"data"}}}},
				{From: 1180, To: 1186, Kind: timing.Word, Labels: []string{"ACK 1 GO"}, Text: "word ACK 1 GO"},
				{From: 1300, To: 1310, Kind: timing.Word, Labels: []string{"later"}},
			}},
			{Name: "level", Spans: []timing.Span{{From: 110, To: 1190, Kind: timing.Level, Labels: []string{"on"}}}},
		},
		Marks: []timing.Mark{{At: 110, Label: "first"}, {At: 112, Label: "second"}},
	}
}

func TestHappenings(t *testing.T) {
	want := []timing.Happening{
		{At: 0, For: 20, Lane: "line", Text: "a frame that began before"},
		{At: 10, For: 1080, Lane: "level", Text: "on"},
		{At: 1080, For: 6, Lane: "line", Text: "word ACK 1 GO"},
	}
	check.Equal(t, "happenings", diagram().Happenings(), want)
}

func TestSVG(t *testing.T) {
	for _, width := range []int{300, 1100} {
		svg := diagram().SVG(width)
		words := check.XML(t, svg)
		check.Contains(t, fmt.Sprint("width ", width), words, "a < b, in clocks", "line\n", "level\n", "ACK 1 GO\n", "first\n", "second\n", "⋯ 1060 ⋯")
		for _, not := range []string{"later", "S\n"} {
			if strings.Contains(words, not) {
				t.Errorf("width %d: the drawing shows %q, which is outside", width, not)
			}
		}
		drawn := 0
		for _, m := range regexp.MustCompile(`<svg class="timing" width="(\d+)"`).FindAllStringSubmatch(svg, -1) {
			drawn, _ = strconv.Atoi(m[1])
		}
		if drawn == 0 || width == 1100 && drawn > width {
			t.Errorf("drawn %d wide, want at most %d", drawn, width)
		}
		for _, m := range regexp.MustCompile(`<rect [^>]*x="([-\d.]+)"[^>]*width="([-\d.]+)"`).FindAllStringSubmatch(svg, -1) {
			x, _ := strconv.ParseFloat(m[1], 64)
			w, _ := strconv.ParseFloat(m[2], 64)
			if x < 0 || w <= 0 || x+w > float64(drawn) {
				t.Errorf("width %d: a box from %v, %v wide, in a drawing of %d", width, x, w, drawn)
			}
		}
	}
}

// TestEmpty draws what has no lanes, no spans, no time.
func TestEmpty(t *testing.T) {
	for _, d := range []timing.Diagram{{}, {To: 5}, {To: 5, Lanes: []timing.Lane{{Name: "idle"}}}} {
		check.XML(t, d.SVG(500))
		check.Equal(t, "happenings in an empty diagram", len(d.Happenings()), 0)
	}
}
