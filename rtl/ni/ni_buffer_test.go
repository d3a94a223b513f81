package ni_test

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// Writers get the port in turn, every word arrives with its mask, and a reader sees the memory's content or a clash. What it sees
// stays, whatever address stands there, until it reads again.
func TestBuffer(t *testing.T) {
	for _, c := range []struct{ writers, words, banks, size int }{{1, 16, 1, 4}, {2, 1024, 1, 4}, {8, 192, 1, 4}, {2, 16, 2, 4}, {8, 192, 2, 4}, {8, 192, 1, 8}, {2, 16, 2, 8}} {
		t.Run(fmt.Sprintf("%dx%d of %d in %d", c.writers, c.words, c.size, c.banks), func(t *testing.T) {
			var p struct {
				WValid, WTake *uint8 `port:"*"`
				RdEn, RdClash *bool  `port:"*"`
			}
			b := moduletest.Open(t, "ni_buffer", params{"WRITERS": c.writers, "WORDS": c.words, "BANKS": c.banks, "WORD": c.size}, &p)
			aw := bits.Len(uint(c.words - 1))
			type word struct {
				addr uint32
				data uint64
				mask uint8
				age  int
			}
			rng := b.Rand("writers")
			memory, known := make([]uint64, c.words), make([]uint64, c.words) // known: bits that have been written
			held := make([]*word, c.writers)
			clashes, reads, pairs := 0, 0, 0
			var seen, sure uint64 // the word read last; bits of it that are known
			for range 6000 {
				hot := uint32(rng.IntN(min(c.words, 4)))
				for w := range held {
					if held[w] == nil && rng.Chance(0.6) {
						held[w] = &word{addr: uint32(rng.IntN(c.words)), data: rng.Uint64() >> (64 - 8*c.size), mask: uint8(rng.Between(1, 1<<c.size-1))}
						if rng.Bool() {
							held[w].addr = hot
						}
						set(t, b, "w_addr", aw, w, uint64(held[w].addr))
						set(t, b, "w_data", 8*c.size, w, held[w].data)
						set(t, b, "w_mask", c.size, w, uint64(held[w].mask))
						*p.WValid |= 1 << w
					}
				}
				at := uint32(rng.IntN(c.words))
				if rng.Bool() {
					at = hot
				}
				*p.RdEn = rng.Chance(0.7)
				check.Fatal(t, b.Model().Poke("rd_addr", uint64(at)))
				settle(t, b)
				taken := *p.WTake
				if bits.OnesCount8(taken) > c.banks || taken&^*p.WValid != 0 {
					t.Fatalf("take %08b of valid %08b", taken, *p.WValid)
				}
				written := map[uint32]bool{}
				b.Step(1)
				for w := range held {
					if held[w] == nil {
						continue
					}
					if taken>>w&1 == 0 {
						if held[w].age++; held[w].age > 2*c.writers {
							t.Fatalf("writer %d waits for %d clocks", w, held[w].age)
						}
						continue
					}
					at := held[w].addr
					for other := range written {
						if c.banks == 1 || (other^at)&1 == 0 {
							t.Fatalf("words %#x and %#x of one bank are written at once", other, at)
						}
						pairs++
					}
					written[at] = true
					for lane := range c.size {
						if held[w].mask>>lane&1 != 0 {
							lanes := uint64(0xFF) << (8 * lane)
							memory[at] = memory[at]&^lanes | held[w].data&lanes
							known[at] |= lanes
						}
					}
					held[w] = nil
					*p.WValid &^= 1 << w
				}
				if have, want := *p.RdClash, *p.RdEn && written[at]; have != want {
					t.Fatalf("clash %v in the clock after the read, want %v", have, want)
				}
				switch {
				case *p.RdEn && written[at]:
					clashes++
					sure = 0
				case *p.RdEn:
					reads++
					seen, sure = memory[at], known[at]
				}
				check.Fatal(t, b.Model().Poke("rd_addr", uint64(rng.IntN(c.words))))
				settle(t, b)
				if have := check.Must(b.Model().Peek("rd_data"))(t) & sure; have != seen&sure {
					t.Fatalf("the word read last, at %#x if in this clock, %v, is %x, want %x (known bits %x)", at, *p.RdEn, have, seen&sure, sure)
				}
			}
			if clashes < 20 || reads < 1000 || c.banks == 2 && pairs < 200 {
				t.Errorf("%d clashes, %d reads, %d times two words at once", clashes, reads, pairs)
			}
		})
	}
}
