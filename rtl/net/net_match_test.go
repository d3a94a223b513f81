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
	Room, Done, Start, Outs, To, Taken *uint8 `port:"*"`
	Cast                               *bool  `port:"*"`
}

// TestMatch: who begins has wished to, neither side has two packets at once, what is for several outputs goes to all that are free, and nobody waits for longer than
// the others' turns take.
func TestMatch(t *testing.T) {
	for _, ports := range []int{2, 5, 8} {
		t.Run(fmt.Sprint(ports, " ports"), func(t *testing.T) { testMatch(t, ports) })
	}
}

func testMatch(t *testing.T, ports int) {
	const patience = 3
	var p netMatch
	b := moduletest.Open(t, "net_match", params{"N": ports, "PATIENCE": patience}, &p)
	r := b.Rand("wishes")
	wishes := make([]int, ports*ports) // how many packets wait
	waited := make([]int, ports*ports) // matches of the output while one does
	left := make([]int, ports)         // clocks that the packet of an input goes on
	copies := make([]uint8, ports)     // outputs for which a packet of an input still waits that is for several
	has := make([]uint8, ports)        // outputs of the packet of an input
	taken := make([]bool, ports)
	room := make([]bool, ports)
	matches, longest, forks, halves := 0, 0, 0, 0
	load := 0.0
	for now := range 60000 {
		if now%2000 == 0 {
			load = []float64{0.02, 0.2, 1}[r.IntN(3)]
		}
		*p.Room, *p.Done = 0, 0
		var want, many uint64
		for k := range wishes {
			if wishes[k] < 3 && r.Chance(load) {
				wishes[k]++
			}
			if wishes[k] > 0 {
				want |= 1 << k
			}
		}
		for i := range ports {
			if copies[i] == 0 && r.Chance(load/4) {
				copies[i] = uint8(r.Uint32()) & (1<<ports - 1)
			}
			many |= uint64(copies[i]) << (i * ports)
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
		check.Fatal(t, b.Model().Poke("want", want|many))
		check.Fatal(t, b.Model().Poke("many", many))
		done := *p.Done
		b.Step(1)
		for i := range ports {
			if done>>i&1 != 0 {
				for o := range ports {
					if has[i]>>o&1 != 0 {
						taken[o] = false
					}
				}
			}
		}
		if bits.OnesCount8(*p.Start) > 1 {
			t.Fatalf("clock %d: %b begin at once", now, *p.Start)
		}
		if *p.Start == 0 {
			continue
		}
		i := bits.TrailingZeros8(*p.Start)
		if *p.Cast && (*p.Outs == 0 || *p.Outs&^copies[i] != 0) || !*p.Cast && *p.Outs != 1<<*p.To {
			t.Fatalf("clock %d: input %d begins for outputs %b, cast %v, of %b", now, i, *p.Outs, *p.Cast, copies[i])
		}
		wide := bits.Len(uint(ports - 1))
		from := check.Must(b.Model().Peek("from"))(t)
		for o := range ports {
			k := i*ports + o
			if *p.Outs>>o&1 == 0 {
				continue
			}
			if !*p.Cast && wishes[k] == 0 || !room[o] || taken[o] || left[i] > 0 {
				t.Fatalf("clock %d: input %d begins for output %d: wishes %d, room %v, taken %v, clocks left %d", now, i, o, wishes[k], room[o], taken[o], left[i])
			}
			if *p.Taken>>o&1 == 0 || int(from>>(wide*o))&(1<<wide-1) != i {
				t.Fatalf("clock %d: output %d has input %d, and says taken %b, from %x", now, o, i, *p.Taken, from)
			}
			for other := range ports {
				if q := other*ports + o; other != i && (wishes[q] > 0 || copies[other]>>o&1 != 0) {
					if waited[q]++; waited[q] > longest {
						longest = waited[q]
					}
				}
			}
			waited[k] = 0
			if !*p.Cast {
				wishes[k]--
			}
			taken[o], room[o] = true, false
		}
		matches++
		if *p.Cast {
			if copies[i] &^= *p.Outs; copies[i] != 0 {
				halves++
			}
			if bits.OnesCount8(*p.Outs) > 1 {
				forks++
			}
		}
		has[i], left[i] = *p.Outs, 1+r.IntN(20)
	}
	if matches < 5000 || forks < 20 || halves < 200 {
		t.Errorf("only %d packets began, %d for several outputs, %d for some of those that they are for", matches, forks, halves)
	}
	t.Logf("%d packets; at most %d others of an output before one", matches, longest)
	if most := ports * (patience + 2); longest > most {
		t.Errorf("an input waited while %d others had its output, at most %d is fair", longest, most)
	}
}

// Of TestMatchForks and TestMatchShares.
const matchPorts, matchPatience = 8, 3

// TestMatchForks: an input that is busy whenever copies of others leave by an output that it waits for gets that output in its turn.
func TestMatchForks(t *testing.T) {
	for _, length := range []int{10, 11} { // an even number of clocks, and an odd one
		for shared := range matchPorts {
			t.Run(fmt.Sprintf("output %d, packets of %d clocks", shared, length), func(t *testing.T) { testMatchForks(t, length, shared) })
		}
	}
}

func testMatchForks(t *testing.T, length, shared int) {
	const ports, patience, forker = matchPorts, matchPatience, 0
	other := 1 + (shared+1)%(ports-1)
	place := func(o int) uint64 { return 1 << (o % ports) }
	var p netMatch
	b := moduletest.Open(t, "net_match", params{"N": ports, "PATIENCE": patience}, &p)
	copies := (place(shared) | place(shared+1)) << (forker * ports)
	check.Fatal(t, b.Model().Poke("many", copies))
	check.Fatal(t, b.Model().Poke("want", copies|(place(shared)|place(shared+2))<<(other*ports)))
	*p.Room = 1<<ports - 1
	var left [ports]int
	forks := 0
	for range 100 * length {
		*p.Done = 0
		for i := range left {
			if left[i] > 0 {
				if left[i]--; left[i] == 0 {
					*p.Done |= 1 << i
				}
			}
		}
		b.Step(1)
		if *p.Start == 0 {
			continue
		}
		i := bits.TrailingZeros8(*p.Start)
		if left[i] = length; i == forker {
			forks++
		} else if *p.Outs == 1<<shared {
			if forks <= patience || forks > patience+3 {
				t.Errorf("it gets the output after %d copies, want %d that pass it over and at most three beside them", forks, patience)
			}
			return
		} else if forks == 0 {
			left[i] += length / 2 // from here on it is busy when the others end
		}
		if forks > 2*(patience+2) {
			break
		}
	}
	t.Errorf("an input waits for an output by which %d copies have left", forks)
}

// TestMatchShares: with packets of one clock each output serves all inputs alike, also after one packet went to all outputs at once.
func TestMatchShares(t *testing.T) {
	const ports, patience, clocks = matchPorts, matchPatience, 8000
	var p netMatch
	b := moduletest.Open(t, "net_match", params{"N": ports, "PATIENCE": patience}, &p)
	check.Fatal(t, b.Model().Poke("want", ^uint64(0)))
	check.Fatal(t, b.Model().Poke("many", 1<<ports-1)) // of input 0, which is first
	*p.Room = 1<<ports - 1
	var pairs [ports][ports]int // packets by output and input
	for range clocks {
		*p.Done = *p.Start
		b.Step(1)
		if *p.Start == 0 {
			continue
		}
		check.Fatal(t, b.Model().Poke("many", 0))
		for o := range ports {
			if at(*p.Outs, o) {
				pairs[o][bits.TrailingZeros8(*p.Start)]++
			}
		}
	}
	for o, inputs := range pairs {
		for i, n := range inputs {
			if even := clocks / (ports * ports); n < even/2 {
				t.Errorf("input %d has output %d for %d packets, an even share is %d", i, o, n, even)
			}
		}
	}
}
