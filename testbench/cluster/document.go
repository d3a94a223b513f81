package cluster

import (
	"fmt"
	"math"

	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/report/chart"
	"github.com/stafflink/lmmc/testbench/results"
)

// BenchDocument is what lmmc net bench found: what it prints with --json, and keeps as results "net-bench".
type BenchDocument struct {
	Stamp    results.Stamp `json:"stamp"`
	Network  string        `json:"network"` // its shape and size, or its file
	NIs      int           `json:"nis"`
	Switches int           `json:"switches"`
	Cables   int           `json:"cables"`
	Pattern  string        `json:"pattern"`
	Least    int           `json:"least"` // bytes of a message
	Most     int           `json:"most"`
	Page     int           `json:"page"`
	Lanes    int           `json:"lanes"` // of each link and host's cable
	Width    int           `json:"width"` // bytes a clock inside network interfaces and switches
	Slots    int           `json:"slots"`
	Seed     uint64        `json:"seed"`
	Bound    float64       `json:"bound"`   // as of Bench
	Senders  int           `json:"senders"` // likewise
	Points   []Point       `json:"points"`
}

// BenchParams are those of network interfaces for workloads: with so long pages, and buffers for several.
func BenchParams(page, width int) rtl.Params {
	return rtl.Params{Frames: 2, PageBytes: page, ReplayBytes: min(max(4*page, 4096), 32768), RxBytes: max(2*page, 4096), Width: width}
}

// Best is the most that arrived, of all loads.
func (d *BenchDocument) Best() (most float64) {
	for _, p := range d.Points {
		most = max(most, p.Accepted)
	}
	return most
}

// Sizes writes the sizes of messages.
func (d *BenchDocument) Sizes() string {
	if d.Least == d.Most {
		return fmt.Sprint(d.Least, " bytes")
	}
	return fmt.Sprintf("%d to %d bytes", d.Least, d.Most)
}

// AcceptedPlot is accepted load against offered load.
func (d *BenchDocument) AcceptedPlot() chart.Plot {
	percent := func(v float64) string { return fmt.Sprintf("%.4g", 100*v) }
	accepted := chart.Series{Name: "accepted", Line: true, Marks: true}
	most := 1.0
	for _, p := range d.Points {
		accepted.Points = append(accepted.Points, chart.Point{X: p.Offered, Y: p.Accepted})
		most = max(most, p.Offered)
	}
	bound := chart.Series{Name: "bound set by the busiest cable", Line: true, Points: []chart.Point{{X: 0, Y: 0}, {X: d.Bound, Y: d.Bound}, {X: most, Y: d.Bound}}}
	return chart.Plot{
		Name: "net-accepted", Title: fmt.Sprintf("Accepted against offered load, %s, %s, %s", d.Network, d.Pattern, d.Sizes()),
		X:      chart.Axis{Label: "offered load (% of a link)", Max: most, Ticks: fifths(most), Format: percent},
		Y:      chart.Axis{Label: "accepted load (%)", Max: 1, Ticks: fifths(1), Format: percent},
		Series: []chart.Series{accepted, bound},
	}
}

// LatencyPlot is latency against offered load.
func (d *BenchDocument) LatencyPlot() chart.Plot {
	series := []chart.Series{{Name: "median", Line: true, Marks: true}, {Name: "99 %", Line: true, Marks: true}}
	most, low, high := 1.0, math.Inf(1), 10.0
	for _, p := range d.Points {
		if p.Messages == 0 {
			continue
		}
		for i, v := range []int64{p.Latency.P50, p.Latency.P99} {
			y := math.Max(float64(v), 1)
			series[i].Points = append(series[i].Points, chart.Point{X: p.Offered, Y: y, Text: fmt.Sprintf("%s: %d clocks at %.0f %%, %s", series[i].Name, v, 100*p.Offered, p.State)})
			low, high = math.Min(low, y), math.Max(high, y)
		}
		most = max(most, p.Offered)
	}
	low = math.Min(math.Pow(10, math.Floor(math.Log10(low))), high/10)
	high = math.Pow(10, math.Ceil(math.Log10(high)))
	return chart.Plot{
		Name: "net-latency", Title: fmt.Sprintf("Latency of messages against offered load, %s, %s, %s", d.Network, d.Pattern, d.Sizes()),
		X:      chart.Axis{Label: "offered load (% of a link)", Max: most, Ticks: fifths(most), Format: func(v float64) string { return fmt.Sprintf("%.4g", 100*v) }},
		Y:      chart.Axis{Label: "clocks", Min: low, Max: high, Log: true, Ticks: chart.Powers(10, low, high), Format: func(v float64) string { return fmt.Sprintf("%.0f", v) }},
		Series: series,
	}
}

func fifths(most float64) (ticks []float64) {
	for i := 0; float64(i)/5 <= most+1e-9; i++ {
		ticks = append(ticks, float64(i)/5)
	}
	return ticks
}
