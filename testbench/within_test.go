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
