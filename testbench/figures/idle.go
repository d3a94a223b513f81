package figures

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/probe"
	"github.com/stafflink/lmmc/verilator"
)

var idleFigures = []Figure{
	{Name: "back_to_back_idle", Doc: "most idle symbols on the wire from a packet's SOP to that of the next while more packets wait, 3 bytes to MAX_PACKET",
		Unit: "symbols", Must: new(0.0), Better: Lower, Measure: steps(backToBackIdle)},
}

// backToBackIdle keeps a link saturated with packets of one size after the other, and of all sizes mixed, both ways at once, and looks at
// every symbol between the first SOP and the last of each.
func backToBackIdle(ctx context.Context) Measurement {
	const longest = 2056
	sizes := []int{0, 63, 64, 65, 500, 1500, longest - 1, longest} // 0: mixed
	for n := linkproto.HeaderBytes; n <= 24; n++ {
		sizes = append(sizes, n)
	}
	worst, packets := 0, 0
	for _, size := range sizes {
		idle, seen := idleSymbols(ctx, size, longest)
		worst, packets = max(worst, idle), packets+seen
	}
	return Measurement{Value: float64(worst), Note: fmt.Sprintf("%d packets of %d sizes, and mixed ones", packets, len(sizes)-1)}
}

func idleSymbols(ctx context.Context, size, longest int) (worst, packets int) {
	l := try.Get(probe.OpenLinkPair(ctx, 1, uint64(size)))
	defer l.Model.Close()
	var lines [2]*verilator.Sink
	for i, name := range []string{"a_line", "b_line"} {
		lines[i] = try.Get(l.Model.Sink(verilator.Channel{Data: name}))
	}
	rng := rand.New(rand.NewPCG(uint64(size), 9))
	wires := [2]gaps{}
	steps := either(ctx, 60, 30)
	for step := range steps {
		try.OK(ctx.Err())
		for side := range 2 {
			for {
				n := size
				if n == 0 {
					n = linkproto.HeaderBytes + rng.IntN(longest-linkproto.HeaderBytes+1)
				}
				if l.Sources[side].Pending() > 4000 || !l.Sources[side].Send(packet(n, rng)) {
					break
				}
			}
		}
		try.OK(l.Model.Run(1000))
		for side := range 2 {
			l.Sinks[side].Discard()
			for b, ok := lines[side].Get(); ok; b, ok = lines[side].Get() {
				// The link comes up and its queue fills first.
				if step > 1 {
					wires[side].symbol(linkproto.Symbol(b.Data))
				}
			}
		}
	}
	for side, w := range wires {
		if w.packets < steps/3 {
			try.Failf("only %d packets of %d bytes on wire %d in %d000 clocks", w.packets, size, side, steps-2)
		}
		worst, packets = max(worst, w.worst), packets+w.packets
	}
	return worst, packets
}

// gaps counts idle symbols from SOP to SOP on a wire.
type gaps struct {
	word    int // symbols left of a link state word
	idle    int
	packets int
	worst   int
}

func (g *gaps) symbol(s linkproto.Symbol) {
	switch {
	case g.word > 0:
		g.word--
	case s == linkproto.SymLSW:
		g.word = linkproto.WordSymbols - 1
	case s == linkproto.SymIdle:
		g.idle++
	case s == linkproto.SymSOP:
		if g.packets > 0 {
			g.worst = max(g.worst, g.idle)
		}
		g.packets++
		g.idle = 0
	}
}
