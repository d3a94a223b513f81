package topology

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxDrawn is how many nodes are drawn one by one. Of more a drawing shows how many there are of each sort.
const maxDrawn = 200

// Sizes in pixels. A letter is as wide as the widest is in common fonts.
const (
	letter    = 7
	boxHeight = 22
	margin    = 24
	lineStep  = 18 // of text
	parallel  = 3  // between cables beside each other
)

// style has colours for light and dark pages.
const style = `<style>
svg { background: #ffffff; }
text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: #1c2230; }
.box text { text-anchor: middle; }
.title { font-weight: 600; font-size: 14px; }
.ni rect { fill: #dcebff; stroke: #3b6fb5; }
.switch rect { fill: #ffe4c4; stroke: #b06a1c; }
.cable { fill: none; stroke: #77808f; stroke-width: 1.4; }
@media (prefers-color-scheme: dark) {
svg { background: #14171d; }
text { fill: #e8ebf1; }
.ni rect { fill: #1d3a63; stroke: #7fb0f0; }
.switch rect { fill: #5a3a14; stroke: #e8a95c; }
.cable { stroke: #8d97a8; }
}
</style>
`

// point is a place in a drawing, in pixels to the right and down.
type point struct{ x, y float64 }

func (p point) plus(q point) point               { return point{p.x + q.x, p.y + q.y} }
func (p point) times(f float64) point            { return point{p.x * f, p.y * f} }
func (p point) towards(q point, f float64) point { return p.times(1 - f).plus(q.times(f)) }

// box is a node, or several of a sort.
type box struct {
	at    point // its middle
	size  point
	kind  Kind
	lines []string
	hint  string // what is shown under the pointer
}

// wire is a cable, or several of a sort.
type wire struct {
	points []point
	label  string
	hint   string
}

type drawing struct {
	boxes []box
	wires []wire
}

// Draw writes a drawing of the network as SVG, for light and dark pages. More than 200 nodes are drawn in sorts.
func (t *Topology) Draw(w io.Writer) error {
	if err := t.Validate(); err != nil {
		return err
	}
	d := t.summary
	if len(t.Nodes) <= maxDrawn {
		d = t.drawing
	}
	_, err := io.WriteString(w, d().svg(t.Title(), t.linkText()))
	return err
}

// Title says in a line what the network is.
func (t *Topology) Title() string {
	text := "network"
	if t.Shape != "" {
		text = t.Shape + " " + sizeText(t.Size)
	}
	text += ": " + counted(t.Count(NI), "network interface")
	if n := t.Count(Switch); n > 0 {
		text += ", " + counted(n, "switch")
	}
	return text + ", " + counted(len(t.Cables), "cable")
}

// linkText says what the cables are like.
func (t *Topology) linkText() string {
	for _, c := range t.Cables {
		if c.Link != t.Cables[0].Link {
			return "cables differ in lanes, latency or errors"
		}
	}
	if len(t.Cables) == 0 {
		return "no cables"
	}
	return "each cable: " + t.Cables[0].Link.text()
}

func (l Link) text() string {
	text := counted(l.Lanes, "lane") + ", latency " + counted(l.Latency, "clock")
	if l.BitErrorRate > 0 {
		text += fmt.Sprintf(", bit error rate %g", l.BitErrorRate)
	}
	return text
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "ch") {
		thing += "e"
	}
	text := fmt.Sprint(n)
	if n >= 1000 {
		text = fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return text + " " + thing + "s"
}

// drawing has a box for each node.
func (t *Topology) drawing() drawing {
	longest := 0
	for _, n := range t.Nodes {
		longest = max(longest, len(n.Name))
	}
	size := point{max(letter*float64(longest)+12, 34), boxHeight}
	places := t.places(size)
	var d drawing
	for i, n := range t.Nodes {
		hint := fmt.Sprintf("%s: id %d, %s", n.Name, n.ID, counted(n.Ports, "port"))
		if rung := cmp.Or(n.Rung, t.Rung); rung != "" {
			hint += ", " + rung
		}
		d.boxes = append(d.boxes, box{places[i], size, n.Kind, []string{n.Name}, hint})
	}
	beside, drawn := map[[2]int]int{}, map[[2]int]int{}
	pair := func(c Cable) [2]int {
		return [2]int{min(c.Ends[0].Node, c.Ends[1].Node), max(c.Ends[0].Node, c.Ends[1].Node)}
	}
	for _, c := range t.Cables {
		beside[pair(c)]++
	}
	for _, c := range t.Cables {
		p := pair(c)
		shift := parallel * (float64(drawn[p]) - float64(beside[p]-1)/2)
		drawn[p]++
		points := t.bend(places, size, p, shift)
		d.wires = append(d.wires, wire{points, "", t.CableName(c) + ": " + c.Link.text()})
	}
	return d
}

// svg draws below a title, with the legend at the end.
func (d drawing) svg(title, links string) string {
	low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	include := func(p point) {
		low = point{min(low.x, p.x), min(low.y, p.y)}
		high = point{max(high.x, p.x), max(high.y, p.y)}
	}
	for _, b := range d.boxes {
		include(b.at.plus(b.size.times(-0.5)))
		include(b.at.plus(b.size.times(0.5)))
	}
	for _, w := range d.wires {
		for _, p := range w.points {
			include(p)
		}
	}
	words := []string{"blue: network interface", "orange: switch", "line: cable"}
	if !slices.ContainsFunc(d.boxes, func(b box) bool { return b.kind == Switch }) {
		words = slices.Delete(words, 1, 2)
	}
	legend := strings.Join(append(words, links), "; ")
	width := max(high.x-low.x, letter*1.25*float64(utf8.RuneCountInString(title)), letter*float64(utf8.RuneCountInString(legend))) + 2*margin
	height := high.y - low.y + 2*margin + 4*lineStep
	// The boxes stand in the middle between title and legend.
	shift := point{(width - low.x - high.x) / 2, margin + 2*lineStep - low.y}

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%[1]f" height="%[2]f" role="img">`+"\n", math.Ceil(width), math.Ceil(height))
	fmt.Fprintf(&b, "<title>%s</title>\n%s", html.EscapeString(title), style)
	fmt.Fprintf(&b, `<text class="title" x="%d" y="%d">%s</text>`+"\n", margin, margin, html.EscapeString(title))
	for _, w := range d.wires {
		b.WriteString(`<path class="cable" d="`)
		for i, p := range w.points {
			p = p.plus(shift)
			fmt.Fprintf(&b, "%c%.1f %.1f", "ML"[min(i, 1)], p.x, p.y)
		}
		fmt.Fprintf(&b, `"><title>%s</title></path>`+"\n", html.EscapeString(w.hint))
	}
	for _, x := range d.boxes {
		x.write(&b, x.at.plus(shift))
	}
	for _, w := range d.wires {
		if w.label != "" {
			p := w.points[0].towards(w.points[len(w.points)-1], 0.5).plus(shift)
			fmt.Fprintf(&b, `<text x="%.1f" y="%.1f">%s</text>`+"\n", p.x+8, p.y+4, html.EscapeString(w.label))
		}
	}
	fmt.Fprintf(&b, `<text x="%d" y="%.0f">%s</text>`+"\n</svg>\n", margin, height-margin, html.EscapeString(legend))
	return b.String()
}

func (x box) write(b *strings.Builder, at point) {
	corner := at.plus(x.size.times(-0.5))
	fmt.Fprintf(b, `<g class="box %s"><title>%s</title><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="4"/>`, x.kind, html.EscapeString(x.hint), corner.x, corner.y, x.size.x, x.size.y)
	for i, line := range x.lines {
		y := at.y + 4 + lineStep*(float64(i)-float64(len(x.lines)-1)/2)
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f">%s</text>`, at.x, y, html.EscapeString(line))
	}
	b.WriteString("</g>\n")
}
