package figures

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/ni/probe"
	"github.com/stafflink/lmmc/testbench/synth"
)

var synthFigures = []Figure{
	{Name: "hx8k_core_mhz",
		Doc:  "clock of an NI with one link and 4 pages of 1 KB on an iCE40 HX8K, its pins registered: median of 5 placer seeds",
		Unit: "MHz", Must: new(100.0), Aim: new(150.0), Long: true, Measure: steps(coreMHz)},
	{Name: "hop_cells",
		Doc:  "a router of four links, without them, on an iCE40 HX8K, its pins registered; the note has its clock, median of 3 placer seeds",
		Unit: "LUT4", Better: Lower, Long: true, Measure: steps(hopCells)},
}

// hopCells places net_router, with eight slots of 256 bytes at each port, which is what fits.
func hopCells(ctx context.Context) Measurement {
	seeds := []int{1, 2, 3}
	r := try.Get(synth.Measure(ctx, probe.Design("router_pins", nil), synth.HX8K, seeds...))
	low, high := r.Range()
	return Measurement{Value: float64(r.LUTs()), Note: fmt.Sprintf("%.1f MHz, of %d seeds %.1f to %.1f; %d of %d logic cells, %d of %d block memories",
		r.Median(), len(seeds), low, high, r.Logic.Used, r.Logic.Of, r.Memories.Used, r.Memories.Of)}
}

// coreMHz places ni_core, the network interface without PHYs: they differ from board to board.
func coreMHz(ctx context.Context) Measurement {
	d := ni.Design(rtl.Params{Links: 1, Frames: 4, PageBytes: 1024, ReplayBytes: 2048, RxBytes: 2048, Headroom: 256})
	d.Top = "ni_core"
	delete(d.Params, "SOURCE_HASH") // it follows from the text of every comment, and would move the placement
	seeds := []int{1, 2, 3, 4, 5}
	r := try.Get(synth.Measure(ctx, d, synth.HX8K, seeds...))
	low, high := r.Range()
	return Measurement{Value: r.Median(), Note: fmt.Sprintf("%d seeds, %.1f to %.1f MHz; %d LUT4, %d of %d logic cells, %d of %d block memories",
		len(seeds), low, high, r.LUTs(), r.Logic.Used, r.Logic.Of, r.Memories.Used, r.Memories.Of)}
}
