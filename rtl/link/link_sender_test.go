package link_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

const (
	senderRetry = 4000
	senderLimit = 3
	window      = linkproto.MaxWindow
)

// senderEvents counts what the sender reports.
type senderEvents struct{ badAck, acked, lost, replay, retry, giveUp int }

// sender is link_replay and link_framer together, with a loader before them and a line behind.
type sender struct {
	t    *testing.T
	b    *testbench.Bench
	rng  *testbench.Rand
	pins struct {
		Rst      *bool   `port:"rst"`
		Tick     *bool   `port:"tick"`
		Up       *bool   `port:"up"`
		PeerStop *bool   `port:"peer_stop"`
		Restart  *bool   `port:"restart"`
		Ack      *bool   `port:"ack"`
		AckLost  *bool   `port:"ack_lost"`
		AckN     *uint8  `port:"ack_n"`
		SValid   *bool   `port:"s_valid"`
		SReady   *bool   `port:"s_ready"`
		SData    *uint8  `port:"s_data"`
		SLast    *bool   `port:"s_last"`
		HasRoom  *bool   `port:"has_room"`
		Bytes    *uint16 `port:"freed_bytes"`
		Packets  *uint8  `port:"freed_packets"`
		FValid   *bool   `port:"f_valid"`
		FSym     *uint16 `port:"f_sym"`
		FTake    *bool   `port:"f_take"`
		GiveUp   *bool   `port:"give_up"`
		BadAck   *bool   `port:"ev_bad_ack"`
		Acked    *bool   `port:"ev_acked"`
		Lost     *bool   `port:"ev_lost"`
		Replay   *bool   `port:"ev_replay"`
		Retry    *bool   `port:"ev_retry"`
	}
	write, take float64 // chances that the loader offers a byte and that the line takes a symbol
	period      int     // clocks a tick

	queue   [][]byte // packets to load
	pos     int      // bytes of the first of them that have been taken
	loaded  [][]byte // packets taken whole
	line    []linkproto.Symbol
	gaps    int // clocks without a symbol inside or between frames since `line` was emptied
	seen    senderEvents
	deframe *linkproto.Deframer
}

func newSender(t *testing.T) *sender {
	s := &sender{t: t, write: 1, take: 1, period: 1, deframe: linkproto.NewDeframer(maxPacket)}
	s.b = open(t, verilator.Design{Top: "link_sender", FS: os.DirFS(".."), IncludeDirs: []string{"."}, Sources: []string{"link/testdata/link_sender.v",
		"link/link_replay.v", "link/link_framer.v", "common/ram_sdp.v", "common/crc32c_byte.v"},
		Params: text(params{"REPLAY_BYTES": replay, "MAX_PACKET": maxPacket, "RETRY": senderRetry, "RETRY_LIMIT": senderLimit})}, &s.pins)
	s.rng = s.b.Rand("sender")
	p := &s.pins
	*p.Up, *p.PeerStop, *p.Restart, *p.Ack, *p.SValid, *p.FTake = true, false, false, false, false, false
	s.clocks(3)
	s.seen = senderEvents{}
	return s
}

func (s *sender) clock() {
	p := &s.pins
	for _, e := range []struct {
		pulse bool
		count *int
	}{{*p.BadAck, &s.seen.badAck}, {*p.Acked, &s.seen.acked}, {*p.Lost, &s.seen.lost}, {*p.Replay, &s.seen.replay},
		{*p.Retry, &s.seen.retry}, {*p.GiveUp, &s.seen.giveUp}} {
		if e.pulse {
			*e.count++
		}
	}
	*p.Tick = s.b.Cycle()%uint64(s.period) == 0
	if !*p.SValid {
		*p.SValid = len(s.queue) > 0 && s.rng.Chance(s.write)
	}
	*p.SData, *p.SLast = uint8(s.rng.IntN(256)), s.rng.Bool()
	if *p.SValid {
		*p.SData, *p.SLast = s.queue[0][s.pos], s.pos == len(s.queue[0])-1
	}
	*p.FTake = *p.FValid && !*p.PeerStop && s.rng.Chance(s.take)
	switch {
	case *p.FTake:
		s.line = append(s.line, linkproto.Symbol(*p.FSym))
	case len(s.line) > 0 && !*p.FValid:
		s.gaps++
	}
	moved := *p.SValid && *p.SReady
	s.b.Step(1)
	if moved {
		*p.SValid = false
		if s.pos++; s.pos == len(s.queue[0]) {
			s.loaded = append(s.loaded, s.queue[0])
			s.queue, s.pos = s.queue[1:], 0
		}
	}
}

func (s *sender) clocks(n int) {
	for range n {
		s.clock()
	}
}

// offer queues n packets of so many bytes; their serial numbers go on from those queued before.
func (s *sender) offer(n, size int) {
	for range n {
		s.queue = append(s.queue, packet(len(s.loaded)+len(s.queue), size))
	}
}

// word is the pulse that an ACK or LOST for us makes; words are at least 6 clocks apart.
func (s *sender) word(n int, lost bool) {
	*s.pins.Ack, *s.pins.AckN, *s.pins.AckLost = true, uint8(n), lost
	s.clock()
	*s.pins.Ack = false
	s.clocks(5)
}

func (s *sender) restart() {
	*s.pins.Up, *s.pins.Restart = false, true
	s.clock()
	*s.pins.Restart = false
	s.line, s.gaps = s.line[:0], 0
	s.deframe.Reset()
}

// overwritten marks a frame whose bytes were given to another packet while it was sent again. The peer must have
// acknowledged it by then, so that it is a duplicate to it.
const overwritten = " overwritten"

// frames empties the line and returns what was on it: sequence number of each frame, and its packet's serial number if that differs.
func (s *sender) frames() (out []string) {
	s.t.Helper()
	line := s.line
	for len(line) > 0 {
		ev, n := s.deframe.Next(line)
		line = line[n:]
		switch ev.Kind {
		case linkproto.EventNone:
		case linkproto.EventFrame:
			serial := int(ev.Payload[3]) | int(ev.Payload[4])<<8
			name := fmt.Sprint(ev.Seq)
			if int(ev.Seq) != serial&255 {
				name = fmt.Sprint(ev.Seq, "=", serial)
			}
			if !bytes.Equal(ev.Payload, packet(serial, len(ev.Payload))) {
				name = fmt.Sprint(ev.Seq, overwritten)
			}
			out = append(out, name)
		case linkproto.EventBadFrame:
			out = append(out, fmt.Sprint("bad ", ev.Reason))
		default:
			s.t.Fatalf("cycle %d: %+v on the line", s.b.Cycle(), ev)
		}
	}
	s.line, s.gaps = s.line[:0], 0
	return out
}

// expect runs until the line is quiet and compares the frames that were on it.
func (s *sender) expect(want ...string) {
	s.t.Helper()
	for n, quiet := 0, 0; quiet < 20; n, quiet = n+1, quiet+1 {
		if n > 100000 {
			s.t.Fatalf("cycle %d: frames for ever", s.b.Cycle())
		}
		s.clock()
		if *s.pins.FValid && !*s.pins.PeerStop || len(s.queue) > 0 && *s.pins.SReady {
			quiet = 0
		}
	}
	if got := s.frames(); !slices.Equal(got, want) {
		s.t.Fatalf("cycle %d: frames %q, want %q", s.b.Cycle(), got, want)
	}
}

// until runs until so many symbols have been taken since the line was emptied.
func (s *sender) until(symbols int) {
	s.t.Helper()
	for n := 0; len(s.line) < symbols; n++ {
		if n > 100000 {
			s.t.Fatalf("cycle %d: only %d of %d symbols come", s.b.Cycle(), len(s.line), symbols)
		}
		s.clock()
	}
}

func span(from, to int) (s []string) {
	for i := from; i < to; i++ {
		s = append(s, fmt.Sprint(i&255))
	}
	return s
}

// Frames of packets that wait, or that come a byte a clock, follow each other without a gap.
func TestSenderNoGap(t *testing.T) {
	for _, size := range []int{5, 6, 17, maxPacket} {
		for _, waiting := range []bool{true, false} {
			s := newSender(t)
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
	if *s.pins.Bytes != 0 || s.seen.badAck != 6 {
		t.Fatalf("%d bytes freed, %+v", *s.pins.Bytes, s.seen)
	}
	s.word(2, false)
	s.expect(span(0, 5)...)
	s.word(1, true)
	s.word(5, false)
	s.clocks(10)
	if *s.pins.Bytes != 100 || *s.pins.Packets != 5 || s.seen != (senderEvents{badAck: 7, acked: 5}) {
		t.Errorf("%d bytes and %d packets freed, %+v", *s.pins.Bytes, *s.pins.Packets, s.seen)
	}
}

// The buffer takes exactly as many bytes as it has, and 128 packets; room comes back with acknowledgements.
func TestSenderFull(t *testing.T) {
	s := newSender(t)
	s.offer(20, 100)
	s.clocks(3000)
	if got := len(s.loaded)*100 + s.pos; got != replay {
		t.Errorf("%d bytes taken, want %d", got, replay)
	}
	s.word(3, false)
	s.clocks(500)
	if got := len(s.loaded)*100 + s.pos; got != replay+300 {
		t.Errorf("%d bytes taken, want %d", got, replay+300)
	}

	s = newSender(t)
	s.offer(200, 5)
	s.clocks(4000)
	if len(s.loaded) != window || s.pos != 0 {
		t.Errorf("%d packets and %d bytes taken, want %d packets", len(s.loaded), s.pos, window)
	}
	if *s.pins.HasRoom {
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
func TestSenderFullAndLost(t *testing.T) {
	for _, lost := range []bool{true, false} { // told by the peer, or by the timer
		s := newSender(t)
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
		if want := append([]string{fmt.Sprint("bad ", linkproto.FrameStart)}, span(0, 9)...); !slices.Equal(got[:min(len(got), 10)], want) {
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
			s.until(2 * 27)
			s.expectNow("0", "1")
			start = s.b.Cycle()
		}
		again()
		again()
		s.word(1, false) // progress: the count begins again
		start = s.b.Cycle() - 3
		for range 2 {
			s.until(27)
			s.expectNow("1")
		}
		s.clocks(senderRetry*period + 3*period + 10)
		if want := (senderEvents{acked: 1, replay: 4, retry: 5, giveUp: 1}); s.seen != want {
			t.Errorf("%d clocks a tick: %+v, want %+v", period, s.seen, want)
		}
	}
}

func (s *sender) expectNow(want ...string) {
	s.t.Helper()
	if got := s.frames(); !slices.Equal(got, want) {
		s.t.Fatalf("cycle %d: frames %q, want %q", s.b.Cycle(), got, want)
	}
}

// A restart at any moment drops every packet, counts each once, and the next session begins at sequence number 0 with the
// packets that come from then on.
func TestSenderRestart(t *testing.T) {
	s := newSender(t)
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
		if got := int(*s.pins.Bytes); got != 40*(5-held) {
			t.Fatalf("restart after %d clocks: %d bytes freed, %d packets held", at, got, held)
		}
		if got := int(*s.pins.Packets); got != 5-held {
			t.Fatalf("restart after %d clocks: %d packets freed, %d held", at, got, held)
		}
	}
}

// A peer that loses frames at random, acknowledges at random and sometimes falls silent gets every packet, in order, over several turns of the
// sequence numbers and of the 16-bit pointers.
func TestSenderRandom(t *testing.T) {
	for _, c := range []struct {
		name string
		loss float64
		size func(rng *testbench.Rand) int
	}{
		{"tiny packets", 0.02, func(*testbench.Rand) int { return 5 }},
		{"all sizes", 0.02, func(rng *testbench.Rand) int { return 5 + rng.Size(maxPacket-5, 0) }},
		{"large packets, many losses", 0.2, func(rng *testbench.Rand) int { return rng.Between(maxPacket-3, maxPacket) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSender(t)
			rng := s.b.Rand("peer")
			expected, lost, since := 0, false, 0
			var pending bool
			for round := 0; expected < 1500; round++ {
				if round > 1000000 {
					t.Fatalf("only %d packets in %d rounds: %+v", expected, round, s.seen)
				}
				if round%100 == 0 {
					s.write, s.take = testbench.Pick(rng, 1, 1, 0.5, 0.05), testbench.Pick(rng, 1, 1, 0.5)
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
							lost = true // a frame that was abandoned
							pending = true
							continue
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
			if s.seen.badAck+s.seen.lost+s.seen.giveUp > 0 || s.seen.replay == 0 {
				t.Errorf("%+v", s.seen)
			}
			if int(*s.pins.Bytes) == 0 || s.seen.acked > expected || s.seen.acked < expected-window {
				t.Errorf("%d bytes freed, %+v, %d expected", *s.pins.Bytes, s.seen, expected)
			}
		})
	}
}
