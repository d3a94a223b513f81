package link_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// Without errors nothing is dropped, sent twice or miscounted, whatever the speeds of link and hosts are.
func TestEndpointClean(t *testing.T) {
	for _, c := range []struct {
		name        string
		period      int
		delay       int
		offer, take float64
		clocks      int
		port        uint8
	}{
		{"full speed", 1, 3, 1, 1, 60000, 1},
		{"long cable", 1, 90, 1, 1, 60000, 1},
		{"slow readers", 1, 20, 1, 0.3, 60000, 0},
		{"very slow readers", 1, 90, 1, 0.03, 60000, 1},
		{"slow writers", 1, 5, 0.2, 1, 60000, 1},
		{"rare packets", 1, 5, 0.003, 1, 60000, 1},
		{"symbol every 10 clocks", 10, 3, 1, 1, 200000, 0},
		{"symbols at random", 0, 30, 0.8, 0.4, 60000, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMixedAt(t, c.port, c.delay)
			m.period, m.offer, m.take = c.period, c.offer, c.take
			m.up.least, m.down().least = 3, 3
			m.clocks(c.clocks)
			m.settle()
			for cnt := range linkproto.Counter(linkproto.NumCounters) {
				rtl, peer := m.seen[cnt], m.total(cnt)
				switch cnt {
				case linkproto.CntRxPackets:
					if rtl != m.total(linkproto.CntTxPackets) || rtl != len(m.down().offered) {
						t.Errorf("RTL received %d, Go sent %d of %d", rtl, m.total(linkproto.CntTxPackets), len(m.down().offered))
					}
				case linkproto.CntTxPackets:
					if rtl != m.total(linkproto.CntRxPackets) || rtl != len(m.up.offered) {
						t.Errorf("RTL sent %d, Go received %d of %d", rtl, m.total(linkproto.CntRxPackets), len(m.up.offered))
					}
				case linkproto.CntStops:
					if c.take < 0.1 && (rtl == 0 || peer == 0) {
						t.Errorf("no STOP: %d, %d", rtl, peer)
					}
					check.Equal(t, "STOPs that count", rtl, m.stops)
				default:
					if rtl != 0 || peer != 0 {
						t.Errorf("%v: RTL %d, Go %d, want none", cnt, rtl, peer)
					}
				}
			}
		})
	}
}

// Whatever the cable does to symbols, packets arrive once and in order, or are reported lost; and the link works when the faults end.
func TestEndpointFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults faults
		period int
		must   linkproto.Counter // of the RTL's counters: what must have happened
		port   uint8
	}{
		{"flips", faults{flip: 0.0005}, 1, linkproto.CntReplays, 1},
		{"many flips", faults{flip: 0.01}, 1, linkproto.CntBadWord, 1},
		{"drops", faults{drop: 0.001}, 1, linkproto.CntRxCRC, 1},
		{"repeats", faults{repeat: 0.001}, 1, linkproto.CntRxGap, 1},
		{"bursts", faults{burst: 0.0005}, 1, linkproto.CntRxStray, 1},
		{"unplugged", faults{cut: 0.0002}, 1, linkproto.CntRetries, 1},
		{"all", faults{flip: 0.0005, drop: 0.0005, repeat: 0.0005, burst: 0.0001, cut: 0.00005}, 1, linkproto.CntRxStray, 1},
		{"all, slowly", faults{flip: 0.0005, drop: 0.0005, repeat: 0.0005, burst: 0.0001, cut: 0.00005}, 3, linkproto.CntReplays, 1},
		{"all, unevenly", faults{flip: 0.0005, drop: 0.0005, repeat: 0.0005, burst: 0.0001, cut: 0.00005}, 0, linkproto.CntReplays, 1},
		{"all, at a host's port", faults{flip: 0.0005, drop: 0.0005, repeat: 0.0005, burst: 0.0001, cut: 0.00005}, 1, linkproto.CntReplays, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMixedAt(t, c.port, 7)
			m.period = c.period
			for round := range 8 {
				m.out.faults, m.in.faults = c.faults, c.faults
				m.offer, m.take = testbench.Pick(m.rng, 1, 0.3, 0.02), testbench.Pick(m.rng, 1, 0.3)
				m.clocks(8000)
				if round%2 == 1 {
					m.settle()
				}
			}
			m.settle()
			if m.seen[c.must] == 0 {
				t.Errorf("%v never happened", c.must)
			}
			t.Logf("%d and %d packets, RTL's counters %v", m.up.next, m.down().next, m.seen)
		})
	}
}

// Either end may start again at any time, on a cable with faults too.
func TestEndpointRestarts(t *testing.T) {
	for i, f := range []faults{{}, {flip: 0.001, drop: 0.0005}, {}, {flip: 0.001, drop: 0.0005}} {
		t.Run(fmt.Sprint(f, " at port ", i/2), func(t *testing.T) {
			m := newMixedAt(t, uint8(i/2), 5)
			epochs := map[uint8]bool{}
			for range 120 {
				m.out.faults, m.in.faults = f, f
				m.offer, m.take = testbench.Pick(m.rng, 1, 0.1), testbench.Pick(m.rng, 1, 0.2)
				m.clocks(m.rng.Between(1, 900))
				switch m.rng.IntN(4) {
				case 0:
					m.replacePeer()
				case 1:
					m.resetRTL()
				case 2:
					m.resetRTL()
					m.replacePeer()
				case 3:
					m.replacePeer()
					m.clocks(m.rng.Between(0, 40))
					m.resetRTL()
				}
				epochs[m.epoch()] = true
				if m.rng.Chance(0.2) {
					m.settle()
				}
			}
			m.settle()
			if epochs[0] || len(epochs) < 10 {
				t.Errorf("epochs %v", epochs)
			}
		})
	}
}

// A link that only one end was restarted on loses what was not acknowledged, and says exactly how much.
func TestEndpointReportsLoss(t *testing.T) {
	m := newMixed(t, 5)
	m.take = 0
	m.clocks(3000) // fills both receivers up to STOP, and both senders
	*m.pins.SValid = false
	m.offer = 0
	held := int(m.loaded - *m.pins.FreedPackets)
	if len(m.loading) > 0 && len(m.loading) < len(m.up.offered[len(m.up.offered)-1]) {
		held++ // one has begun
	} else {
		m.loading = nil
		m.up.offered = m.up.offered[:len(m.up.offered)-1]
	}
	if held < 2 {
		t.Fatalf("only %d packets held", held)
	}
	m.replacePeer()
	m.offer = 0
	m.clocks(2000)
	check.Equal(t, "packets reported lost, and not acknowledged", m.seen[linkproto.CntLostPackets], held)
	check.Equal(t, "restarts", m.seen[linkproto.CntRestarts], 1)
	m.offer = 1
	m.clocks(3000)
	m.settle()
}

// feed puts symbols on the RTL's input, one a clock.
func (m *mixed) feed(symbols ...linkproto.Symbol) {
	for _, s := range symbols {
		*m.pins.RxSym, *m.pins.RxValid = uint16(s), true
		m.b.Step(1)
		m.seen.add(*m.pins.Events)
	}
	*m.pins.RxValid = false
}

// goLife is that of the peer in the tests that make it up.
const goLife = linkproto.Life(0x47005C1F)

// peerInit is the INIT of a peer with this life.
func peerInit(life linkproto.Life) []linkproto.Symbol {
	page, _ := linkproto.PageOf(maxPacket)
	return linkproto.AppendInit(nil, linkproto.Init{Version: linkproto.Version, Node: 0x1D0C, Life: life, Page: page, Lanes: 1})
}

// sealed is a word of the peer's to the RTL's present life.
func (m *mixed) sealed(w linkproto.Word) []linkproto.Symbol {
	return linkproto.AppendWord(nil, m.key(), w)
}

// frame is a frame to it.
func (m *mixed) frame(seq uint8, payload []byte) []linkproto.Symbol {
	return linkproto.AppendFrame(nil, m.key(), seq, payload)
}

// ack0 acknowledges nothing: that the peer knows this life is all that it says.
var ack0 = linkproto.Word{Kind: linkproto.KindAck}

// The word that brings the link up may be followed at once by the peer's first frame, which counts; an INIT does not bring it up.
func TestEndpointFrameAfterWord(t *testing.T) {
	for name, word := range map[string]func(*mixed) []linkproto.Symbol{
		"ACK":  func(m *mixed) []linkproto.Symbol { return m.sealed(ack0) },
		"LOST": func(m *mixed) []linkproto.Symbol { return m.sealed(linkproto.Word{Kind: linkproto.KindLost}) },
		"INIT": func(m *mixed) []linkproto.Symbol { return peerInit(goLife) },
	} {
		m := newMixed(t, 1)
		*m.pins.MReady = false
		m.feed(peerInit(goLife)...)
		m.b.Step(5)
		m.feed(append(word(m), m.frame(0, packet(1, 20))...)...)
		m.watch(8)
		want := eventsSeen{linkproto.CntRxPackets: 1}
		if name == "INIT" {
			want = eventsSeen{linkproto.CntRxStray: 1}
		}
		check.Equal(t, "counters after "+name, m.seen, want)
	}
}

// answers waits for the RTL's next word, which must begin soon, and returns it.
func (m *mixed) answers(what string) linkproto.Event {
	m.t.Helper()
	for n := 0; linkproto.Symbol(*m.pins.TxSym) != linkproto.SymLSW; n++ {
		if n > 8 {
			m.t.Fatalf("no answer to %s", what)
		}
		m.b.Step(1)
	}
	words := linkproto.NewDeframer(linkproto.MinPacket)
	words.SetKey(m.key().Back())
	for {
		if ev, _ := words.Next([]linkproto.Symbol{linkproto.Symbol(*m.pins.TxSym)}); ev.Kind != linkproto.EventNone {
			return ev
		}
		m.b.Step(1)
	}
}

// A duplicate and an INIT of the present session are answered by a word at once, though it says nothing new.
func TestEndpointAnswers(t *testing.T) {
	m := brought(t, 0)
	frame := m.frame(0, packet(1, 20))
	m.feed(frame...)
	for _, again := range [][]linkproto.Symbol{frame, peerInit(goLife)} {
		m.b.Step(40) // what has changed has been said
		m.feed(again...)
		want := linkproto.Event{Kind: linkproto.EventWord, Word: linkproto.Word{Kind: linkproto.KindAck, Value: 1}, Key: m.key().Back()}
		check.Equal(t, fmt.Sprint("answer to ", again), m.answers(fmt.Sprint(again)), want)
	}
}

// Until it is up an end says who it is, and once it knows its peer that it does, in turn; the peer's INIT is answered at once.
func TestEndpointInTurn(t *testing.T) {
	for _, port := range []uint8{0, 1, 7} {
		m := newMixedAt(t, port, 1)
		p := &m.pins
		*p.TxReady, *p.Tick = true, true
		m.b.Step(40)
		page, _ := linkproto.PageOf(maxPacket)
		who := linkproto.Event{Kind: linkproto.EventInit, Init: linkproto.Init{Version: linkproto.Version, Node: *p.Node, Life: m.life(), Page: page, Lanes: 1}}
		peer := linkproto.Life(goLife)
		if port == 0 {
			peer = 0x47000000
		}
		m.feed(peerInit(peer)...)
		for i := range 6 {
			words := linkproto.NewDeframer(linkproto.MinPacket)
			words.SetKey(linkproto.KeyOf(peer, m.life()))
			var ev linkproto.Event
			for n := 0; ev.Kind == linkproto.EventNone; n++ {
				if n > 2*ackDelay {
					t.Fatalf("port %d: silent after %d words", port, i)
				}
				ev, _ = words.Next([]linkproto.Symbol{linkproto.Symbol(*p.TxSym)})
				m.b.Step(1)
			}
			want := who
			if i%2 == 0 {
				want = linkproto.Event{Kind: linkproto.EventWord, Word: ack0, Key: linkproto.KeyOf(peer, m.life())}
			}
			check.Equal(t, fmt.Sprintf("port %d, word %d", port, i), ev, want)
		}
		if known := *p.Peer>>17 != 0; !known || port != 0 && *p.Peer&0xFFFF != 0x1D0C {
			t.Errorf("port %d: peer %#x", port, *p.Peer)
		}
	}
}

// watch runs for n clocks and counts events.
func (m *mixed) watch(n int) {
	for range n {
		m.b.Step(1)
		m.seen.add(*m.pins.Events)
	}
}

// brought returns an endpoint that is up, with a peer of the life goLife, behind its own words and with so many packets of 20 bytes sent.
func brought(t *testing.T, packets int) (m *mixed) {
	m = newMixed(t, 1)
	p := &m.pins
	*p.TxReady, *p.Tick = true, true
	m.bring()
	for n := range packets {
		for i, b := range packet(n, 20) {
			*p.SValid, *p.SData, *p.SLast = true, b, i == 19
			m.b.Step(1)
		}
	}
	*p.SValid = false
	m.watch(40 * (packets + 1))
	m.seen = eventsSeen{}
	return m
}

// bring tells the RTL who the peer is, and that the peer knows it.
func (m *mixed) bring() { m.t.Helper(); m.bringAs(goLife) }

// bringAs does so for a peer of another life.
func (m *mixed) bringAs(life linkproto.Life) {
	m.t.Helper()
	m.says = life
	m.feed(peerInit(life)...)
	m.watch(5)
	m.feed(m.sealed(ack0)...)
	m.watch(5)
	if !m.rtlUp() {
		m.t.Fatalf("not up: status %04x, peer %05x", *m.pins.Status, *m.pins.Peer)
	}
}
