package figures

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

var trunkFigures = []Figure{
	{Name: "trunk_6_share", Doc: "payload as a share of six symbols a clock, link and host ports of six lanes: remote writes of 1,500 bytes, both ways, WIDTH 8, ACK_DELAY 256",
		Must: new(0.97), Aim: new(0.985), Published: "GigaE PM, trunk of 6, jumbo frames, one way: 0.979", Long: true, Measure: steps(trunkShare(6))},
	{Name: "trunk_8_share", Doc: "the same of eight symbols a clock, with eight lanes",
		Must: new(0.97), Aim: new(0.985), Long: true, Measure: steps(trunkShare(8))},
	{Name: "trunk_serial_share", Doc: "the same over eight serial lanes of 50 clocks a symbol, WIDTH 1, as a share of eight symbols in 50 clocks",
		Must: new(0.975), Aim: new(0.985), Long: true, Measure: steps(trunkSerialShare)},
	{Name: "lane_failover", Doc: "from the last good symbol of one of four lanes until the other three carry their full rate, no packet lost",
		Unit: "cycles", Better: Lower, Must: new(6.0 * wordTimer), Aim: new(4.0 * wordTimer), Long: true, Measure: steps(laneFailover)},
}

const wordTimer = linkproto.DefaultWordTimer

// trunkPair is two network interfaces with 2 KB pages, joined by a link of so many lanes.
func trunkPair(lanes int) ni.Config {
	c := ni.Pair(rtl.Params{PageBytes: 2048, ReplayBytes: 32768, RxBytes: 32768, Width: 8, Lanes: lanes, HostLanes: lanes, AckDelay: 256}, 1)
	c.Optimize, c.Seed, c.Quantum = verilator.Full, 1, 32
	return c
}

func trunkShare(lanes int) func(context.Context) Measurement {
	return func(ctx context.Context) Measurement {
		cycles := uint64(400_000)
		if Quick(ctx) {
			cycles = 100_000
		}
		return shareOfLanes(ctx, trunkPair(lanes), float64(lanes), cycles)
	}
}

func trunkSerialShare(ctx context.Context) Measurement {
	cycles := uint64(4_000_000)
	if Quick(ctx) {
		cycles = 1_000_000
	}
	c := ni.Pair(rtl.Params{PageBytes: 2048, ReplayBytes: 32768, RxBytes: 16384, Lanes: 8, LinkPHY: rtl.Serial}, 1)
	c.Optimize, c.Seed, c.Quantum = verilator.Full, 1, 512
	return shareOfLanes(ctx, c, 8.0/50, cycles)
}

// shareOfLanes is the payload as a share of so many symbols a clock. Lanes bring packets in bursts, one of each, so what is acknowledged is taken
// for a line in time.
func shareOfLanes(ctx context.Context, c ni.Config, symbols float64, cycles uint64) Measurement {
	const size = 1500
	f, t := saturate(ctx, c, size)
	defer f.Close()
	ways := make([]slope, len(t.Streams))
	for begin := f.Cycles; f.Cycles-begin < cycles; {
		try.OK(t.Offer(64), f.Run(1))
		for i, s := range t.Streams {
			ways[i].add(float64(f.Cycles-begin), float64(f.Nodes[s.From.Node].Host.Credit(s.From.Link).FreedBytes))
		}
	}
	var shares [2]float64
	for i := range shares {
		shares[i] = ways[i].value() * size / (size + writeOverhead) / symbols
	}
	return Measurement{Value: (shares[0] + shares[1]) / 2, Note: fmt.Sprintf("%.4f one way, %.4f the other, over %d cycles", shares[0], shares[1], cycles)}
}

// slope is that of the line through some points with the least squares.
type slope struct{ n, x, y, xx, xy float64 }

func (s *slope) add(x, y float64) {
	s.n, s.x, s.y, s.xx, s.xy = s.n+1, s.x+x, s.y+y, s.xx+x*x, s.xy+x*y
}

func (s *slope) value() float64 { return (s.n*s.xy - s.x*s.y) / (s.n*s.xx - s.x*s.x) }

// laneFailover cuts a lane in mid-flight, both ways, and looks when what is acknowledged grows by what the other lanes can carry, and goes on so.
func laneFailover(ctx context.Context) Measurement {
	const lanes, look, after = 4, 500, 12 * wordTimer
	c := ni.Pair(rtl.Params{PageBytes: 1024, ReplayBytes: 16384, RxBytes: 16384, Width: 4, Lanes: lanes, HostLanes: lanes}, 1)
	c.Optimize, c.Seed, c.Quantum = verilator.Full, 1, 50
	f, t := saturate(ctx, c, 1000)
	defer f.Close()
	run := func(clocks uint64) (freed uint64) {
		before := t.Freed()
		for begin := f.Cycles; f.Cycles-begin < clocks; {
			try.OK(t.Offer(64), f.Run(1))
		}
		return t.Freed() - before
	}
	full := float64(run(20*look)) / 20 * (lanes - 1) / lanes
	for _, w := range f.Wires {
		if w.Lane == 2 {
			try.OK(w.Unplug(uint64(linkproto.SymIdle)))
		}
	}
	cut, sum, steady := f.Cycles, 0.0, f.Cycles
	for f.Cycles-cut < after {
		// Acknowledgements come in steps: what matters is the rate since the last time that it was too low.
		sum += float64(run(look))
		if clocks := float64(f.Cycles - steady); sum < 0.97*full*clocks/look-4*1007 {
			steady, sum = f.Cycles, 0
		}
	}
	try.OK(t.Settle(), t.Check(), t.CheckCounters(false))
	return Measurement{Value: float64(steady - cut), Note: fmt.Sprintf("%.2f bytes a clock over three lanes, WORD_TIMER is %d", sum/float64(f.Cycles-steady), wordTimer)}
}
