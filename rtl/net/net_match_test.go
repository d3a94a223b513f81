package net_test

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// netMatch is module net_match.
type netMatch struct {
	Room, Done, Start, To, Taken *uint8 `port:"*"`
}

// TestMatch: who begins has wished to, neither side has two packets at once, and nobody waits for longer than the others' turns take.
func TestMatch(t *testing.T) {
	for _, ports := range []int{2, 5, 8} {
		t.Run(fmt.Sprint(ports, " ports"), func(t *testing.T) { testMatch(t, ports) })
	}
}

func testMatch(t *testing.T, ports int) {
	var p netMatch
	b := moduletest.Open(t, "net_match", params{"N": ports, "PATIENCE": 3}, &p)
	r := b.Rand("wishes")
	wishes := make([]int, ports*ports) // how many packets wait
	waited := make([]int, ports*ports) // matches of the output while one does
	left := make([]int, ports)         // clocks that the packet of an input goes on
	has := make([]int, ports)          // its output
	taken := make([]bool, ports)
	room := make([]bool, ports)
	matches, longest := 0, 0
	load := 0.0
	for now := range 60000 {
		if now%2000 == 0 {
			load = []float64{0.02, 0.2, 1}[r.IntN(3)]
		}
		*p.Room, *p.Done = 0, 0
		var want uint64
		for k := range wishes {
			if wishes[k] < 3 && r.Chance(load) {
				wishes[k]++
			}
			if wishes[k] > 0 {
				want |= 1 << k
			}
		}
		for o := range ports {
			room[o] = room[o] || r.Chance(0.3)
			if room[o] {
				*p.Room |= 1 << o
			}
		}
		for i := range ports {
			if left[i] > 0 {
				if left[i]--; left[i] == 0 {
					*p.Done |= 1 << i
				}
			}
		}
		check.Fatal(t, b.Model().Poke("want", want))
		done := *p.Done
		b.Step(1)
		for i := range ports {
			if done>>i&1 != 0 {
				taken[has[i]] = false
			}
		}
		if bits.OnesCount8(*p.Start) > 1 {
			t.Fatalf("clock %d: %b begin at once", now, *p.Start)
		}
		if *p.Start == 0 {
			continue
		}
		i, o := bits.TrailingZeros8(*p.Start), int(*p.To)
		k := i*ports + o
		if o >= ports || wishes[k] == 0 || !room[o] || taken[o] || left[i] > 0 {
			t.Fatalf("clock %d: input %d begins for output %d: wishes %d, room %v, taken %v, clocks left %d", now, i, o, wishes[k], room[o], taken[o], left[i])
		}
		wide := bits.Len(uint(ports - 1))
		from := check.Must(b.Model().Peek("from"))(t)
		if *p.Taken>>o&1 == 0 || int(from>>(wide*o))&(1<<wide-1) != i {
			t.Fatalf("clock %d: output %d has input %d, and says taken %b, from %x", now, o, i, *p.Taken, from)
		}
		for other := range ports {
			if q := other*ports + o; other != i && wishes[q] > 0 {
				if waited[q]++; waited[q] > longest {
					longest = waited[q]
				}
			}
		}
		waited[k] = 0
		wishes[k]--
		matches++
		has[i], left[i], taken[o], room[o] = o, 1+r.IntN(20), true, false
	}
	if matches < 5000 {
		t.Errorf("only %d packets began", matches)
	}
	t.Logf("%d packets; at most %d others of an output before one", matches, longest)
	if most := ports * (ports + 4); longest > most {
		t.Errorf("an input waited while %d others had its output, at most %d is fair", longest, most)
	}
}
