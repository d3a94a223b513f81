package link_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// Frames of packets that wait, or that come a byte a clock, follow each other without a gap.
func TestSenderNoGap(t *testing.T) { moduletest.EachWidth(t, testSenderNoGap) }

func testSenderNoGap(t *testing.T, width int) {
	for _, size := range []int{5, 6, 17, maxPacket} {
		for _, waiting := range []bool{true, false} {
			s := newSenderWith(t, width, replay, senderRetry, senderLimit)
			n := replay / size
			s.offer(n, size)
			if waiting {
				*s.pins.Up = false
				s.clocks(replay + 20)
				*s.pins.Up = true
			}
			s.until(min(n, window-1) * (size + linkproto.FrameOverhead))
			if s.gaps > 0 {
				t.Errorf("%d gaps in %d frames of %d bytes, loaded before: %v", s.gaps, n, size, waiting)
			}
			s.expect(span(0, min(n, window-1))...)
		}
	}
}

// When and to where the sender goes back.
func TestSenderGoBack(t *testing.T) {
	const size = 20
	const symbols = size + linkproto.FrameOverhead
	for _, c := range []struct {
		name    string
		n       int // packets
		play    func(s *sender)
		want    []string
		replays int
	}{
		{"frame in progress is completed", 4, func(s *sender) { s.until(2*symbols + 5); s.word(1, true) }, append(span(0, 3), span(1, 4)...), 1},
		{"again while it is sent again", 4, func(s *sender) {
			s.until(2*symbols + 5)
			s.word(1, true)
			s.until(3*symbols + 5)
			s.word(1, true)
		}, append(span(0, 3), span(1, 4)...), 1},
		{"damaged again", 4, func(s *sender) {
			s.until(2*symbols + 5)
			s.word(1, true)
			s.until(4*symbols + 5)
			s.word(1, true)
		}, append(append(span(0, 3), span(1, 3)...), span(1, 4)...), 2},
		{"the only frame, sent for the first time", 1, func(s *sender) { s.until(5); s.word(0, true) }, []string{"0", "0"}, 1},
		{"nothing after it", 3, func(s *sender) { s.until(3 * symbols); s.word(3, true) }, span(0, 3), 0},
		{"nothing after it, and then the next frame", 2, func(s *sender) {
			s.until(2 * symbols)
			s.word(2, true)
			s.offer(1, size)
			s.until(2*symbols + 5)
			s.word(2, true)
		}, append(span(0, 3), "2"), 1},
		{"made good meanwhile", 4, func(s *sender) { s.until(2*symbols + 5); s.word(1, true); s.word(2, false) }, span(0, 4), 0},
		{"and more lost", 4, func(s *sender) { s.until(2*symbols + 5); s.word(1, true); s.word(2, true) }, append(span(0, 3), span(2, 4)...), 1},
		{"acknowledged while sent again", 6, func(s *sender) {
			s.until(6 * symbols)
			s.word(0, true)
			s.until(6*symbols + 5)
			s.word(4, false)
		}, append(append(span(0, 6), "0"), span(4, 6)...), 1},
		{"acknowledged after it was sent again", 6, func(s *sender) {
			s.until(6 * symbols)
			s.word(0, true)
			s.until(7*symbols - 10)
			s.word(3, false)
		}, append(append(span(0, 6), "0"), span(3, 6)...), 1},
		{"all acknowledged while sent again", 3, func(s *sender) {
			s.until(3 * symbols)
			s.word(0, true)
			s.until(3*symbols + 5)
			s.word(3, false)
			s.offer(1, size)
		}, append(span(0, 3), "0", "3"), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSender(t)
			s.offer(c.n, size)
			c.play(s)
			s.expect(c.want...)
			if s.seen.replay != c.replays || s.seen.badAck+s.seen.lost > 0 {
				t.Errorf("%+v, want %d replays", s.seen, c.replays)
			}
		})
	}
}

// Only numbers from the oldest frame held to one past the last one sent whole can be acknowledged.
func TestSenderBadAck(t *testing.T) {
	s := newSender(t)
	s.offer(5, 20)
	s.until(2*27 + 5)
	for _, n := range []int{3, 4, 5, 6, 128, 255} {
		s.word(n, true)
	}
	if *s.pins.FreedBytes != 0 || s.seen.badAck != 6 {
		t.Fatalf("%d bytes freed, %+v", *s.pins.FreedBytes, s.seen)
	}
	s.word(2, false)
	s.expect(span(0, 5)...)
	s.word(1, true)
	s.word(5, false)
	s.clocks(10)
	if *s.pins.FreedBytes != 100 || *s.pins.FreedPackets != 5 || s.seen != (senderEvents{badAck: 7, acked: 5}) {
		t.Errorf("%d bytes and %d packets freed, %+v", *s.pins.FreedBytes, *s.pins.FreedPackets, s.seen)
	}
}

// The buffer takes exactly as many bytes as it has, and 128 packets; room comes back with acknowledgements.
func TestSenderFull(t *testing.T) { moduletest.EachWidth(t, testSenderFull) }

func testSenderFull(t *testing.T, width int) {
	s := newSenderWith(t, width, replay, senderRetry, senderLimit)
	s.offer(20, 100)
	taken := func(room int) int { // in whole beats
		at := room % 100
		return room - at%width
	}
	s.clocks(3000)
	check.Equal(t, "bytes taken", len(s.loaded)*100+s.pos, taken(replay))
	s.word(3, false)
	s.clocks(500)
	check.Equal(t, "bytes taken", len(s.loaded)*100+s.pos, taken(replay+300))

	for first := 3; width > 1 && first < 3+width; first++ { // whatever is left of the buffer, a beat with one byte more is not taken
		s = newSenderWith(t, width, replay, senderRetry, senderLimit)
		s.offer(1, first)
		s.offer(20, 100)
		s.clocks(1000)
		check.Equal(t, fmt.Sprintf("bytes taken behind a packet of %d", first), first+(len(s.loaded)-1)*100+s.pos, first+taken(replay-first))
	}

	// It says which packet it would take: one that fills it to the last byte, and one of MAX_PACKET, does not ask for more.
	s = newSenderWith(t, width, replay, senderRetry, senderLimit)
	for held := 0; held < replay; held += 100 {
		s.clocks(10)
		for _, size := range []int{3, maxPacket, replay - held, replay - held + 1, replay, 2 * replay} {
			*s.pins.Size = uint16(size - 1)
			s.clocks(1)
			if want := size <= replay-held; *s.pins.Takes != want {
				t.Errorf("%d of %d bytes are held: it takes %d more: %v", held, replay, size, *s.pins.Takes)
			}
		}
		check.Equal(t, fmt.Sprintf("room behind %d bytes", held), *s.pins.HasRoom, held+maxPacket <= replay)
		s.offer(1, 100)
		s.clocks(130)
	}

	s = newSenderWith(t, width, replay, senderRetry, senderLimit)
	s.offer(200, 5)
	s.clocks(3900)
	if len(s.loaded) != window || s.pos != 0 {
		t.Errorf("%d packets and %d bytes taken, want %d packets", len(s.loaded), s.pos, window)
	}
	*s.pins.Size = 2
	s.clocks(1)
	if *s.pins.HasRoom || *s.pins.Takes {
		t.Error("has room for one packet more than the window")
	}
	s.expect(span(0, window-1)...) // one less than are held
	for n := 1; n <= 150; n++ {
		s.word(n, false)
		s.clocks(20)
		if want := min(window+n, 200); len(s.loaded) != want {
			t.Fatalf("%d packets taken after %d were acknowledged, want %d", len(s.loaded), n, want)
		}
	}
}

// A packet that is being sent while it loads, and for whose rest there is no room, must not keep those before it from
// being sent again, which would make room.
func TestSenderFullAndLost(t *testing.T) { moduletest.EachWidth(t, testSenderFullAndLost) }

func testSenderFullAndLost(t *testing.T, width int) {
	for _, lost := range []bool{true, false} { // told by the peer, or by the timer
		s := newSenderWith(t, width, replay, senderRetry, senderLimit)
		s.offer(12, 100)
		s.clocks(1300) // frame 10 waits for bytes that wait for room
		if *s.pins.SReady || len(s.loaded) != 10 || *s.pins.FValid {
			t.Fatalf("%d packets loaded", len(s.loaded))
		}
		if got := s.frames(); !slices.Equal(got, span(0, 10)) {
			t.Fatal(got)
		}
		if lost {
			s.word(0, true)
		} else {
			s.clocks(senderRetry)
		}
		s.until(10 * 107)
		got := s.frames()
		if want := span(0, 9); !slices.Equal(got[:min(len(got), 9)], want) {
			t.Fatalf("frames %q, want %q", got, want)
		}
		for n := 1; n <= 12; n++ {
			s.clocks(200)
			s.word(n, false)
		}
		s.clocks(20)
		if want := (senderEvents{acked: 12, replay: 1, retry: s.seen.retry}); s.seen != want || lost != (s.seen.retry == 0) {
			t.Errorf("lost %v: %+v, want %+v", lost, s.seen, want)
		}
	}
}

// The timer counts ticks without progress while everything sent waits for an acknowledgement and the peer says GO.
func TestSenderRetry(t *testing.T) {
	for _, period := range []int{1, 4} {
		s := newSender(t)
		s.period = period
		s.clocks(3 * senderRetry * period)
		check.Equal(t, "events with nothing sent", s.seen, senderEvents{})
		s.offer(2, 20)
		s.until(2 * 27)
		s.frames()
		*s.pins.PeerStop = true
		s.clocks(3 * senderRetry * period)
		*s.pins.PeerStop = false
		s.word(0, false) // no progress: the timer goes on
		start := s.b.Cycle() - 6
		again := func() {
			s.t.Helper()
			s.until(1)
			if took := int(s.b.Cycle() - start); took < (senderRetry-1)*period || took > senderRetry*period+2*period+8 {
				t.Errorf("sent again after %d clocks, want %d ticks of %d clocks", took, senderRetry, period)
			}
			start = s.b.Cycle() - 6
			s.until(2 * 27)
			s.expectNow("0", "1")
		}
		again()
		again()
		s.word(1, false) // progress: the count restarts
		start = s.b.Cycle() - 3
		for range 2 {
			s.until(27)
			s.expectNow("1")
		}
		s.clocks(senderRetry*period + 3*period + 10)
		check.Equal(t, fmt.Sprint("events with ", period, " clocks a tick"), s.seen, (senderEvents{acked: 1, replay: 4, retry: 5, giveUp: 1}))
	}
}

// A restart at any moment drops every packet, counts each once, and the next session begins at sequence number 0 with the
// packets that come from then on.
func TestSenderRestart(t *testing.T) { moduletest.EachWidth(t, testSenderRestart) }

func testSenderRestart(t *testing.T, width int) {
	s := newSenderWith(t, width, replay, senderRetry, senderLimit)
	for at := 1; at < 300; at++ {
		s.b.Reset("rst", 1)
		s.queue, s.pos, s.loaded, s.line, *s.pins.SValid, *s.pins.Up = nil, 0, nil, s.line[:0], false, true
		s.deframe.Reset()
		s.clock()
		s.seen = senderEvents{}
		s.offer(5, 40)
		if at%3 == 0 {
			s.write = 0.7
		} else {
			s.write = 1
		}
		s.clocks(at)
		if len(s.line) > 47 && at%2 == 0 {
			s.word(1, at%4 == 0)
		}
		s.restart()
		begun := len(s.loaded)
		if s.pos > 0 {
			begun++
		}
		begun -= s.seen.acked
		s.clocks(at % 7)
		*s.pins.Up = true
		s.clocks(400)
		if s.seen.lost+s.seen.acked != begun+s.seen.acked || len(s.queue) > 0 {
			t.Fatalf("restart after %d clocks: %+v, %d packets had begun", at, s.seen, begun)
		}
		held := 5 - begun - s.seen.acked
		var want []string
		for i := range held {
			serial := 5 - held + i
			if name := fmt.Sprint(i, "=", serial); i != serial {
				want = append(want, name)
			} else {
				want = append(want, fmt.Sprint(i))
			}
		}
		if got := s.frames(); !slices.Equal(got, want) {
			t.Fatalf("restart after %d clocks: frames %q, want %q", at, got, want)
		}
		if got := int(*s.pins.FreedBytes); got != 40*(5-held) {
			t.Fatalf("restart after %d clocks: %d bytes freed, %d packets held", at, got, held)
		}
		if got := int(*s.pins.FreedPackets); got != 5-held {
			t.Fatalf("restart after %d clocks: %d packets freed, %d held", at, got, held)
		}
	}
}

// A peer that loses frames at random, acknowledges at random and sometimes falls silent gets every packet, in order, over several turns of the
// sequence numbers and of the 16-bit pointers.
func TestSenderRandom(t *testing.T) { moduletest.EachWidth(t, testSenderRandom) }

func testSenderRandom(t *testing.T, width int) {
	for _, c := range []struct {
		name string
		loss float64
		most int
		size func(rng *testbench.Rand) int
	}{
		{"tiny packets", 0.02, 5, func(*testbench.Rand) int { return 5 }},
		{"all sizes", 0.02, maxPacket, func(rng *testbench.Rand) int { return 5 + rng.Size(maxPacket-5, 0) }},
		{"large packets, many losses", 0.2, maxPacket, func(rng *testbench.Rand) int { return rng.Between(maxPacket-3, maxPacket) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSenderWith(t, width, replay, senderRetry, 1000) // LOSTs come in any number
			rng := s.b.Rand("peer")
			expected, lost, since := 0, false, 0
			var pending bool
			for round := 0; expected < 1500; round++ {
				if round > 1000000 {
					t.Fatalf("only %d packets in %d rounds: %+v", expected, round, s.seen)
				}
				if round%100 == 0 {
					s.write, s.take = testbench.Pick(rng, 1, 1, 0.5, 0.05), testbench.Pick(rng, 1, 1, 0.5)
					s.cancel = testbench.Pick(rng, 0, 0, 0.01, 0.1)
				}
				if len(s.queue) < 2 {
					s.offer(1, c.size(rng))
				}
				s.clock()
				since++
				// The line is read when a frame has ended.
				if n := len(s.line); n > 0 && s.line[n-1] == linkproto.SymEOP {
					seqs := s.frames()
					for _, f := range seqs {
						var seq, serial int
						if n, _ := fmt.Sscanf(f, "%d=%d", &seq, &serial); n < 1 {
							t.Fatalf("frame %s", f)
						}
						ahead := int(uint8(seq - expected))
						if ahead < window && strings.HasSuffix(f, overwritten) {
							t.Fatalf("frame %s while %d is expected", f, expected)
						}
						switch {
						case rng.Chance(c.loss):
							pending, lost = pending || !lost, true
						case ahead == 0:
							if serial != 0 && serial != expected || seq != expected&255 {
								t.Fatalf("frame %s arrives, packet %d is expected", f, expected)
							}
							expected, lost = expected+1, false
						case ahead >= window:
							pending = true
						default:
							pending, lost = pending || !lost, true
						}
						if ahead < window && ahead >= window-1 {
							t.Fatalf("frame %d is sent while %d is expected", seq, expected)
						}
					}
				}
				if since > 6 && (pending || rng.Chance(0.01)) && !rng.Chance(0.01) {
					pending, since = false, 0
					*s.pins.Ack, *s.pins.AckN, *s.pins.AckLost = true, uint8(expected), lost
					s.clock()
					*s.pins.Ack = false
				}
			}
			s.clocks(8)
			if s.seen.badAck+s.seen.lost+s.seen.giveUp > 0 || s.seen.replay == 0 || (s.canceled > 0) != (c.most > width) { // one beat is in or not
				t.Errorf("%+v, %d packets taken back", s.seen, s.canceled)
			}
			if int(*s.pins.FreedBytes) == 0 || s.seen.acked > expected || s.seen.acked < expected-window {
				t.Errorf("%d bytes freed, %+v, %d expected", *s.pins.FreedBytes, s.seen, expected)
			}
		})
	}
}
