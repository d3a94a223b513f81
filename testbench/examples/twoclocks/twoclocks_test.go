// Package twoclocks tests a design with two clocks: words cross from one to the other, at several ratios of their periods and phases.
package twoclocks

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

func TestCrossing(t *testing.T) {
	design := verilator.Design{Top: "crossing", Sources: []string{"crossing.v"}}
	for _, clocks := range []struct{ wr, rd, phase uint64 }{{10, 10, 0}, {10, 10, 5}, {10, 7, 2}, {7, 10, 3}, {4, 46, 1}, {46, 4, 1}} {
		t.Run(fmt.Sprintf("%d to %d", clocks.wr, clocks.rd), func(t *testing.T) {
			b := testbench.New(t, design, testbench.Config{Clock: "wr_clk", Period: clocks.wr})
			rd, err := b.Clock("rd_clk", clocks.rd, clocks.phase)
			if err != nil {
				t.Fatal(err)
			}
			var p struct {
				WrRst *bool `port:"*"`
				RdRst *bool `port:"*"`
			}
			b.Bind(&p)
			*p.WrRst, *p.RdRst = true, true
			b.Step(3 * (1 + clocks.rd/clocks.wr)) // three edges of the slower clock
			*p.WrRst, *p.RdRst = false, false

			in, err := b.Sender(verilator.Stream("s")) // on the main clock
			if err != nil {
				t.Fatal(err)
			}
			far := verilator.Stream("m")
			far.Clock = rd.Clock
			out, err := b.Receiver(far)
			if err != nil {
				t.Fatal(err)
			}
			b.RandomStall("out", out, 50)
			words := testbench.NewScoreboard[uint64](b, "words")
			const count = 300
			b.Go("send", func(task *testbench.Task) {
				for range count {
					word := b.Rand("words").Uint64N(1 << 16)
					words.Expect(word)
					in.Put(task, word, false)
				}
			})
			b.Go("receive", func(task *testbench.Task) {
				for range count {
					words.Got(out.Beat(task).Data)
				}
			})
			b.Run(count * 500)
			words.Finish()
		})
	}
}
