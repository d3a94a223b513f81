package testbench_test

import (
	"errors"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// A wait that was given up is over: time goes on, and an item that comes later is there for who asks for it.
func TestNothingIsLeftOfAWaitThatWasGivenUp(t *testing.T) {
	b := openQueue(t, nil, testbench.Config{})
	in := check.Must(b.Sender(verilator.Stream("s")))(t)
	out := check.Must(b.Receiver(verilator.Stream("m")))(t)
	b.Go("waiter", func(c *testbench.Task) {
		begin := b.Cycle()
		if err := c.Within(testbench.Cycles(5), func() { out.Frame(c) }); !errors.As(err, new(*testbench.ExpiredError)) {
			c.Fatalf("got %v", err)
		}
		in.Send(c, []byte{7})
		c.Cycles(20)
		check.Equal(t, "cycles", b.Cycle()-begin, 25)
		check.Equal(t, "frame", out.Frame(c), []byte{7})
	})
	check.Fatal(t, b.Run(100))
}

// Who is woken within a First for what another has taken still gives up in time.
func TestFirstThatIsWokenInVainGivesUpInTime(t *testing.T) {
	b, _ := openAdder(t, testbench.Config{})
	q := testbench.Queue[int]{Name: "q"}
	b.Go("watcher", func(c *testbench.Task) {
		hit := -2
		err := c.Within(testbench.Cycles(9), func() { hit = c.First(q.Filled(), testbench.Cycles(50)) })
		if !errors.As(err, new(*testbench.ExpiredError)) {
			c.Fatalf("First returned %d, Within %v", hit, err)
		}
		check.Equal(t, "cycle", b.Cycle(), 9)
	})
	b.Go("taker", func(c *testbench.Task) { q.Get(c) })
	b.Go("putter", func(c *testbench.Task) { c.Cycles(3); q.Put(c, 1) })
	check.Fatal(t, b.Run(100))
}
