package flowctl_test

import (
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

func initWord(epoch, echo uint8) linkproto.Word {
	return linkproto.Word{Kind: linkproto.KindInit, Value: epoch, Echo: echo}
}

func ackWord(n, echo uint8) linkproto.Word {
	return linkproto.Word{Kind: linkproto.KindAck, Value: n, Echo: echo}
}

// TestHandshake feeds words to a new endpoint, of epoch 1, and checks what it answers at once.
func TestHandshake(t *testing.T) {
	for _, c := range []struct {
		name  string
		feed  []linkproto.Word
		say   []string // after the INIT of the start
		state flowctl.Status
		bad   uint32
	}{
		{"the peer's first INIT", []linkproto.Word{initWord(90, 0)}, []string{"INIT 1 echo 90"}, flowctl.Status{Epoch: 1, PeerEpoch: 90}, 0},
		{"the same again", []linkproto.Word{initWord(90, 0), initWord(90, 0)}, []string{"INIT 1 echo 90"}, flowctl.Status{Epoch: 1, PeerEpoch: 90}, 0},
		{"the peer knows this end", []linkproto.Word{initWord(90, 1)}, []string{"ACK 0 echo 90"}, flowctl.Status{Up: true, Epoch: 1, PeerEpoch: 90}, 0},
		{"the peer is up first", []linkproto.Word{initWord(90, 0), ackWord(0, 1)}, []string{"ACK 0 echo 90"},
			flowctl.Status{Up: true, Epoch: 1, PeerEpoch: 90}, 0},
		{"ACK of an unknown peer", []linkproto.Word{ackWord(0, 1)}, nil, flowctl.Status{Epoch: 1}, 1},
		{"ACK for an earlier session", []linkproto.Word{initWord(90, 0), ackWord(0, 7)}, []string{"INIT 1 echo 90"},
			flowctl.Status{Epoch: 1, PeerEpoch: 90}, 1},
		{"another peer while down", []linkproto.Word{initWord(90, 0), initWord(91, 0)}, []string{"INIT 1 echo 91"},
			flowctl.Status{Epoch: 1, PeerEpoch: 91}, 0},
		{"the peer has not heard", []linkproto.Word{initWord(90, 1), initWord(90, 1)}, []string{"ACK 0 echo 90"},
			flowctl.Status{Up: true, Epoch: 1, PeerEpoch: 90}, 0},
		{"the peer restarted", []linkproto.Word{initWord(90, 1), initWord(91, 0)}, []string{"INIT 2 echo 91"},
			flowctl.Status{Epoch: 2, PeerEpoch: 91}, 0},
		{"the peer restarted with the same epoch", []linkproto.Word{initWord(90, 1), initWord(90, 0)}, []string{"INIT 2 echo 90"},
			flowctl.Status{Epoch: 2, PeerEpoch: 90}, 0},
		{"the peer restarted and guessed", []linkproto.Word{initWord(90, 1), initWord(91, 1)}, []string{"INIT 2 echo 91"},
			flowctl.Status{Epoch: 2, PeerEpoch: 91}, 0},
		{"epoch 0", []linkproto.Word{initWord(0, 1)}, nil, flowctl.Status{Epoch: 1}, 1},
		{"INIT says STOP", []linkproto.Word{{Kind: linkproto.KindInit, Stop: true, Value: 90, Echo: 1}}, []string{"ACK 0 echo 90"},
			flowctl.Status{Up: true, PeerStop: true, Epoch: 1, PeerEpoch: 90}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProbe(t, flowctl.Config{})
			p.expect("INIT 1 echo 0")
			for _, w := range c.feed {
				p.word(w)
			}
			p.expect(c.say...)
			check.Equal(t, "status", p.Status(), c.state)
			check.Equal(t, "bad words", p.Counter(linkproto.CntBadWord), c.bad)
		})
	}
}

// TestAnswer: each INIT of a peer that has not heard is answered.
func TestAnswer(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	for range 3 {
		p.word(initWord(peerEpoch, 1))
		p.expect("ACK 0 echo 90")
	}
}

func TestEpochWraps(t *testing.T) {
	p := newProbe(t, flowctl.Config{Epoch: 255})
	p.word(initWord(peerEpoch, 255))
	p.word(initWord(91, 0))
	p.expect("INIT 1 echo 91")
}

// TestLoss: packets not acknowledged when the peer restarts are reported, and no others are sent before that is read.
func TestLoss(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	p.send(5)
	p.take(40) // two frames and a part of the third
	p.ack(1)
	p.word(initWord(91, 0))
	p.expect("INIT 2 echo 91") // the third frame is abandoned
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
	p.word(initWord(91, 2))
	p.seen.Reset()
	p.expect("ACK 0 echo 91", "frame 0")
	p.counts(map[linkproto.Counter]uint32{linkproto.CntTxPackets: 1, linkproto.CntRestarts: 1, linkproto.CntLostPackets: 4})
}

// TestOldFrame: a frame that began before the link came up does not count.
func TestOldFrame(t *testing.T) {
	p := newProbe(t, flowctl.Config{})
	f := linkproto.AppendFrame(nil, 0, packetOf(10))
	p.Feed(f[:6])
	p.word(initWord(peerEpoch, 1))
	p.Feed(f[6:])
	check.Equal(t, "packets delivered", p.Readable(), 0)
	p.expect("ACK 0 echo 90")
	p.counts(map[linkproto.Counter]uint32{linkproto.CntRxStray: 1})
}

// TestUnreadStays: what was delivered before the peer restarted can still be read, and keeps STOP up.
func TestUnreadStays(t *testing.T) {
	p := upProbe(t, flowctl.Config{MaxPacket: 50, ReceiveBytes: 200, High: 90, Low: 50})
	p.frame(0, 50)
	p.frame(1, 50)
	p.expect("ACK 2 echo 90 STOP")
	p.word(initWord(91, 0))
	p.expect("INIT 2 echo 91 STOP")
	if _, ok := p.Receive(); !ok || p.Readable() != 1 {
		t.Errorf("Receive: %v, then %d to read", ok, p.Readable())
	}
	p.expect("INIT 2 echo 91")
}

// TestFrameCutByRestart: a frame that was underway when the link started again counts once, when it ends, also if its end comes in the next session.
func TestFrameCutByRestart(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	f := linkproto.AppendFrame(nil, 0, packetOf(10))
	p.Feed(f[:6])
	p.word(initWord(91, 0))
	p.Feed(f[6:9])
	p.counts(map[linkproto.Counter]uint32{linkproto.CntRestarts: 1})
	p.word(initWord(91, 2))
	p.Feed(f[9:])
	p.counts(map[linkproto.Counter]uint32{linkproto.CntRxStray: 1, linkproto.CntRestarts: 1})
	p.expect("ACK 0 echo 91")
}
