package ni_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// wordOf is how many bytes a word of the receive buffer has, by WIDTH.
func wordOf(width int) int { return max(width, 4) }

// A model of the receive buffer's write port: takes masked words and checks that they hold still.
type writePort struct {
	memory []byte
	word   int // bytes of one
	words  int

	waiting bool // a word was there at the last edge and was not taken
	addr    uint32
	data    uint64
	mask    uint8
}

// look is called just before an edge with the port's signals.
func (w *writePort) look(t *testing.T, valid, take bool, addr uint32, data uint64, mask uint8) {
	t.Helper()
	if w.waiting && (!valid || addr != w.addr || data != w.data || mask != w.mask) {
		t.Fatalf("a waiting word changed: %v %#x %x %b, was %#x %x %b", valid, addr, data, mask, w.addr, w.data, w.mask)
	}
	w.waiting, w.addr, w.data, w.mask = valid && !take, addr, data, mask
	if !valid || !take {
		return
	}
	w.words++
	if mask == 0 {
		t.Fatalf("word %#x is written with an empty mask", addr)
	}
	for lane := range w.word {
		if mask>>lane&1 != 0 {
			if at := w.word*int(addr) + lane; at >= len(w.memory) {
				t.Fatalf("byte %#x is written, the buffer has %#x", at, len(w.memory))
			} else {
				w.memory[at] = byte(data >> (8 * lane))
			}
		}
	}
}

func TestPageWriter(t *testing.T) {
	var p struct {
		Start, SValid, SReady, SLast, SSure, WValid, WTake, Idle *bool   `port:"*"`
		StartAddr, SData, WAddr, WMask                           *uint8  `port:"*"`
		WData                                                    *uint32 `port:"*"`
	}
	const size = 256
	b := moduletest.Open(t, "ni_page_writer", params{"ADDR_WIDTH": "8"}, &p)
	rng := b.Rand("runs")
	port := writePort{memory: make([]byte, size), word: 4}
	want := make([]byte, size)
	age := 0                // clocks for which a word has waited
	lane, short := 0, false // of the next byte; a word that the run's end left short goes on in this clock
	clock := func(patience int) bool {
		*p.WTake = false
		settle(t, b)
		if *p.WValid {
			age++
			*p.WTake = age > patience
		}
		settle(t, b)
		if *p.WTake {
			age = 0
		}
		if want := !*p.WValid && !short; *p.Idle != want {
			t.Fatalf("idle is %v, want %v", *p.Idle, want)
		}
		port.look(t, *p.WValid, *p.WTake, uint32(*p.WAddr), uint64(*p.WData), *p.WMask)
		moved := *p.SValid && *p.SReady
		if *p.Start {
			lane = int(*p.StartAddr)
		}
		short = moved && *p.SLast && lane%4 != 3
		lane += count(moved)
		b.Step(1)
		return moved
	}
	for run := range 3000 {
		at := rng.IntN(size)
		n := 1 + rng.IntN(min(size-at, 24))
		gaps, slow := rng.Chance(0.3), run%3 == 0
		for settle(t, b); !*p.Idle; settle(t, b) {
			clock(3)
		}
		*p.Start, *p.StartAddr = true, uint8(at)
		clock(3)
		*p.Start = false
		clocks := 0
		if rng.Chance(0.3) { // a run on trial, of which nothing is left when the next starts
			*p.SValid, *p.SLast, *p.SSure = true, false, false
			for range rng.IntN(8) {
				*p.SData = uint8(rng.Uint32())
				clock(3)
			}
			if *p.SValid = false; *p.WValid {
				t.Fatalf("run %d: a word is handed on that is on trial", run)
			}
			*p.Start = true
			clock(3)
			*p.Start = false
		}
		doubt := rng.IntN(n) * rng.IntN(2)
		for i := range n {
			*p.SSure = clocks >= doubt
			for gaps && rng.Chance(0.5) {
				*p.SValid = false
				clock(3)
			}
			*p.SValid, *p.SData, *p.SLast = true, uint8(rng.Uint32()), i == n-1
			want[at+i] = *p.SData
			for moved := false; !moved; {
				patience := 1 // a word is granted within three clocks
				if slow {
					patience = rng.IntN(9)
				}
				moved = clock(patience)
				if clocks++; clocks > 100*n {
					t.Fatalf("run %d of %d bytes at %#x hangs", run, n, at)
				}
				*p.SSure = clocks >= doubt
			}
			*p.SValid, *p.SLast = false, false
		}
		// The word before a short last one may hold it up for what its grant takes.
		if !slow && !gaps && clocks > n+2+doubt {
			t.Fatalf("run %d: %d bytes at %#x took %d clocks", run, n, at, clocks)
		}
		for i := 0; rng.Bool() && i < 8; i++ {
			clock(3)
		}
		if run%16 == 0 {
			for range 12 {
				clock(0)
			}
			if !bytes.Equal(port.memory, want) {
				t.Fatalf("after run %d the memory holds\n% x, want\n% x", run, port.memory, want)
			}
		}
	}
}
