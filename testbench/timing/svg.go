package timing

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// Measures of the drawing, in pixels.
const (
	glyph     = 6.62 // width of a character of the 11 px font
	tier      = 20   // height of a row of spans
	laneGap   = 14
	lineAbove = 14 // of a lane's name
	top       = 22 // the axis
)

// SVG draws the diagram about width pixels wide, wider if it has more to show. Pages show it unscaled.
func (d Diagram) SVG(width int) string {
	const left, right = 4, 12
	a := newAxis(d, float64(width-left-right))
	w := &writer{}
	y := float64(top)
	if len(d.Marks) > 0 {
		y += w.marks(d, a) * 15
	}
	first := y
	for _, lane := range d.Lanes {
		y = w.lane(d, a, lane, y)
	}
	lines := &writer{}
	for _, c := range a.cuts() {
		lines.add(`<rect class="t-cut" x="%.1f" y="%d" width="%.1f" height="%.1f"><title>%d clocks, cut short</title></rect>`, c.from, top-6, c.to-c.from, y-laneGap-top+6, c.clocks)
		lines.text("t-tick", (c.from+c.to)/2, top-10, "middle", fmt.Sprintf("⋯ %d ⋯", c.clocks))
	}
	for _, tick := range a.ticks(56) {
		x := a.at(tick)
		lines.add(`<line class="t-grid" x1="%.1f" x2="%.1f" y1="%d" y2="%.1f"/>`, x, x, top-6, y-laneGap)
		lines.text("t-tick", x, top-10, "start", fmt.Sprint(tick-d.From))
	}
	for _, m := range d.Marks {
		x := a.at(m.At)
		lines.add(`<line class="t-mark" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, x, x, first-4, y-laneGap)
	}
	all := a.width() + left + right
	return fmt.Sprintf(`<svg class="timing" width="%.0f" height="%.0f" viewBox="%d 0 %.0f %.0f" role="img" aria-labelledby="%s-title"><title id="%s-title">%s, in clocks</title>%s%s</svg>`,
		all, y, -left, all, y, d.Name, d.Name, html.EscapeString(d.Title), &lines.b, &w.b)
}

type writer struct{ b strings.Builder }

func (w *writer) add(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

func (w *writer) text(class string, x, y float64, anchor, s string) {
	w.add(`<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, class, x, y, anchor, html.EscapeString(s))
}

// marks writes the labels of marks, in as many rows as they need, which it returns.
func (w *writer) marks(d Diagram, a axis) float64 {
	var ends []float64 // of the last label of each row
	for _, m := range d.Marks {
		x, length := a.at(m.At), width(m.Label)
		anchor, from := "start", x
		if x+length > a.width() {
			anchor, from = "end", x-length
		}
		row := 0
		for row < len(ends) && ends[row] > from {
			row++
		}
		if row == len(ends) {
			ends = append(ends, 0)
		}
		ends[row] = from + length + 12
		w.text("t-markname", x, float64(top+row*15+6), anchor, m.Label)
	}
	return float64(len(ends))
}

func width(s string) float64 { return glyph * float64(utf8.RuneCountInString(s)) }

// lane draws a lane from y on and returns where the next one goes.
func (w *writer) lane(d Diagram, a axis, lane Lane, y float64) float64 {
	w.text("t-name", 0, y+10, "start", lane.Name)
	y += lineAbove
	tiers := 1.0
	spans := d.visible(lane)
	for _, s := range spans {
		if len(s.Parts) > 0 {
			tiers = 2
		}
	}
	bottom := y + tiers*tier
	w.add(`<line class="t-base" x1="0" x2="%.1f" y1="%.1f" y2="%.1f"/>`, a.width(), bottom, bottom)
	// Words go over the frames that they interrupt.
	for _, over := range []bool{false, true} {
		for i, s := range spans {
			if (s.Kind == Word) != over {
				continue
			}
			height := float64(tier)
			if len(s.Parts) == 0 {
				height *= tiers
			}
			next := a.width()
			if i+1 < len(spans) {
				next = a.at(spans[i+1].From)
			}
			w.span(a, s, y, height, next)
			for _, p := range s.Parts {
				w.span(a, p, y+tier, tier, 0)
			}
		}
	}
	return bottom + laneGap
}

// span draws a span as a box with its label inside, or beside it if there is room before next.
func (w *writer) span(a axis, s Span, y, height, next float64) {
	from, to := a.at(s.From), a.at(s.To)
	to = max(to, from+2)
	w.add(`<g><title>%s</title><rect class="t-%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, html.EscapeString(s.text()), s.Kind, from, y+1, to-from, height-1)
	label, inside := "", false
	for _, l := range s.Labels {
		if width(l)+0.6 <= to-from {
			label, inside = l, true
			break
		}
	}
	// What is short says more beside its box.
	if s.Kind != Frame && len(s.Labels) > 0 && label != s.Labels[0] && width(s.Labels[0])+8 <= next-to {
		label, inside = s.Labels[0], false
	}
	switch {
	case inside:
		w.text("t-label", (from+to)/2, y+height/2+4, "middle", label)
	case label != "":
		w.text("t-label t-beside", to+4, y+height/2+4, "start", label)
	}
	w.add(`</g>`)
}
