package link_test

import (
	"slices"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// BARRIERs that come are heard while the link is up, each once, its group in or before the clock in which it proves good: behind words of other kinds, bad ones, those that
// break off, and frames.
func TestEndpointBarriers(t *testing.T) {
	for _, module := range []string{"link_endpoint", "link_lanes"} {
		t.Run(module, func(t *testing.T) { testEndpointBarriers(t, module) })
	}
}

func testEndpointBarriers(t *testing.T, module string) {
	var p struct {
		Tick, TxReady, RxValid *bool   `port:"*"`
		RxSym, Heard, Status   *uint16 `port:"*"`
		Nonce                  *uint32 `port:"*"`
	}
	b := moduletest.New(t, module, params{"BARRIER": 1, "MAX_PACKET": maxPacket, "REPLAY_BYTES": replay, "RX_BYTES": rxBytes, "HEADROOM": headroom}, &p)
	r := b.Rand("words")
	*p.Nonce, *p.Tick, *p.TxReady = 0x12345678, true, true
	b.Reset("rst", 4)

	var group uint16 // of the word that comes, as who hears keeps it
	var heard, want []uint16
	clock := func(s linkproto.Symbol, valid bool) {
		*p.RxSym, *p.RxValid = uint16(s), valid
		b.Step(1)
		if *p.Heard>>14&1 != 0 {
			group = *p.Heard >> 8 & 31
		}
		if *p.Heard>>13&1 != 0 {
			heard = append(heard, group<<8|*p.Heard&0xFF)
		}
	}
	feed := func(gaps float64, symbols ...linkproto.Symbol) {
		for _, s := range symbols {
			for r.Chance(gaps) {
				clock(linkproto.Symbol(r.IntN(512)), false)
			}
			clock(s, true)
		}
	}
	b.Step(4)
	key := linkproto.KeyOf(linkproto.LifeOf(*p.Nonce, 1, uint8(linkproto.StatusEpoch.Of(uint32(*p.Status)))), goLife)
	word := func(kind linkproto.Kind) linkproto.Word {
		w := linkproto.Word{Kind: kind, Value: uint8(r.IntN(256))}
		if kind == linkproto.KindBarrier {
			w.Group = uint8(r.IntN(linkproto.BarrierGroups))
		}
		return w
	}
	sealed := func(w linkproto.Word) []linkproto.Symbol { return linkproto.AppendWord(nil, key, w) }
	feed(0, peerInit(goLife)...)
	feed(0, sealed(word(linkproto.KindBarrier))...)
	feed(0, slices.Repeat([]linkproto.Symbol{linkproto.SymIdle}, 8)...)
	if len(heard) > 0 {
		t.Fatalf("heard %x while the link is down", heard)
	}
	feed(0, sealed(ack0)...)
	feed(0, slices.Repeat([]linkproto.Symbol{linkproto.SymIdle}, 8)...)
	for range 3000 {
		gaps := []float64{0, 0, 0.3, 0.7}[r.IntN(4)]
		w := word(linkproto.KindBarrier)
		switch symbols := sealed(w); r.IntN(8) {
		case 0:
			symbols[1+r.IntN(len(symbols)-1)] ^= 1 << r.IntN(8)
			feed(gaps, symbols...)
		case 1:
			feed(gaps, symbols[:1+r.IntN(len(symbols)-1)]...)
			if r.Chance(0.5) {
				feed(gaps, linkproto.SymSOP)
			}
		case 2:
			feed(gaps, sealed(linkproto.Word{Kind: linkproto.KindAck})...)
		case 3:
			feed(gaps, peerInit(goLife)...)
		case 4:
			feed(gaps, linkproto.AppendFrame(nil, key, 99, packet(1, 20))...)
		default:
			feed(gaps, symbols...)
			want = append(want, uint16(w.Group)<<8|uint16(w.Value))
		}
	}
	feed(0, slices.Repeat([]linkproto.Symbol{linkproto.SymIdle}, 8)...)
	if !slices.Equal(heard, want) {
		t.Fatalf("heard %d words, want %d: %x, want %x", len(heard), len(want), heard[:min(20, len(heard))], want[:min(20, len(want))])
	}
}
