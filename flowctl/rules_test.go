package flowctl_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

type counts = map[linkproto.Counter]uint32

func TestStopInsideFrame(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	p.send(1)
	p.take(5)
	p.stop(0)
	p.expect()
	p.frame(0, 10)
	p.expect("ACK 1") // words go on, and at once
	p.ack(0)
	p.expect("frame 0")
}

// TestAckDelay: while there are frames to send, an acknowledgement waits until AckDelay, or what DelayAcks has set, has passed since the
// last word.
func TestAckDelay(t *testing.T) {
	for _, c := range []struct{ config, set, want int }{{40, 0, 40}, {40, 10, 40}, {40, 60, 60}} {
		p := upProbe(t, flowctl.Config{AckDelay: c.config})
		if c.set > 0 {
			p.DelayAcks(c.set)
		}
		p.send(9)
		p.frame(0, 10)
		p.take(20)
		p.Tick(c.want - 1)
		if got := p.take(7); len(got) > 1 || len(got) == 1 && got[0] != "frame 0" && got[0] != "frame 1" {
			t.Errorf("%v: too early: %v", c, got)
		}
		p.Tick(1)
		if got := p.take(linkproto.WordSymbols); len(got) != 1 || got[0] != "ACK 1" {
			t.Errorf("%v: %v", c, got)
		}
	}
}

func TestWordTimer(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	check.Equal(t, "ticks that it may be idle", p.IdleFor(), linkproto.DefaultWordTimer)
	p.Tick(linkproto.DefaultWordTimer - 1)
	p.expect()
	p.Tick(1)
	p.expect("ACK 0")
}

func TestGoBack(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	p.send(4)
	p.take(17 * 2) // frames of 17 symbols: 0, 1
	p.take(5)
	p.lost(1)
	p.take(12) // frame 2 is completed first
	p.take(3)
	p.lost(1) // frame 1 is being sent again: no need to go back
	p.expect("frame 1", "frame 2", "frame 3")
	p.lost(1) // it was damaged again
	p.expect("frame 1", "frame 2", "frame 3")
	p.lost(4) // nothing after the last frame
	p.expect()
	p.counts(counts{linkproto.CntTxPackets: 4, linkproto.CntReplays: 2})
}

// TestLostFirstFrame: the frame in progress may be the damaged one, so it is sent again when it is complete.
func TestLostFirstFrame(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	p.send(1)
	p.take(5)
	p.lost(0)
	p.expect("frame 0", "frame 0")
}

// TestAckWhileReplaying: acknowledged frames are skipped, but the frame in progress is completed from bytes that stay.
func TestAckWhileReplaying(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	p.send(6)
	p.expect("frame 0", "frame 1", "frame 2", "frame 3", "frame 4", "frame 5")
	p.lost(0)
	p.take(5)
	p.ack(4)
	if packets, bytes := p.Freed(); packets != 0 || bytes != 0 {
		t.Errorf("freed %d packets, %d bytes of a frame in progress", packets, bytes)
	}
	p.expect("frame 0", "frame 4", "frame 5")
	if packets, bytes := p.Freed(); packets != 4 || bytes != 40 {
		t.Errorf("freed %d packets, %d bytes", packets, bytes)
	}
}

func TestImpossibleNumber(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	p.send(3)
	p.take(17 + 5)
	p.ack(2) // frame 1 is not complete
	p.ack(255)
	p.say(ackWord(1, 44)) // for another session
	check.Equal(t, "packets queued", p.Queued(), 3)
	p.counts(counts{linkproto.CntBadWord: 3})
	p.stop(9) // STOP counts all the same
	p.expect()
}

func TestRetry(t *testing.T) {
	p := upProbe(t, flowctl.Config{Retry: 1000, RetryLimit: 3, WordTimer: 1 << 20})
	p.send(2)
	p.expect("frame 0", "frame 1")
	p.stop(0)
	p.Tick(5000) // no retry against STOP
	p.ack(0)
	p.expect()
	for range 2 {
		p.Tick(999)
		p.expect()
		p.Tick(1)
		p.expect("frame 0", "frame 1")
	}
	p.ack(1) // progress: the count starts again
	for range 2 {
		p.Tick(1000)
		p.expect("frame 1")
	}
	p.Tick(1000)
	p.expect("INIT 2")
	p.counts(counts{linkproto.CntTxPackets: 1, linkproto.CntReplays: 4, linkproto.CntRetries: 5,
		linkproto.CntRestarts: 1, linkproto.CntLostPackets: 1})
}

// TestLostForEver: a peer that takes nothing and says so ends the link in the end, not sooner because it says so often: over a long line each loss
// is told many times before what was sent again arrives.
func TestLostForEver(t *testing.T) {
	p := upProbe(t, flowctl.Config{Retry: 1000, RetryLimit: 3, WordTimer: 1 << 20})
	p.send(1)
	p.expect("frame 0")
	for range 29 {
		p.lost(0)
		p.expect("frame 0")
		p.Tick(100)
	}
	p.counts(counts{linkproto.CntReplays: 29, linkproto.CntRetries: 2})
	p.lost(0)
	p.expect("frame 0")
	p.Tick(100)
	p.expect("INIT 2")
	p.counts(counts{linkproto.CntReplays: 30, linkproto.CntRetries: 3, linkproto.CntRestarts: 1, linkproto.CntLostPackets: 1})
}

func TestReceiver(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	p.frame(0, 10)
	p.expect("ACK 1")
	p.frame(2, 10)
	p.expect("LOST 1")
	p.frame(3, 10)
	p.expect() // asked already
	p.frame(0, 10)
	p.expect("LOST 1") // a duplicate: the acknowledgement was lost
	p.frame(1, 10)
	p.expect("ACK 2")
	p.frame(130, 10) // 128 behind
	p.expect("ACK 2")
	p.frame(129, 10) // 127 ahead
	p.expect("LOST 2")
	p.counts(counts{linkproto.CntRxPackets: 2, linkproto.CntRxGap: 3, linkproto.CntRxDup: 2})
}

// TestTakenBack: a frame that its sender takes back is as if it had never begun, whatever its number is, and gives back its room.
func TestTakenBack(t *testing.T) {
	p := newProbe(t, flowctl.Config{MaxPacket: 40, ReceiveBytes: 100, High: 41, Low: 40})
	abort := func(seq uint8, symbols int) {
		p.Feed(append(p.framed(seq, packetOf(40))[:symbols], linkproto.SymAbort))
	}
	begun := p.framed(0, packetOf(40))
	p.Feed(begun[:9]) // while the link is down
	p.say(initWord(peerEpoch))
	p.ack(0)
	p.expect("ACK 0")
	p.Feed([]linkproto.Symbol{1, 2, linkproto.SymAbort})
	abort(0, 1)
	abort(0, 9)
	abort(1, 9)
	abort(255, 46)
	p.Feed([]linkproto.Symbol{linkproto.SymAbort, linkproto.SymAbort})
	p.expect()
	p.frame(0, 20)
	p.expect("ACK 1")
	f := p.framed(1, packetOf(40))
	p.Feed(f[:2+21+linkproto.CRCBytes])
	p.expect("ACK 1 STOP")
	p.Feed([]linkproto.Symbol{linkproto.SymAbort})
	p.expect("ACK 1")
	p.frame(2, 5)
	p.expect("LOST 1")
	abort(1, 9)
	p.expect() // the frame is still missing
	p.frame(1, 5)
	p.expect("ACK 2")
	p.counts(counts{linkproto.CntRxPackets: 2, linkproto.CntRxGap: 1, linkproto.CntStops: 1})
}

// TestMissing: the status says that a frame is missing from the gap to the frame that was missing.
func TestMissing(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	for i, step := range []struct {
		seq  uint8
		want bool
	}{{0, false}, {2, true}, {0, true}, {1, false}} {
		p.frame(step.seq, 5)
		check.Equal(t, fmt.Sprintf("missing after frame %d, the %dth", step.seq, i+1), p.Status().Missing, step.want)
	}
}

// TestBadLengthField: a good frame with a bad packet is taken in sequence but not delivered.
func TestBadLengthField(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	p.Feed(p.framed(0, []byte{1, 9, 0, 0}))
	p.expect("ACK 1")
	check.Equal(t, "packets delivered", p.Readable(), 0)
	p.counts(counts{linkproto.CntBadPacket: 1})
	check.Equal(t, "a counter that does not exist", p.Counter(linkproto.NumCounters), 0)
}

// TestWatermarks: a frame in progress counts, a peer that does not obey is cut off, reading makes room.
func TestWatermarks(t *testing.T) {
	p := upProbe(t, flowctl.Config{MaxPacket: 40, ReceiveBytes: 100, High: 70, Low: 40})
	p.frame(0, 40)
	p.expect("ACK 1")
	f := p.framed(1, packetOf(40))
	p.Feed(f[:2+31+4])
	p.expect("ACK 1 STOP")
	p.Feed(f[2+31+4:])
	p.expect("ACK 2 STOP")
	p.frame(2, 40)
	p.expect("LOST 2 STOP")
	p.Receive()
	p.expect("LOST 2")
	p.frame(2, 40)
	p.expect("ACK 3 STOP")
	p.counts(counts{linkproto.CntRxPackets: 3, linkproto.CntRxOverrun: 1, linkproto.CntStops: 2})
}

func TestSendErrors(t *testing.T) {
	p := newProbe(t, flowctl.Config{Window: 3, MaxPacket: 40, ReplayBytes: 100})
	for _, bad := range [][]byte{nil, {1, 0}, packetOf(41), {1, 5, 0, 0}} {
		check.Fails(t, fmt.Sprint(bad), p.Send(bad), flowctl.ErrLength)
	}
	p.send(3)
	if err := p.Send(packetOf(3)); err != flowctl.ErrFull {
		t.Errorf("window: %v", err)
	}
	full := newProbe(t, flowctl.Config{MaxPacket: 40, ReplayBytes: 50})
	full.send(2)
	if err := full.Send(packetOf(31)); err != flowctl.ErrFull {
		t.Errorf("bytes: %v", err)
	}
	check.Error(t, full.Send(packetOf(30)))
}

func TestConfig(t *testing.T) {
	for _, bad := range []flowctl.Config{
		{MaxPacket: 2}, {Window: 129}, {Window: -1}, {ReplayBytes: 100}, {High: 100}, {Low: 100}, {High: 3000, Low: 3000},
		{ReceiveBytes: 3000, High: 3001}, {WordTimer: 5}, {Retry: 100}, {AckDelay: -1}, {RetryLimit: -1},
	} {
		check.Fails(t, fmt.Sprintf("%+v", bad), check.Err(flowctl.New(bad)), flowctl.ErrConfig)
	}
}

// TestLostMadeGood: an ACK that comes before the sender went back calls it off.
func TestLostMadeGood(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	p.send(4)
	p.take(17*2 + 5)
	p.lost(1)
	p.ack(2)
	p.expect("frame 2", "frame 3")
}

// TestAckAfterReplay: the peer may acknowledge frames that it has, but that going back has put in line again.
func TestAckAfterReplay(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	p.send(6)
	p.take(17 * 6)
	p.lost(0)
	p.take(17)
	p.ack(3)
	p.expect("frame 3", "frame 4", "frame 5")
	p.counts(counts{linkproto.CntTxPackets: 3, linkproto.CntReplays: 1})
}

// TestHoldAcks: an acknowledgement waits for a frame to go with, but not for longer than that, and nothing that is urgent does.
func TestHoldAcks(t *testing.T) {
	p := upProbe(t, flowctl.Config{})
	p.HoldAcks(40)
	p.frame(0, 10)
	p.Tick(500) // in which it came
	p.expect()
	check.Equal(t, "ticks that it may be idle", p.IdleFor(), 40)
	p.Tick(39)
	p.frame(1, 10) // waits from the first one on
	p.expect()
	p.send(1)
	p.expect("ACK 2", "frame 0") // since AckDelay has passed too
	p.frame(2, 10)
	p.send(1)
	p.expect("frame 1", "ACK 3")
	p.frame(3, 10)
	p.Tick(500)
	p.Tick(39)
	p.expect()
	p.Tick(1)
	p.expect("ACK 4")
	p.frame(4, 10)
	p.frame(6, 10) // one is missing
	p.expect("LOST 5")
}
