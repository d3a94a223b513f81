package ni_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// The host always gets to know the last counts, in a bounded time, and all of them again after its port has started again.
func TestSpace(t *testing.T) {
	for _, links := range []int{1, 3, 7} {
		t.Run(fmt.Sprintf("%d links", links), func(t *testing.T) {
			var p struct {
				Again, MValid, MReady, MLast *bool   `port:"*"`
				MKind, MData                 *uint8  `port:"*"`
				MLength                      *uint16 `port:"*"`
			}
			b := open(t, "ni_space", params{"LINKS": strconv.Itoa(links)}, &p)
			rng := b.Rand("links")
			type count struct {
				bytes   uint16
				packets uint8
			}
			freed, told := make([]count, links), make([]count, links)
			packetsOf := make([]int, links)
			set := func(l int) {
				for port, v := range map[string]uint64{
					fmt.Sprintf("freed_bytes[%d:%d]", 16*l+15, 16*l): uint64(freed[l].bytes),
					fmt.Sprintf("freed_packets[%d:%d]", 8*l+7, 8*l):  uint64(freed[l].packets),
				} {
					check.Fatal(t, b.Model().Poke(port, v))
				}
			}
			for l := range links {
				set(l)
			}
			var packet []byte
			stalled := -1
			clock := func(ready float64) {
				*p.MReady = rng.Chance(ready)
				settle(t, b)
				now := offered(packet, *p.MKind, *p.MLength, *p.MData)
				if stalled >= 0 && (!*p.MValid || stalled != now) {
					t.Fatal("a waiting byte changed")
				}
				stalled = -1
				if *p.MValid && !*p.MReady {
					stalled = now
				}
				if *p.MValid && *p.MReady {
					packet = composed(packet, *p.MKind, *p.MLength, *p.MData)
					if *p.MLast {
						var s linkproto.Packet
						if err := s.Decode(packet); err != nil || s.Type != linkproto.TypeSpace || s.Via < 1 || int(s.Via) > links {
							t.Fatalf("% x: %+v, %v", packet, s, err)
						}
						l := int(s.Via) - 1
						told[l] = count{s.Bytes, s.Packets}
						packetsOf[l]++
						packet = nil
					}
				}
				b.Step(1)
				*p.Again = false
			}
			quiet := func() {
				for range links*20 + 50 {
					clock(1)
				}
				for l := range links {
					if told[l] != freed[l] {
						t.Fatalf("link %d: told %v, freed %v", l+1, told[l], freed[l])
					}
				}
			}
			for range 300 {
				for range rng.IntN(40) {
					if rng.Chance(0.3) {
						l := rng.IntN(links)
						// At most WINDOW packets can be freed before the host knows; never 256.
						if n := rng.IntN(1 + linkproto.MaxWindow - int(freed[l].packets-told[l].packets)); n > 0 {
							freed[l].packets += uint8(n)
							freed[l].bytes += uint16(n * (3 + rng.IntN(200)))
							set(l)
						}
					}
					clock(0.7)
				}
				quiet()
				before := append([]int(nil), packetsOf...)
				for range 30 * links {
					clock(1)
				}
				for l := range links {
					if packetsOf[l] != before[l] {
						t.Fatalf("link %d: a packet without news", l+1)
					}
				}
				if rng.Chance(0.2) {
					*p.Again = true
					quiet()
					for l := range links {
						if packetsOf[l] != before[l]+1 {
							t.Fatalf("link %d: told %d times after a restart", l+1, packetsOf[l]-before[l])
						}
					}
				}
			}
		})
	}
}
