package ni_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// Writers get the port in turn, every word arrives with its mask, and a reader sees the memory's content or a clash.
func TestBuffer(t *testing.T) {
	for _, c := range []struct{ writers, words int }{{1, 16}, {2, 1024}, {8, 192}} {
		t.Run(fmt.Sprintf("%dx%d", c.writers, c.words), func(t *testing.T) {
			var p struct {
				WValid, WTake *uint8  `port:"*"`
				RdEn, RdClash *bool   `port:"*"`
				RdData        *uint32 `port:"*"`
			}
			b := open(t, "ni_buffer", params{"WRITERS": strconv.Itoa(c.writers), "WORDS": strconv.Itoa(c.words)}, &p)
			poke := func(port string, v uint64) {
				check.Fatal(t, b.Model().Poke(port, v))
			}
			aw := 0
			for 1<<aw < c.words {
				aw++
			}
			type word struct {
				addr, data uint32
				mask       uint8
				age        int
			}
			rng := b.Rand("writers")
			memory, known := make([]uint32, c.words), make([]uint32, c.words) // known: bits that have been written
			held := make([]*word, c.writers)
			var read int // what is being read: the word last asked for, or -1
			read = -1
			clashes, reads := 0, 0
			for range 6000 {
				hot := uint32(rng.IntN(min(c.words, 4)))
				for w := range held {
					if held[w] == nil && rng.Chance(0.6) {
						held[w] = &word{addr: uint32(rng.IntN(c.words)), data: rng.Uint32(), mask: uint8(1 + rng.IntN(15))}
						if rng.Bool() {
							held[w].addr = hot
						}
						poke(fmt.Sprintf("w_addr[%d:%d]", aw*(w+1)-1, aw*w), uint64(held[w].addr))
						poke(fmt.Sprintf("w_data[%d:%d]", 32*w+31, 32*w), uint64(held[w].data))
						poke(fmt.Sprintf("w_mask[%d:%d]", 4*w+3, 4*w), uint64(held[w].mask))
						*p.WValid |= 1 << w
					}
				}
				at := uint32(rng.IntN(c.words))
				if rng.Bool() {
					at = hot
				}
				*p.RdEn = rng.Chance(0.7)
				poke("rd_addr", uint64(at))
				settle(t, b)
				taken := *p.WTake
				if taken&(taken-1) != 0 || taken&^*p.WValid != 0 {
					t.Fatalf("take %08b of valid %08b", taken, *p.WValid)
				}
				written := -1
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
					written = int(held[w].addr)
					for lane := range 4 {
						if held[w].mask>>lane&1 != 0 {
							bits := uint32(0xFF) << (8 * lane)
							memory[written] = memory[written]&^bits | held[w].data&bits
							known[written] |= bits
						}
					}
					held[w] = nil
					*p.WValid &^= 1 << w
				}
				if have, want := *p.RdClash, *p.RdEn && written == int(at); have != want {
					t.Fatalf("clash %v in the clock after the read, want %v", have, want)
				}
				if *p.RdEn {
					read = int(at)
					if read == written {
						clashes++
						read = -1
						continue
					}
					reads++
					if have := *p.RdData & known[read]; have != memory[read] {
						t.Fatalf("word %#x reads %08x, want %08x (known bits %08x)", read, have, memory[read], known[read])
					}
				}
			}
			if clashes < 20 || reads < 1000 {
				t.Errorf("%d clashes, %d reads", clashes, reads)
			}
		})
	}
}
