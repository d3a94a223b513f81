package testbench_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

var adder = verilator.Design{Top: "adder", Sources: []string{"testdata/adder.v"}}

type adderPorts struct {
	Rst       *bool   `port:"*"`
	A, B, Sum *uint32 `port:"*"`
}

// quiet opens a bench that reports errors instead of failing the test.
func quiet(t *testing.T, d verilator.Design, c testbench.Config) *testbench.Bench {
	t.Helper()
	c.Wave = testbench.WaveNever
	b := check.Must(testbench.Open(context.Background(), d, c))(t)
	t.Cleanup(func() {
		check.Error(t, b.Close())
	})
	return b
}

func openAdder(t *testing.T, c testbench.Config) (*testbench.Bench, adderPorts) {
	t.Helper()
	b := quiet(t, adder, c)
	var p adderPorts
	check.Fatal(t, b.Bind(&p))
	return b, p
}

func TestAnInputSetAfterAnEdgeIsSeenAtTheNext(t *testing.T) {
	b := testbench.New(t, adder, testbench.Config{Wave: testbench.WaveNever})
	var p adderPorts
	b.Bind(&p)
	b.Reset("rst", 2)
	b.Go("driver", func(c *testbench.Task) {
		rng := b.Rand("driver")
		for range 1000 {
			*p.A, *p.B = rng.Uint32(), rng.Uint32()
			want := *p.A + *p.B
			c.Rising(b.Main())
			if *p.Sum != want {
				c.Fatalf("sum is %d, want %d", *p.Sum, want)
			}
		}
	})
	b.Run(1000)
	check.Equal(t, "cycles", b.Cycle(), 1002)
}

// schedule writes down who ran when.
func schedule(b *testbench.Bench) string {
	var log strings.Builder
	for _, name := range []string{"a", "b", "c"} {
		b.Go(name, func(c *testbench.Task) {
			for range 4 {
				fmt.Fprintf(&log, "%d%s ", b.Cycle(), name)
				c.Cycles(1)
			}
		})
	}
	if err := b.Run(10); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(log.String())
}

func TestCoroutinesRunInTheOrderOfTheirCreation(t *testing.T) {
	b, _ := openAdder(t, testbench.Config{})
	check.Equal(t, "schedule", schedule(b), "0a 0b 0c 1a 1b 1c 2a 2b 2c 3a 3b 3c")
}

func TestShuffledOrderFollowsFromTheSeed(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(4) {
		var runs [2]string
		for i := range runs {
			b, _ := openAdder(t, testbench.Config{Seed: seed, Shuffle: true})
			runs[i] = schedule(b)
		}
		check.Equal(t, fmt.Sprintf("schedules of seed %d", seed), runs[0], runs[1])
		seen[runs[0]] = true
	}
	if len(seen) < 2 {
		t.Errorf("four seeds gave one order: %v", seen)
	}
}

func TestWaits(t *testing.T) {
	b, p := openAdder(t, testbench.Config{})
	*p.Rst, *p.A, *p.B = true, 0, 0
	check.Fatal(t, b.Step(3))
	*p.Rst = false
	var log []string
	note := func(what string) { log = append(log, fmt.Sprintf("%d:%s", b.Cycle(), what)) }
	slow := b.Go("slow", func(c *testbench.Task) {
		c.Cycles(0)
		c.Cycles(7)
		note("slow")
	})
	b.Go("starter", func(c *testbench.Task) {
		c.Cycles(2)
		child := b.Go("child", func(c *testbench.Task) {
			note("child")
			*p.A = 5
			c.Cycles(1)
			note("child")
		})
		c.Join(child, slow)
		note("joined")
	})
	b.Go("watcher", func(c *testbench.Task) {
		c.Until(func() bool { return *p.Sum == 5 }, 20)
		note("sum")
		if c.TryUntil(func() bool { return *p.Sum == 6 }, 3) {
			c.Fatalf("sum became 6")
		}
		note("gave up")
	})
	check.Fatal(t, b.Run(100))
	check.Equal(t, "order", fmt.Sprint(log), "[5:child 6:sum 6:child 9:gave up 10:slow 10:joined]")
}

func TestATimeoutSaysWhoWaitsWhere(t *testing.T) {
	b, p := openAdder(t, testbench.Config{})
	b.Background("idler", func(c *testbench.Task) {
		for {
			c.Cycles(1)
		}
	})
	stuck := b.Go("stuck", func(c *testbench.Task) {
		*p.A = 1
		c.Until(func() bool { return *p.Sum == 77 }, 0)
	})
	b.Go("joiner", func(c *testbench.Task) { c.Join(stuck) })
	err := b.Run(50)
	var timeout *testbench.TimeoutError
	if !errors.As(err, &timeout) || timeout.Cycles != 50 || timeout.Deadlock || len(timeout.Waiting) != 2 {
		t.Fatalf("got %v", err)
	}
	check.Contains(t, "error", err.Error(), "after 50 cycles", "stuck waits for a condition at coroutine_test.go:",
		"joiner waits for the end of coroutine stuck at coroutine_test.go:")
	check.Equal(t, "cycles", b.Cycle(), 50)
}

func TestADeadlockIsSeenAtOnce(t *testing.T) {
	b, _ := openAdder(t, testbench.Config{})
	var first *testbench.Task
	first = b.Go("first", func(c *testbench.Task) {
		second := b.Go("second", func(c *testbench.Task) { c.Join(first) })
		c.Join(second)
	})
	err := b.Run(1 << 40)
	var timeout *testbench.TimeoutError
	if !errors.As(err, &timeout) || !timeout.Deadlock || b.Cycle() != 0 {
		t.Fatalf("cycle %d: got %v", b.Cycle(), err)
	}
}

// TestADeadlockIsSeenBesideOthers: what cannot go on is named though observers look and a background task goes on.
func TestADeadlockIsSeenBesideOthers(t *testing.T) {
	for name, c := range map[string]struct {
		idle   uint64
		start  func(b *testbench.Bench)
		cycles uint64
		want   []string
	}{
		"a circle of three": {start: func(b *testbench.Bench) {
			b.Background("ticks", func(c *testbench.Task) {
				for {
					c.Cycles(1)
				}
			})
			b.Observe(b.Main(), func() {})
			tasks := map[string]*testbench.Task{}
			for name, other := range map[string]string{"ape": "bee", "bee": "cat", "cat": "ape"} {
				tasks[name] = b.Go(name, func(c *testbench.Task) {
					c.Cycles(5)
					c.Join(tasks[other])
				})
			}
		}, cycles: 5, want: []string{"ape waits for the end of coroutine bee at coroutine_test.go:", "cat waits for the end of coroutine ape"}},
		"a lock, beside a task that ticks": {idle: 100, start: func(b *testbench.Bench) {
			lock := testbench.NewSemaphore("bus", 1)
			b.Background("ticks", func(c *testbench.Task) {
				for {
					c.Cycles(1)
				}
			})
			b.Go("twice", func(c *testbench.Task) {
				c.Cycles(7)
				lock.Acquire(c, 1)
				lock.Acquire(c, 1)
			})
		}, cycles: 107, want: []string{"twice waits for permits of semaphore bus at coroutine_test.go:"}},
		"an observer that wakes nobody": {start: func(b *testbench.Bench) {
			h, err := b.Handshake(nil, verilator.Channel{Data: "sum"})
			if err == nil {
				_, err = b.Monitor(h, testbench.MonitorConfig{})
			}
			check.Fatal(t, err)
			var q testbench.Queue[int]
			b.Go("hungry", func(c *testbench.Task) { q.Get(c) })
		}, cycles: 0, want: []string{"hungry waits for an item of queue"}},
	} {
		b, _ := openAdder(t, testbench.Config{Idle: c.idle})
		c.start(b)
		err := b.Run(1 << 40)
		var timeout *testbench.TimeoutError
		if !errors.As(err, &timeout) || !timeout.Deadlock || b.Cycle() != c.cycles {
			t.Fatalf("%s: cycle %d: got %v", name, b.Cycle(), err)
		}
		check.Contains(t, name, err.Error(), c.want...)
	}
}

// TestWhatReadsAWatchMayWake: a task that waits for it is in no deadlock.
func TestWhatReadsAWatchMayWake(t *testing.T) {
	b, p := openAdder(t, testbench.Config{})
	var sums testbench.Queue[uint64]
	_, err := b.Watch(verilator.Channel{Data: "sum"}, 0, func(w *verilator.Watch) {
		for w.Len() > 0 {
			if e, _ := w.Next(nil); e.Data == 9 {
				sums.TryPut(e.Data)
			}
		}
	})
	check.Fatal(t, err)
	*p.A = 9
	b.Go("hungry", func(c *testbench.Task) { sums.Get(c) })
	check.Fatal(t, b.Run(2000))
}

func TestStepMovesTimeThoughCoroutinesAreStuck(t *testing.T) {
	b, _ := openAdder(t, testbench.Config{})
	var self *testbench.Task
	self = b.Go("self", func(c *testbench.Task) { c.Join(self) })
	if err := b.Step(7); err != nil || b.Cycle() != 7 {
		t.Errorf("cycle %d: %v", b.Cycle(), err)
	}
}

func TestAPanicOfAnObserverIsAFailure(t *testing.T) {
	b, _ := openAdder(t, testbench.Config{})
	b.Observe(b.Main(), func() {
		if b.Cycle() == 4 {
			panic("boom")
		}
	})
	var failure *testbench.Failure
	if err := b.Step(10); !errors.As(err, &failure) || failure.Cycle != 4 || !strings.Contains(err.Error(), "boom") {
		t.Errorf("got %v", err)
	}
}

func TestFailuresNameTheCoroutineAndThePlace(t *testing.T) {
	bodies := map[string]func(c *testbench.Task){
		"Fatalf":    func(c *testbench.Task) { c.Fatalf("boom") },
		"Errorf":    func(c *testbench.Task) { c.Bench().Errorf("boom"); c.Cycles(9) },
		"panic":     func(*testbench.Task) { panic("boom") },
		"condition": func(c *testbench.Task) { c.Until(func() bool { panic("boom") }, 1) },
		"later condition": func(c *testbench.Task) {
			calls := 0
			c.Until(func() bool {
				if calls++; calls > 1 {
					panic("boom")
				}
				return false
			}, 9)
		},
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			b, _ := openAdder(t, testbench.Config{})
			bystander := false
			b.Background("bystander", func(c *testbench.Task) {
				defer func() { bystander = true }()
				for {
					c.Cycles(1)
				}
			})
			b.Go("culprit", func(c *testbench.Task) {
				c.Cycles(3)
				body(c)
			})
			err := b.Run(100)
			var failure *testbench.Failure
			if !errors.As(err, &failure) {
				t.Fatalf("got %v", err)
			}
			if failure.Coroutine != "culprit" || failure.Cycle < 3 || failure.Cycle > 4 {
				t.Errorf("coroutine %q, cycle %d", failure.Coroutine, failure.Cycle)
			}
			check.Contains(t, "error", err.Error(), "boom", "coroutine_test.go:")
			if again := b.Run(100); again == nil || b.Cycle() > 4 {
				t.Errorf("a failed bench ran on: %v, cycle %d", again, b.Cycle())
			}
			if err := b.Close(); err != nil || !bystander {
				t.Errorf("Close: %v; the other coroutine's defer ran: %v", err, bystander)
			}
		})
	}
}

func TestMisuseIsReported(t *testing.T) {
	misuses := map[string]func(b *testbench.Bench, c, other *testbench.Task){
		"Run or Step called":      func(b *testbench.Bench, c, _ *testbench.Task) { b.Run(1) },
		"made to wait by another": func(_ *testbench.Bench, _, other *testbench.Task) { other.Cycles(1) },
	}
	for want, misuse := range misuses {
		b, _ := openAdder(t, testbench.Config{})
		other := b.Background("other", func(c *testbench.Task) { c.Cycles(100) })
		b.Go("misuser", func(c *testbench.Task) { misuse(b, c, other) })
		check.Fails(t, "misuse", b.Run(10), nil, want)
	}
}

func TestClosedBenchRefusesToRun(t *testing.T) {
	b, _ := openAdder(t, testbench.Config{})
	b.Close()
	check.Fails(t, "Run of a closed bench", b.Run(1), verilator.ErrClosed)
}

func TestObserversSeeWhatTheRegistersWillSee(t *testing.T) {
	b, p := openAdder(t, testbench.Config{})
	var want, got []uint32
	b.Observe(b.Main(), func() { got = append(got, *p.A) })
	b.Go("driver", func(c *testbench.Task) {
		for i := range uint32(5) {
			*p.A = i
			want = append(want, i)
			c.Cycles(1)
		}
	})
	check.Fatal(t, b.Run(10))
	check.Equal(t, "values seen", got, want)
}
