package testbench_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

var twoClocks = verilator.Design{Top: "two_clocks", Sources: []string{"testdata/two_clocks.v"}}

type twoClocksPorts struct {
	In, Count, OtherCount, Fallen *uint16 `port:"*"`
}

func openTwoClocks(t *testing.T, period, phase uint64) (*testbench.Bench, *testbench.Clock, *twoClocksPorts) {
	t.Helper()
	b := quiet(t, twoClocks, testbench.Config{})
	other := check.Must(b.Clock("other_clk", period, phase))(t)
	p := new(twoClocksPorts)
	check.Fatal(t, b.Bind(p))
	return b, other, p
}

func TestCoroutinesOnTwoClocks(t *testing.T) {
	for _, c := range []struct {
		period, phase uint64
		want          string
	}{
		{7, 0, "o1@7 m1@10 o2@14 m2@20 o3@21 o4@28 m3@30"},
		{10, 3, "m1@10 o1@13 m2@20 o2@23 m3@30"},
		{5, 0, "o1@5 m1@10 o2@10 o3@15 m2@20 o4@20 o5@25 m3@30 o6@30"},
		{25, 0, "m1@10 m2@20 o1@25 m3@30"},
	} {
		b, other, p := openTwoClocks(t, c.period, c.phase)
		var log []string
		b.Go("main", func(c *testbench.Task) {
			for range 3 {
				c.Rising(b.Main())
				log = append(log, fmt.Sprintf("m%d@%d", *p.Count, b.Model().Time()))
			}
		})
		b.Background("other", func(c *testbench.Task) {
			for {
				c.Rising(other)
				log = append(log, fmt.Sprintf("o%d@%d", *p.OtherCount, b.Model().Time()))
			}
		})
		check.Fatal(t, b.Run(10))
		check.Equal(t, fmt.Sprintf("period %d, phase %d", c.period, c.phase), strings.Join(log, " "), c.want)
	}
}

func TestFallingEdges(t *testing.T) {
	b, other, p := openTwoClocks(t, 14, 0)
	var log []string
	b.Go("falling", func(c *testbench.Task) {
		for i := range uint16(3) {
			*p.In = i
			c.Falling(b.Main())
			log = append(log, fmt.Sprintf("%d@%d", *p.Fallen, b.Model().Time()))
		}
		c.Falling(other)
		log = append(log, fmt.Sprint(b.Model().Time()))
	})
	check.Fatal(t, b.Run(10))
	check.Equal(t, "falling edges", fmt.Sprint(log), "[0@15 1@25 2@35 49]")
}

func TestTheDesignMayEndTheRun(t *testing.T) {
	b, _, p := openTwoClocks(t, 10, 0)
	b.Go("long", func(c *testbench.Task) { c.Cycles(5000) })
	if err := b.Run(10_000); !errors.Is(err, verilator.ErrFinish) || *p.Count != 901 || !b.Failed() {
		t.Errorf("count %d, %v", *p.Count, err)
	}
}

func TestABenchWithoutAClockSaysSo(t *testing.T) {
	b := quiet(t, verilator.Design{Top: "two_clocks", Sources: []string{"testdata/two_clocks.v"}}, testbench.Config{Clock: "other_clk"})
	if b.Main().Name() != "other_clk" || b.Main().Period() != 10 {
		t.Errorf("main clock %s", b.Main().Name())
	}
	_, err := testbench.Open(t.Context(), twoClocks, testbench.Config{Clock: "no_clk"})
	check.Fails(t, "a clock that does not exist", err, verilator.ErrPort)
}

// Waiting for an item in one long run ends in the same cycle as looking at every edge.
func TestLongRunsEndWhereShortOnesDo(t *testing.T) {
	var cycles [2]string
	for i := range cycles {
		b := openQueue(t, nil, testbench.Config{Seed: 4})
		in := check.Must(b.Sender(verilator.Stream("s")))(t)
		out := check.Must(b.Receiver(verilator.Stream("m")))(t)
		if i == 1 {
			b.Observe(b.Main(), func() {}) // makes the bench stop at every edge
		}
		b.RandomStall("out", out, 50)
		b.Go("send", func(c *testbench.Task) {
			rng := b.Rand("send")
			for v := range uint64(20) {
				in.Put(c, v, v%3 == 2)
				c.Cycles(uint64(rng.IntN(90)))
			}
			in.Drain(c)
			cycles[i] += fmt.Sprint("drained ", b.Cycle(), " ")
		})
		b.Go("receive", func(c *testbench.Task) {
			for range 5 {
				cycles[i] += fmt.Sprint(len(out.Frame(c)), "@", b.Cycle(), " ")
			}
			cycles[i] += fmt.Sprint(out.Beat(c).Data, "@", b.Cycle(), " ")
		})
		check.Fatal(t, b.Run(10_000))
	}
	check.Equal(t, "cycles of long runs and of short ones", cycles[0], cycles[1])
}
