package common_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Counts are exact as of five clocks before rd_valid, whatever the events and the reads do, from the
// first clock after reset on.
func TestCounterBank(t *testing.T) {
	for _, n := range []int{1, 8, 13, 32} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var p struct {
				Rst   *bool   `port:"rst"`
				RdEn  *bool   `port:"rd_en"`
				Addr  *uint8  `port:"rd_addr"`
				Valid *bool   `port:"rd_valid"`
				Data  *uint32 `port:"rd_data"`
			}
			var e8 struct {
				Event *uint8 `port:"event_in"`
			}
			var e16 struct {
				Event *uint16 `port:"event_in"`
			}
			var e32 struct {
				Event *uint32 `port:"event_in"`
			}
			var events any
			var drive func(uint32)
			switch {
			case n <= 8:
				events, drive = &e8, func(v uint32) { *e8.Event = uint8(v) }
			case n <= 16:
				events, drive = &e16, func(v uint32) { *e16.Event = uint16(v) }
			default:
				events, drive = &e32, func(v uint32) { *e32.Event = v }
			}
			r := random(t)
			m := open(t, "counter_bank", params{"N": fmt.Sprint(n)}, &p, events)
			if _, err := m.Clock("clk", 10, 0); err != nil {
				t.Fatal(err)
			}
			mask := uint32(1)<<n - 1 // n = 32: all ones
			reads := 0
			for round := range 60 { // a reset begins each
				*p.Rst, *p.RdEn = true, false
				for range 1 + r.IntN(9) {
					drive(r.Uint32() & mask)
					step(t, m)
				}
				*p.Rst = false
				var counts [5][]uint32 // up to the last clock, the one before, …
				for i := range counts {
					counts[i] = make([]uint32, n)
				}
				kind, asking, asked := r.IntN(4), []int{100, 100, 5}[r.IntN(3)], 0
				first, firstAddr := r.IntN(2*n+8), r.IntN(n) // no read before this clock
				if round%4 == 0 {
					firstAddr = n - 1 // the word that is cleared last
				}
				for now := range 40 + r.IntN(800) {
					if *p.Valid {
						reads++
						if want := counts[4][*p.Addr]; *p.Data != want {
							t.Fatalf("round %d, clock %d: counter %d is %d, want %d", round, now, *p.Addr, *p.Data, want)
						}
						if asked < 5 || asked > 20 {
							t.Fatalf("round %d, clock %d: answered after %d clocks", round, now, asked)
						}
						*p.RdEn = false
					}
					if !*p.RdEn {
						asked = 0
						switch {
						case now == first:
							*p.RdEn, *p.Addr = true, uint8(firstAddr)
						case now > first && often(r, asking):
							*p.RdEn, *p.Addr = true, uint8(r.IntN(n))
						}
					}
					if *p.RdEn {
						if asked++; asked > 20 {
							t.Fatalf("round %d, clock %d: no answer", round, now)
						}
					}
					v := pattern(r, kind) & mask
					drive(v)
					age(counts[:])
					for i := range n {
						counts[0][i] += v >> i & 1
					}
					step(t, m)
				}
			}
			if reads < 500 {
				t.Errorf("only %d reads", reads)
			}
		})
	}
}

// pattern is one clock's events: all, random, rare, or all with gaps.
func pattern(r *rand.Rand, kind int) uint32 {
	switch v := r.Uint32(); kind {
	case 0:
		return 0xFFFFFFFF
	case 1:
		return v
	case 2:
		return v & r.Uint32() & r.Uint32() & r.Uint32()
	default:
		return -(v & 1)
	}
}

// age makes the counts of each clock those of the clock before.
func age(counts [][]uint32) {
	for i := len(counts) - 1; i > 0; i-- {
		copy(counts[i], counts[i-1])
	}
}
