package barriers

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/report/chart"
	"github.com/stafflink/lmmc/testbench/results"
)

// Sizes are the numbers of nodes that are measured.
var Sizes = []int{2, 4, 8, 16, 32}

// Clock is that of Gigabit Ethernet's bytes, in MHz.
const Clock = 125.0

// Document is what lmmc net bench barriers found: what it prints with --json, and keeps as results "net-barriers".
type Document struct {
	Stamp  results.Stamp `json:"stamp"`
	Seed   uint64        `json:"seed"`
	Count  int           `json:"barriers"` // of which each point is the mean
	Models []LogP        `json:"logp"`     // by Sizes
	Points []Point       `json:"points"`
	// AllReduce is what one of 8 bytes takes on all nodes, in clocks.
	AllReduce float64     `json:"allreduce_8"`
	Papers    []Published `json:"published"`
}

// Published is what the paper on MCD has, in µs, of a switch.
type Published struct {
	Algorithm string  `json:"algorithm"`
	Nodes     int     `json:"nodes"`
	Time      float64 `json:"time"`
}

// Papers are the published points: their trees are released by multicast.
func Papers() []Published {
	return []Published{{"shuffle", 32, 174}, {"tree2", 32, 204}, {"tree3", 31, 200}, {"concurrent", 32, 309}, {"tree3", 15, 159}, {"concurrent", 16, 179}}
}

// Run measures all algorithms with so many barriers each, on the network of the largest of some sizes.
func Run(ctx context.Context, rung string, sizes []int, count int, seed uint64, progress func(string)) (d Document, err error) {
	d = Document{Seed: seed, Count: count, Papers: Papers()}
	err = try.Run(func() {
		w := try.Get(Open(ctx, rung, sizes[len(sizes)-1], seed))
		defer try.Finally(w.Close)
		for _, n := range sizes {
			progress(fmt.Sprintf("LogP of %d nodes", n))
			model := try.Get(w.LogP(ctx, n))
			d.Models = append(d.Models, model)
			for _, a := range collective.Algorithms {
				progress(fmt.Sprintf("%s, %d nodes", a.Name, n))
				d.Points = append(d.Points, try.Get(w.Measure(ctx, a, n, count, model)))
			}
		}
		d.AllReduce = try.Get(w.AllReduce(ctx, count))
	})
	return d, err
}

// Plot is µs against nodes: what was measured, predicted and published.
func (d *Document) Plot() chart.Plot {
	plot := chart.Plot{
		Name: "barriers", Title: "Barriers by messages at 125 MHz; single points: MCD on Fast Ethernet, computers included",
		X: chart.Axis{Label: "nodes", Min: 2, Max: 32, Log: true, Ticks: []float64{2, 4, 8, 16, 32}, Format: func(v float64) string { return fmt.Sprintf("%.0f", v) }},
		Y: chart.Axis{Label: "µs", Min: 1, Max: 400, Log: true, Ticks: []float64{1, 10, 100}, Format: func(v float64) string { return fmt.Sprintf("%.0f", v) }},
	}
	for _, a := range collective.Algorithms {
		measured, predicted := chart.Series{Name: a.Name, Marks: true}, chart.Series{Name: a.Name + ", LogP", Line: true}
		for _, p := range d.Points {
			if p.Algorithm == a.Name {
				measured.Points = append(measured.Points, chart.Point{X: float64(p.Nodes), Y: p.Mean / Clock})
				predicted.Points = append(predicted.Points, chart.Point{X: float64(p.Nodes), Y: p.Predicted / Clock})
			}
		}
		plot.Series = append(plot.Series, measured, predicted)
	}
	for _, p := range d.Papers {
		plot.Series = append(plot.Series, chart.Series{Name: "MCD " + p.Algorithm, Marks: true, Points: []chart.Point{{X: float64(p.Nodes), Y: p.Time, Text: fmt.Sprintf("MCD %s: %g µs", p.Algorithm, p.Time)}}})
	}
	return plot
}
