package report

import (
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/barriers"
	"github.com/stafflink/lmmc/testbench/cluster/messages"
	"github.com/stafflink/lmmc/testbench/cluster/sockets"
	"github.com/stafflink/lmmc/testbench/figures"
)

// TestNetwork: what was measured of networks is on the page, beside what others have published; without any there is no word of it, and it is no
// part of the verdict.
func TestNetwork(t *testing.T) {
	in := full()
	if without := words(t, write(t, in)); strings.Contains(without, "Networks") || strings.Contains(without, "HXB.") {
		t.Error("a page without networks has a section on them")
	}
	p := func(v float64) *float64 { return &v }
	in.Bench.Figures = append(in.Bench.Figures, figures.FigureDocument{Name: "switch_saturation", Value: p(0.964), Verdict: figures.Pass},
		figures.FigureDocument{Name: "hop_clocks_1500", Verdict: figures.NoValue})
	in.Network = &cluster.BenchDocument{
		Stamp: stamp(), Network: "star 16", NIs: 16, Pattern: "uniform", Least: 64, Most: 1500, Width: 4, Slots: 16, Seed: 9, Bound: 1, Points: []cluster.Point{
			{Load: 0.5, Offered: 0.51, Accepted: 0.505, State: cluster.Steady, Messages: 1234, Latency: cluster.Latency{P50: 701, P90: 802, P99: 1903}},
			{Load: 1.2, Offered: 1.19, Accepted: 0.962, State: cluster.Saturated, Messages: 4321, Latency: cluster.Latency{P50: 27001, P90: 38002, P99: 59003}},
		},
	}
	in.HXB = &cluster.HXBDocument{Stamp: stamp(), Rows: []cluster.HXBRow{
		{Table: 5, Dimensions: 1, Links: 1, RoundTrip: true, Published: 30.1, Clocks: 186, Value: 1.488},
		{Table: 6, Dimensions: 3, Links: 2, Clocks: 1.952, Value: 244},
	}}
	in.Sockets = &sockets.Document{Stamp: stamp(), Papers: sockets.Papers(), Points: []sockets.Point{{Way: sockets.Ours, Bytes: 1024, Median: 71 * time.Microsecond}}}
	in.Messages = &messages.Document{Stamp: stamp(), Papers: messages.Papers(), Points: []messages.Point{{Bytes: 64, OneWay: 0.5, RoundTrip: 600}}}
	in.Messages.AddWay(messages.Way{Bytes: 64, Stages: []messages.Stage{{Name: "switch", To: 19}, {Name: "cable", From: 19, To: 200}}}, in.Messages.Points[0])
	text := words(t, write(t, in))
	check.Contains(t, "page", text,
		"Messages between two nodes on a switch", "GigaE PM: 72.1 MB/s, no acknowledgements yet", "switch: 19 clocks", "drivers of both hosts: 100 clocks",
		"Networks passed star 16, 16 network interfaces: 96.2 % of a link accepted at most, uniform traffic, messages of 64 to 1500 bytes.",
		"accepted: 96.2 at 119", "bound set by the busiest cable", "99 %: 1903 clocks at 51 %, steady", "119.0 % 96.2 % saturated 4,321 27001 38002 59003",
		"uniform traffic at saturation, 16-port switch 58.6 % for FIFO queues 96.4 % 95 %", "1.49 µs, 186 clocks less than 1 µs",
		"Sockets beside TCP Median round trips", "sockets: 71 at 1024", "TCP, 100Base-TX: 456 µs",
		"round trip, 1-dimensional, links: 1 30.10 µs 1.49 µs", "bandwidth, 3-dimensional, links: 2 – 244.0 MB/s")
	if strings.Contains(text, "one more router") {
		t.Error("a figure without a value stands beside published ones")
	}
}

// TestBarriers: barriers and LogP's parameters are on the page, as plots and as numbers.
func TestBarriers(t *testing.T) {
	in := full()
	d := barriers.Document{Stamp: stamp(), Network: "two levels", Rung: "rtl", Count: 7, Nodes: []int{2, 32}, Models: []barriers.LogP{{Latency: 250, Gap: 50}, {Latency: 375, Gap: 50}},
		Messages: []barriers.Size{{Bytes: 0, Trip: 250, Gap: 50}, {Bytes: 64, Trip: 500, Gap: 125}}, Papers: barriers.Papers(),
		Points: []barriers.Point{{Algorithm: "shuffle", Nodes: 32, Mean: 1000, Least: 875, Most: 1125, Predicted: 1050}}}
	in.Barriers, in.LogP = &d, &d
	text := words(t, write(t, in))
	check.Contains(t, "page", text, "Barriers by messages: two levels", "largest of 7 barriers", "32 0.00 3.00 0.00 0.40", "shuffle 32 8.00 7.00 9.00 8.40 5.0 %", "Messages by size and their fit")
}
