package figures

import (
	"context"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/probe"
)

var hopFigures = []Figure{
	{Name: "hop_clocks_8", Doc: "one more router on the way of an 8-byte write, one way, unloaded, PHYs of two registers", Unit: "cycles",
		Must: new(30.0), Aim: new(20.0), Better: Lower, Long: true, Measure: hopClocks(8, 1)},
	{Name: "hop_clocks_1500", Doc: "the same with 1500-byte writes, pages of 2 KB", Unit: "cycles", Must: new(30.0), Aim: new(20.0), Better: Lower,
		Long: true, Measure: hopClocks(1500, 1)},
	{Name: "hop_clocks_8_lanes4", Doc: "one more router on the way of an 8-byte write, over links of four lanes, WIDTH 4", Unit: "cycles", Better: Lower,
		Long: true, Measure: hopClocks(8, 4)},
	{Name: "hop_clocks_1500_lanes4", Doc: "the same with 1500-byte writes, of which each goes by one lane", Unit: "cycles", Better: Lower,
		Long: true, Measure: hopClocks(1500, 4)},
}

// hopClocks sends writes one at a time, at random distances, by one router and by two, and takes the difference of the medians: now and then a link state word
// is in the way.
func hopClocks(size, lanes int) func(context.Context) (Measurement, error) {
	return steps(func(ctx context.Context) Measurement {
		const writes = 101
		var ways [2][]int
		for i := range ways {
			h := try.Get(probe.OpenHops(ctx, 1+i, lanes))
			defer h.Model.Close()
			rng := testbench.NewRand(uint64(size))
			write := linkproto.Packet{Type: linkproto.TypeWrite, Data: rng.Bytes(size)}
			p := try.Get(write.Append(nil))
			for range writes {
				ways[i] = append(ways[i], try.Get(h.Way(p, 600+6*size+rng.IntN(200))))
			}
			slices.Sort(ways[i])
		}
		one, two := ways[0], ways[1]
		return Measurement{Value: float64(two[writes/2] - one[writes/2]), Note: fmt.Sprintf("median of %d writes: %d clocks by one router (%d to %d), %d by two (%d to %d)",
			writes, one[writes/2], one[0], one[writes-1], two[writes/2], two[0], two[writes-1])}
	})
}
