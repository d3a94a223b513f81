package ni_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// Runs that begin and end in any lane come to their place, whole and with nothing beside them; a run whose end does not come leaves the next one
// alone.
func TestBeatWriter(t *testing.T) {
	const size = 256
	for _, width := range []int{4, 8} {
		t.Run(fmt.Sprint("width ", width), func(t *testing.T) {
			var p struct {
				Start, SValid, SReady, SLast, WValid, WTake, Idle *bool  `port:"*"`
				StartAddr, WAddr, WMask                           *uint8 `port:"*"`
			}
			b := moduletest.Open(t, "ni_beat_writer", params{"ADDR_WIDTH": "8", "WIDTH": width}, &p)
			rng, in := b.Rand("runs"), moduletest.NewBeats(t, b, "s", width)
			port := writePort{memory: make([]byte, size), word: width}
			want := make([]byte, size)
			clock := func(grant float64) bool {
				*p.WTake = false
				settle(t, b)
				*p.WTake = *p.WValid && rng.Chance(grant)
				settle(t, b)
				port.look(t, *p.WValid, *p.WTake, uint32(*p.WAddr), check.Must(b.Model().Peek("w_data"))(t), *p.WMask)
				moved := *p.SValid && *p.SReady
				b.Step(1)
				return moved
			}
			rest := func() {
				for clocks := 0; !*p.Idle; clocks++ {
					if clock(1); clocks > 10 {
						t.Fatal("the writer does not become idle")
					}
				}
			}
			cuts := 0
			for run := range 5000 {
				grant := []float64{1, 0.5, 0.2}[run%3]
				pace := []float64{1, 0.5}[run%2]
				lane, n := rng.IntN(width), 1+rng.IntN(5*width) // of the first byte in the first beat
				at := lane + rng.IntN(size-n-lane+1)
				data := rng.Bytes(n)
				*p.Start, *p.StartAddr = true, uint8(at-lane)
				clock(grant)
				*p.Start = false
				cut := rng.Chance(0.1) // what is still waiting for a whole word is not written
				beats, clocks := 0, 0
				for i := 0; i < n; clocks++ {
					if clocks > 100*n {
						t.Fatalf("run %d hangs", run)
					}
					first := lane * count(i == 0)
					take := min(n-i, width-first)
					if *p.SLast = i+take == n; *p.SLast && cut {
						break
					}
					*p.SValid = *p.SValid || rng.Chance(pace)
					in.PutLanes(data[i:i+take], first)
					if clock(grant) {
						*p.SValid = false
						i, beats = i+take, beats+1
					}
				}
				if grant == 1 && pace == 1 && clocks > beats+1 {
					t.Fatalf("run %d: %d beats took %d clocks", run, beats, clocks)
				}
				*p.SValid = false
				rest()
				if cut {
					cuts++ // some of it is there
					for i, have := range port.memory[at : at+n] {
						if have == data[i] {
							want[at+i] = have
						}
					}
				} else {
					copy(want[at:], data)
				}
				if !bytes.Equal(port.memory, want) {
					t.Fatalf("after run %d, %d bytes at %#x, lane %d, the memory holds\n% x, want\n% x", run, n, at, lane, port.memory, want)
				}
			}
			if cuts < 100 {
				t.Errorf("only %d runs were cut", cuts)
			}
		})
	}
}
