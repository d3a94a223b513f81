package figures

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/synth"
)

var synthFigures = []Figure{
	{Name: "hx8k_core_mhz",
		Doc:  "clock of an NI with one link and 4 pages of 1 KB on an iCE40 HX8K, its pins registered: median of 5 placer seeds",
		Unit: "MHz", Must: new(100.0), Aim: new(150.0), Long: true, Measure: steps(coreMHz)},
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
