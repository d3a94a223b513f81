// Package planted holds tests that fail on purpose. The kit's own tests run them and look at what they print.
package planted

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

func design(bug string) verilator.Design {
	return verilator.Design{Top: "queue", Sources: []string{"../queue.v"}, Params: map[string]string{"PLANTED": bug}}
}

// traffic sends random items through the queue and compares.
func traffic(b *testbench.Bench, items int) {
	b.Model().Poke("s_valid", 0)
	b.Reset("rst", 2)
	in, _ := b.Sender(verilator.Stream("s"))
	out, _ := b.Receiver(verilator.Stream("m"))
	b.RandomStall("in", in, 30)
	b.RandomStall("out", out, 30)
	expected := testbench.NewScoreboard[uint64](b, "items")
	b.Go("send", func(c *testbench.Task) {
		rng := b.Rand("items")
		for range items {
			v := uint64(rng.Uint32() & 0xFFFF)
			expected.Expect(v)
			in.Put(c, v, false)
			c.Cycles(1)
		}
	})
	b.Go("receive", func(c *testbench.Task) {
		for range items {
			expected.Got(out.Beat(c).Data)
		}
	})
	b.Run(100_000)
}

func TestPlantedBug(t *testing.T) {
	t.Run("random traffic (16 bit)", func(t *testing.T) {
		traffic(testbench.New(t, design("1"), testbench.Config{}), 20_000)
	})
	t.Run("without the bug", func(t *testing.T) {
		traffic(testbench.New(t, design("0"), testbench.Config{}), 2_000)
	})
}

func TestFatalInACoroutine(t *testing.T) {
	b := testbench.New(t, design("0"), testbench.Config{})
	b.Go("impatient", func(c *testbench.Task) {
		c.Cycles(30)
		t.Fatal("enough")
	})
	b.Run(100)
	t.Error("the test went on")
}

func TestPanicInACoroutine(t *testing.T) {
	b := testbench.New(t, design("0"), testbench.Config{})
	b.Go("careless", func(c *testbench.Task) {
		c.Cycles(30)
		var nothing map[string]int
		nothing["x"] = 1
	})
	b.Run(100)
	t.Error("the test went on")
}

func TestPanicInTheTest(t *testing.T) {
	b := testbench.New(t, design("0"), testbench.Config{})
	b.Step(30)
	panic("oh no")
}

func TestTimeout(t *testing.T) {
	b := testbench.New(t, design("0"), testbench.Config{})
	out, _ := b.Receiver(verilator.Stream("m"))
	b.Model().Poke("s_valid", 0)
	b.Reset("rst", 2)
	out.Discard()
	b.Go("patient", func(c *testbench.Task) { out.Frame(c) })
	b.Run(100)
	t.Error("the test went on")
}

func TestBlockedOnAChannel(t *testing.T) {
	b := testbench.New(t, design("0"), testbench.Config{Watchdog: 500 * time.Millisecond})
	b.Go("patient", func(c *testbench.Task) { c.Cycles(1000) })
	b.Go("blocked", func(c *testbench.Task) {
		c.Cycles(30)
		waitForever()
	})
	b.Run(100)
	t.Error("the test went on")
}

func waitForever() { <-make(chan bool) }

func TestEvaluationWithoutEnd(t *testing.T) {
	d := verilator.Design{Top: "endless", Sources: []string{"endless.v"}, Flags: []string{"--no-timing"}, FS: fstest.MapFS{"endless.v": {Data: []byte(`
module endless (input clk, output reg q);
  initial begin q = 0; forever #7 q = ~q; end
endmodule
`)}}}
	b := testbench.New(t, d, testbench.Config{Watchdog: 500 * time.Millisecond})
	b.Step(30)
	t.Error("the test went on")
}

func TestComputesWithoutEnd(t *testing.T) {
	b := testbench.New(t, design("0"), testbench.Config{Watchdog: 500 * time.Millisecond})
	b.Go("endless", func(c *testbench.Task) {
		c.Cycles(3)
		for n := uint64(1); n != 0; n |= 1 {
		}
	})
	b.Run(1000)
}

func TestBlockedAtClose(t *testing.T) {
	b := testbench.New(t, design("0"), testbench.Config{Watchdog: 500 * time.Millisecond})
	b.Background("stubborn", func(c *testbench.Task) {
		defer waitForever()
		c.Cycles(1000)
	})
	b.Step(10)
}

func TestBlockedObserver(t *testing.T) {
	b := testbench.New(t, design("0"), testbench.Config{Watchdog: 500 * time.Millisecond})
	b.Observe(b.Main(), waitForever)
	b.Step(30)
	t.Error("the test went on")
}
