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

// CoroutineRate returns how many cycles a second a design runs at when a coroutine reads one port and sets two at
// every clock. The design does next to nothing, so this is the cost of the kit.
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
	b.Go("driver", func(c *testbench.Co) {
		clk := b.Main()
		for range cycles {
			*p.Enable, *p.Step = true, *p.Count&3+1
			want += *p.Step
			c.Rising(clk)
		}
	})
	start := time.Now()
	if err := b.Run(cycles); err != nil {
		return 0, err
	}
	took := time.Since(start)
	if *p.Count != want {
		return 0, fmt.Errorf("bench: the counter is at %d, not at %d", *p.Count, want)
	}
	return float64(cycles) / took.Seconds(), nil
}
