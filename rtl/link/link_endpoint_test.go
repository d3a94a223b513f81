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
	}{
		{"full speed", 1, 3, 1, 1, 60000},
		{"long cable", 1, 90, 1, 1, 60000},
		{"slow readers", 1, 20, 1, 0.3, 60000},
		{"very slow readers", 1, 90, 1, 0.03, 60000},
		{"slow writers", 1, 5, 0.2, 1, 60000},
		{"rare packets", 1, 5, 0.003, 1, 60000},
		{"symbol every 10 clocks", 10, 3, 1, 1, 200000},
		{"symbols at random", 0, 30, 0.8, 0.4, 60000},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMixed(t, c.delay)
			m.period, m.offer, m.take = c.period, c.offer, c.take
			m.up.least, m.down.least = 3, 3
			m.clocks(c.clocks)
			m.settle()
			for cnt := range linkproto.Counter(linkproto.NumCounters) {
				rtl, peer := m.seen[cnt], m.total(cnt)
				switch cnt {
				case linkproto.CntRxPackets:
					if rtl != m.total(linkproto.CntTxPackets) || rtl != len(m.down.offered) {
						t.Errorf("RTL received %d, Go sent %d of %d", rtl, m.total(linkproto.CntTxPackets), len(m.down.offered))
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
	}{
		{"flips", faults{flip: 0.0005}, 1, linkproto.CntReplays},
		{"many flips", faults{flip: 0.01}, 1, linkproto.CntBadWord},
		{"drops", faults{drop: 0.001}, 1, linkproto.CntRxCRC},
		{"repeats", faults{repeat: 0.001}, 1, linkproto.CntRxGap},
		{"bursts", faults{burst: 0.0005}, 1, linkproto.CntRxStray},
		{"unplugged", faults{cut: 0.0002}, 1, linkproto.CntRetries},
		{"all", faults{flip: 0.0005, drop: 0.0005, repeat: 0.0005, burst: 0.0001, cut: 0.00005}, 1, linkproto.CntRxStray},
		{"all, slowly", faults{flip: 0.0005, drop: 0.0005, repeat: 0.0005, burst: 0.0001, cut: 0.00005}, 3, linkproto.CntReplays},
		{"all, unevenly", faults{flip: 0.0005, drop: 0.0005, repeat: 0.0005, burst: 0.0001, cut: 0.00005}, 0, linkproto.CntReplays},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMixed(t, 7)
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
			t.Logf("%d and %d packets, RTL's counters %v", m.up.next, m.down.next, m.seen)
		})
	}
}

// Either end may start again at any time, on a cable with faults too.
func TestEndpointRestarts(t *testing.T) {
	for _, f := range []faults{{}, {flip: 0.001, drop: 0.0005}} {
		t.Run(fmt.Sprint(f), func(t *testing.T) {
			m := newMixed(t, 5)
			epochs := map[uint32]bool{}
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
				epochs[*m.pins.Status>>8&255] = true
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

// The word that brings the link up may be followed at once by the peer's first frame, which counts.
func TestEndpointFrameAfterWord(t *testing.T) {
	for _, word := range []linkproto.Kind{linkproto.KindInit, linkproto.KindAck, linkproto.KindLost} {
		m := newMixed(t, 1)
		*m.pins.MReady = false
		epoch := uint8(*m.pins.Status >> 8)
		m.feed(linkproto.AppendWord(nil, linkproto.Word{Kind: linkproto.KindInit, Value: 9})...)
		m.b.Step(5)
		value := uint8(0)
		if word == linkproto.KindInit {
			value = 9
		}
		stream := linkproto.AppendWord(nil, linkproto.Word{Kind: word, Value: value, Echo: epoch})
		m.feed(linkproto.AppendFrame(stream, 0, packet(1, 20))...)
		for range 8 {
			m.b.Step(1)
			m.seen.add(*m.pins.Events)
		}
		want := eventsSeen{linkproto.CntRxPackets: 1}
		check.Equal(t, fmt.Sprintf("counters after %v", word), m.seen, want)
	}
}

// A duplicate and an INIT of the present session are answered by a word at once, though it says nothing new.
func TestEndpointAnswers(t *testing.T) {
	m := newMixed(t, 1)
	p := &m.pins
	*p.TxReady, *p.Tick = true, true
	epoch := uint8(*p.Status >> 8)
	known := linkproto.AppendWord(nil, linkproto.Word{Kind: linkproto.KindInit, Value: 9, Echo: epoch})
	frame := linkproto.AppendFrame(nil, 0, packet(1, 20))
	m.feed(known...)
	m.feed(frame...)
	for _, again := range [][]linkproto.Symbol{frame, known} {
		m.b.Step(40) // what has changed has been said
		m.feed(again...)
		for n := 0; linkproto.Symbol(*p.TxSym) != linkproto.SymLSW; n++ {
			if n > 8 {
				t.Fatalf("no answer to %v", again)
			}
			m.b.Step(1)
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

// brought returns an endpoint that is up, with the peer's epoch 9, behind its own words and with so many packets of 20 bytes sent.
func brought(t *testing.T, packets int) (m *mixed, epoch uint8) {
	m = newMixed(t, 1)
	p := &m.pins
	*p.TxReady, *p.Tick = true, true
	epoch = uint8(*p.Status >> 8)
	m.feed(linkproto.AppendWord(nil, linkproto.Word{Kind: linkproto.KindInit, Value: 9, Echo: epoch})...)
	for n := range packets {
		for i, b := range packet(n, 20) {
			*p.SValid, *p.SData, *p.SLast = true, b, i == 19
			m.b.Step(1)
		}
	}
	*p.SValid = false
	m.watch(40 * (packets + 1))
	m.seen = eventsSeen{}
	return m, epoch
}

// A LOST counts whatever stands directly behind its word, while the packets that it acknowledges are still being freed.
func TestEndpointWordBehindLost(t *testing.T) {
	for free := range uint8(4) {
		for name, behind := range map[string]linkproto.Word{
			"INIT":  {Kind: linkproto.KindInit, Value: 9},
			"stale": {Kind: linkproto.KindAck, Value: free, Echo: 1},
		} {
			m, epoch := brought(t, 4)
			behind.Echo += epoch
			words := linkproto.AppendWord(nil, linkproto.Word{Kind: linkproto.KindLost, Value: free, Echo: epoch})
			m.feed(linkproto.AppendWord(words, behind)...)
			m.watch(40)
			bad := 0
			if name == "stale" {
				bad = 1
			}
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
		word linkproto.Word
		bad  int
	}{
		{"good", linkproto.Word{Kind: linkproto.KindAck}, 0},
		{"stale", linkproto.Word{Kind: linkproto.KindAck, Echo: 1}, 1},
		{"of what was not sent", linkproto.Word{Kind: linkproto.KindAck, Value: 77}, 1},
	} {
		for gap := range 6 {
			for length := range linkproto.WordSymbols {
				m, epoch := brought(t, 1)
				w := first.word
				w.Echo += epoch
				stream := linkproto.AppendWord(nil, w)
				for range gap {
					stream = append(stream, linkproto.SymIdle)
				}
				broken := linkproto.AppendWord(nil, linkproto.Word{Kind: linkproto.KindAck, Echo: epoch})
				whole := linkproto.AppendWord(nil, linkproto.Word{Kind: linkproto.KindAck, Echo: epoch})
				m.feed(append(append(stream, broken[:length]...), whole...)...)
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
