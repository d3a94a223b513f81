package ni_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// The host always gets to know the last counts, in a bounded time, and all of them again after its port has started again.
func TestSpace(t *testing.T) {
	for _, links := range []int{1, 3, 7} {
		t.Run(fmt.Sprintf("%d links", links), func(t *testing.T) {
			var p struct {
				Again *bool `port:"*"`
				M     offer `port:"*"`
			}
			b := moduletest.Open(t, "ni_space", params{"LINKS": links}, &p)
			rng := b.Rand("links")
			type account struct {
				bytes   uint16
				packets uint8
			}
			freed, told := make([]account, links), make([]account, links)
			were := make([][]account, links) // counts that have stood, from those told last on
			packetsOf := make([]int, links)
			free := func(l int) {
				set(t, b, "freed_bytes", 16, l, uint64(freed[l].bytes))
				set(t, b, "freed_packets", 8, l, uint64(freed[l].packets))
				were[l] = append(were[l], freed[l])
			}
			for l := range links {
				free(l)
			}
			clock := func(ready float64) {
				*p.M.Ready = rng.Chance(ready)
				settle(t, b)
				if packet := p.M.clock(t); packet != nil {
					var s linkproto.Packet
					if err := s.Decode(packet); err != nil || s.Type != linkproto.TypeSpace || s.Via < 1 || int(s.Via) > links {
						t.Fatalf("% x: %+v, %v", packet, s, err)
					}
					l := int(s.Via) - 1
					told[l] = account{s.Bytes, s.Packets}
					at := slices.Index(were[l], told[l])
					if at < 0 {
						t.Fatalf("link %d: told %v, which were no counts of one clock: %v", l+1, told[l], were[l])
					}
					were[l] = were[l][at:]
					packetsOf[l]++
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
			quiet()
			if slices.Max(packetsOf) > 0 {
				t.Fatal("a packet without news after reset")
			}
			for range 300 {
				for range rng.IntN(40) {
					if rng.Chance(0.3) {
						l := rng.IntN(links)
						// At most WINDOW packets can be freed before the host knows; never 256.
						if n := rng.IntN(1 + linkproto.MaxWindow - int(freed[l].packets-told[l].packets)); n > 0 {
							freed[l].packets += uint8(n)
							freed[l].bytes += uint16(n * (3 + rng.IntN(200)))
							free(l)
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
			b.Reset("rst", 2) // the host, which starts again too, knows of none
			told = make([]account, links)
			quiet()
		})
	}
}

// A link that frees packets all the time does not keep the host from hearing of the others.
func TestSpaceTurns(t *testing.T) {
	var p struct {
		M offer `port:"*"`
	}
	const links = 3
	b := moduletest.Open(t, "ni_space", params{"LINKS": links}, &p)
	r := b.Rand("host")
	var freed, told [links]uint8
	var others, heard [links]int // packets of others while a link waits, and its own
	for clock := range 6000 {
		for l := range links {
			if busy := l == clock/2000; freed[l] == told[l] && r.Chance(0.02) || busy && freed[l]-told[l] < linkproto.MaxWindow {
				freed[l]++
				set(t, b, "freed_packets", 8, l, uint64(freed[l]))
			}
		}
		*p.M.Ready = r.Chance(0.3)
		settle(t, b)
		if packet := p.M.clock(t); packet != nil {
			var s linkproto.Packet
			check.Fatal(t, s.Decode(packet))
			for l := range links {
				if others[l]++; l == int(s.Via)-1 {
					told[l], others[l] = s.Packets, 0
					heard[l]++
				}
			}
		}
		for l := range links {
			if freed[l] == told[l] {
				others[l] = 0
			} else if others[l] > links {
				t.Fatalf("clock %d: the host has heard %d times of others while link %d waited", clock, others[l], l+1)
			}
		}
		b.Step(1)
	}
	if slices.Min(heard[:]) < 50 {
		t.Errorf("the host has heard only %v times of the links", heard)
	}
}
