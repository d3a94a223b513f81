package testbench_test

import (
	"context"
	"fmt"
	"log"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// A program that is not a Go test drives an adder with one coroutine and checks it with another.
func Example() {
	b, err := testbench.Open(context.Background(), verilator.Design{Top: "adder", Sources: []string{"testdata/adder.v"}},
		testbench.Config{Seed: 1, Repeat: "example -seed 1"})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	var p struct {
		A   *uint32 `port:"a"`
		B   *uint32 `port:"b"`
		Sum *uint32 `port:"sum"`
	}
	if err := b.Bind(&p); err != nil {
		log.Fatal(err)
	}
	if err := b.Reset("rst", 2); err != nil {
		log.Fatal(err)
	}
	sums := testbench.NewScoreboard[uint32](b, "sums")
	b.Go("driver", func(c *testbench.Task) {
		rng := b.Rand("driver")
		for range 100 {
			*p.A, *p.B = rng.Uint32(), rng.Uint32()
			sums.Expect(*p.A + *p.B)
			c.Cycles(1)
		}
	})
	b.Go("checker", func(c *testbench.Task) {
		for range 100 {
			c.Cycles(1)
			sums.Got(*p.Sum)
		}
	})
	if err := b.Run(1000); err != nil {
		log.Fatal(err, b.Report())
	}
	fmt.Println(sums.Compared(), "sums compared in", b.Cycle(), "cycles")
	// Output: 100 sums compared in 102 cycles
}

func ExampleFaultPlan() {
	plan := testbench.GenerateFaults(testbench.NewRand(1), testbench.FaultRates{Symbols: 2000, BitError: 1e-4, Drop: 1e-3})
	fmt.Print(plan)
	_, counts := plan.Apply(make([]uint16, 2000), 9)
	fmt.Println(counts)
	// Output:
	// @337 flip 0x2
	// @453 drop
	// 1 flip, 1 drop
}

// A server answers requests of a queue; a client gives up when no answer comes in time.
func ExampleTask_Within() {
	b, err := testbench.Open(context.Background(), verilator.Design{Top: "adder", Sources: []string{"testdata/adder.v"}},
		testbench.Config{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	requests := testbench.Queue[int]{Name: "requests"}
	answers := testbench.Queue[int]{Name: "answers", Limit: 1}
	b.Background("server", func(c *testbench.Task) {
		for range 2 {
			n := requests.Get(c)
			c.Cycles(10)
			answers.Put(c, n*n)
		}
	})
	b.Go("client", func(c *testbench.Task) {
		for n := range 3 {
			requests.Put(c, n)
			err := c.Within(testbench.Cycles(50), func() { fmt.Println("answer", answers.Get(c)) })
			if err != nil {
				fmt.Println("no answer to request", n, "in cycle", b.Cycle())
			}
		}
	})
	if err := b.Run(1000); err != nil {
		log.Fatal(err)
	}
	// Output:
	// answer 0
	// answer 1
	// no answer to request 2 in cycle 70
}
