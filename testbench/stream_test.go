package testbench_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

func queue(params map[string]string) verilator.Design {
	return verilator.Design{Top: "queue", Sources: []string{"testdata/queue.v"}, Params: params}
}

func openQueue(t *testing.T, params map[string]string, c testbench.Config) *testbench.Bench {
	t.Helper()
	b := quiet(t, queue(params), c)
	check.Fatal(t, b.Model().Poke("m_ready", 0))
	check.Fatal(t, b.Model().Poke("s_valid", 0))
	check.Fatal(t, b.Reset("rst", 2))
	return b
}

func TestFramesCrossUnderPressure(t *testing.T) {
	b := openQueue(t, nil, testbench.Config{Seed: 3})
	in := check.Must(b.Sender(verilator.Stream("s")))(t)
	out := check.Must(b.Receiver(verilator.Stream("m")))(t)
	b.RandomStall("in", in, 40)
	b.RandomStall("out", out, 40)
	rng := b.Rand("frames")
	var frames [][]byte
	for range 200 {
		frames = append(frames, rng.Bytes(1+rng.Size(40, 16)))
	}
	b.Go("send", func(c *testbench.Task) {
		for _, f := range frames {
			in.Send(c, f)
		}
		in.Drain(c)
	})
	b.Go("receive", func(c *testbench.Task) {
		for i, want := range frames {
			if got := out.Frame(c); !bytes.Equal(got, want) {
				c.Fatalf("frame %d: got %x, want %x", i, got, want)
			}
		}
	})
	check.Fatal(t, b.Run(100_000))
	if in.Stalls() == 0 || out.Stalls() == 0 {
		t.Errorf("stalls: in %d, out %d: there was no pressure", in.Stalls(), out.Stalls())
	}
}

// A sender with little depth has to wait for room; a waiting receiver lets many cycles pass in one run.
func TestASmallSenderWaits(t *testing.T) {
	b := openQueue(t, nil, testbench.Config{})
	small := verilator.Stream("s")
	small.Depth = 2
	in := check.Must(b.Sender(small))(t)
	out := check.Must(b.Receiver(verilator.Stream("m")))(t)
	var got []uint64
	b.Go("receive", func(c *testbench.Task) {
		for range 50 {
			got = append(got, out.Beat(c).Data)
		}
	})
	b.Go("send", func(c *testbench.Task) {
		c.Cycles(500)
		for i := range uint64(50) {
			in.Put(c, i, false)
		}
	})
	check.Fatal(t, b.Run(1000))
	for i, v := range got {
		if v != uint64(i) {
			t.Fatalf("got %v", got)
		}
	}
}

func TestWiresByHand(t *testing.T) {
	b := openQueue(t, nil, testbench.Config{})
	in := check.Must(b.Handshake(nil, verilator.Stream("s")))(t)
	out := check.Must(b.Handshake(b.Main(), verilator.Stream("m")))(t)
	var seen []verilator.Beat
	watch := check.Must(b.Monitor(out, testbench.MonitorConfig{Reset: "rst",
		Item: func(x verilator.Beat) { seen = append(seen, x) }}))(t)
	var got []string
	b.Go("offer", func(c *testbench.Task) {
		for i := range uint64(20) {
			in.Offer(c, i*3, i%4 == 3)
		}
	})
	b.Go("take", func(c *testbench.Task) {
		rng := b.Rand("take")
		for range 20 {
			c.Cycles(uint64(rng.IntN(5)))
			v, last := out.Take(c)
			got = append(got, fmt.Sprint(v, last))
		}
	})
	check.Fatal(t, b.Run(1000))
	for i, g := range got {
		if want := fmt.Sprint(i*3, i%4 == 3); g != want || fmt.Sprint(seen[i].Data, seen[i].Last) != want {
			t.Errorf("item %d: got %s, the monitor %v, want %s", i, g, seen[i], want)
		}
	}
	if watch.Items() != 20 || watch.Stalls() == 0 {
		t.Errorf("monitor: %d items, %d stalls", watch.Items(), watch.Stalls())
	}
}

// A register whose ready follows from the other side's at once: who offers sees what the coroutine that takes, which runs later, has set.
func TestReadyOfAnInstant(t *testing.T) {
	b := quiet(t, verilator.Design{Top: "stage", Sources: []string{"testdata/stage.v"}}, testbench.Config{Shuffle: true})
	check.Fatal(t, errors.Join(b.Model().Poke("m_ready", 0), b.Model().Poke("s_valid", 0), b.Reset("rst", 2)))
	in, out := check.Must(b.Handshake(nil, verilator.Stream("s")))(t), check.Must(b.Handshake(nil, verilator.Stream("m")))(t)
	const items = 200
	b.Go("offer", func(c *testbench.Task) {
		for i := range uint64(items) {
			in.Offer(c, i, false)
			c.Cycles(uint64(b.Rand("offer").IntN(3)))
		}
	})
	b.Go("take", func(c *testbench.Task) {
		for i := range uint64(items) {
			c.Cycles(uint64(b.Rand("take").IntN(3)))
			if v, _ := out.Take(c); v != i {
				c.Fatalf("item %d is %d", i, v)
			}
		}
	})
	check.Fatal(t, b.Run(5000))
}

func TestMonitorCatchesViolations(t *testing.T) {
	for _, c := range []struct {
		param, want string
		maxStall    uint64
	}{
		{"RUDE", "valid was withdrawn before ready took the item", 0},
		{"SHAKY", "data changed while the item waited for ready", 0},
		{"", "ready has not come in time", 5},
	} {
		t.Run(c.want, func(t *testing.T) {
			params := map[string]string{}
			if c.param != "" {
				params[c.param] = "1"
			}
			b := openQueue(t, params, testbench.Config{})
			in := check.Must(b.Sender(verilator.Stream("s")))(t)
			h := check.Must(b.Handshake(nil, verilator.Stream("m")))(t)
			var found []string
			check.Must(b.Monitor(h, testbench.MonitorConfig{MaxStall: c.maxStall,
				Violation: func(cycle uint64, what string) { found = append(found, fmt.Sprintf("%d %s", cycle, what)) }}))(t)
			in.Source.Put(7, false)
			check.Fatal(t, b.Step(14))
			// Two cycles of reset; at edge 3 the source offers, at 4 the queue takes, from 5 on the item waits.
			when := 14
			if c.maxStall > 0 {
				when = 10
			}
			if want := fmt.Sprint(when, " ", c.want); len(found) == 0 || found[0] != want {
				t.Errorf("got %v, want %s", found, want)
			}
		})
	}
}

func TestAViolationEndsTheRun(t *testing.T) {
	b := openQueue(t, map[string]string{"RUDE": "1"}, testbench.Config{})
	in := check.Must(b.Sender(verilator.Stream("s")))(t)
	h := check.Must(b.Handshake(nil, verilator.Stream("m")))(t)
	check.Must(b.Monitor(h, testbench.MonitorConfig{Name: "out"}))(t)
	in.Source.Put(7, false)
	if err := b.Step(100); err == nil || b.Cycle() > 14 {
		t.Errorf("cycle %d: %v", b.Cycle(), err)
	}
}

func TestSignals(t *testing.T) {
	b := openQueue(t, nil, testbench.Config{})
	high := check.Must(b.Signal("s_data[15:12]"))(t)
	bit := check.Must(b.Signal("s_data[3]"))(t)
	whole := check.Must(b.Signal("s_data"))(t)
	whole.Set(0xFFFF)
	high.Set(0x25)
	bit.Set(0)
	if whole.Get() != 0x5FF7 || high.Get() != 5 || bit.Is() {
		t.Errorf("whole %#x, high %#x, bit %v", whole.Get(), high.Get(), bit.Is())
	}
	for _, bad := range []string{"nothing", "s_data[16]", "s_data[1:2]"} {
		if _, err := b.Signal(bad); err == nil {
			t.Errorf("%s was found", bad)
		}
	}
	b.Close()
	check.Equal(t, "after Close", whole.Get(), 0x5FF7)
}
