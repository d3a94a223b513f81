package chart

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// Step is a part of a course of events.
type Step struct {
	Name     string
	From, To float64
}

// Steps draws steps one below the other, each where it begins and as long as it takes, width pixels wide.
func Steps(name, title, unit string, steps []Step, width int, suffix string) string {
	const row, bar = 40.0, 14.0
	var b strings.Builder
	end := 0.0
	for _, s := range steps {
		end = max(end, s.To)
	}
	edge := float64(width) - 8
	x := func(v float64) float64 { return 2 + v/end*(edge-2) }
	for i, s := range steps {
		y := 16 + row*float64(i)
		text := fmt.Sprintf("%s: %g %s", s.Name, s.To-s.From, unit)
		anchor, at := "start", x(s.From)
		if at+glyph*float64(utf8.RuneCountInString(text)) > edge {
			anchor, at = "end", edge
		}
		fmt.Fprintf(&b, `<text class="c-legend" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, at, y, anchor, html.EscapeString(text))
		fmt.Fprintf(&b, `<rect class="c-bar" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s, from %g to %g</title></rect>`,
			x(s.From), y+5, max(x(s.To)-x(s.From), 1), bar, html.EscapeString(text), s.From, s.To)
	}
	height := row * float64(len(steps))
	fmt.Fprintf(&b, `<path class="c-axis" d="M2 %.1fH%.1f"/>`, height+4, edge)
	for _, tick := range nice(end, float64(width)/60) {
		anchor := "middle"
		if tick == 0 {
			anchor = "start"
		}
		fmt.Fprintf(&b, `<path class="c-axis" d="M%.1f %.1fv5"/><text class="c-tick" x="%.1f" y="%.1f" text-anchor="%s">%g</text>`, x(tick), height+4, x(tick), height+22, anchor, tick)
	}
	fmt.Fprintf(&b, `<text class="c-name" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, edge/2, height+38, html.EscapeString(unit))
	id := name + suffix
	return fmt.Sprintf(`<svg class="chart" width="%d" height="%.0f" viewBox="0 0 %d %.0f" role="img" aria-labelledby="%s-title"><title id="%s-title">%s</title>%s</svg>`,
		width, height+46, width, height+46, id, id, html.EscapeString(title), &b)
}

// nice returns round values from 0 to end, at most count of them.
func nice(end, count float64) []float64 {
	step := 1.0
	for _, s := range []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000} {
		if step = s; end/s <= count {
			break
		}
	}
	var list []float64
	for v := 0.0; v <= end; v += step {
		list = append(list, v)
	}
	return list
}
