package link_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// peerPage is the logarithm of the page of the end that hears.
const peerPage = 9

// peerBench is link_peer, and what it holds by the rules of linkproto.
type peerBench struct {
	t    *testing.T
	b    *testbench.Bench
	rng  *testbench.Rand
	own  linkproto.Init // of the end that hears: Page, Routes and Lanes
	host bool
	pins struct {
		Load, ByteEn, Fits, Other, Bad *bool   `port:"*"`
		At, ByteQ                      *uint8  `port:"*"`
		Node                           *uint16 `port:"*"`
		Life                           *uint32 `port:"*"`
	}
	holds linkproto.Init
	fits  bool
}

// eachPeer runs a test at a host's cable and at links of one lane and of more, with and without ROUTE packets.
func eachPeer(t *testing.T, test func(t *testing.T, p *peerBench)) {
	for _, c := range []struct {
		host  bool
		lanes uint8
	}{{true, 1}, {false, 1}, {false, 4}} {
		for _, routes := range []bool{false, true} {
			t.Run(fmt.Sprintf("host %v, lanes %d, routes %v", c.host, c.lanes, routes), func(t *testing.T) {
				test(t, newPeerBench(t, c.host, routes, c.lanes))
			})
		}
	}
}

func newPeerBench(t *testing.T, host, routes bool, lanes uint8) *peerBench {
	p := &peerBench{t: t, host: host, own: linkproto.Init{Page: peerPage, Routes: routes, Lanes: lanes}}
	number := map[bool]int{true: 1}
	p.b = moduletest.New(t, "link_peer", params{"PAGE_BYTES": 1 << peerPage, "HOST": number[host], "ROUTES": number[routes], "LANES": int(lanes)}, &p.pins)
	p.rng = p.b.Rand("init")
	*p.pins.ByteEn = false
	p.hear(initBytes(linkproto.Init{Version: linkproto.Version, Page: peerPage, Routes: routes, Lanes: lanes}), true)
	return p
}

// bytes are an INIT's behind LSW.
func initBytes(w linkproto.Init) (b [linkproto.InitSymbols - 1]byte) {
	for i, s := range w.Symbols() {
		if i > 0 {
			b[i-1] = byte(s)
		}
	}
	return b
}

// hear gives the module an INIT, with pauses in which anything stands at its inputs, and first b0 of other words, and compares.
func (p *peerBench) hear(b [linkproto.InitSymbols - 1]byte, load bool) {
	p.t.Helper()
	pins := &p.pins
	*pins.Load = load
	put := func(en bool, at, x uint8) {
		*pins.ByteEn, *pins.At, *pins.ByteQ = en, at, x
		p.b.Step(1)
		*pins.ByteEn = false
	}
	pause := func() {
		for p.rng.Chance(0.3) {
			put(false, uint8(p.rng.IntN(16)), uint8(p.rng.IntN(256)))
		}
	}
	for p.rng.Chance(0.3) {
		put(true, 0, uint8(p.rng.IntN(256)))
	}
	for at, x := range b {
		pause()
		put(true, uint8(at), x)
	}
	pause()

	// As a whole word with the same bytes and a right check is judged.
	b[0] = byte(linkproto.KindInit) << linkproto.WordKindShift // which link_split judges
	binary.BigEndian.PutUint16(b[linkproto.InitCheckAt:], linkproto.CRC16(b[:linkproto.InitCheckAt]))
	w, reason := linkproto.DecodeInit(b)
	bad := reason != linkproto.ReasonNone || p.host && !w.Life.HostLife()
	other := w.Life != p.holds.Life
	if load && !bad {
		p.holds, p.fits = w, w.MaxPacket() >= p.own.MaxPacket() && w.Lanes == p.own.Lanes
		if p.host {
			p.holds.Node = 0
		}
	}
	if *pins.Bad != bad || !bad && !load && *pins.Other != other {
		p.t.Fatalf("% x, load %v, held %+v: bad %v, other %v, want %v, %v", b, load, p.holds, *pins.Bad, *pins.Other, bad, other)
	}
	if load && bad {
		return // it may hold anything of it
	}
	if linkproto.Life(*pins.Life) != p.holds.Life || *pins.Node != p.holds.Node || *pins.Fits != p.fits {
		p.t.Fatalf("% x, load %v: life %#x, node %#x, fits %v, want %+v, %v", b, load, *pins.Life, *pins.Node, *pins.Fits, p.holds, p.fits)
	}
}

// someInit is one of this kind of cable, whose life is often near that held.
func (p *peerBench) someInit() linkproto.Init {
	w := linkproto.Init{Stop: p.rng.Bool(), Version: linkproto.Version, Node: uint16(p.rng.IntN(1 << 16)),
		Page: testbench.Pick(p.rng, uint8(peerPage), peerPage, peerPage-1, peerPage+1, 15), Routes: p.rng.Bool(),
		Lanes: testbench.Pick(p.rng, p.own.Lanes, p.own.Lanes, 1, 2, 4, 8)}
	w.Lane = uint8(p.rng.IntN(int(w.Lanes)))
	w.Life = testbench.Pick(p.rng, p.holds.Life, p.holds.Life^1<<p.rng.IntN(32), p.holds.Life^0x5A000000, linkproto.Life(p.rng.Uint32()))
	if p.host {
		w.Life &= 0xFF << linkproto.LifeEpochShift
	}
	return w
}

// What link_peer holds and says of an INIT is what linkproto reads in it, whatever was heard before.
func TestPeer(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peerBench) {
		for range 20000 {
			b := initBytes(p.someInit())
			switch {
			case p.rng.Chance(0.05):
				b[p.rng.Between(1, len(b)-1)] = uint8(p.rng.IntN(256))
			case p.rng.Chance(0.05):
				b[p.rng.Between(1, linkproto.InitLanesAt)] ^= 1 << p.rng.IntN(8)
			}
			load := p.rng.Chance(0.3)
			p.hear(b, load)
			for *p.pins.Bad && load { // what it holds now is nothing that anyone uses
				p.hear(initBytes(p.someInit()), true)
			}
		}
	})
}

// Every value of each byte, at an end that holds a peer and at one that does not.
func TestPeerBytes(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peerBench) {
		held := linkproto.Init{Version: linkproto.Version, Node: 0x1234, Life: 0xC3A50FF1, Page: peerPage, Routes: p.own.Routes, Lanes: p.own.Lanes}
		if p.host {
			held.Life = 0xC3000000
		}
		for at := 1; at <= linkproto.InitLanesAt; at++ {
			for x := range 256 {
				for _, load := range []bool{false, true} {
					p.hear(initBytes(held), true)
					check.Equal(t, "fits", *p.pins.Fits, true)
					b := initBytes(held)
					b[at] = uint8(x)
					p.hear(b, load)
				}
			}
		}
	})
}
