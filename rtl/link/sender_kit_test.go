package link_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
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
		Rst, Tick, Up, PeerStop, Restart, Ack, AckLost, SValid, SReady, SLast, Cancel, HasRoom, Takes, Queued, Refused, Admit, Gap *bool   `port:"*"`
		FValid, FTake, GiveUp, EvBadAck, EvAcked, EvLost, EvReplay, EvRetry                                                        *bool   `port:"*"`
		AckN, FreedPackets                                                                                                         *uint8  `port:"*"`
		FreedBytes, FSym, Size                                                                                                     *uint16 `port:"*"`
		Key                                                                                                                        *uint32 `port:"*"`
	}
	width       int // bytes of a beat
	in          *moduletest.Beats
	pause       int     // clocks until the next packet may begin
	write, take float64 // chances that the loader offers a beat and that the line takes a symbol
	cancel      float64 // chance, at each clock without a byte, that the loader takes back the packet that it has begun
	period      int     // clocks a tick

	queue    [][]byte // packets to load
	pos      int      // bytes of the first of them that have been taken
	loaded   [][]byte // packets taken whole
	line     []linkproto.Symbol
	canceled int // packets taken back
	gaps     int // clocks without a symbol inside or between frames since `line` was emptied
	seen     senderEvents
	deframe  *linkproto.Deframer
}

func newSender(t *testing.T) *sender { return newSenderWith(t, 1, replay, senderRetry, senderLimit) }

func newSenderWith(t *testing.T, width, replayBytes, retry, limit int) *sender {
	s := &sender{t: t, width: width, write: 1, take: 1, period: 1, deframe: frames()}
	s.b = moduletest.Open(t, "testdata/link_sender", params{"REPLAY_BYTES": replayBytes, "MAX_PACKET": maxPacket, "RETRY": retry, "RETRY_LIMIT": limit,
		"WIDTH": width}, &s.pins)
	s.in = moduletest.NewBeats(t, s.b, "s", width)
	s.rng = s.b.Rand("sender")
	p := &s.pins
	*p.Up, *p.PeerStop, *p.Restart, *p.Ack, *p.SValid, *p.FTake = true, false, false, false, false, false
	*p.Key = uint32(frameKey)
	s.clocks(3)
	s.seen = senderEvents{}
	return s
}

func (s *sender) clock() {
	p := &s.pins
	for _, e := range []struct {
		pulse bool
		count *int
	}{{*p.EvBadAck, &s.seen.badAck}, {*p.EvAcked, &s.seen.acked}, {*p.EvLost, &s.seen.lost}, {*p.EvReplay, &s.seen.replay},
		{*p.EvRetry, &s.seen.retry}, {*p.GiveUp, &s.seen.giveUp}} {
		if e.pulse {
			*e.count++
		}
	}
	*p.Tick = s.b.Cycle()%uint64(s.period) == 0
	if *p.Cancel = !*p.SValid && s.pos > 0 && s.rng.Chance(s.cancel); *p.Cancel {
		s.queue[0], s.pos = packet(len(s.loaded), s.rng.Between(5, maxPacket)), 0 // another of the same number
		s.canceled++
	} else if !*p.SValid {
		*p.SValid = len(s.queue) > 0 && s.pause == 0 && s.rng.Chance(s.write)
	}
	s.pause = max(s.pause-1, 0)
	beat := 0
	if *p.SLast = s.rng.Bool(); *p.SValid {
		beat = s.in.Put(s.queue[0][s.pos:])
		*p.SLast = s.pos+beat == len(s.queue[0])
	}
	*p.FTake = *p.FValid && !*p.PeerStop && s.rng.Chance(s.take)
	switch {
	case *p.FTake:
		s.line = append(s.line, linkproto.Symbol(*p.FSym))
	case len(s.line) > 0 && !*p.FValid:
		s.gaps++
	}
	if s.width > 1 {
		check.Fatal(s.t, s.b.Model().Eval()) // what it takes depends on the beat
	}
	moved := *p.SValid && *p.SReady
	s.b.Step(1)
	if moved {
		*p.SValid = false
		if s.pos += beat; s.pos == len(s.queue[0]) {
			s.loaded = append(s.loaded, s.queue[0])
			s.queue, s.pos = s.queue[1:], 0
			if s.width > 1 {
				s.pause = 2
			}
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

func (s *sender) expectNow(want ...string) {
	s.t.Helper()
	if got := s.frames(); !slices.Equal(got, want) {
		s.t.Fatalf("cycle %d: frames %q, want %q", s.b.Cycle(), got, want)
	}
}
