package bench

import (
	"context"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/axis"
	"github.com/stafflink/lmmc/testbench/bus/dut"
	"github.com/stafflink/lmmc/verilator"
)

// longestFrame is in bytes.
const longestFrame = 256

// AxisRate returns how many cycles a second a FIFO of AXI4-Stream runs at between a source and a sink of package axis, with random stalls on both sides
// and a scoreboard of frames: the best of eight runs of an eighth of the cycles each, by CPU time. Data have 64 bits, and all sidebands are there.
func AxisRate(ctx context.Context, cycles uint64, wave testbench.Wave) (perSecond float64, err error) {
	err = try.Run(func() { perSecond = axisRate(ctx, cycles, wave) })
	return perSecond, err
}

func axisRate(ctx context.Context, cycles uint64, wave testbench.Wave) float64 {
	d := dut.Design("axis_fifo", nil)
	d.Optimize = verilator.Full
	b := try.Get(testbench.Open(ctx, d, testbench.Config{Wave: wave, Seed: 1}))
	defer b.Close()
	in := try.Get(axis.NewSource(b, "s_axis", axis.Config{}))
	out := try.Get(axis.NewSink(b, "m_axis", axis.Config{}))
	try.OK(b.Reset("aresetn", 4))
	b.RandomStall("in", in, 200)
	b.RandomStall("out", out, 200)
	frames := testbench.NewScoreboard[axis.Frame](b, "frames")
	r := b.Rand("frames")
	content := r.Bytes(1 << 16)
	b.Go("send", func(c *testbench.Task) {
		for {
			at, n := r.IntN(len(content)-longestFrame), r.Between(1, longestFrame)
			f := axis.Frame{Data: content[at : at+n], ID: r.Uint64N(256), Dest: r.Uint64N(16), User: make([]uint64, (n+7)/8)}
			frames.Expect(f)
			in.Send(c, f)
		}
	})
	b.Go("receive", func(c *testbench.Task) {
		for {
			_ = frames.Got(out.Receive(c))
		}
	})
	rate := best(b, cycles, b.Cycle)
	// Of every cycle, stalls leave a share; frames take 17 transfers in the mean.
	if least := int(cycles / 17 / 5); frames.Compared() < least {
		try.Failf("bench: %d frames in %d cycles, want %d or more", frames.Compared(), cycles, least)
	}
	return rate
}
