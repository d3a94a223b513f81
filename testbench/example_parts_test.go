package testbench_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// must ends an example at an error. A test needs nothing of the kind: on a bench of New an error ends it.
func must[V any](v V, err error) V {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// openExample opens a bench of testdata/queue.v, a queue of eight items between two streams.
func openExample() *testbench.Bench {
	b := must(testbench.Open(context.Background(), verilator.Design{Top: "queue", Sources: []string{"testdata/queue.v"}}, testbench.Config{Seed: 1}))
	must(0, b.Reset("rst", 2))
	return b
}

// Frames go through a queue while both sides stall at random.
func ExampleInstance_Sender() {
	b := openExample()
	defer b.Close()
	in, out := must(b.Sender(verilator.Stream("s"))), must(b.Receiver(verilator.Stream("m")))
	b.RandomStall("in", in, 10)
	b.RandomStall("out", out, 10)
	b.Go("send", func(task *testbench.Task) {
		in.Send(task, []byte{1, 2, 3})
		in.Send(task, []byte{4, 5})
	})
	b.Go("receive", func(task *testbench.Task) {
		fmt.Println(out.Frame(task), out.Frame(task))
	})
	must(0, b.Run(1000))
	// Output: [1 2 3] [4 5]
}

// Items move one by one, by hand, while a monitor watches the rules of the stream.
func ExampleInstance_Handshake() {
	b := openExample()
	defer b.Close()
	in, out := must(b.Handshake(nil, verilator.Stream("s"))), must(b.Handshake(nil, verilator.Stream("m")))
	watch := must(b.Monitor(out, testbench.MonitorConfig{}))
	b.Go("offer", func(task *testbench.Task) { in.Offer(task, 0x55, true) })
	b.Go("take", func(task *testbench.Task) {
		task.Cycles(5)
		v, last := out.Take(task)
		fmt.Printf("%#x %v\n", v, last)
	})
	must(0, b.Run(1000))
	fmt.Println(watch.Items(), "item,", watch.Stalls() > 0)
	// Output:
	// 0x55 true
	// 1 item, true
}

// A task waits for a condition, with a limit in cycles.
func ExampleTask_Until() {
	b := openExample()
	defer b.Close()
	in, ready := must(b.Sender(verilator.Stream("s"))), must(b.Signal("s_ready"))
	must(0, b.Model().Poke("m_ready", 0))
	b.Go("fill", func(task *testbench.Task) {
		for i := range uint64(8) {
			in.Put(task, i, false)
		}
		task.Until(func() bool { return !ready.Is() }, 100)
		fmt.Println("the queue is full")
	})
	must(0, b.Run(1000))
	// Output: the queue is full
}

// A failure names the task, the cycle and the place.
func ExampleTask_Fatalf() {
	b := openExample()
	defer b.Close()
	b.Go("check", func(task *testbench.Task) {
		task.Cycles(3)
		task.Fatalf("count is %d, want %d", 4, 5)
	})
	failure, _ := errors.AsType[*testbench.Failure](b.Run(1000))
	fmt.Println(failure.Coroutine, "in cycle", failure.Cycle, "says:", failure.Err)
	// Output: check in cycle 5 says: count is 4, want 5
}

// What comes out in any order is compared as a set.
func ExampleNewUnordered() {
	s := testbench.NewUnordered[string](nil, "answers")
	s.Expect("read 1")
	s.Expect("read 2")
	fmt.Println(s.Got("read 2"), s.Got("read 1"), s.Finish())
	// Output: <nil> <nil> <nil>
}

// Streams of random numbers follow from the seed and a name: a new one does not disturb the others.
func ExampleRand() {
	r := testbench.NewRand(7).Split("operands")
	fmt.Println(r.Between(1, 6), r.Between(1, 6), testbench.Pick(r, "read", "write"))
	// Output: 4 1 write
}
