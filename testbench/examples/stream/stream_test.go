// Package stream tests a converter between streams of two widths: random frames, random stalls on both sides, a monitor of the rules,
// a scoreboard, and coverage of the cases that matter.
package stream

import (
	"testing"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// axis names the ports of an AXI4-Stream.
func axis(prefix string) verilator.Channel {
	return verilator.Channel{Data: prefix + "_axis_tdata", Valid: prefix + "_axis_tvalid", Ready: prefix + "_axis_tready", Last: prefix + "_axis_tlast"}
}

func TestUpsize(t *testing.T) {
	b := testbench.New(t, verilator.Design{Top: "upsize", Sources: []string{"upsize.v"}}, testbench.Config{})
	b.Reset("rst", 2)
	in, err := b.Sender(axis("s"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.Handshake(nil, axis("m"))
	if err != nil {
		t.Fatal(err)
	}
	keep, err := b.Signal("m_axis_tkeep")
	if err != nil {
		t.Fatal(err)
	}
	b.RandomStall("in", in, 20)

	var cover testbench.Coverage
	bytes := cover.Point("bytes in the last word", testbench.Values(1, 2, 3, 4)...)
	frames := testbench.NewScoreboard[[]byte](b, "frames")
	var frame []byte // so far
	monitor, err := b.Monitor(out, testbench.MonitorConfig{Reset: "rst", Item: func(word verilator.Beat) {
		n := 0
		for ; keep.Get()>>n&1 == 1; n++ {
			frame = append(frame, byte(word.Data>>(8*n)))
		}
		if word.Last {
			bytes.Sample(int64(n))
			frames.Got(frame)
			frame = nil
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	const count = 300
	b.Go("send", func(task *testbench.Task) {
		random := b.Rand("frames")
		for range count {
			sent := random.Bytes(1 + random.Size(20, 4))
			frames.Expect(sent)
			in.Send(task, sent)
		}
	})
	b.Go("take", func(task *testbench.Task) {
		random := b.Rand("ready")
		for frames.Compared() < count {
			if random.Chance(0.3) {
				task.Cycles(uint64(random.Between(1, 12)))
			}
			out.Take(task)
		}
	})
	b.Run(100_000)
	frames.Finish()
	if unhit := cover.Unhit(); len(unhit) > 0 || monitor.Stalls() == 0 {
		t.Errorf("not covered: %q, %d stalls", unhit, monitor.Stalls())
	}
}
