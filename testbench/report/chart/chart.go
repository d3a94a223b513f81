// Package chart draws plots of measurements as SVG: axes with units, a curve or marks for each series, a legend below. Series differ by
// colour, by the shape of their marks and by the dashes of their lines. Colours are left to the page: shapes have the classes c-0, c-1, …
package chart

import (
	"fmt"
	"html"
	"math"
	"strings"
	"unicode/utf8"
)

// Point is a measurement.
type Point struct {
	X, Y float64
	Text string // says in words what it is; "" for the numbers
}

// Series is a set of points.
type Series struct {
	Name   string
	Points []Point
	// Line joins the points; Marks draws each of them.
	Line, Marks bool
}

// Axis is a direction of a plot.
type Axis struct {
	Label    string // with the unit
	Min, Max float64
	Log      bool
	// Ticks are the values to name, Format writes them.
	Ticks  []float64
	Format func(float64) string
}

// Plot is a set of series over common axes.
type Plot struct {
	// Name identifies the plot in its document, Title is for readers.
	Name, Title string
	X, Y        Axis
	Series      []Series
}

const (
	right, above, below = 22.0, 10.0, 42.0
	glyph               = 6.9 // width of a character of the 12 px font
	legendRow           = 20.0
)

// SVG draws the plot width pixels wide. The document may hold it in several widths, told apart by suffix.
func (p Plot) SVG(width int, suffix string) string {
	w := float64(width)
	area := math.Min(300, math.Max(200, w*0.5))
	c := &canvas{p: p, x0: 26, x1: w - right, y0: above + area}
	for _, v := range p.Y.Ticks {
		c.x0 = math.Max(c.x0, 26+glyph*float64(utf8.RuneCountInString(p.Y.Format(v))))
	}
	c.axes()
	for i, s := range p.Series {
		c.series(i, s)
	}
	height := c.legend(above+area+below+8, w)
	id := p.Name + suffix
	return fmt.Sprintf(`<svg class="chart" width="%d" height="%.0f" viewBox="0 0 %d %.0f" role="img" aria-labelledby="%s-title"><title id="%s-title">%s</title>%s</svg>`,
		width, height, width, height, id, id, html.EscapeString(p.Title), &c.b)
}

type canvas struct {
	p          Plot
	x0, x1, y0 float64 // left, right and lower end of the area
	b          strings.Builder
}

func (c *canvas) add(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

func (a Axis) share(v float64) float64 {
	if a.Log {
		return (math.Log(v) - math.Log(a.Min)) / (math.Log(a.Max) - math.Log(a.Min))
	}
	return (v - a.Min) / (a.Max - a.Min)
}

func (c *canvas) x(v float64) float64 { return c.x0 + c.p.X.share(v)*(c.x1-c.x0) }
func (c *canvas) y(v float64) float64 { return c.y0 - c.p.Y.share(v)*(c.y0-above) }

func (c *canvas) axes() {
	end := -math.MaxFloat64
	for _, v := range c.p.X.Ticks {
		x, text := c.x(v), c.p.X.Format(v)
		c.add(`<line class="c-grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, x, x, above, c.y0)
		if half := glyph * float64(utf8.RuneCountInString(text)) / 2; x-half > end {
			c.text("c-tick", x, c.y0+16, "middle", text)
			end = x + half + 4
		}
	}
	for _, v := range c.p.Y.Ticks {
		y := c.y(v)
		c.add(`<line class="c-grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, c.x0, c.x1, y, y)
		c.text("c-tick", c.x0-6, y+4, "end", c.p.Y.Format(v))
	}
	c.add(`<path class="c-axis" d="M%.1f %.1fV%.1fH%.1f"/>`, c.x0, above, c.y0, c.x1)
	c.text("c-name", (c.x0+c.x1)/2, c.y0+34, "middle", c.p.X.Label)
	c.add(`<text class="c-name" transform="translate(12 %.1f) rotate(-90)" text-anchor="middle">%s</text>`, (above+c.y0)/2, html.EscapeString(c.p.Y.Label))
}

func (c *canvas) text(class string, x, y float64, anchor, s string) {
	c.add(`<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, class, x, y, anchor, html.EscapeString(s))
}

func (c *canvas) series(i int, s Series) {
	if s.Line && len(s.Points) > 0 {
		var path strings.Builder
		for k, p := range s.Points {
			fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(k, 1)], c.x(p.X), c.y(p.Y))
		}
		c.add(`<path class="c-line c-%d" d="%s"%s/>`, i, &path, dashes(i))
	}
	if !s.Marks {
		return
	}
	for _, p := range s.Points {
		text := p.Text
		if text == "" {
			text = fmt.Sprintf("%s: %s at %s", s.Name, c.p.Y.Format(p.Y), c.p.X.Format(p.X))
		}
		c.mark(i, c.x(p.X), c.y(p.Y), text)
	}
}

func dashes(i int) string {
	patterns := []string{"", "6 4", "2 3", "9 3 2 3"}
	if pattern := patterns[i%len(patterns)]; pattern != "" {
		return fmt.Sprintf(` stroke-dasharray="%s"`, pattern)
	}
	return ""
}

// mark draws the shape of a series.
func (c *canvas) mark(i int, x, y float64, text string) {
	shapes := []string{"M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0", "M-3.4 -3.4h6.8v6.8h-6.8z", "M0 -5L5 0L0 5L-5 0z", "M0 -4.6L4.6 3.6H-4.6z"}
	c.add(`<path class="c-mark c-%d" transform="translate(%.1f %.1f)" d="%s"><title>%s</title></path>`, i, x, y, shapes[i%len(shapes)], html.EscapeString(text))
}

// legend names the series in as many rows as that takes, and returns where it ends.
func (c *canvas) legend(y, width float64) float64 {
	x := c.x0
	for i, s := range c.p.Series {
		need := 30 + glyph*float64(utf8.RuneCountInString(s.Name)) + 16
		if x > c.x0 && x+need > width {
			x, y = c.x0, y+legendRow
		}
		if s.Line {
			c.add(`<path class="c-line c-%d" d="M%.1f %.1fh24"%s/>`, i, x, y, dashes(i))
		}
		if s.Marks {
			c.mark(i, x+12, y, s.Name)
		}
		c.text("c-legend", x+30, y+4, "start", s.Name)
		x += need
	}
	return y + legendRow/2 + 4
}

// Powers returns the powers of base from low to high.
func Powers(base, low, high float64) []float64 {
	var list []float64
	for v := math.Pow(base, math.Ceil(math.Log(low)/math.Log(base)-1e-9)); v <= high*(1+1e-9); v *= base {
		list = append(list, v)
	}
	return list
}
