package link_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// stateBench is link_state beside a model of it.
type stateBench struct {
	t    *testing.T
	b    *testbench.Bench
	pins struct {
		Rst, Tick, Word, Init, WordStop, Other, Fits, GiveUp, Renew, Anonymous *bool  `port:"*"`
		Known, Up, Restart, PeerStop, Ack, Answer                              *bool  `port:"*"`
		Epoch                                                                  *uint8 `port:"*"`
	}
	model stateModel
}

// stateModel is the protocol's table of states.
type stateModel struct {
	known, up, peerStop bool
	epoch               uint8
}

// outcome is what an event does besides changing the state.
type outcome struct{ ack, answer, restart bool }

// heard is a good word, or a good INIT and what link_peer says of it.
type heard struct {
	init, stop bool
	other      bool // of another life than that known
}

// place is what holds whatever is heard.
type place struct{ refused, anonymous bool }

func (m *stateModel) begin() outcome {
	m.up, m.known, m.epoch = false, false, linkproto.NextEpoch(m.epoch)
	return outcome{restart: true}
}

func (m *stateModel) hear(h heard, p place) (out outcome) {
	switch {
	case !h.init && (!m.known || p.refused || p.anonymous):
		return outcome{}
	case !h.init:
		out = outcome{ack: true, answer: !m.up}
		m.up = true
	case m.known && h.other:
		if m.up {
			out = m.begin()
		}
		m.known, out.answer = false, true
	default:
		m.known, out.answer = true, true
	}
	m.peerStop = h.stop
	return out
}

// stateSilence is SILENCE in these tests but that of silence.
const stateSilence = 1 << 20

func newStateBench(t *testing.T, first, silence int) *stateBench {
	s := &stateBench{t: t}
	s.b = moduletest.Open(t, "link_state", params{"FIRST_EPOCH": first, "SILENCE": silence}, &s.pins)
	p := &s.pins
	for _, in := range []*bool{p.Tick, p.Word, p.Init, p.GiveUp, p.Renew, p.Anonymous} {
		*in = false
	}
	*p.Fits = true
	s.b.Step(1)
	s.model = stateModel{epoch: linkproto.NextEpoch(uint8(first))}
	s.compare(outcome{})
	return s
}

func (s *stateBench) compare(want outcome) {
	s.t.Helper()
	p := &s.pins
	got := outcome{*p.Ack, *p.Answer, *p.Restart}
	state := stateModel{*p.Known, *p.Up, *p.PeerStop, *p.Epoch}
	if got != want || state != s.model {
		s.t.Fatalf("cycle %d: %+v in %+v, want %+v in %+v", s.b.Cycle(), got, state, want, s.model)
	}
	if state.epoch == 0 {
		s.t.Fatalf("cycle %d: epoch 0", s.b.Cycle())
	}
}

func (s *stateBench) put(h heard) {
	p := &s.pins
	*p.WordStop, *p.Other, *p.Word, *p.Init = h.stop, h.other, !h.init, h.init
}

func (s *stateBench) hear(h heard, at place) {
	s.t.Helper()
	p := &s.pins
	*p.Fits, *p.Anonymous = !at.refused, at.anonymous
	s.put(h)
	check.Fatal(s.t, s.b.Model().Eval())
	ack := *p.Ack // in the clock of the word
	s.b.Step(1)
	*p.Word, *p.Init = false, false
	check.Fatal(s.t, s.b.Model().Eval())
	want := s.model.hear(h, at)
	if ack != want.ack {
		s.t.Fatalf("cycle %d: ack is %v, want %v", s.b.Cycle(), ack, want.ack)
	}
	want.ack = false
	s.compare(want)
	s.b.Step(1)
	s.compare(outcome{})
}

// bring makes the link known, or up.
func (s *stateBench) bring(up bool) {
	s.t.Helper()
	s.hear(heard{init: true}, place{})
	if up {
		s.hear(heard{}, place{})
	}
}

func (s *stateBench) pulse(pin *bool, forgets bool) {
	s.t.Helper()
	*pin = true
	s.b.Step(1)
	*pin = false
	var out outcome
	if s.model.up {
		out = s.model.begin()
	}
	s.model.known = s.model.known && !forgets
	s.compare(out)
	s.b.Step(1)
	s.compare(outcome{})
}

func (s *stateBench) giveUp() { s.t.Helper(); s.pulse(s.pins.GiveUp, false) }
func (s *stateBench) renew()  { s.t.Helper(); s.pulse(s.pins.Renew, true) }

// reset restarts the module, which takes the next epoch however long that lasts.
func (s *stateBench) reset(clocks uint64) {
	s.t.Helper()
	s.b.Reset("rst", clocks)
	s.b.Step(1)
	s.model = stateModel{epoch: linkproto.NextEpoch(s.model.epoch)}
	s.compare(outcome{})
}

// Everything that can be heard, in every state and at every place, twice.
func TestStateTable(t *testing.T) {
	s := newStateBench(t, 254, stateSilence) // the epochs wrap
	for state := range 5 {
		for _, h := range []heard{{}, {init: true}, {init: true, other: true}, {other: true}} {
			for _, at := range []place{{}, {refused: true}, {anonymous: true}, {refused: true, anonymous: true}} {
				for _, h.stop = range []bool{false, true} {
					s.reset(1)
					switch state { // 0: the peer is unknown
					case 1:
						s.bring(false)
					case 2:
						s.bring(true)
					case 3:
						s.bring(true)
						s.giveUp()
					case 4:
						s.bring(false)
						s.renew()
					}
					s.hear(h, at)
					s.hear(h, at) // and again, in the state that it has made
				}
			}
		}
	}
}

// Long random sequences, with give_up, renew and resets.
func TestStateRandom(t *testing.T) {
	for _, first := range []int{1, 255} {
		t.Run(fmt.Sprint("first epoch ", first), func(t *testing.T) {
			s := newStateBench(t, first, stateSilence)
			rng := s.b.Rand("words")
			ups, restarts := 0, 0
			for range 20000 {
				was := s.model
				switch {
				case rng.Chance(0.01):
					s.giveUp()
				case rng.Chance(0.01):
					s.renew()
				case rng.Chance(0.005):
					s.reset(uint64(testbench.Pick(rng, 1, 2, 7, 254, 255, 256)))
				default:
					h := heard{init: rng.Bool(), stop: rng.Bool(), other: rng.Chance(0.3)}
					s.hear(h, place{rng.Chance(0.1), rng.Chance(0.1)})
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

// Something heard and give_up or renew in the same clock, or one behind the other: the session ends once, and nobody is known until the next INIT.
// A word with which the link would have come up in the clock of renew is of the life before.
func TestStateTogether(t *testing.T) {
	for _, h := range []heard{{}, {init: true}, {init: true, other: true}} {
		for _, renew := range []bool{false, true} {
			for _, up := range []bool{true, false} {
				for behind := range 3 {
					s := newStateBench(t, 255, stateSilence)
					s.bring(up)
					p := &s.pins
					pin := p.GiveUp
					if renew {
						pin = p.Renew
					}
					restarts := 0
					for clock := range 6 {
						s.put(h)
						*p.Word, *p.Init = *p.Word && clock == 1, *p.Init && clock == 1
						*pin = clock == behind
						s.b.Step(1)
						if *p.Restart {
							restarts++
						}
					}
					if up && (*p.Up || restarts != 1 || *p.Epoch != 2 || *p.Known) {
						t.Errorf("%+v, pulse in clock %d, renew %v: up %v, %d restarts, epoch %d, known %v, want down, 1, 2, unknown", h, behind, renew,
							*p.Up, restarts, *p.Epoch, *p.Known)
					}
					if !up && renew && behind == 1 && (*p.Up || restarts != 0 || *p.Known) {
						t.Errorf("%+v and renew while down: up %v, %d restarts, known %v, want down, 0, unknown", h, *p.Up, restarts, *p.Known)
					}
				}
			}
		}
	}
}

// Without a good word for SILENCE ticks the link starts again, whatever else is heard; a tick before it does not. With SILENCE 0 it never does.
func TestStateSilence(t *testing.T) {
	const silence = 100
	for _, h := range []heard{{init: true}, {init: true, stop: true}} {
		s := newStateBench(t, 1, silence)
		p := &s.pins
		tick := func(n int) {
			for range n {
				*p.Tick = true
				s.b.Step(1)
				*p.Tick = false
				s.b.Step(2)
			}
		}
		tick(3 * silence) // only an end that is up waits for words
		s.bring(true)
		tick(silence - 1)
		s.hear(heard{stop: h.stop}, place{})
		tick(silence / 2)
		s.hear(h, place{})
		tick(silence/2 - 1)
		s.compare(outcome{})
		*p.Tick = true
		s.b.Step(1)
		*p.Tick = false
		for n := 0; !*p.Restart; n++ {
			if n > 3 {
				t.Fatalf("no restart %d clocks after %d ticks of silence", n, silence)
			}
			s.b.Step(1)
		}
		s.model.begin()
		s.compare(outcome{restart: true})
		s.b.Step(1)
		tick(2 * silence)
		s.compare(outcome{})
		s.bring(true) // and counts from there
		tick(silence - 1)
		s.compare(outcome{})
	}
	s := newStateBench(t, 1, 0)
	s.bring(true)
	*s.pins.Tick = true
	s.b.Step(100000)
	s.compare(outcome{})
	const long = 40_001 // odd, and of more bits
	s = newStateBench(t, 1, long)
	s.bring(true)
	*s.pins.Tick = true
	s.b.Step(long - 1)
	*s.pins.Tick = false
	s.b.Step(3)
	s.compare(outcome{})
	*s.pins.Tick = true
	s.b.Step(1)
	*s.pins.Tick = false
	s.b.Step(2)
	s.model.begin()
	s.compare(outcome{restart: true})
}

// A word in any clock about that in which silence has lasted too long: the link starts again in that clock at the latest, or the word counts and
// silence begins anew.
func TestStateSilenceEnds(t *testing.T) {
	const silence = 50
	for _, period := range []int{1, 3} {
		late, inTime := 0, 0
		for clocks := (silence - 3) * period; clocks < (silence+3)*period+3; clocks++ {
			s := newStateBench(t, 1, silence)
			p := &s.pins
			s.bring(true)
			restarts := 0
			run := func(n int) {
				for range n {
					*p.Tick = s.b.Cycle()%uint64(period) == 0
					s.b.Step(1)
					*p.Word = false
					if *p.Restart {
						restarts++
					}
				}
			}
			run(clocks)
			s.put(heard{})
			if run(1); restarts > 0 {
				late++
				continue
			}
			inTime++
			if run((silence - 2) * period); restarts > 0 {
				t.Errorf("%d clocks a tick: restart behind a word that came %d clocks behind the one before", period, clocks)
			}
		}
		if late == 0 || inTime == 0 {
			t.Errorf("%d clocks a tick: %d words too late, %d in time", period, late, inTime)
		}
	}
}
