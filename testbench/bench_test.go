package testbench_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

func benchOf(b *testing.B, d verilator.Design) *testbench.Bench {
	d.Optimize = verilator.Full
	return testbench.New(b, d, testbench.Config{Wave: testbench.WaveNever})
}

// Ten coroutines that all go on at every clock; a cycle is an operation.
func BenchmarkTenCoroutines(b *testing.B) {
	bench := benchOf(b, adder)
	for range 10 {
		bench.Go("busy", func(c *testbench.Task) {
			for range b.N {
				c.Cycles(1)
			}
		})
	}
	b.ResetTimer()
	bench.Run(uint64(b.N))
}

// A queue with a random throttle at both ends, checked item by item; an item is an operation.
func BenchmarkCheckedStream(b *testing.B) {
	bench := benchOf(b, queue(nil))
	bench.Reset("rst", 2)
	slow := verilator.Stream("s")
	slow.Throttle = 0.2
	in, _ := bench.Sender(slow)
	out, _ := bench.Receiver(verilator.Stream("m"))
	items := testbench.NewScoreboard[uint64](bench, "items")
	bench.Go("send", func(c *testbench.Task) {
		for i := range b.N {
			items.Expect(uint64(i) & 0xFFFF)
			in.Put(c, uint64(i), false)
		}
	})
	bench.Go("receive", func(c *testbench.Task) {
		for range b.N {
			items.Got(out.Beat(c).Data)
		}
	})
	b.ResetTimer()
	bench.Run(uint64(b.N)*10 + 100)
}

// A monitor on a stream that moves an item a clock; a cycle is an operation.
func BenchmarkMonitor(b *testing.B) {
	bench := benchOf(b, queue(nil))
	bench.Reset("rst", 2)
	h := check.Must(bench.Handshake(nil, verilator.Stream("m")))(b)
	bench.Monitor(h, testbench.MonitorConfig{})
	b.ResetTimer()
	bench.Step(uint64(b.N))
}
