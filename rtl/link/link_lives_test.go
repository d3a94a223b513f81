package link_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// A frame or word for another life, be it the RTL's own before it started again, is damaged: it neither delivers nor acknowledges anything.
func TestEndpointOtherLives(t *testing.T) {
	m := brought(t, 2)
	former := m.life()
	m.feed(peerInit(goLife ^ 1<<24)...) // the peer starts again
	m.watch(20)
	check.Equal(t, "restarts", m.seen[linkproto.CntRestarts], 1)
	if m.life() == former || m.rtlUp() || *m.pins.Peer>>17 != 0 {
		t.Fatalf("life %#x after %#x, status %04x, peer %05x", m.life(), former, *m.pins.Status, *m.pins.Peer)
	}
	m.says = goLife ^ 1<<24
	m.feed(peerInit(m.says)...)
	m.watch(5)
	m.seen = eventsSeen{}
	own := m.life()
	keys := []linkproto.Key{linkproto.KeyOf(former, m.says), linkproto.KeyOf(own, goLife), linkproto.KeyOf(own^1<<20, m.says), linkproto.KeyOf(own, m.says^1),
		linkproto.KeyOf(m.says, own), linkproto.Key(own), 0}
	for _, key := range keys { // known, and down
		m.feed(linkproto.AppendFrame(linkproto.AppendWord(nil, key, ack0), key, 0, packet(0, 20))...)
		m.watch(20)
		if m.rtlUp() {
			t.Fatalf("up by a word with key %#x", key)
		}
	}
	check.Equal(t, "counters while down", m.seen, eventsSeen{linkproto.CntRxStray: len(keys)})
	m.feed(m.sealed(ack0)...)
	m.watch(20)
	m.seen = eventsSeen{}
	for _, key := range keys {
		m.feed(linkproto.AppendFrame(linkproto.AppendWord(nil, key, linkproto.Word{Kind: linkproto.KindLost, Stop: true}), key, 0, packet(0, 20))...)
		m.watch(20)
	}
	check.Equal(t, "counters while up", m.seen, eventsSeen{linkproto.CntBadWord: len(keys), linkproto.CntRxCRC: len(keys)})
	if !m.rtlUp() || *m.pins.Status>>1&1 != 0 || *m.pins.MValid {
		t.Errorf("status %04x, a packet: %v", *m.pins.Status, *m.pins.MValid)
	}
}

// An end that is down, and knew one peer, forgets it when it hears another life.
func TestEndpointAnotherEnd(t *testing.T) {
	for _, life := range []linkproto.Life{goLife, goLife ^ 1<<24, goLife ^ 0xFF<<24, goLife ^ 1, goLife ^ 1<<23, goLife ^ 7<<20} {
		m := newMixed(t, 1)
		*m.pins.TxReady, *m.pins.Tick = true, true
		m.feed(peerInit(goLife)...)
		m.watch(20)
		epoch := m.epoch()
		m.feed(peerInit(life)...)
		m.watch(20)
		if known := *m.pins.Peer>>17 != 0; m.epoch() != epoch || known != (life == goLife) || m.rtlUp() {
			t.Errorf("INIT of %#x: epoch %d after %d, known %v, status %04x", life, m.epoch(), epoch, known, *m.pins.Status)
		}
		check.Equal(t, "counters", m.seen, eventsSeen{})
	}
	// At the host's port there is no other end, and nobody with a nonce.
	m := newMixedAt(t, 0, 1)
	m.feed(peerInit(0x47000000)...)
	m.watch(20)
	epoch := m.epoch()
	m.feed(peerInit(goLife)...)
	m.watch(20)
	check.Equal(t, "counters of an INIT with a nonce", m.seen, eventsSeen{})
	m.feed(peerInit(0x48000000)...)
	m.watch(20)
	check.Equal(t, "epoch", m.epoch(), epoch)
	check.Equal(t, "known", *m.pins.Peer>>17, 0)
}

// A peer that falls silent is gone after four WORD_TIMERs, whether it had said STOP or GO last, and what was not acknowledged is reported; one that
// says INIT only does not count as one that speaks. At the host's port silence says nothing.
func TestEndpointSilence(t *testing.T) {
	const silence = linkproto.SilentTimers * wordTimer
	for _, c := range []struct{ stop, inits bool }{{false, false}, {true, false}, {false, true}} {
		m := brought(t, 2)
		m.feed(m.sealed(linkproto.Word{Kind: linkproto.KindAck, Stop: c.stop})...)
		for n := 0; m.rtlUp(); n += 25 {
			if n > silence+50 {
				t.Fatalf("%+v: still up %d symbols after the last word", c, n)
			}
			if c.inits {
				m.feed(peerInit(goLife)...)
			} else {
				m.watch(linkproto.InitSymbols)
			}
			if m.watch(25 - linkproto.InitSymbols); !m.rtlUp() && n < silence-30 {
				t.Fatalf("%+v: down %d symbols after the last word", c, n)
			}
		}
		m.watch(40)
		if m.seen[linkproto.CntRestarts] != 1 || m.seen[linkproto.CntLostPackets] != 2 {
			t.Errorf("%+v: counters %v", c, m.seen)
		}
	}
	m := newMixedAt(t, 0, 1)
	*m.pins.TxReady, *m.pins.Tick = true, true
	m.says = 0x47000000
	m.feed(peerInit(m.says)...)
	m.watch(5)
	m.feed(m.sealed(ack0)...)
	m.watch(5 * silence)
	check.Equal(t, "counters at the host's port", m.seen, eventsSeen{})
	check.Equal(t, "up", m.rtlUp(), true)
}

// A peer that takes shorter packets, or has other lanes, is refused: the link stays down, says INIT only, and words are ignored.
func TestEndpointRefused(t *testing.T) {
	page, _ := linkproto.PageOf(maxPacket)
	for _, c := range []struct {
		page, lanes uint8
		refused     bool
	}{{page - 1, 1, true}, {6, 1, true}, {page, 2, true}, {page + 1, 8, true}, {page + 1, 1, false}, {13, 1, false}} {
		m := newMixed(t, 1)
		*m.pins.TxReady, *m.pins.Tick = true, true
		m.feed(linkproto.AppendInit(nil, linkproto.Init{Version: linkproto.Version, Node: 5, Life: goLife, Page: c.page, Lanes: c.lanes})...)
		m.watch(20)
		m.feed(m.sealed(ack0)...)
		m.watch(20)
		want := uint32(1<<17 | 5)
		if c.refused {
			want |= 1 << 16
		}
		if *m.pins.Peer != want || m.rtlUp() == c.refused {
			t.Errorf("%+v: peer %05x, want %05x, status %04x", c, *m.pins.Peer, want, *m.pins.Status)
		}
		check.Equal(t, "counters", m.seen, eventsSeen{})
		if c.refused {
			m.saysInitOnly(fmt.Sprintf("%+v", c))
			m.feed(peerInit(goLife ^ 1<<24)...) // and one that starts again is another, of whom nothing is known
			m.watch(20)
			check.Equal(t, fmt.Sprintf("PEER behind %+v", c), *m.pins.Peer>>16, 0)
		}
	}
}

// saysInitOnly fails the test if anything but INITs goes out for some time.
func (m *mixed) saysInitOnly(what string) {
	m.t.Helper()
	words := linkproto.NewDeframer(linkproto.MinPacket)
	words.TakeAny()
	m.watch(linkproto.WordSymbols + linkproto.InitSymbols)
	inits := 0
	for range 5 * ackDelay {
		switch ev, _ := words.Next([]linkproto.Symbol{linkproto.Symbol(*m.pins.TxSym)}); ev.Kind {
		case linkproto.EventInit:
			inits++
		case linkproto.EventWord:
			m.t.Fatalf("%s: says %+v", what, ev)
		}
		m.b.Step(1)
	}
	if inits < 4 {
		m.t.Errorf("%s: %d INITs in five times ACK_DELAY", what, inits)
	}
}

// Without a nonce a link stays down and says INIT only, whatever the peer says; with one it comes up, and nothing is lost. Another nonce while it is up
// starts it again with another life.
func TestEndpointAnonymous(t *testing.T) {
	m := newMixed(t, 5)
	p := &m.pins
	nonce := *p.Nonce
	*p.Nonce, *p.Anonymous = 0, true
	m.offer, m.take = 0.5, 1
	m.clocks(3000)
	m.saysInitOnly("without a nonce")
	if m.rtlUp() || m.peer.Status().Up || *p.Peer>>17 == 0 || m.seen[linkproto.CntBadWord]+m.total(linkproto.CntBadWord) > 0 {
		t.Fatalf("without a nonce: status %04x, %+v, peer %05x, %v", *p.Status, m.peer.Status(), *p.Peer, m.seen)
	}
	write := func(nonce uint32) {
		*p.Renew = true
		m.clock()
		*p.Renew, *p.Nonce, *p.Anonymous = false, nonce, false
	}
	write(nonce)
	m.clocks(3000)
	m.settle()
	check.Equal(t, "restarts", m.seen[linkproto.CntRestarts]+m.total(linkproto.CntRestarts), 0)
	m.offer = 1
	m.clocks(1000)
	epoch := m.epoch()
	write(^nonce)
	m.clocks(3000)
	m.settle()
	if m.seen[linkproto.CntRestarts] != 1 || m.total(linkproto.CntRestarts) != 1 || m.epoch() != linkproto.NextEpoch(epoch) {
		t.Errorf("another nonce: %d and %d restarts, epoch %d after %d", m.seen[linkproto.CntRestarts], m.total(linkproto.CntRestarts), m.epoch(), epoch)
	}
	check.Equal(t, "life that the peer knows", m.peer.Status().Peer.Life, linkproto.LifeOf(^nonce, 1, m.epoch()))
}

// The cable is moved to another end that has been up with a third, with equal, higher and lower counters, the same epochs included: both ends notice,
// start again and report what was underway; nothing is delivered to the wrong one.
func TestEndpointRecabled(t *testing.T) {
	for _, counters := range []int{-3, -1, 0, 1, 3} {
		for _, stop := range []bool{false, true} {
			m := newMixed(t, 5)
			const sent = 6
			m.offer, m.take = 0, 1
			third, cfg := m.peer, m.cfg
			for range sent {
				m.loading = m.up.offer(m.rng)
				check.Fatal(t, third.Send(m.down().offer(m.rng)))
				m.idleFor()
			}
			// The other end, up with an end that looks like the RTL but for its nonce, in the same epochs.
			cfg.Nonce = m.rng.Uint32() | 1
			other := check.Must(flowctl.New(cfg))(t)
			cfg.Nonce, cfg.Epoch = cfg.Nonce^2, m.epoch()
			like := check.Must(flowctl.New(cfg))(t)
			var line [16]linkproto.Symbol
			run := func(n int) {
				for range n {
					other.Feed(line[:like.Emit(line[:])])
					like.Feed(line[:other.Emit(line[:])])
					other.Tick(len(line))
					like.Tick(len(line))
					for _, e := range []*flowctl.Endpoint{other, like} {
						e.Receive()
					}
				}
			}
			for range sent + counters {
				check.Fatal(t, other.Send(packet(999, 40)))
				check.Fatal(t, like.Send(packet(998, 40)))
				run(100)
			}
			if !other.Status().Up || other.Queued() != 0 {
				t.Fatalf("the other end: %+v, %d queued", other.Status(), other.Queued())
			}
			check.Fatal(t, other.Send(packet(997, 40))) // which is for the third
			if stop {
				*m.pins.RxValid = false
				m.feed(m.sealed(linkproto.Word{Kind: linkproto.KindAck, Stop: true, Value: sent})...)
			}
			// What the RTL has sent meanwhile goes nowhere.
			m.loading = m.up.offer(m.rng)
			m.out.cut, m.in.cut = true, true
			m.clocks(200)
			m.out.cut, m.in.cut = false, false
			m.out.line, m.in.line, m.arrived = nil, nil, nil
			m.peer, m.up.next, *m.down() = other, len(m.up.offered), traffic{name: "from the other end", least: 5}
			m.clocks(6 * wordTimer)
			if s := other.Status(); !m.rtlUp() || !s.Up || s.Peer.Life != m.life() {
				t.Fatalf("counters %+d: status %04x, %+v", counters, *m.pins.Status, s)
			}
			loss, _ := other.Lost()
			check.Equal(t, "packets that the other end reports", loss.Count, 1)
			check.Equal(t, "restarts and lost packets of the RTL", []int{m.seen[linkproto.CntRestarts], m.seen[linkproto.CntLostPackets]}, []int{1, 1})
			m.offer = 1
			m.clocks(3000)
			m.up.reset = true
			m.settle()
		}
	}
}

// idleFor waits until nothing is underway.
func (m *mixed) idleFor() {
	m.t.Helper()
	for n := 0; !m.idle(); n++ {
		if n > 4*retry {
			m.t.Fatalf("not idle: status %04x, %+v", *m.pins.Status, m.peer.Status())
		}
		m.clock()
	}
}

// The cable goes from end to end at random, at any moment, with what is in it or without: nothing is delivered twice or out of order, no end gets what
// was sent to another, and nothing is missing without a report.
func TestEndpointCables(t *testing.T) {
	for _, f := range []faults{{}, {flip: 0.0005, drop: 0.0003}} {
		t.Run(fmt.Sprint(f), func(t *testing.T) {
			m := newMixed(t, 5)
			m.up.name, m.up.reset = "from RTL to any end", false
			ends := make([]*flowctl.Endpoint, 3)
			m.downs = nil
			for i := range ends {
				cfg := m.cfg
				cfg.Nonce, cfg.Epoch = m.rng.Uint32()|1, 200
				ends[i] = check.Must(flowctl.New(cfg))(t)
				m.downs = append(m.downs, &traffic{name: fmt.Sprint("from end ", i), least: 8, first: i << 12})
			}
			ups := 0
			plug := func(to int) {
				for p, ok := ends[m.at].Receive(); ok; p, ok = ends[m.at].Receive() {
					m.up.arrive(t, p)
				}
				if m.rng.Bool() {
					m.out.line, m.in.line, m.arrived = nil, nil, nil
				}
				m.at, m.peer = to, ends[to]
			}
			m.peer = ends[0]
			for round := range 300 {
				m.out.faults, m.in.faults = f, f
				m.offer, m.take = testbench.Pick(m.rng, 1, 0.1, 0.02), testbench.Pick(m.rng, 1, 0.3)
				m.clocks(m.rng.Between(1, testbench.Pick(m.rng, 40, 400, 3000)))
				if m.rtlUp() {
					ups++
				}
				if round%20 == 19 {
					m.settle()
				}
				plug(m.rng.IntN(len(ends)))
			}
			for i := range ends {
				plug(i)
				m.clocks(6 * wordTimer)
				m.settle()
			}
			if ups < 50 || m.seen[linkproto.CntRestarts] < 50 {
				t.Errorf("up in %d rounds, %v", ups, m.seen)
			}
		})
	}
}

// A nonce that comes at any moment of the peer's INIT, be the peer known before or not, leaves an end that knows nobody or all of the peer's life.
func TestEndpointRenewed(t *testing.T) {
	for _, known := range []bool{false, true} {
		for at := range linkproto.InitSymbols + 5 {
			m := newMixed(t, 1)
			p := &m.pins
			*p.TxReady, *p.Tick, m.says = true, true, goLife
			if known {
				m.feed(peerInit(goLife)...)
				m.watch(5)
			}
			for i, s := range append(peerInit(goLife), make([]linkproto.Symbol, 5)...) {
				if i >= linkproto.InitSymbols {
					s = linkproto.SymIdle
				}
				if *p.Renew = i == at; *p.Renew {
					*p.Nonce ^= 0x5C9CBC1A
				}
				m.feed(s)
			}
			*p.Renew = false
			m.watch(5)
			if *p.Peer>>17 == 0 {
				m.feed(peerInit(goLife)...)
				m.watch(5)
			}
			m.feed(m.sealed(ack0)...)
			m.watch(5)
			if !m.rtlUp() || *p.Peer != 1<<17|0x1D0C {
				t.Errorf("peer known before %v, a nonce at symbol %d of an INIT: status %04x, peer %05x", known, at, *p.Status, *p.Peer)
			}
		}
	}
}
