package flowctl_test

import (
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

func initWord(epoch uint8) message {
	return message{linkproto.Word{Kind: linkproto.KindInit}, epoch}
}

func ackWord(n, epoch uint8) message {
	return message{linkproto.Word{Kind: linkproto.KindAck, Value: n}, epoch}
}

// TestHandshake feeds words to a new endpoint, of epoch 1, and checks what it answers at once.
func TestHandshake(t *testing.T) {
	known, up := flowctl.Status{Epoch: 1, Peer: peerIn(90)}, flowctl.Status{Up: true, Epoch: 1, Peer: peerIn(90)}
	for _, c := range []struct {
		name  string
		feed  []message
		say   []string // after the INIT of the start
		state flowctl.Status
		bad   uint32
	}{
		{"the peer's first INIT", []message{initWord(90)}, []string{"ACK 0"}, known, 0},
		{"the same again", []message{initWord(90), initWord(90)}, []string{"ACK 0"}, known, 0},
		{"the peer knows this end", []message{initWord(90), ackWord(0, 1)}, []string{"ACK 0"}, up, 0},
		{"ACK of an unknown peer", []message{ackWord(0, 1)}, nil, flowctl.Status{Epoch: 1}, 0},
		{"ACK for an earlier session", []message{initWord(90), ackWord(0, 7)}, []string{"ACK 0"}, known, 0},
		{"ACK for an earlier session while up", []message{initWord(90), ackWord(0, 1), ackWord(0, 7)}, []string{"ACK 0"}, up, 1},
		{"another peer while down", []message{initWord(90), initWord(91)}, []string{"INIT 1"}, flowctl.Status{Epoch: 1}, 0},
		{"another peer while down, again", []message{initWord(90), initWord(91), initWord(91)}, []string{"ACK 0"}, flowctl.Status{Epoch: 1, Peer: peerIn(91)}, 0},
		{"the peer has not heard", []message{initWord(90), ackWord(0, 1), initWord(90)}, []string{"ACK 0"}, up, 0},
		{"the peer restarted", []message{initWord(90), ackWord(0, 1), initWord(91)}, []string{"INIT 2"}, flowctl.Status{Epoch: 2}, 0},
		{"INIT says STOP", []message{{linkproto.Word{Kind: linkproto.KindInit, Stop: true}, 90}}, []string{"ACK 0"},
			flowctl.Status{PeerStop: true, Epoch: 1, Peer: peerIn(90)}, 0},
		{"a barrier", []message{initWord(90), ackWord(0, 1), {linkproto.Word{Kind: linkproto.KindBarrier, Group: 3, Value: 1}, 1}}, []string{"ACK 0"}, up, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProbe(t, flowctl.Config{})
			p.expect("INIT 1")
			for _, m := range c.feed {
				p.say(m)
			}
			p.expect(c.say...)
			check.Equal(t, "status", p.Status(), c.state)
			check.Equal(t, "bad words", p.Counter(linkproto.CntBadWord), c.bad)
		})
	}
}

// TestAnswer: each INIT of a peer that has not heard is answered; one that is not up is told both in turn.
func TestAnswer(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	for range 3 {
		p.say(initWord(peerEpoch))
		p.expect("ACK 0")
	}
	p = newProbe(t, flowctl.Config{})
	p.expect("INIT 1")
	for range 3 {
		p.say(initWord(peerEpoch))
		p.expect("ACK 0")
		p.Tick(linkproto.DefaultAckDelay)
		p.expect("INIT 1")
	}
}

// TestSilence: a peer that is silent is gone, whatever it has said last; INITs alone are no sign of life.
func TestSilence(t *testing.T) {
	for _, stop := range []bool{false, true} {
		p := upProbe(t, flowctl.Config{WordTimer: 100, AckDelay: 50})
		p.word(linkproto.Word{Kind: linkproto.KindAck, Stop: stop})
		p.Tick(399)
		p.expect("ACK 0")
		p.word(linkproto.Word{Kind: linkproto.KindAck, Stop: stop})
		p.Tick(399)
		p.say(initWord(peerEpoch))
		p.expect("ACK 0")
		check.Equal(t, "ticks that it may be idle", p.IdleFor(), 1)
		p.Tick(1)
		p.expect("INIT 2")
		check.Equal(t, "up", p.Status().Up, false)
	}
}

// TestRefused: a peer that takes no packets as long as those of this end is known, and the link stays down.
func TestRefused(t *testing.T) {
	p := newProbe(t, flowctl.Config{})
	p.expect("INIT 1")
	p.Feed(linkproto.AppendInit(nil, linkproto.Init{Version: linkproto.Version, Node: peerNode, Life: peerLife(90), Page: 9, Lanes: 1}))
	p.expect("INIT 1")
	p.ack(0)
	peer := peerIn(90)
	peer.MaxPacket = linkproto.MaxPacket(512)
	check.Equal(t, "status", p.Status(), flowctl.Status{Refused: true, Epoch: 1, Peer: peer})
}

// TestUnheard: an end that has heard another's life, and was never heard by it, cannot speak for that one's peer, whatever the numbers are. Here the
// other's are such that ACK 0 would free frames that nobody got.
func TestUnheard(t *testing.T) {
	end := func(nonce uint32) *flowctl.Endpoint {
		return newEndpoint(t, flowctl.Config{Port: 1, Nonce: nonce, WordTimer: 1 << 20})
	}
	a, b, c := end(1), end(2), end(3)
	var line [4096]linkproto.Symbol
	c.Feed(line[:a.Emit(line[:])]) // the INIT
	for sent := 0; a.Counter(linkproto.CntTxPackets) < 250; a.Tick(1) {
		if a.Counter(linkproto.CntRestarts) > 0 {
			t.Fatal("the link does not come up, or not stay so")
		}
		if sent < 250 && a.Send(packetOf(10)) == nil {
			sent++
		}
		b.Feed(line[:a.Emit(line[:])])
		a.Feed(line[:b.Emit(line[:])])
		b.Tick(1)
	}
	for range 6 { // up to number 255
		check.Fatal(t, a.Send(packetOf(10)))
	}
	a.Emit(line[:]) // which nobody hears
	for range 4 {
		words := line[:c.Emit(line[:])] // INIT and ACK in turn
		if len(words) == linkproto.WordSymbols {
			a.Feed(words)
		}
		c.Tick(linkproto.DefaultAckDelay)
	}
	check.Equal(t, "packets that wait for an acknowledgement", a.Queued(), 6)
	check.Equal(t, "bad words", a.Counter(linkproto.CntBadWord), 2)
}

// TestAnonymous: a port whose node has no nonce stays down until it has one, and nothing is lost for it.
func TestAnonymous(t *testing.T) {
	e := newEndpoint(t, flowctl.Config{Port: 2, MaxPacket: 72})
	peer := newEndpoint(t, flowctl.Config{Port: 3, Nonce: 99, MaxPacket: 72})
	check.Fatal(t, e.Send(packetOf(20)))
	check.Fatal(t, peer.Send(packetOf(20)))
	var line [64]linkproto.Symbol
	run := func() {
		for range 100 {
			peer.Feed(line[:e.Emit(line[:])])
			e.Feed(line[:peer.Emit(line[:])])
			e.Tick(len(line))
			peer.Tick(len(line))
		}
	}
	run()
	for _, x := range []*flowctl.Endpoint{e, peer} {
		if s := x.Status(); s.Up || !s.Peer.Known || x.Counter(linkproto.CntBadWord) > 0 {
			t.Errorf("without a nonce: %+v, %d bad words", s, x.Counter(linkproto.CntBadWord))
		}
	}
	e.SetNode(5)
	e.SetNonce(77)
	run()
	check.Equal(t, "restarts", e.Counter(linkproto.CntRestarts)+peer.Counter(linkproto.CntRestarts), 0)
	if s := peer.Status(); !s.Up || s.Peer.Node != 5 || e.Readable() != 1 || peer.Readable() != 1 {
		t.Errorf("with a nonce: %+v, %d and %d packets delivered", s, e.Readable(), peer.Readable())
	}
}

func TestEpochWraps(t *testing.T) {
	p := newProbe(t, flowctl.Config{Epoch: 255})
	p.say(initWord(peerEpoch))
	p.ack(0)
	p.say(initWord(91))
	p.expect("INIT 1")
}

// TestLoss: packets not acknowledged when the peer restarts are reported, and no others are sent before that is read.
func TestLoss(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	p.send(5)
	p.take(40) // two frames and a part of the third
	p.ack(1)
	p.say(initWord(91))
	p.expect("INIT 2") // the third frame is abandoned
	if err := p.Send(packetOf(10)); err != flowctl.ErrLost {
		t.Errorf("Send: %v", err)
	}
	loss, ok := p.Lost()
	if want := (flowctl.Loss{First: 1, Count: 4}); loss != want || !ok {
		t.Errorf("%+v %v", loss, ok)
	}
	if loss, ok := p.Lost(); ok {
		t.Errorf("again: %+v", loss)
	}
	if packets, bytes := p.Freed(); packets != 5 || bytes != 50 {
		t.Errorf("freed %d packets, %d bytes", packets, bytes)
	}
	p.send(1)
	p.say(initWord(91))
	p.ack(0)
	p.seen.Reset()
	p.expect("ACK 0", "frame 0")
	p.counts(map[linkproto.Counter]uint32{linkproto.CntTxPackets: 1, linkproto.CntRestarts: 1, linkproto.CntLostPackets: 4})
}

// TestOldFrame: a frame that began before the link came up does not count.
func TestOldFrame(t *testing.T) {
	p := newProbe(t, flowctl.Config{})
	f := p.framed(0, packetOf(10))
	p.Feed(f[:6])
	p.say(initWord(peerEpoch))
	p.ack(0)
	p.Feed(f[6:])
	check.Equal(t, "packets delivered", p.Readable(), 0)
	p.expect("ACK 0")
	p.counts(map[linkproto.Counter]uint32{linkproto.CntRxStray: 1})
}

// TestUnreadStays: what was delivered before the peer restarted can still be read, and keeps STOP up.
func TestUnreadStays(t *testing.T) {
	p := upProbe(t, flowctl.Config{MaxPacket: 40, ReceiveBytes: 200, High: 70, Low: 50})
	p.frame(0, 40)
	p.frame(1, 40)
	p.expect("ACK 2 STOP")
	p.say(initWord(91))
	p.expect("INIT 2 STOP")
	if _, ok := p.Receive(); !ok || p.Readable() != 1 {
		t.Errorf("Receive: %v, then %d to read", ok, p.Readable())
	}
	p.expect("INIT 2")
}

// TestFrameCutByRestart: a frame that was underway when the link started again counts once, when it ends, also if its end comes in the next session.
func TestFrameCutByRestart(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	f := p.framed(0, packetOf(10))
	p.Feed(f[:6])
	p.say(initWord(91))
	p.Feed(f[6:9])
	p.counts(map[linkproto.Counter]uint32{linkproto.CntRestarts: 1})
	p.say(initWord(91))
	p.ack(0)
	p.Feed(f[9:])
	p.counts(map[linkproto.Counter]uint32{linkproto.CntRxStray: 1, linkproto.CntRestarts: 1})
	p.expect("ACK 0")
}
