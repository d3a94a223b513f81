package cluster

import (
	"context"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/results"
)

// HXBDocument is what lmmc net bench hxb found: what it prints with --json, and keeps as results "net-hxb". It has the rows of tables 4 to 6 of "High
// Performance Communication Facility Using Ethernet for PACS-CS" (PM/Ethernet-HXB), with what this network does beside them.
type HXBDocument struct {
	Stamp results.Stamp `json:"stamp"`
	Seed  uint64        `json:"seed"`
	Rows  []HXBRow      `json:"rows"`
}

// HXBRow is a measurement.
type HXBRow struct {
	Table      int      `json:"table"` // 0: none of the paper's
	Dimensions int      `json:"dimensions"`
	Links      int      `json:"links"`
	RoundTrip  bool     `json:"round_trip"` // in µs and clocks; else bandwidth in MB/s, and bytes a clock
	Published  float64  `json:"published"`  // 0: the paper has no such row
	Clocks     *float64 `json:"clocks"`     // ours: clocks of the round trip, or bytes a clock; null: left out
	Value      *float64 `json:"value"`      // ours in the paper's unit, at 125 MHz
	Why        string   `json:"why"`        // it is left out
}

// hxbClock is that of Gigabit Ethernet's bytes, in MHz.
const hxbClock = 125.0

// hxbRows are those of the paper, and those with one link.
func hxbRows() (rows []HXBRow) {
	bandwidth := func(table, dimensions, links int, published float64) {
		rows = append(rows, HXBRow{Table: table, Dimensions: dimensions, Links: links, Published: published})
	}
	bandwidth(0, 1, 1, 0)
	for _, r := range []struct {
		links     int
		published float64
	}{{2, 246}, {3, 368}, {4, 491}, {6, 737}, {8, 979}} {
		bandwidth(4, 1, r.links, r.published)
	}
	rows = append(rows, HXBRow{Table: 5, Dimensions: 1, Links: 1, RoundTrip: true, Published: 30.1})
	for d, published := range []struct{ two, four, trip float64 }{{247, 491, 30.2}, {241, 384, 58.1}, {237, 0, 86.4}} {
		if d > 0 {
			bandwidth(0, d+1, 1, 0)
		}
		bandwidth(6, d+1, 2, published.two)
		bandwidth(6, d+1, 4, published.four)
		rows = append(rows, HXBRow{Table: 6, Dimensions: d + 1, Links: 2, RoundTrip: true, Published: published.trip})
	}
	return rows
}

const needsLanes = "packets from one node to another take one of several cables, chosen by destination: a trunk takes links of several lanes, with hosts as wide, which this measurement does not have"

// MeasureHXB measures what there is: between the two network interfaces that are farthest from each other in a hyper-crossbar of two in each of 1, 2 and 3
// dimensions, both ways at once. Bandwidth is of messages of 1,500 bytes; a round trip is twice the median latency of 8 bytes, NI to NI, without the hosts' own
// time. A round trip takes one link, however many there are.
func MeasureHXB(ctx context.Context, seed uint64, progress func(string)) (rows []HXBRow, err error) {
	return rows, try.Run(func() {
		payload, latency := map[int]float64{}, map[int]float64{}
		for d := 1; d <= 3; d++ {
			progress(fmt.Sprintf("%d dimensions", d))
			payload[d] = corners(ctx, d, seed, 1500, 1.5).Payload
			latency[d] = float64(corners(ctx, d, seed, 8, 0.05).Latency.P50)
		}
		rows = fillHXB(hxbRows(), payload, latency)
	})
}

// fillHXB puts what was measured, by dimensions, into the rows.
func fillHXB(rows []HXBRow, payload, latency map[int]float64) []HXBRow {
	for i := range rows {
		r := &rows[i]
		switch {
		case r.RoundTrip:
			clocks := 2 * latency[r.Dimensions]
			r.Clocks, r.Value = &clocks, new(clocks/hxbClock)
		case r.Links > 1:
			r.Why = needsLanes
		default:
			r.Clocks, r.Value = new(payload[r.Dimensions]), new(payload[r.Dimensions]*hxbClock)
		}
	}
	return rows
}

// corners measures two network interfaces at opposite corners.
func corners(ctx context.Context, dimensions int, seed uint64, size int, load float64) Point {
	c := try.Get(Open(ctx, Config{
		Topology: try.Get(topology.Generate("hyper-crossbar", slices.Repeat([]int{2}, dimensions), 1)), Seed: seed, Params: BenchParams(2048, 1), Arrivals: true,
	}))
	defer try.Finally(c.Close)
	return try.Get(try.Get(c.NewBench(Workload{Pattern: "corners", Least: size, Most: size})).At(load))
}
