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
	Table      int     `json:"table"` // 0: none of the paper's
	Dimensions int     `json:"dimensions"`
	Links      int     `json:"links"`      // of each dimension, as one: ours are lanes of one link
	RoundTrip  bool    `json:"round_trip"` // in µs and clocks; else bandwidth in MB/s, and bytes a clock
	Published  float64 `json:"published"`  // 0: the paper has no such row
	Clocks     float64 `json:"clocks"`     // ours: clocks of the round trip, or bytes a clock
	Value      float64 `json:"value"`      // ours in the paper's unit, at 125 MHz
}

// hxbClock is that of Gigabit Ethernet's bytes, in MHz.
const hxbClock = 125.0

// hxbRows are those of the paper, and others of as many dimensions or links.
func hxbRows() (rows []HXBRow) {
	add := func(dimensions, links int, roundTrip bool, published map[[2]int]float64, table int) {
		row := HXBRow{Dimensions: dimensions, Links: links, RoundTrip: roundTrip, Published: published[[2]int{dimensions, links}]}
		if row.Published > 0 {
			row.Table = table
		}
		rows = append(rows, row)
	}
	trunks := map[[2]int]float64{{1, 2}: 246, {1, 3}: 368, {1, 4}: 491, {1, 6}: 737, {1, 8}: 979}
	for links := 1; links <= 8; links++ {
		add(1, links, false, trunks, 4)
	}
	add(1, 1, true, map[[2]int]float64{{1, 1}: 30.1}, 5)
	bandwidth := map[[2]int]float64{{1, 2}: 247, {2, 2}: 241, {3, 2}: 237, {1, 4}: 491, {2, 4}: 384}
	trips := map[[2]int]float64{{1, 2}: 30.2, {2, 2}: 58.1, {3, 2}: 86.4}
	for dimensions := 1; dimensions <= 3; dimensions++ {
		for _, links := range []int{1, 2, 4, 8} {
			add(dimensions, links, false, bandwidth, 6)
			add(dimensions, links, true, trips, 6)
		}
	}
	return rows
}

// MeasureHXB measures the rows, between the two network interfaces that are farthest from each other in a hyper-crossbar of two in each dimension, both ways at
// once. A dimension's links are lanes of one link. Bandwidth is of messages of 1,500 bytes; a round trip is twice the median latency of 8 bytes, NI to NI,
// without the hosts' own time.
func MeasureHXB(ctx context.Context, seed uint64, progress func(string)) ([]HXBRow, error) {
	rows := hxbRows()
	return rows, try.Run(func() {
		points := map[HXBRow]Point{}
		for i, r := range rows {
			key := HXBRow{Dimensions: r.Dimensions, Links: r.Links, RoundTrip: r.RoundTrip}
			if _, done := points[key]; !done {
				progress(fmt.Sprintf("row %d of %d, %d dimensions, %d links", i+1, len(rows), r.Dimensions, r.Links))
				points[key] = corners(ctx, key, seed)
			}
			rows[i].fill(points[key])
		}
	})
}

// fill puts in what was measured.
func (r *HXBRow) fill(p Point) {
	r.Clocks = p.Payload
	r.Value = r.Clocks * hxbClock
	if r.RoundTrip {
		r.Clocks = 2 * float64(p.Latency.P50)
		r.Value = r.Clocks / hxbClock
	}
}

// corners measures two network interfaces at opposite corners.
func corners(ctx context.Context, r HXBRow, seed uint64) Point {
	t := try.Get(topology.Generate("hyper-crossbar", slices.Repeat([]int{2}, r.Dimensions), 1))
	for i := range t.Cables {
		t.Cables[i].Lanes = r.Links
	}
	size, load := 1500, 1.5
	if r.RoundTrip {
		size, load = MinMessage, 0.05
	}
	c := try.Get(Open(ctx, Config{Topology: t, Seed: seed, Params: BenchParams(2048, 1), Arrivals: true}))
	defer try.Finally(c.Close)
	return try.Get(try.Get(c.NewBench(Workload{Pattern: "corners", Least: size, Most: size})).At(load))
}
