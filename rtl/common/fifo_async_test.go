package common_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
	"github.com/stafflink/lmmc/verilator"
)

// Whatever the two clocks and the stalls, words come out in order, once; with both sides always
// willing the slower clock sets the rate. With it go its parts, ram_2clk and sync_bit.
func TestFIFOAsync(t *testing.T) {
	for _, depth := range []int{4, 16} {
		for _, c := range []struct{ s, m, phase uint64 }{{10, 10, 0}, {10, 10, 3}, {10, 14, 1}, {14, 10, 5}, {6, 34, 1}, {34, 6, 7}, {100, 98, 11}} {
			for _, throttle := range []float64{0, 0.5} {
				t.Run(fmt.Sprintf("%d/%d:%d+%d/%g", depth, c.s, c.m, c.phase, throttle), func(t *testing.T) {
					var p struct {
						SRst, MRst *bool `port:"*"`
					}
					b := moduletest.New(t, "fifo_async", params{"WIDTH": 16, "DEPTH": depth}, &p)
					r := b.Rand("words")
					in, out := verilator.Stream("s"), verilator.Stream("m")
					in.Clock, out.Clock = check.Must(b.Clock("s_clk", c.s, 0))(t).Clock, check.Must(b.Clock("m_clk", c.m, c.phase))(t).Clock
					in.Throttle, out.Throttle = throttle, throttle
					source, sink := check.Must(b.Source(in))(t), check.Must(b.Sink(out))(t)
					*p.SRst, *p.MRst = true, true
					b.Step(40)
					*p.SRst, *p.MRst = false, false
					sink.Discard()
					const words = 1000
					send := make([]verilator.Beat, words)
					for i := range send {
						send[i].Data = uint64(r.Uint32() & 0xFFFF)
					}
					var first, last uint64
					sent, got := 0, 0
					for turns := 0; got < words; turns++ {
						if turns > 40000 {
							t.Fatalf("stuck after %d of %d words", got, words)
						}
						sent += source.Write(send[sent:])
						b.Step(5)
						for beat, ok := sink.Get(); ok; beat, ok = sink.Get() {
							if beat.Data != send[got].Data {
								t.Fatalf("word %d is %04x, want %04x", got, beat.Data, send[got].Data)
							}
							if got == 100 {
								first = beat.Cycle
							}
							last = beat.Cycle
							got++
						}
					}
					// Deep enough for the round trip of a pointer, it runs at the slower clock's rate.
					if want := float64(words-101) * max(1, float64(c.s)/float64(c.m)); depth == 16 && throttle == 0 && float64(last-first) > want+2 {
						t.Errorf("%d words took %d clocks, want %.0f", words-101, last-first, want)
					}
				})
			}
		}
	}
}
