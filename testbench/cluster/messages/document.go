package messages

import (
	"fmt"
	"math"

	"github.com/stafflink/lmmc/testbench/report/chart"
	"github.com/stafflink/lmmc/testbench/results"
)

// Sizes are the lengths of messages that are measured.
var Sizes = []int{0, 8, 64, 256, 1024, 1500, 4096, 8192, 16384, 65536}

// Clock is that of Gigabit Ethernet's bytes, in MHz: the one at which symbols are bytes of it.
const Clock = 125.0

// Document is what lmmc net bench messages found: what it prints with --json, and keeps as results "net-messages".
type Document struct {
	Stamp  results.Stamp `json:"stamp"`
	Seed   uint64        `json:"seed"`
	Page   int           `json:"page"`
	Cable  int           `json:"cable_trip"`  // clocks of a round trip of 0 B between host ports over a cable, hosts that answer at once
	Switch int           `json:"switch_trip"` // the same through a switch
	Points []Point       `json:"points"`
	Ways   []Way         `json:"ways"` // of those lengths that are one packet
	Papers []Published   `json:"published"`
}

// Published is what a paper has.
type Published struct {
	Name      string  `json:"name"`
	Bytes     int     `json:"bytes"`      // of a message; -1: not said
	Rate      float64 `json:"rate"`       // MB/s by one link, one way; 0: none
	RoundTrip float64 `json:"round_trip"` // µs; 0: none
	Note      string  `json:"note"`
}

// Papers are the published points.
func Papers() []Published {
	return []Published{
		{Name: "GigaE PM", Bytes: 1500, Rate: 72.1, Note: "no acknowledgements yet"},
		{Name: "GigaE PM", RoundTrip: 35.4, Note: "one cable"},
		{Name: "GigaE PM", RoundTrip: 45.4, Note: "through a switch"},
		{Name: "PM/Ethernet-HXB", Bytes: -1, Rate: 123, Note: "246 by two links"},
		{Name: "PM/Ethernet-HXB", Bytes: -1, RoundTrip: 30.1, Note: "one link, through a switch"},
	}
}

// NewDocument is a document without measurements.
func NewDocument(seed uint64) Document {
	return Document{Seed: seed, Page: pageBytes, Papers: Papers()}
}

// AddWay has the document say where the time of messages goes that are as long as those of a Point.
func (d *Document) AddWay(w Way, p Point) {
	w.Hosts = p.RoundTrip/2 - float64(w.Clocks())
	d.Ways = append(d.Ways, w)
}

// StagesPlot draws where the time of the longest message of at most 64 bytes goes, or of the shortest one; false: none was measured.
func (d *Document) StagesPlot() (draw func(width int, suffix string) string, ok bool) {
	if len(d.Ways) == 0 {
		return nil, false
	}
	w := d.Ways[0]
	for _, other := range d.Ways {
		if other.Bytes <= 64 {
			w = other
		}
	}
	var steps []chart.Step
	for _, s := range w.Stages {
		steps = append(steps, chart.Step{Name: s.Name, From: float64(s.From), To: float64(s.To)})
	}
	end := float64(w.Clocks())
	steps = append(steps, chart.Step{Name: "drivers of both hosts", From: end, To: end + math.Round(w.Hosts)})
	return func(width int, suffix string) string {
		return chart.Steps("message-stages", fmt.Sprintf("A message of %d bytes through a switch by stage", w.Bytes), "clocks", steps, width, suffix)
	}, true
}

// RatePlot is MB/s against length.
func (d *Document) RatePlot() chart.Plot {
	one, both := chart.Series{Name: "one way", Line: true, Marks: true}, chart.Series{Name: "each of both ways", Line: true, Marks: true}
	for _, p := range d.Points {
		if p.Bytes == 0 {
			continue
		}
		x := float64(p.Bytes)
		one.Points = append(one.Points, chart.Point{X: x, Y: Clock * p.OneWay})
		both.Points = append(both.Points, chart.Point{X: x, Y: Clock * p.BothWays})
	}
	const low, most = 8, 125
	high := 65536.0
	for _, p := range d.Points {
		high = max(high, float64(p.Bytes))
	}
	plot := chart.Plot{
		Name: "message-rate", Title: "Messages between two nodes on a switch, drivers with virtual links, a symbol a clock at 125 MHz",
		X: chart.Axis{Label: "bytes of a message", Min: low, Max: high, Log: true, Ticks: chart.Powers(8, low, high), Format: func(v float64) string { return fmt.Sprintf("%.0f", v) }},
		Y: chart.Axis{Label: "MB/s", Max: most, Ticks: []float64{0, 25, 50, 75, 100, 125}, Format: func(v float64) string { return fmt.Sprintf("%.0f", v) }},
	}
	plot.Series = append(plot.Series, one, both)
	for _, p := range d.Papers {
		if p.Rate > 0 {
			x := float64(p.Bytes)
			if p.Bytes < 0 {
				x = high
			}
			plot.Series = append(plot.Series, chart.Series{Name: p.Name, Marks: true, Points: []chart.Point{{X: x, Y: p.Rate, Text: fmt.Sprintf("%s: %g MB/s, %s", p.Name, p.Rate, p.Note)}}})
		}
	}
	return plot
}
