package sockets

import (
	"fmt"
	"time"

	"github.com/stafflink/lmmc/testbench/report/chart"
	"github.com/stafflink/lmmc/testbench/results"
)

// Document is what lmmc net bench sockets found: what it prints with --json, and keeps as results "net-sockets".
type Document struct {
	Stamp  results.Stamp `json:"stamp"`
	Seed   uint64        `json:"seed"`
	Page   int           `json:"page"`
	Rounds int           `json:"rounds"`
	NoTCP  string        `json:"no_tcp"` // why TCP was not measured; "": it was
	Points []Point       `json:"points"`
	Opened []Opened      `json:"opened"`
	Papers []Published   `json:"published"`
}

// Published is a round trip that the paper on sockets over Myrinet has.
type Published struct {
	Name      string        `json:"name"`
	Bytes     int           `json:"bytes"`
	RoundTrip time.Duration `json:"round_trip"`
}

// Papers are the published points: the paper's sockets past the protocol stack, and TCP by two cards.
func Papers() []Published {
	const µs = time.Microsecond
	return []Published{
		{"past the stack, Myrinet", 1, 72 * µs}, {"TCP, Myrinet", 1, 98 * µs}, {"TCP, 100Base-TX", 1, 118 * µs},
		{"past the stack, Myrinet", 1024, 138 * µs}, {"TCP, Myrinet", 1024, 179 * µs}, {"TCP, 100Base-TX", 1024, 456 * µs},
	}
}

// Of is a way's point with a size; nil: there is none.
func (d *Document) Of(way Way, bytes int) *Point {
	for i := range d.Points {
		if p := &d.Points[i]; p.Way == way && p.Bytes == bytes {
			return p
		}
	}
	return nil
}

// Plot is round trips against size.
func (d *Document) Plot() chart.Plot {
	const low, high = 1, Largest
	number := func(v float64) string { return fmt.Sprintf("%.0f", v) }
	plot := chart.Plot{
		Name: "socket-round-trip", Title: "Median round trips by one pair of simulated network interfaces; single points: Nakai et al., on cards",
		X: chart.Axis{Label: "bytes", Min: low, Max: high, Log: true, Ticks: chart.Powers(8, low, high), Format: number},
		Y: chart.Axis{Label: "µs", Min: 10, Max: 1e5, Log: true, Ticks: []float64{10, 100, 1000, 1e4, 1e5}, Format: number},
	}
	µs := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
	for _, way := range Ways {
		s := chart.Series{Name: string(way), Line: true, Marks: true}
		for _, p := range d.Points {
			if p.Way == way {
				s.Points = append(s.Points, chart.Point{X: float64(p.Bytes), Y: µs(p.Median)})
			}
		}
		if len(s.Points) > 0 {
			plot.Series = append(plot.Series, s)
		}
	}
	for _, p := range d.Papers {
		plot.Series = append(plot.Series, chart.Series{Name: p.Name, Marks: true,
			Points: []chart.Point{{X: float64(p.Bytes), Y: µs(p.RoundTrip), Text: fmt.Sprintf("%s: %g µs", p.Name, µs(p.RoundTrip))}}})
	}
	return plot
}
