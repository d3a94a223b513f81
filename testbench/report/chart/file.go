package chart

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
)

// fileStyle has the colours that a page would give, for light and dark ones.
const fileStyle = `<style>
:root { --bg: #ffffff; --ink: #1b1f24; --soft: #525b65; --line: #d5dae0; --c0: #0b57a8; --c1: #5a6470; --c2: #b03a00; --c3: #6a35b8; }
@media (prefers-color-scheme: dark) {
:root { --bg: #14171d; --ink: #e8ebf1; --soft: #a6b0bd; --line: #333a44; --c0: #7fb0f0; --c1: #a6b0bd; --c2: #f0905a; --c3: #b999f5; }
}
svg { background: var(--bg); }
text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: var(--ink); }
.title { font-weight: 600; }
.c-tick { fill: var(--soft); }
.c-grid { stroke: var(--line); }
.c-axis { fill: none; stroke: var(--soft); }
.c-line { fill: none; stroke-width: 1.8; }
.c-mark { stroke: var(--bg); stroke-width: 0.8; }
.c-line.c-0 { stroke: var(--c0); } .c-mark.c-0 { fill: var(--c0); }
.c-line.c-1 { stroke: var(--c1); } .c-mark.c-1 { fill: var(--c1); }
.c-line.c-2 { stroke: var(--c2); } .c-mark.c-2 { fill: var(--c2); }
.c-line.c-3 { stroke: var(--c3); } .c-mark.c-3 { fill: var(--c3); }
</style>
`

var heightOf = regexp.MustCompile(`height="(\d+)"`)

// titleHeight is that of the line above each plot of a file.
const titleHeight = 34

// File draws plots below each other, each under its title, as a file of its own with colours, width pixels wide.
func File(width int, plots ...Plot) string {
	var b strings.Builder
	y := 0
	for _, p := range plots {
		svg := p.SVG(width, "")
		fmt.Fprintf(&b, "<text class=\"title\" x=\"8\" y=\"%d\">%s</text>\n<g transform=\"translate(0 %d)\">%s</g>\n", y+22, html.EscapeString(p.Title), y+titleHeight, svg)
		height, _ := strconv.Atoi(heightOf.FindStringSubmatch(svg)[1])
		y += titleHeight + height
	}
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n%s%s</svg>\n", width, y, width, y, fileStyle, &b)
}
