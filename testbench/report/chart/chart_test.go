package chart_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/report/chart"
)

func plot() chart.Plot {
	format := func(v float64) string { return fmt.Sprintf("%g", v) }
	return chart.Plot{
		Name: "p", Title: "share < 1",
		X: chart.Axis{Label: "size (bytes)", Min: 8, Max: 2048, Log: true, Ticks: chart.Powers(2, 8, 2048), Format: format},
		Y: chart.Axis{Label: "share (%)", Max: 1, Ticks: []float64{0, 0.5, 1}, Format: format},
		Series: []chart.Series{
			{Name: "measured", Line: true, Marks: true, Points: []chart.Point{{X: 8, Y: 0}, {X: 128, Y: 0.5}, {X: 2048, Y: 1}}},
			{Name: "published & old", Marks: true, Points: []chart.Point{{X: 128, Y: 0.25, Text: "a quarter"}}},
		},
	}
}

func TestPlot(t *testing.T) {
	for _, width := range []int{340, 720} {
		svg := plot().SVG(width, "-x")
		words := check.XML(t, svg)
		check.Contains(t, fmt.Sprint("width ", width), words,
			"share < 1\n", "size (bytes)\n", "share (%)\n", "measured\n", "published & old\n", "a quarter\n", "measured: 0.5 at 128\n", "2048\n")
		// The axes are logarithmic and linear: 128 is the middle of 8 and 2048, 0.5 that of 0 and 1.
		path := regexp.MustCompile(`class="c-line c-0" d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"`).FindStringSubmatch(svg)
		if path == nil {
			t.Fatalf("width %d: no curve in\n%s", width, svg)
		}
		var v [6]float64
		for i := range v {
			v[i], _ = strconv.ParseFloat(path[i+1], 64)
		}
		if x, y := v[2]-(v[0]+v[4])/2, v[3]-(v[1]+v[5])/2; x > 0.2 || x < -0.2 || y > 0.2 || y < -0.2 {
			t.Errorf("width %d: the middle of the curve is off by %v, %v", width, x, y)
		}
		if v[0] >= v[4] || v[1] <= v[5] || v[4] > float64(width) {
			t.Errorf("width %d: the curve goes from %v to %v", width, v[:2], v[4:])
		}
	}
}

func TestSteps(t *testing.T) {
	steps := []chart.Step{{Name: "first", To: 4}, {Name: "second", From: 4, To: 40}}
	svg := chart.Steps("s", "a course", "clocks", steps, 600, "")
	words := check.XML(t, svg)
	check.Contains(t, "drawing", words, "first: 4 clocks\n", "second: 36 clocks\n", "a course\n", "clocks\n", "40\n")
	bars := regexp.MustCompile(`class="c-bar" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"`).FindAllStringSubmatch(svg, -1)
	if len(bars) != 2 {
		t.Fatalf("%d bars, want 2", len(bars))
	}
	short, _ := strconv.ParseFloat(bars[0][2], 64)
	long, _ := strconv.ParseFloat(bars[1][2], 64)
	if r := long / short; r < 8.8 || r > 9.2 {
		t.Errorf("the bars of 4 and 36 clocks are %v and %v wide", short, long)
	}
}

func TestPowers(t *testing.T) {
	for _, test := range []struct {
		base, low, high float64
		want            []float64
	}{
		{2, 8, 64, []float64{8, 16, 32, 64}},
		{10, 1e-3, 0.1, []float64{1e-3, 1e-2, 0.1}},
		{10, 3, 50, []float64{10}},
	} {
		have := chart.Powers(test.base, test.low, test.high)
		near := cmp.Comparer(func(a, b float64) bool { return a/b > 1-1e-9 && a/b < 1+1e-9 })
		if diff := cmp.Diff(test.want, have, near); diff != "" {
			t.Errorf("powers of %g from %g to %g (-want +have):\n%s", test.base, test.low, test.high, diff)
		}
	}
}

// TestFile: a file holds its plots below each other, and no shape lies outside of it.
func TestFile(t *testing.T) {
	svg := chart.File(600, plot(), plot())
	words := check.XML(t, svg)
	check.Contains(t, "drawing", words, "share < 1\n")
	size := regexp.MustCompile(`^<svg xmlns="http://www.w3.org/2000/svg" width="600" height="(\d+)"`).FindStringSubmatch(svg)
	places := regexp.MustCompile(`translate\(0 (\d+)\)">`).FindAllStringSubmatch(svg, -1)
	if size == nil || len(places) != 2 {
		t.Fatalf("size %v, places %v", size, places)
	}
	first, second, height := check.Must(strconv.Atoi(places[0][1]))(t), check.Must(strconv.Atoi(places[1][1]))(t), check.Must(strconv.Atoi(size[1]))(t)
	check.Equal(t, "height of the second plot", height-second, second-2*first)
	check.Equal(t, "titles", strings.Count(svg, `class="title"`), 2)
}
