package figures

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bench"
)

var busFigures = []Figure{
	{Name: "kit_axis_rate", Doc: "FIFO of AXI4-Stream, 64 bits and all sidebands, between source and sink with random stalls and a scoreboard, no waves",
		Unit: "cycles/s", Must: new(1.5e6), Aim: new(4e6), Timed: true, Long: true, Measure: steps(axisRate)},
	{Name: "kit_axis_recorded", Doc: "the same with recording for waves of failures, as a share of it",
		Must: new(0.8), Aim: new(0.95), Timed: true, Long: true, Measure: steps(axisRecorded)},
	{Name: "kit_axi_beats", Doc: "model of an AXI4 RAM, 64 bits, random bursts of reads and writes by the model of a master: transfers of data",
		Unit: "beats/s", Must: new(0.5e6), Aim: new(2e6), Timed: true, Long: true, Measure: steps(axiBeats)},
}

const busCycles = 2_000_000

func axisRate(ctx context.Context) Measurement {
	var rates []float64
	for range rounds(ctx) {
		rates = append(rates, try.Get(bench.AxisRate(ctx, busCycles, testbench.WaveNever)))
	}
	return Measurement{Value: Median(rates), Note: fmt.Sprintf("median of %d runs of %d cycles, CPU time", len(rates), busCycles)}
}

func axisRecorded(ctx context.Context) Measurement {
	var with, without, shares []float64
	for range rounds(ctx) {
		with = append(with, try.Get(bench.AxisRate(ctx, busCycles, testbench.WaveOnFailure)))
		without = append(without, try.Get(bench.AxisRate(ctx, busCycles, testbench.WaveNever)))
		shares = append(shares, with[len(with)-1]/without[len(without)-1])
	}
	base := Median(without)
	return Measurement{Value: Median(shares), Baseline: &base, Note: fmt.Sprintf("median of %d pairs of runs, CPU time; %.0f cycles/s recorded, %.0f not",
		len(with), Median(with), base)}
}

func axiBeats(ctx context.Context) Measurement {
	var rates []float64
	for range rounds(ctx) {
		rates = append(rates, try.Get(bench.AXIBeats(ctx, busCycles/4)))
	}
	return Measurement{Value: Median(rates), Note: fmt.Sprintf("median of %d runs of %d cycles, CPU time", len(rates), busCycles/4)}
}
