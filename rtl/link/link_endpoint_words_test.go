package link_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// A LOST counts whatever stands directly behind its word, while the packets that it acknowledges are still being freed.
func TestEndpointWordBehindLost(t *testing.T) {
	for free := range uint8(4) {
		for _, name := range []string{"INIT", "stale"} {
			m := brought(t, 4)
			behind, bad := peerInit(goLife), 0
			if name == "stale" {
				behind, bad = linkproto.AppendWord(nil, linkproto.KeyOf(m.life()^1<<24, m.says), linkproto.Word{Kind: linkproto.KindAck, Value: free}), 1
			}
			m.feed(append(m.sealed(linkproto.Word{Kind: linkproto.KindLost, Value: free}), behind...)...)
			m.watch(40)
			if m.seen[linkproto.CntReplays] != 1 || m.seen[linkproto.CntTxPackets] != int(free) || m.seen[linkproto.CntBadWord] != bad {
				t.Errorf("LOST{%d} and %s: counters %v, want 1 replay, %d packets, %d bad words", free, name, m.seen, free, bad)
			}
		}
	}
}

// Of two bad words, however close and for whatever reasons, both count.
func TestEndpointBadWordsTogether(t *testing.T) {
	for _, first := range []struct {
		name string
		word func(*mixed) []linkproto.Symbol
		bad  int
	}{
		{"good", func(m *mixed) []linkproto.Symbol { return m.sealed(ack0) }, 0},
		{"stale", func(m *mixed) []linkproto.Symbol {
			return linkproto.AppendWord(nil, linkproto.KeyOf(m.life()^1<<24, m.says), ack0)
		}, 1},
		{"of what was not sent", func(m *mixed) []linkproto.Symbol {
			return m.sealed(linkproto.Word{Kind: linkproto.KindAck, Value: 77})
		}, 1},
		{"a barrier", func(m *mixed) []linkproto.Symbol {
			return m.sealed(linkproto.Word{Kind: linkproto.KindBarrier, Group: 3})
		}, 1},
		{"an INIT of another version", func(m *mixed) []linkproto.Symbol {
			return linkproto.AppendInit(nil, linkproto.Init{Version: linkproto.Version + 1, Life: goLife, Page: 7, Lanes: 1})
		}, 1},
	} {
		for gap := range 6 {
			for length := range linkproto.WordSymbols {
				m := brought(t, 1)
				stream := first.word(m)
				for range gap {
					stream = append(stream, linkproto.SymIdle)
				}
				m.feed(append(append(stream, m.sealed(ack0)[:length]...), m.sealed(ack0)...)...)
				m.watch(20)
				want := first.bad
				if length > 0 {
					want++
				}
				if m.seen[linkproto.CntBadWord] != want {
					t.Errorf("a word that is %s, %d idle symbols, %d symbols of a word: %d bad words counted, want %d", first.name, gap, length, m.seen[linkproto.CntBadWord], want)
				}
			}
		}
	}
}

// A packet that is in the middle of its loading when the peer starts again, with nothing else held, is dropped as its rest comes, though the link may
// be up again by then. The packets behind it are the first frames of the new session, and nothing else is sent.
func TestEndpointRestartAmidPacket(t *testing.T) {
	for sent := range 4 {
		for _, before := range []int{9, 19} { // bytes loaded before the link is up again
			m := brought(t, sent)
			p := &m.pins
			m.feed(m.sealed(linkproto.Word{Kind: linkproto.KindAck, Value: uint8(sent)})...)
			m.watch(20)
			var frames []string
			words := linkproto.NewDeframer(maxPacket)
			load := func(b []byte, last bool) {
				for i := range len(b) + 100 {
					if *p.SValid = i < len(b); *p.SValid {
						*p.SData, *p.SLast = b[i], last && i == len(b)-1
					}
					m.watch(1)
					if ev, _ := words.Next([]linkproto.Symbol{linkproto.Symbol(*p.TxSym)}); ev.Kind != linkproto.EventNone && ev.Kind != linkproto.EventWord {
						frames = append(frames, fmt.Sprintf("%v %d % x", ev.Kind, ev.Seq, ev.Payload))
					}
				}
			}
			load(packet(8, 20)[:9], false)
			m.says = goLife ^ 1<<24
			m.feed(peerInit(m.says)...)
			m.watch(5)
			load(packet(8, 20)[9:before], false)
			m.bringAs(m.says)
			m.watch(40) // what was due when the link came up has been said
			words, frames = linkproto.NewDeframer(maxPacket), nil
			words.SetKey(m.key().Back())
			load(packet(8, 20)[before:], true)
			var want []string
			for n := range 3 {
				load(packet(9+n, 20), true)
				want = append(want, fmt.Sprintf("%v %d % x", linkproto.EventFrame, n, packet(9+n, 20)))
			}
			check.Equal(t, fmt.Sprintf("frames with %d packets sent before, %d bytes loaded", sent, before), frames, want)
			check.Equal(t, "packets reported lost", m.seen[linkproto.CntLostPackets], 1)
		}
	}
}
