package testbench_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
)

// diary notes what tasks do, with the cycle.
type diary struct {
	b     *testbench.Bench
	lines []string
}

func (d *diary) note(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf("%d:%s", d.b.Cycle(), fmt.Sprintf(format, args...)))
}

func TestTasksWaitForEachOther(t *testing.T) {
	for _, c := range []struct {
		name string
		body func(b *testbench.Bench, note func(string, ...any))
		want string
	}{
		{"event wakes who waits, at the same edge", func(b *testbench.Bench, note func(string, ...any)) {
			up := testbench.Event{Name: "up"}
			for _, name := range []string{"a", "b"} {
				b.Go(name, func(c *testbench.Task) { up.Wait(c); note("%s", name) })
			}
			b.Go("setter", func(c *testbench.Task) {
				c.Cycles(3)
				up.Set()
				note("set")
				c.Cycles(1)
				up.Wait(c)
				note("again")
			})
		}, "3:set 3:a 3:b 4:again"},
		{"pulse does not last", func(b *testbench.Bench, note func(string, ...any)) {
			var tick testbench.Event
			b.Go("early", func(c *testbench.Task) { tick.Wait(c); note("early"); tick.Wait(c); note("early") })
			b.Go("late", func(c *testbench.Task) { c.Cycles(3); tick.Wait(c); note("late") })
			b.Go("pulser", func(c *testbench.Task) {
				for range 2 {
					c.Cycles(2)
					tick.Pulse()
				}
			})
		}, "2:early 4:early 4:late"},
		{"observer sets an event before an edge", func(b *testbench.Bench, note func(string, ...any)) {
			seen := testbench.Event{Name: "seen"}
			b.Observe(b.Main(), func() {
				if b.Cycle() == 4 {
					seen.Set()
				}
			})
			b.Go("waiter", func(c *testbench.Task) { seen.Wait(c); note("seen") })
		}, "5:seen"},
		{"queue holds back who puts, and serves in turn", func(b *testbench.Bench, note func(string, ...any)) {
			q := testbench.Queue[int]{Name: "q", Limit: 2}
			b.Go("putter", func(c *testbench.Task) {
				for i := range 5 {
					q.Put(c, i)
					note("put %d", i)
				}
			})
			for _, name := range []string{"x", "y"} {
				b.Go(name, func(c *testbench.Task) {
					c.Cycles(2)
					note("%s got %d", name, q.Get(c))
					c.Cycles(1)
					note("%s got %d", name, q.Get(c))
				})
			}
		}, "0:put 0 0:put 1 2:x got 0 2:y got 1 2:put 2 2:put 3 3:x got 2 3:y got 3 3:put 4"},
		{"who asked first is served first", func(b *testbench.Bench, note func(string, ...any)) {
			s := testbench.NewSemaphore("bus", 2)
			hold := func(name string, n int, from, cycles uint64) {
				b.Go(name, func(c *testbench.Task) {
					c.Cycles(from)
					s.Acquire(c, n)
					note("%s", name)
					c.Cycles(cycles)
					s.Release(n)
				})
			}
			hold("one", 1, 0, 5)
			hold("both", 2, 1, 2)
			hold("small", 1, 2, 1) // one is free, but both asked before
		}, "0:one 5:both 7:small"},
		{"time passes between edges", func(b *testbench.Bench, note func(string, ...any)) {
			b.Go("a", func(c *testbench.Task) {
				c.Time(34)
				note("time %d", b.Time())
				c.Rising(b.Main())
				note("time %d", b.Time())
				c.Time(0)
				c.Time(10)
				note("time %d", b.Time())
			})
		}, "3:time 34 4:time 40 5:time 50"},
		{"a task that is stopped runs what it deferred", func(b *testbench.Bench, note func(string, ...any)) {
			victim := b.Go("victim", func(c *testbench.Task) {
				defer note("undone")
				c.Cycles(1000)
			})
			b.Go("other", func(c *testbench.Task) { c.Join(victim); note("joined") })
			b.Go("killer", func(c *testbench.Task) {
				c.Cycles(2)
				victim.Stop()
				unborn := b.Go("unborn", func(*testbench.Task) { note("born") })
				unborn.Stop()
				c.Stop()
				note("alive")
			})
		}, "2:undone 2:joined"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, _ := openAdder(t, testbench.Config{})
			d := diary{b: b}
			c.body(b, d.note)
			check.Fatal(t, b.Run(1000))
			check.Equal(t, "order", strings.Join(d.lines, " "), c.want)
		})
	}
}

func TestFirstSaysWhatCameFirst(t *testing.T) {
	for _, c := range []struct {
		name  string
		waits func(b *testbench.Bench) []testbench.Wait
		want  string // index@cycle
	}{
		{"cycles", func(b *testbench.Bench) []testbench.Wait {
			return []testbench.Wait{testbench.Cycles(9), testbench.Cycles(4), testbench.Time(55)}
		}, "1@4"},
		{"time between edges", func(b *testbench.Bench) []testbench.Wait {
			return []testbench.Wait{testbench.Cycles(9), testbench.Time(33)}
		}, "1@3"},
		{"edge", func(b *testbench.Bench) []testbench.Wait {
			return []testbench.Wait{testbench.Cycles(9), b.Main().Falls(), b.Main().Rises()}
		}, "2@1"}, // the clock is low until it rises for the first time
		{"of two at once the first of the list", func(b *testbench.Bench) []testbench.Wait {
			return []testbench.Wait{testbench.Cycles(9), testbench.Cycles(5), testbench.Time(50)}
		}, "1@5"},
		{"at once", func(b *testbench.Bench) []testbench.Wait {
			return []testbench.Wait{testbench.Cycles(9), b.Main().When(func() bool { return true })}
		}, "1@0"},
		{"condition", func(b *testbench.Bench) []testbench.Wait {
			return []testbench.Wait{testbench.Cycles(9), b.Main().When(func() bool { return b.Cycle() == 6 })}
		}, "1@6"},
		{"event", func(b *testbench.Bench) []testbench.Wait {
			var e testbench.Event
			b.Go("setter", func(c *testbench.Task) { c.Cycles(3); e.Pulse() })
			return []testbench.Wait{testbench.Cycles(9), e.Happens()}
		}, "1@3"},
		{"queue", func(b *testbench.Bench) []testbench.Wait {
			var q testbench.Queue[string]
			b.Go("putter", func(c *testbench.Task) { c.Cycles(2); q.Put(c, "x") })
			return []testbench.Wait{testbench.Cycles(9), q.Filled()}
		}, "1@2"},
		{"task", func(b *testbench.Bench) []testbench.Wait {
			other := b.Go("other", func(c *testbench.Task) { c.Cycles(7) })
			return []testbench.Wait{testbench.Cycles(9), other.Ends()}
		}, "1@7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, _ := openAdder(t, testbench.Config{})
			waits := c.waits(b)
			var got string
			b.Go("waiter", func(c *testbench.Task) {
				i := c.First(waits...)
				got = fmt.Sprintf("%d@%d", i, b.Cycle())
				c.Cycles(20) // nothing of the wait is left
			})
			check.Fatal(t, b.Run(100))
			check.Equal(t, "first", got, c.want)
		})
	}
}

func TestWithinGivesUpInTime(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit testbench.Wait
		body  func(c *testbench.Task, q *testbench.Queue[int])
		wait  string // what it waited for; "" when it was done
		at    uint64
	}{
		{"done in time", testbench.Cycles(5), func(c *testbench.Task, _ *testbench.Queue[int]) { c.Cycles(5) }, "", 5},
		{"cycles", testbench.Cycles(5), func(c *testbench.Task, _ *testbench.Queue[int]) { c.Cycles(6) }, "cycles of clk", 5},
		{"time", testbench.Time(33), func(c *testbench.Task, _ *testbench.Queue[int]) { c.Cycles(6) }, "cycles of clk", 3},
		{"many short waits", testbench.Cycles(5), func(c *testbench.Task, _ *testbench.Queue[int]) {
			for {
				c.Rising(c.Bench().Main())
			}
		}, "a rising edge of clk", 5},
		{"condition", testbench.Cycles(5), func(c *testbench.Task, _ *testbench.Queue[int]) {
			c.Until(func() bool { return c.Bench().Cycle() == 6 }, 0)
		}, "a condition", 5},
		{"condition at the limit", testbench.Cycles(5), func(c *testbench.Task, _ *testbench.Queue[int]) {
			c.Until(func() bool { return c.Bench().Cycle() == 5 }, 0)
		}, "", 5},
		{"condition between edges", testbench.Time(33), func(c *testbench.Task, _ *testbench.Queue[int]) {
			c.Until(func() bool { return c.Bench().Time() == 33 }, 0)
		}, "a condition", 3},
		{"own limit first", testbench.Cycles(5), func(c *testbench.Task, _ *testbench.Queue[int]) {
			if c.TryUntil(func() bool { return false }, 5) {
				c.Fatalf("held")
			}
		}, "", 5},
		{"queue", testbench.Cycles(5), func(c *testbench.Task, q *testbench.Queue[int]) { q.Get(c) }, "an item of queue q", 5},
		{"first", testbench.Cycles(5), func(c *testbench.Task, q *testbench.Queue[int]) {
			c.First(q.Filled(), testbench.Cycles(8))
		}, "the first of an item of queue q, cycles", 5},
		{"inner one", testbench.Cycles(9), func(c *testbench.Task, _ *testbench.Queue[int]) {
			err := c.Within(testbench.Cycles(2), func() { c.Cycles(100) })
			if !errors.As(err, new(*testbench.ExpiredError)) {
				c.Fatalf("inner: %v", err)
			}
			c.Cycles(1)
		}, "", 3},
		{"outer one", testbench.Cycles(3), func(c *testbench.Task, _ *testbench.Queue[int]) {
			c.Within(testbench.Cycles(20), func() { c.Cycles(100) })
			c.Fatalf("the inner one took the limit of the outer one")
		}, "cycles of clk", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, _ := openAdder(t, testbench.Config{})
			q := testbench.Queue[int]{Name: "q"}
			var err error
			b.Go("waiter", func(task *testbench.Task) {
				err = task.Within(c.limit, func() { c.body(task, &q) })
				check.Equal(t, "cycle", b.Cycle(), c.at)
				task.Cycles(30)
			})
			check.Fatal(t, b.Run(100))
			var e *testbench.ExpiredError
			if errors.As(err, &e) != (c.wait != "") {
				t.Fatalf("got %v", err)
			}
			if e != nil {
				check.Equal(t, "wait", e.Waiting.For, c.wait)
				check.Contains(t, "error", err.Error(), "waiter waits for "+c.wait+" at event_test.go:", "called at ")
			}
		})
	}
}

func TestATaskThatGivesUpLeavesTheQueueToTheNext(t *testing.T) {
	b, _ := openAdder(t, testbench.Config{})
	q := testbench.Queue[int]{Name: "q"}
	got := 0
	b.Go("impatient", func(c *testbench.Task) { c.Within(testbench.Cycles(2), func() { q.Get(c) }) })
	b.Go("patient", func(c *testbench.Task) { got = q.Get(c) })
	b.Go("putter", func(c *testbench.Task) { c.Cycles(5); q.Put(c, 7) })
	check.Fatal(t, b.Run(100))
	check.Equal(t, "item", got, 7)
}

func TestUntilAtLooksAtAnotherClock(t *testing.T) {
	b := quiet(t, twoClocks, testbench.Config{})
	slow := check.Must(b.Clock("other_clk", 30, 5))(t)
	var times []uint64
	now := b.Time
	b.Go("crosser", func(c *testbench.Task) {
		c.UntilAt(slow, func() bool { times = append(times, now()); return now() >= 60 }, 5)
		if c.TryUntilAt(slow, func() bool { return false }, 2) || now() != 125 {
			c.Fatalf("time %d", now())
		}
	})
	check.Fatal(t, b.Run(100))
	check.Equal(t, "looks", times, []uint64{0, 35, 65})
}

func TestWhoWaitsInVainIsNamedWithItsCalls(t *testing.T) {
	b, _ := openAdder(t, testbench.Config{})
	q := testbench.Queue[int]{Name: "requests"}
	take := func(c *testbench.Task) int { return q.Get(c) }
	b.Go("server", func(c *testbench.Task) { take(c) })
	err := b.Run(1 << 40)
	var timeout *testbench.TimeoutError
	if !errors.As(err, &timeout) || !timeout.Deadlock {
		t.Fatalf("got %v", err)
	}
	check.Equal(t, "calls", strings.Count(timeout.Waiting[0].Stack, "event_test.go:"), 2)
	check.Contains(t, "error", err.Error(), "server waits for an item of queue requests at event_test.go:", "called at ", "TestWhoWaitsInVain")
}

func TestCoroutinesThatWakeEachOtherForEverAreNamed(t *testing.T) {
	b, _ := openAdder(t, testbench.Config{})
	var ping, pong testbench.Queue[int]
	b.Go("ping", func(c *testbench.Task) {
		for {
			pong.Put(c, ping.Get(c))
		}
	})
	b.Go("pong", func(c *testbench.Task) {
		ping.Put(c, 1)
		for {
			ping.Put(c, pong.Get(c))
		}
	})
	err := b.Run(10)
	if err == nil || b.Cycle() != 0 {
		t.Fatalf("cycle %d: %v", b.Cycle(), err)
	}
	check.Contains(t, "error", err.Error(), "without end while no time passes", "ping")
}

// Whatever tasks do with queues and limits, items come out once and in order, and the run of a seed repeats.
func TestQueuesLoseNothing(t *testing.T) {
	b, _ := openAdder(t, testbench.Config{Shuffle: true})
	rapid.Check(t, func(r *rapid.T) {
		producers, consumers := rapid.IntRange(1, 3).Draw(r, "producers"), rapid.IntRange(1, 3).Draw(r, "consumers")
		q := testbench.Queue[[2]int]{Limit: rapid.IntRange(0, 3).Draw(r, "limit")}
		rng := testbench.NewRand(rapid.Uint64().Draw(r, "seed"))
		const each = 12
		for p := range producers {
			b.Go("producer", func(c *testbench.Task) {
				for i := range each {
					c.Cycles(uint64(rng.IntN(3)))
					q.Put(c, [2]int{p, i})
				}
			})
		}
		var got [][2]int
		taken := 0 // or claimed
		for range consumers {
			b.Go("consumer", func(c *testbench.Task) {
				for taken < producers*each {
					err := c.Within(testbench.Cycles(uint64(rng.IntN(4))), func() {
						got = append(got, q.Get(c))
						taken++
						c.Cycles(uint64(rng.IntN(3)))
					})
					if err != nil && rng.Bool() {
						c.Cycles(1)
					}
				}
			})
		}
		if err := b.Run(10_000); err != nil {
			r.Fatal(err)
		}
		next := make([]int, producers)
		for _, item := range got {
			if item[1] != next[item[0]] {
				r.Fatalf("item %d of producer %d came when %d was due: %v", item[1], item[0], next[item[0]], got)
			}
			next[item[0]]++
		}
		if slices.ContainsFunc(next, func(n int) bool { return n != each }) || q.Len() != 0 {
			r.Fatalf("came %v of %d each", next, each)
		}
	})
}
