package link_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// stateBench is link_state beside a model of it.
type stateBench struct {
	t    *testing.T
	b    *testbench.Bench
	pins struct {
		Rst, Word, WordStop, GiveUp, Up, Restart, PeerStop, Ack, AckLost, Answer, EvStale *bool  `port:"*"`
		WordKind, WordN, WordEcho, Epoch, PeerEpoch                                       *uint8 `port:"*"`
	}
	model stateModel
}

// stateModel is the protocol's table of states.
type stateModel struct {
	up, peerStop bool
	epoch, peer  uint8
}

// outcome is what one word does besides changing the state.
type outcome struct{ ack, lost, answer, restart, stale bool }

func (m *stateModel) begin(peer uint8) outcome {
	m.up, m.peer, m.epoch = false, peer, linkproto.NextEpoch(m.epoch)
	return outcome{restart: true}
}

func (m *stateModel) word(w linkproto.Word) outcome {
	switch {
	case w.Kind == linkproto.KindInit && w.Value == 0:
		return outcome{stale: true}
	case w.Kind == linkproto.KindInit && !m.up:
		m.peer, m.peerStop = w.Value, w.Stop
		m.up = w.Echo == m.epoch
		return outcome{}
	case w.Kind == linkproto.KindInit && w.Value == m.peer && w.Echo == m.epoch:
		m.peerStop = w.Stop
		return outcome{answer: true}
	case w.Kind == linkproto.KindInit:
		m.peerStop = w.Stop
		return m.begin(w.Value)
	case m.peer == 0 || w.Echo != m.epoch:
		return outcome{stale: true}
	}
	m.up, m.peerStop = true, w.Stop
	return outcome{ack: true, lost: w.Kind == linkproto.KindLost}
}

func newStateBench(t *testing.T, first int) *stateBench {
	s := &stateBench{t: t}
	s.b = moduletest.Open(t, "link_state", params{"FIRST_EPOCH": first}, &s.pins)
	*s.pins.Word, *s.pins.GiveUp = false, false
	s.b.Step(1)
	s.model = stateModel{epoch: linkproto.NextEpoch(uint8(first))}
	s.compare(outcome{})
	return s
}

func (s *stateBench) compare(want outcome) {
	s.t.Helper()
	p := &s.pins
	got := outcome{*p.Ack, *p.Ack && *p.AckLost, *p.Answer, *p.Restart, *p.EvStale}
	state := stateModel{*p.Up, *p.PeerStop, *p.Epoch, *p.PeerEpoch}
	if got != want || state != s.model {
		s.t.Fatalf("cycle %d: %+v in %+v, want %+v in %+v", s.b.Cycle(), got, state, want, s.model)
	}
	if state.epoch == 0 {
		s.t.Fatalf("cycle %d: epoch 0", s.b.Cycle())
	}
}

func (s *stateBench) word(w linkproto.Word) {
	s.t.Helper()
	p := &s.pins
	*p.WordKind, *p.WordStop, *p.WordN, *p.WordEcho = uint8(w.Kind), w.Stop, w.Value, w.Echo
	s.b.Step(1)
	s.compare(outcome{})
	*p.Word = true
	s.b.Step(1)
	s.compare(s.model.word(w)) // ack while the word still stands
	*p.Word = false
	s.b.Step(1)
	s.compare(outcome{})
}

func (s *stateBench) giveUp() {
	s.t.Helper()
	*s.pins.GiveUp = true
	s.b.Step(1)
	*s.pins.GiveUp = false
	var out outcome
	if s.model.up {
		out = s.model.begin(0)
	}
	s.compare(out)
}

// reset restarts the module, which takes the next epoch however long that lasts.
func (s *stateBench) reset(clocks uint64) {
	s.t.Helper()
	s.b.Reset("rst", clocks)
	s.b.Step(1)
	s.model = stateModel{epoch: linkproto.NextEpoch(s.model.epoch)}
	s.compare(outcome{})
}

// Every kind of word, with each echo and value that matters, in every state.
func TestStateTable(t *testing.T) {
	s := newStateBench(t, 254) // the epochs wrap
	for state := range 4 {
		for kind := range linkproto.Kind(3) {
			for _, value := range []uint8{0, 77, 78, 77 ^ 0x10, 77 ^ 0x20, 77 ^ 0x40, 77 ^ 0x80} { // no epoch, the peer's, others
				for echo := range 4 { // none, ours, others
					for _, stop := range []bool{false, true} {
						s.reset(1)
						if state > 0 { // the peer's epoch is known
							s.word(linkproto.Word{Kind: linkproto.KindInit, Value: 77})
						}
						if state > 1 {
							s.word(linkproto.Word{Kind: linkproto.KindAck, Echo: s.model.epoch})
						}
						if state > 2 { // given up: the peer's epoch is unknown again
							s.giveUp()
						}
						w := linkproto.Word{Kind: kind, Stop: stop, Value: value,
							Echo: [...]uint8{0, s.model.epoch, linkproto.NextEpoch(s.model.epoch), s.model.epoch ^ 0x80}[echo]}
						s.word(w)
						s.word(w) // and again, in the state that it has made
					}
				}
			}
		}
	}
}

// Long random sequences, with stale echoes, give_up and resets.
func TestStateRandom(t *testing.T) {
	for _, first := range []int{1, 255} {
		t.Run(fmt.Sprint("first epoch ", first), func(t *testing.T) {
			s := newStateBench(t, first)
			rng := s.b.Rand("words")
			ups, restarts := 0, 0
			near := func(e uint8) uint8 { return e + testbench.Pick(rng, uint8(0), 0, 0, 0, 1, 255) }
			for range 20000 {
				was := s.model
				switch {
				case rng.Chance(0.01):
					s.giveUp()
				case rng.Chance(0.005):
					s.reset(uint64(testbench.Pick(rng, 1, 2, 7, 254, 255, 256)))
				default:
					w := linkproto.Word{Kind: linkproto.Kind(rng.IntN(3)), Stop: rng.Bool(), Value: uint8(rng.IntN(256)), Echo: near(s.model.epoch)}
					if w.Kind == linkproto.KindInit {
						w.Value = near(s.model.peer)
					}
					s.word(w)
				}
				if s.model.up && !was.up {
					ups++
				}
				if was.up && !s.model.up {
					restarts++
				}
			}
			if ups < 1000 || restarts < 1000 {
				t.Errorf("%d times up, %d restarts", ups, restarts)
			}
		})
	}
}

// A word in the clock after give_up, for the epoch that has just ended.
func TestStateAfterGiveUp(t *testing.T) {
	s := newStateBench(t, 1)
	for kind := range linkproto.Kind(3) {
		s.word(linkproto.Word{Kind: linkproto.KindInit, Value: 77, Echo: s.model.epoch})
		w := linkproto.Word{Kind: kind, Value: 78, Echo: s.model.epoch}
		p := &s.pins
		*p.WordKind, *p.WordStop, *p.WordN, *p.WordEcho = uint8(w.Kind), w.Stop, w.Value, w.Echo
		s.giveUp()
		*p.Word = true
		s.b.Step(1)
		s.compare(s.model.word(w))
		*p.Word = false
		s.b.Step(1)
		s.compare(outcome{})
	}
}

// A word and give_up in the same clock, or one behind the other: the session ends once, the word's acknowledgement does not count, and an
// INIT names the peer's epoch whatever the other is.
func TestStateTogether(t *testing.T) {
	for _, test := range []struct {
		word         linkproto.Word
		peer, behind uint8 // the peer's epoch then, with give_up in the word's clock and in the one behind it
	}{
		{linkproto.Word{Kind: linkproto.KindAck, Echo: 1}, 0, 0},
		{linkproto.Word{Kind: linkproto.KindInit, Value: 78}, 78, 78},
		{linkproto.Word{Kind: linkproto.KindInit, Value: 77, Echo: 1}, 77, 0},
	} {
		for behind, want := range []uint8{test.peer, test.behind} {
			s := newStateBench(t, 255)
			s.word(linkproto.Word{Kind: linkproto.KindInit, Value: 77, Echo: s.model.epoch})
			p, w := &s.pins, test.word
			*p.WordKind, *p.WordN, *p.WordEcho = uint8(w.Kind), w.Value, w.Echo
			s.b.Step(1)
			restarts := 0
			for clock := range 4 {
				*p.Word, *p.GiveUp = clock == 0, clock == behind
				s.b.Step(1)
				if *p.Restart {
					restarts++
				}
			}
			if *p.Up || restarts != 1 || *p.Epoch != 2 || *p.PeerEpoch != want {
				t.Errorf("%+v, give_up %d clocks behind: up %v, %d restarts, epoch %d, peer %d, want down, 1, 2, %d", w, behind, *p.Up, restarts, *p.Epoch, *p.PeerEpoch, want)
			}
		}
	}
}
