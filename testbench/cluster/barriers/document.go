package barriers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/report/chart"
	"github.com/stafflink/lmmc/testbench/results"
)

// Sizes are the numbers of nodes that are measured.
var Sizes = []int{2, 4, 8, 16, 32}

// Clock is that of Gigabit Ethernet's bytes, in MHz.
const Clock = 125.0

// Document is what lmmc net bench barriers or lmmc net logp found: what these print with --json, and keep as results "net-barriers" and "net-logp".
type Document struct {
	Stamp    results.Stamp `json:"stamp"`
	Network  string        `json:"network"`
	Rung     string        `json:"rung"` // of the nodes; "" if time is real
	Seed     uint64        `json:"seed"`
	Count    int           `json:"barriers"` // of which each point is the mean
	Messages []Size        `json:"messages"`
	Packet   int           `json:"packet"`          // bytes of a message that go in one packet
	Trip     Fit           `json:"half_round_trip"` // by those of Messages that go in one
	Gap      Fit           `json:"gap"`             // by Messages
	Nodes    []int         `json:"nodes"`           // numbers of them that were measured
	Models   []LogP        `json:"logp"`            // by Nodes
	Points   []Point       `json:"points"`
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

// Papers are the published points.
func Papers() []Published {
	return []Published{
		{"shuffle", 32, 174}, {"tree2-multicast", 32, 204}, {"tree3-multicast", 31, 200}, {"concurrent-multicast", 32, 309}, {"tree3-multicast", 15, 159}, {"concurrent-multicast", 16, 179},
	}
}

// Bench are the options of Paper.
type Bench struct {
	Nodes   []int  // numbers of them, in rising order
	Count   int    // barriers of each kind
	Rung    string // of the nodes
	Seed    uint64
	Threads int
}

// Paper measures what the paper on MCD has, by each number of nodes: all algorithms on one network of so many, a Tree, and on two, and what the routers carry out. The messages by size are those of
// the largest network. It tells what it does.
func (b Bench) Paper(ctx context.Context, progress func(string)) (all Document, err error) {
	return all, try.Run(func() {
		for _, n := range b.Nodes {
			d := try.Get(b.of(ctx, n, func(what string) { progress(fmt.Sprintf("%d nodes: %s", n, what)) }))
			d.Nodes, d.Models, d.Points = append(all.Nodes, n), append(all.Models, d.Models...), append(all.Points, d.Points...)
			all = d
		}
		all.Network, all.Rung, all.Seed = "stars, above 16 nodes two levels of switches", b.Rung, b.Seed
	})
}

// of measures on networks of so many nodes.
func (b Bench) of(ctx context.Context, n int, progress func(string)) (d Document, err error) {
	return d, try.Run(func() {
		t := try.Get(Tree(n))
		on := func(w *Network, measure func(w *Network) error) {
			defer try.Finally(w.Close)
			try.OK(measure(w))
		}
		progress("compilation")
		on(try.Get(Open(ctx, t, b.Rung, n, b.Seed, b.Threads)), func(w *Network) (err error) {
			d, err = w.Run(ctx, []int{n}, b.Count, progress)
			return err
		})
		progress("compilation of two networks")
		on(try.Get(OpenTwo(ctx, t, b.Rung, b.Seed, b.Threads)), func(w *Network) error { return w.RunTwo(ctx, &d, progress) })
		progress("compilation for barriers by hardware")
		on(try.Get(OpenHardware(ctx, t, b.Rung, n, b.Seed, b.Threads)), func(w *Network) error { return w.RunHardware(ctx, &d, progress) })
	})
}

// Run measures the algorithms on the first nodes of a network, with so many barriers each. It tells what it does.
func (w *Network) Run(ctx context.Context, nodes []int, count int, progress func(string)) (d Document, err error) {
	d = Document{Count: count, Nodes: nodes, Papers: Papers()}
	err = try.Run(func() {
		most := nodes[len(nodes)-1]
		progress("messages by size")
		d.Messages = try.Get(w.BySize(ctx, most))
		d.Packet = w.members[0].node.MaxDatagram()
		whole := slices.DeleteFunc(slices.Clone(d.Messages), func(s Size) bool { return s.Bytes > d.Packet })
		d.Trip, d.Gap = NewFit(whole, func(s Size) float64 { return s.Trip }), NewFit(d.Messages, func(s Size) float64 { return s.Gap })
		for _, n := range nodes {
			progress(fmt.Sprintf("LogP of %d", n))
			model := try.Get(w.LogP(ctx, n))
			if w.world != nil { // in real time nobody knows how long a driver's tick takes
				message := &linkproto.Packet{Type: linkproto.TypeMessage} // which a message has, and an acknowledgement has not
				model.AckGap, model.AckDelay = max(0, model.Gap-d.Gap.PerByte*float64(message.Size())), linkproto.DefaultAckDelay*w.tick
				model.CastGap = model.Gap + d.Gap.PerByte*flowctl.CastWordBytes // a message with such a word
			}
			d.Models = append(d.Models, model)
			d.Points = append(d.Points, try.Get(w.algorithms(ctx, n, count, model, progress))...)
		}
		progress("allreduce")
		d.AllReduce = try.Get(w.AllReduce(ctx, count))
	})
	return d, err
}

// algorithms measures each of them on the first n nodes.
func (w *Network) algorithms(ctx context.Context, n, count int, model LogP, progress func(string)) (points []Point, err error) {
	for _, a := range w.Algorithms {
		if a.Multicast() && w.multicast == 0 {
			continue
		}
		progress(fmt.Sprintf("%s of %d, networks: %d", a.Name, n, w.networks()))
		for _, acknowledged := range []bool{false, true} {
			if acknowledged && !a.Multicast() {
				continue
			}
			p, err := w.Measure(ctx, a, n, count, acknowledged, model)
			if err != nil {
				return nil, err
			}
			points = append(points, p)
		}
	}
	return points, nil
}

// RunTwo adds the barriers by two networks, of the numbers of nodes of which the document has models.
func (w *Network) RunTwo(ctx context.Context, d *Document, progress func(string)) error {
	for i, n := range d.Nodes {
		points, err := w.algorithms(ctx, n, d.Count, d.Models[i], progress)
		if err != nil {
			return err
		}
		d.Points = append(d.Points, points...)
	}
	return nil
}

// RunHardware adds the barriers that a network's routers carry out, by those numbers of nodes and barriers of which the document is.
func (w *Network) RunHardware(ctx context.Context, d *Document, progress func(string)) error {
	for _, n := range d.Nodes {
		progress(fmt.Sprintf("%s, %d", collective.Hardware, n))
		p, err := w.Measure(ctx, collective.Algorithm{Name: collective.Hardware}, n, d.Count, false, LogP{})
		if err != nil {
			return err
		}
		d.Points = append(d.Points, p)
	}
	return nil
}

// HalfTrip is what half a round trip of a message should take: that of its first packet, behind which the others flow.
func (d *Document) HalfTrip(bytes int) float64 {
	whole := min(bytes, d.Packet)
	return d.Trip.At(whole) + d.Gap.PerByte*float64(bytes-whole)
}

// TripError is how far off HalfTrip is at most, as a share of what was measured.
func (d *Document) TripError() (most float64) {
	for _, s := range d.Messages {
		most = max(most, math.Abs(d.HalfTrip(s.Bytes)-s.Trip)/s.Trip)
	}
	return most
}

// Worst is the point whose prediction is off by most.
func (d *Document) Worst() Point {
	return slices.MaxFunc(d.Points, func(a, b Point) int { return cmp.Compare(a.Error(), b.Error()) })
}

// Plots are the figures of the paper: for each algorithm µs against nodes, measured, predicted and published; and messages by size with their fit.
func (d *Document) Plots() (plots []chart.Plot) {
	number := func(v float64) string { return fmt.Sprintf("%g", v) }
	nodes := chart.Axis{Label: "nodes", Min: 2, Max: max(32, float64(slices.Max(d.Nodes))), Log: true, Format: number}
	nodes.Ticks = chart.Powers(2, nodes.Min, nodes.Max)
	for _, name := range append(collective.Barriers(), collective.Hardware) {
		plot, low, high := chart.Plot{Name: "barrier-" + name, Title: "Barrier by " + name + ": " + d.Network}, 1.0, 1.0
		for networks, where := range []string{1: "", 2: ", two networks"} {
			mean, least, most := chart.Series{Name: "mean" + where, Marks: true}, chart.Series{Name: "smallest" + where, Marks: true}, chart.Series{Name: "largest" + where, Marks: true}
			logp := chart.Series{Name: "LogP" + where, Line: true}
			for _, p := range d.Points {
				if p.Algorithm != name || p.Acknowledged || p.Networks != networks {
					continue
				}
				add := func(s *chart.Series, clocks float64) {
					s.Points = append(s.Points, chart.Point{X: float64(p.Nodes), Y: clocks / Clock})
					high = max(high, clocks/Clock)
					if clocks < Clock {
						low = 0.1
					}
				}
				add(&mean, p.Mean)
				add(&least, p.Least)
				add(&most, p.Most)
				if p.Predicted != 0 {
					add(&logp, p.Predicted)
				}
			}
			for _, s := range []chart.Series{mean, least, most, logp} {
				if s.Points != nil {
					plot.Series = append(plot.Series, s)
				}
			}
		}
		if plot.Series == nil {
			continue
		}
		for _, p := range d.Papers {
			if p.Algorithm == name {
				plot.Series = append(plot.Series, chart.Series{Name: fmt.Sprintf("MCD, %d nodes", p.Nodes), Marks: true, Points: []chart.Point{{X: float64(p.Nodes), Y: p.Time}}})
				high = max(high, p.Time)
			}
		}
		plot.X, plot.Y = nodes, decades("µs", low, high)
		plots = append(plots, plot)
	}
	return append(plots, d.sizePlot())
}

// decades is a logarithmic axis.
func decades(label string, low, high float64) chart.Axis {
	top := math.Pow(10, math.Ceil(math.Log10(high)))
	return chart.Axis{Label: label, Min: low, Max: top, Log: true, Ticks: chart.Powers(10, low, top), Format: func(v float64) string { return fmt.Sprintf("%g", v) }}
}

// sizePlot is µs of messages against their bytes.
func (d *Document) sizePlot() chart.Plot {
	plot := chart.Plot{Name: "logp", Title: "Messages by size and their fit: " + d.Network, X: decades("bytes, and one", 1, 1000), Y: decades("µs", 0.1, 10)}
	plot.X.Max = float64(Bytes[len(Bytes)-1] + 1)
	for _, of := range []struct {
		name string
		fit  func(int) float64
		size func(Size) float64
	}{{"half a round trip", d.HalfTrip, func(s Size) float64 { return s.Trip }}, {"gap", d.Gap.At, func(s Size) float64 { return s.Gap }}} {
		measured, fit := chart.Series{Name: of.name, Marks: true}, chart.Series{Name: of.name + ", fit", Line: true}
		for _, s := range d.Messages {
			x := float64(s.Bytes + 1)
			measured.Points = append(measured.Points, chart.Point{X: x, Y: of.size(s) / Clock})
			fit.Points = append(fit.Points, chart.Point{X: x, Y: of.fit(s.Bytes) / Clock})
			plot.Y.Max = max(plot.Y.Max, of.size(s)/Clock)
		}
		plot.Series = append(plot.Series, measured, fit)
	}
	mcd := chart.Series{Name: "MCD, 4 bytes", Marks: true, Points: []chart.Point{{X: 5, Y: 30, Text: "MCD: 30 µs"}}}
	plot.Series = append(plot.Series, mcd)
	plot.Y = decades("µs", 0.1, max(plot.Y.Max, 30))
	return plot
}
