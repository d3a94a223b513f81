package bench

import (
	"context"
	"embed"
	"time"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

//go:embed coroutine_rate.v
var sources embed.FS

// parts is how many times a rate is measured. The best counts: other programs can only make it worse.
const parts = 8

// CoroutineRate returns how many cycles a second a design runs at when a coroutine reads one port and sets two at
// every clock: the best of eight runs of an eighth of the cycles each. The design does next to nothing, so this is
// the cost of the kit.
func CoroutineRate(ctx context.Context, cycles uint64) (perSecond float64, err error) {
	err = try.Run(func() { perSecond = coroutineRate(ctx, cycles) })
	return perSecond, err
}

func coroutineRate(ctx context.Context, cycles uint64) (perSecond float64) {
	d := verilator.Design{Top: "coroutine_rate", FS: sources, Sources: []string{"coroutine_rate.v"}, Optimize: verilator.Full}
	b := try.Get(testbench.Open(ctx, d, testbench.Config{Wave: testbench.WaveNever}))
	defer b.Close()
	var p struct {
		Enable      *bool   `port:"*"`
		Step, Count *uint32 `port:"*"`
	}
	try.OK(b.Bind(&p))
	var want uint32
	b.Go("driver", func(c *testbench.Task) {
		clk := b.Main()
		for range cycles {
			*p.Enable, *p.Step = true, *p.Count&3+1
			want += *p.Step
			c.Rising(clk)
		}
	})
	for part := range uint64(parts) {
		n := cycles*(part+1)/parts - cycles*part/parts
		start := time.Now()
		try.OK(b.Step(n))
		perSecond = max(perSecond, float64(n)/time.Since(start).Seconds())
	}
	if *p.Count != want {
		try.Failf("bench: the counter is at %d, not at %d", *p.Count, want)
	}
	return perSecond
}
