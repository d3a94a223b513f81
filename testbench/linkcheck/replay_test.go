package linkcheck_test

import (
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/linkcheck"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// script plays both ends of a link, of which one is checked.
type script struct {
	checker    *linkcheck.Checker
	own, peers linkproto.Key // of what each says
	clock      uint64
}

func newScript() *script {
	own := linkproto.Init{Version: linkproto.Version, Life: linkproto.LifeOf(0x1235, 1, 1), Page: 6, Lanes: 1}
	peer := own
	peer.Life = linkproto.LifeOf(0x4321, 2, 1)
	key := linkproto.KeyOf(peer.Life, own.Life)
	s := &script{linkcheck.New(linkcheck.Config{MaxPacket: linkproto.MaxPacket(page), Headroom: 256, Init: own,
		AckDelay: linkproto.DefaultAckDelay, WordTimer: linkproto.DefaultWordTimer, Retry: linkproto.DefaultRetry, RetryLimit: linkproto.DefaultRetryLimit}), key, key.Back(), 0}
	s.say(linkproto.AppendInit(nil, own)...)
	s.hear(linkproto.AppendInit(nil, peer)...)
	s.say(linkproto.AppendWord(nil, s.own, linkproto.Word{})...)
	s.word(linkproto.Word{})
	s.say(linkproto.AppendWord(nil, s.own, linkproto.Word{})...)
	s.wait(100)
	return s
}

func (s *script) say(line ...linkproto.Symbol) {
	for _, symbol := range line {
		s.clock++
		s.checker.FromEnd(s.clock, symbol)
	}
}

func (s *script) hear(line ...linkproto.Symbol) {
	for _, symbol := range line {
		s.clock++
		s.checker.ToEnd(s.clock, symbol)
	}
}

func (s *script) word(w linkproto.Word) { s.hear(linkproto.AppendWord(nil, s.peers, w)...) }

func (s *script) wait(clocks uint64) { s.clock += clocks }

// frame is one that the end sends.
func (s *script) frame(seq uint8) []linkproto.Symbol {
	return linkproto.AppendFrame(nil, s.own, seq, stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Data: []byte{seq}}))
}

func (s *script) frames(from, to uint8) {
	for seq := from; seq <= to; seq++ {
		s.say(s.frame(seq)...)
	}
}

// TestLost has the peer ask for a frame again when the end is about to send one.
func TestLost(t *testing.T) {
	lost := func(n uint8, stop bool) linkproto.Word {
		return linkproto.Word{Kind: linkproto.KindLost, Value: n, Stop: stop}
	}
	for _, test := range []struct {
		name string
		do   func(*script)
		want string // "": nothing is wrong
	}{
		{"it goes on", func(s *script) {
			s.word(lost(0, false))
			s.wait(50)
			s.frames(3, 3)
		}, "asked for 0"},
		{"it goes back", func(s *script) {
			s.word(lost(0, false))
			s.frames(0, 3)
		}, ""},
		{"it went back before", func(s *script) {
			s.word(lost(0, false))
			frame := s.frame(0)
			s.say(frame[:4]...)
			s.word(lost(1, false)) // it has come the first time
			s.wait(150)
			s.word(lost(1, false))
			s.say(frame[4:]...)
			s.frames(1, 3)
		}, ""},
		{"a frame waited for GO", func(s *script) {
			s.word(linkproto.Word{Stop: true})
			s.wait(100)
			s.word(lost(0, true))
			s.wait(100)
			s.word(lost(0, false))
			s.frames(3, 3)
			s.frames(0, 3)
		}, ""},
		{"no frame can have waited for GO", func(s *script) {
			s.word(linkproto.Word{Stop: true})
			s.wait(100)
			s.word(lost(0, true))
			s.wait(100)
			s.word(lost(0, false))
			s.wait(50)
			s.frames(3, 3)
		}, "asked for 0"},
		{"STOP came behind LOST", func(s *script) {
			s.word(lost(0, false))
			s.wait(50)
			s.word(lost(0, true))
			s.wait(100)
			s.word(lost(0, false))
			s.frames(3, 3)
		}, "asked for 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScript()
			s.frames(0, 2)
			s.wait(200)
			check.Fatal(t, s.checker.Advance(s.clock))
			test.do(s)
			err := s.checker.Advance(s.clock)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}
