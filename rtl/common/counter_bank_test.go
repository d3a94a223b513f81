package common_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// Counts are exact as of five clocks before rd_valid, whatever the events and the reads do, from the
// first clock after reset on.
func TestCounterBank(t *testing.T) {
	for _, c := range []struct {
		n    int
		slow uint32
	}{{1, 0}, {8, 0}, {8, 0xA6}, {13, 0x1FFF}, {32, 0}, {32, 0xE639E639}} {
		t.Run(fmt.Sprintf("%d, slow %x", c.n, c.slow), func(t *testing.T) {
			n := c.n
			var p struct {
				Rst, RdEn, RdValid *bool   `port:"*"`
				RdAddr             *uint8  `port:"*"`
				RdData             *uint32 `port:"*"`
			}
			b := moduletest.New(t, "counter_bank", params{"N": n, "SLOW": fmt.Sprintf("%d'h%x", n, c.slow)}, &p)
			events := check.Must(b.Signal("event_in"))(t)
			r := b.Rand("events")
			mask := uint32(1)<<n - 1 // n = 32: all ones
			reads := 0
			var since [32]int // clocks since the last event
			spaced := func(v uint32) uint32 {
				for i := range n {
					if since[i]++; v>>i&1 != 0 {
						if c.slow>>i&1 != 0 && since[i] < 8 {
							v &^= 1 << i
						} else {
							since[i] = 0
						}
					}
				}
				return v
			}
			for round := range 60 { // a reset begins each
				*p.Rst, *p.RdEn = true, false
				for range 1 + r.IntN(9) {
					events.Set(uint64(r.Uint32()))
					b.Step(1)
				}
				*p.Rst = false
				for i := range since {
					since[i] = 8 // what came in reset does not count
				}
				counts := newHistory(n)
				kind, asking, asked := r.IntN(4), testbench.Pick(r, 1, 1, 0.05), 0
				answered := -8
				first, firstAddr := r.IntN(2*n+8), r.IntN(n) // no read before this clock
				if round%4 == 0 {
					firstAddr = n - 1 // the word that is cleared last
				}
				for now := range 40 + r.IntN(800) {
					if *p.RdValid {
						reads++
						if want := counts[4][*p.RdAddr]; *p.RdData != want {
							t.Fatalf("round %d, clock %d: counter %d is %d, want %d", round, now, *p.RdAddr, *p.RdData, want)
						}
						if asked < 5 || asked > 20 {
							t.Fatalf("round %d, clock %d: answered after %d clocks", round, now, asked)
						}
						if now-answered < 8 {
							t.Fatalf("round %d, clock %d: answered %d clocks after the answer before", round, now, now-answered)
						}
						answered, *p.RdEn = now, false
					}
					if !*p.RdEn {
						asked = 0
						switch {
						case now == first:
							*p.RdEn, *p.RdAddr = true, uint8(firstAddr)
						case now > first && r.Chance(asking):
							*p.RdEn, *p.RdAddr = true, uint8(r.IntN(n))
						}
					}
					if *p.RdEn {
						if asked++; asked > 20 {
							t.Fatalf("round %d, clock %d: no answer", round, now)
						}
					}
					v := spaced(pattern(r, kind) & mask)
					events.Set(uint64(v))
					counts.add(v)
					b.Step(1)
				}
			}
			if reads < 500 {
				t.Errorf("only %d reads", reads)
			}
		})
	}
}

// The words beside the counters start with INIT and keep written values through resets; the counters stay exact.
func TestCounterBankOthers(t *testing.T) {
	var p struct {
		Rst, RdEn, Other, WrEn, RdValid *bool   `port:"*"`
		EventIn                         *uint16 `port:"*"`
		RdAddr                          *uint8  `port:"*"`
		WrData, RdData                  *uint32 `port:"*"`
	}
	b := moduletest.New(t, "counter_bank", params{"N": 16, "FIRST": 3, "INIT": "96'h89ABCDEF_00000001_FEDCBA98"}, &p)
	r := b.Rand("words")
	words := map[uint8]uint32{0: 0xFEDCBA98, 1: 1, 2: 0x89ABCDEF}
	reads, writes := 0, 0
	for range 40 {
		*p.Rst, *p.RdEn = true, false
		for range 1 + r.IntN(9) {
			b.Step(1)
		}
		*p.Rst = false
		counts := newHistory(16)
		for now := range 600 {
			if *p.RdValid {
				want, known := counts[4][*p.RdAddr], true
				if *p.Other {
					if *p.WrEn {
						words[*p.RdAddr] = *p.WrData
						writes++
					}
					want, known = words[*p.RdAddr]
					reads++
				}
				if known && *p.RdData != want {
					t.Fatalf("clock %d: word %d, other %v, is %#x, want %#x", now, *p.RdAddr, *p.Other, *p.RdData, want)
				}
				*p.RdEn = false
			}
			if !*p.RdEn && r.Chance(0.6) {
				*p.RdEn, *p.RdAddr, *p.Other, *p.WrData = true, uint8(r.IntN(16)), r.Chance(0.6), r.Uint32()
				*p.WrEn = *p.Other && *p.RdAddr != 1 && r.Chance(0.3)
			}
			v := pattern(r, 1) & 0xFFFF
			*p.EventIn = uint16(v)
			counts.add(v)
			b.Step(1)
		}
		if *p.RdEn && *p.WrEn { // reset may come before it or behind it
			delete(words, *p.RdAddr)
		}
	}
	if reads < 500 || writes < 100 {
		t.Errorf("only %d reads, %d of them writes", reads, writes)
	}
}

// A slow event that comes too soon is not counted, so that a wrong SLOW parameter shows.
func TestCounterBankTooSoon(t *testing.T) {
	for _, n := range []int{3, 32} {
		var p struct {
			Rst, RdEn, RdValid *bool   `port:"*"`
			RdAddr             *uint8  `port:"*"`
			RdData             *uint32 `port:"*"`
		}
		b := moduletest.New(t, "counter_bank", params{"N": n, "SLOW": fmt.Sprintf("%d'h%x", n, 1<<(n-1))}, &p)
		for apart := 1; apart <= 9; apart++ {
			*p.Rst = true
			b.Step(1)
			*p.Rst = false
			for now := range 20 {
				event := uint64(0)
				if now == 0 || now == apart {
					event = 3 << (n - 2)
				}
				check.Fatal(t, b.Model().Poke("event_in", event))
				b.Step(1)
			}
			for i, want := range []uint32{2, 1 + uint32(apart/8)} {
				*p.RdEn, *p.RdAddr = true, uint8(n-2+i)
				for clocks := 0; !*p.RdValid; clocks++ {
					if clocks > 2*n+20 {
						t.Fatal("no answer")
					}
					b.Step(1)
				}
				check.Equal(t, fmt.Sprintf("counter %d of %d after two events %d clocks apart", n-2+i, n, apart), *p.RdData, want)
				*p.RdEn = false
				b.Step(1)
			}
		}
	}
}

// Every bit of a counter counts, and the counter wraps to 0. testdata/ram_sdp.v makes it wrap soon.
func TestCounterBankWraps(t *testing.T) {
	const n, small = 8, 5 // small: bits of the small counters
	var p struct {
		Rst, RdEn, RdValid *bool   `port:"*"`
		EventIn, RdAddr    *uint8  `port:"*"`
		RdData             *uint32 `port:"*"`
	}
	d := moduletest.Design("counter_bank", params{"N": n})
	d.Sources = append(d.Sources, "testdata/ram_sdp.v")
	b := testbench.New(t, d, testbench.Config{})
	b.Bind(&p)
	r := b.Rand("events")
	*p.Rst = true
	b.Step(1)
	*p.Rst = false
	counts := newHistory(n)
	var seen [33 - small]int // reads by the number of ones above the small counter
	for now := range 20000 {
		if *p.RdValid {
			count := counts[4][*p.RdAddr]
			ones := count >> small % uint32(len(seen))
			want := uint64(1)<<ones - 1
			low, high := *p.RdData%(1<<small), uint64(*p.RdData>>small)
			// A read that is itself the visit which finds the small counter wrapped shows the sum that it writes.
			if low != count%(1<<small) || high != want && (ones == 0 || high != 1<<(ones-1)) {
				t.Fatalf("clock %d: counter %d is %#x, want %d ones and %#x below", now, *p.RdAddr, *p.RdData, ones, count%(1<<small))
			}
			if high == want {
				seen[ones]++
			}
			*p.RdEn = false
		}
		if !*p.RdEn {
			*p.RdEn, *p.RdAddr = true, uint8(r.IntN(n))
		}
		*p.EventIn = uint8(r.Uint32() | r.Uint32())
		counts.add(uint32(*p.EventIn))
		b.Step(1)
	}
	for ones, reads := range seen {
		if reads < 10 {
			t.Errorf("only %d reads of %d ones", reads, ones)
		}
	}
}

// pattern is one clock's events: all, random, rare, or all with gaps.
func pattern(r *testbench.Rand, kind int) uint32 {
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

// history holds the counts up to the last clock, up to the one before, and so on.
type history [5][]uint32

func newHistory(counters int) (h history) {
	for i := range h {
		h[i] = make([]uint32, counters)
	}
	return h
}

// add counts the events of a clock.
func (h *history) add(events uint32) {
	for i := len(h) - 1; i > 0; i-- {
		copy(h[i], h[i-1])
	}
	for i := range h[0] {
		h[0][i] += events >> i & 1
	}
}
