package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/stafflink/lmmc/testbench/figures"
	"github.com/stafflink/lmmc/testbench/report/chart"
	"github.com/stafflink/lmmc/testbench/soak"
	"github.com/stafflink/lmmc/testbench/timing"
)

// Widths in which every plot is drawn: for wide pages and for narrow ones.
const wide, narrow = 720, 340

// drawing is a plot in both widths.
type drawing struct{ Wide, Narrow template.HTML }

func draw(svg func(width int, suffix string) string) *drawing {
	return &drawing{template.HTML(svg(wide, "")), template.HTML(svg(narrow, "-narrow"))}
}

// plots draws the plots that have data.
func (in Input) plots() map[string]*drawing {
	all := map[string]*drawing{}
	if len(in.Curve) > 0 {
		all["share"] = draw(in.share().SVG)
	}
	if len(in.Stages) > 0 {
		var steps []chart.Step
		for _, s := range in.Stages {
			steps = append(steps, chart.Step{Name: s.Name, From: float64(s.From), To: float64(s.To)})
		}
		all["stages"] = draw(func(width int, suffix string) string {
			return chart.Steps("stages", "Latency of a remote write of 8 bytes by stage", "clocks", steps, width, suffix)
		})
	}
	if in.Network != nil {
		all["net-accepted"], all["net-latency"] = draw(in.Network.AcceptedPlot().SVG), draw(in.Network.LatencyPlot().SVG)
	}
	if d := in.Messages; d != nil {
		all["message-rate"] = draw(d.RatePlot().SVG)
		if stages, ok := d.StagesPlot(); ok {
			all["message-stages"] = draw(stages)
		}
	}
	if in.Sockets != nil {
		all["socket-round-trip"] = draw(in.Sockets.Plot().SVG)
	}
	if in.Soak != nil {
		for name, p := range map[string]chart.Plot{
			"recovery":      recovery(in.Soak, "recovery", "median", func(r soak.Row) uint64 { return r.RecoverP50 }),
			"recovery-tail": recovery(in.Soak, "recovery-tail", "99 %", func(r soak.Row) uint64 { return r.RecoverP99 }),
		} {
			if len(p.Series) > 0 {
				all[name] = draw(p.SVG)
			}
		}
	}
	return all
}

// recovery is the time that it takes to recover from wrong bits against their rate, for each kind of link.
func recovery(d *soak.Report, name, which string, of func(soak.Row) uint64) chart.Plot {
	p := chart.Plot{
		Name: name, Title: "Time to recover from wrong bits against their rate, " + which,
		X: chart.Axis{Label: "bit error rate", Log: true, Format: func(v float64) string { return fmt.Sprintf("1e%.0f", math.Log10(v)) }},
		Y: chart.Axis{Label: "symbol times, " + which, Log: true, Format: func(v float64) string { return thousands(int(v)) }},
	}
	var xs, ys []float64
	for _, r := range d.Rows {
		if r.Fault != "flip" || r.Recovered == 0 || r.Rate <= 0 {
			continue
		}
		i := slices.IndexFunc(p.Series, func(s chart.Series) bool { return s.Name == r.Link })
		if i < 0 {
			i = len(p.Series)
			p.Series = append(p.Series, chart.Series{Name: r.Link, Line: true, Marks: true})
		}
		at := chart.Point{X: r.Rate, Y: max(float64(of(r))/float64(r.SymbolCycles), 1)}
		at.Text = fmt.Sprintf("%s: %.0f symbol times at %s", r.Link, at.Y, r.RateText())
		p.Series[i].Points = append(p.Series[i].Points, at)
		xs, ys = append(xs, at.X), append(ys, at.Y)
	}
	if len(xs) == 0 {
		return p
	}
	p.X.Min, p.X.Max = slices.Min(xs), slices.Max(xs)*1.0001
	p.Y.Min = math.Pow(10, math.Floor(math.Log10(slices.Min(ys))))
	p.Y.Max = math.Pow(10, math.Ceil(math.Log10(slices.Max(ys)*1.01)))
	p.X.Ticks, p.Y.Ticks = chart.Powers(10, p.X.Min, p.X.Max), chart.Powers(10, p.Y.Min, p.Y.Max)
	for _, s := range p.Series {
		slices.SortFunc(s.Points, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
	}
	return p
}

// share is the payload share against the size of writes, with what others have published.
func (in Input) share() chart.Plot {
	measured := chart.Series{Name: "this NI, both directions at once", Line: true, Marks: true}
	limit := chart.Series{Name: "limit set by framing", Line: true}
	for _, p := range in.Curve {
		measured.Points = append(measured.Points, chart.Point{X: float64(p.Bytes), Y: p.Share})
		limit.Points = append(limit.Points, chart.Point{X: float64(p.Bytes), Y: p.Limit})
	}
	low, high := float64(in.Curve[0].Bytes), float64(in.Curve[len(in.Curve)-1].Bytes)
	published := func(p figures.PublishedShare) chart.Series {
		x, name := float64(p.Bytes), fmt.Sprintf("%s, %d bytes", p.Name, p.Bytes)
		if p.Bytes == 0 {
			x, name = high, p.Name+", large messages"
		}
		return chart.Series{Name: name, Marks: true, Points: []chart.Point{{X: x, Y: p.Share, Text: p.String()}}}
	}
	return chart.Plot{
		Name: "share", Title: "Payload share of the physical rate against the size of writes",
		X: chart.Axis{Label: "data in a write (bytes)", Min: low, Max: high, Log: true, Ticks: chart.Powers(2, low, high),
			Format: func(v float64) string { return thousands(int(v)) }},
		Y: chart.Axis{Label: "payload share (%)", Max: 1, Ticks: []float64{0, 0.2, 0.4, 0.6, 0.8, 1},
			Format: func(v float64) string { return fmt.Sprintf("%.4g", 100*v) }},
		Series: []chart.Series{measured, limit, published(figures.GigaEPM), published(figures.HXB)},
	}
}

// diagram is a timing diagram, drawn.
type diagram struct {
	timing.Diagram
	SVG template.HTML
}

// diagramWidth is that of the page's column.
const diagramWidth = 1140

func (in Input) drawings() []diagram {
	var all []diagram
	for _, d := range in.Diagrams {
		all = append(all, diagram{d, template.HTML(d.SVG(diagramWidth))})
	}
	return all
}
