package bench

import (
	"context"
	"embed"
	"fmt"
	"time"

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
	d := verilator.Design{Top: "coroutine_rate", FS: sources, Sources: []string{"coroutine_rate.v"}, Optimize: verilator.Full}
	b, err := testbench.Open(ctx, d, testbench.Config{Wave: testbench.WaveNever})
	if err != nil {
		return 0, err
	}
	defer b.Close()
	var p struct {
		Enable *bool   `port:"enable"`
		Step   *uint32 `port:"step"`
		Count  *uint32 `port:"count"`
	}
	if err := b.Bind(&p); err != nil {
		return 0, err
	}
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
		if err := b.Step(n); err != nil {
			return 0, err
		}
		perSecond = max(perSecond, float64(n)/time.Since(start).Seconds())
	}
	if *p.Count != want {
		return 0, fmt.Errorf("bench: the counter is at %d, not at %d", *p.Count, want)
	}
	return perSecond, nil
}
