package link_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// laneState is lane_state with a clock a symbol.
type laneState struct {
	t    *testing.T
	b    *testbench.Bench
	pins struct {
		Rst, Tick, Word, Init, WordBad, WordStop, Other, Fits, Same, FrameGood, FrameBad, Up, Young, Restart, Renew, Anonymous, MayLeave, Alone, NoneOpen *bool `port:"*"`
		Known, Heard, Open, Closed, Foreign, Stop, Ack, Answer                                                                                            *bool `port:"*"`
	}
	closed int
}

const laneTimer = 16

func newLaneState(t *testing.T) *laneState {
	l := &laneState{t: t}
	l.b = moduletest.Open(t, "lane_state", params{"WORD_TIMER": laneTimer}, &l.pins)
	p := &l.pins
	*p.Tick, *p.Fits, *p.Same, *p.MayLeave = true, true, true, true
	return l
}

// say pulses an input for a clock.
func (l *laneState) say(pulse *bool) {
	*pulse = true
	l.run(1)
	*pulse = false
	l.run(1)
}

func (l *laneState) run(clocks int) {
	for range clocks {
		l.b.Step(1)
		if *l.pins.Closed {
			l.closed++
		}
	}
}

func (l *laneState) wants(what string, heard, open bool) {
	l.t.Helper()
	check.Equal(l.t, what, [2]bool{*l.pins.Heard, *l.pins.Open}, [2]bool{heard, open})
}

// bring has the lane bring the link up.
func (l *laneState) bring() {
	p := &l.pins
	l.say(p.Init)
	check.Equal(l.t, "knows its peer", *p.Known, true)
	*p.Word = true
	check.Fatal(l.t, l.b.Model().Eval())
	check.Equal(l.t, "ack", *p.Ack, true)
	l.run(1)
	*p.Word, *p.Up = false, true
	l.run(2)
	l.wants("after the first word", true, true)
}

// lane_state is heard at once, left out for silence and for faults, and taken again after a trial that doubles.
func TestLaneState(t *testing.T) {
	l := newLaneState(t)
	p := &l.pins
	l.bring()
	l.say(p.Init)
	l.wants("after INIT of the peer", true, false)
	check.Equal(t, "closed", l.closed, 1)
	l.say(p.Word)
	l.wants("after a word", true, true)
	for _, term := range []int{1, 2, 4, 8, 16, 16} {
		l.run(linkproto.LaneSilentTimers*laneTimer + 2)
		l.wants("after silence", false, false)
		good := 0
		for ; !*p.Heard; good += 4 {
			l.say(p.Word)
			l.run(2)
			if good > 100*laneTimer {
				t.Fatal("never heard again")
			}
		}
		if want := linkproto.LaneTrialTimers * laneTimer * term; good < want-8 || good > want+8 {
			t.Errorf("heard again after %d symbol times, want %d", good, want)
		}
	}
}

// Four damaged frames have it left out, three and then good ones do not; damage in its trial has that begin anew. The last lane stays.
func TestLaneStateFaults(t *testing.T) {
	l := newLaneState(t)
	p := &l.pins
	l.bring()
	for range 20 {
		for range 3 {
			l.say(p.FrameBad)
		}
		for range 3 * linkproto.LaneFault {
			l.say(p.FrameGood)
			*p.Word = true
			l.run(1)
			*p.Word = false
		}
	}
	l.wants("after three faults among good frames", true, true)
	*p.MayLeave, *p.Alone = false, true
	for range 6 {
		l.say(p.FrameBad)
	}
	l.wants("the last lane", true, true)
	*p.MayLeave, *p.Alone = true, false
	l.run(2)
	l.wants("after faults", false, false)
	for good := range linkproto.LaneTrialTimers * laneTimer * 2 {
		if *p.Word = true; good == linkproto.LaneTrialTimers*laneTimer/2 {
			*p.WordBad = true
		}
		l.run(1)
		*p.Word, *p.WordBad = false, false
		if *p.Heard != (good >= linkproto.LaneTrialTimers*laneTimer*3/2) && *p.Heard != (good >= linkproto.LaneTrialTimers*laneTimer*3/2+2) {
			t.Fatalf("heard: %v after %d symbol times, one of them bad", *p.Heard, good)
		}
	}
}

// What is damaged before a lane is heard does not count, and on the last lane the good ones make up for what was. While there is another lane
// they do not: it is left out as soon as it may be.
func TestLaneStateScore(t *testing.T) {
	l := newLaneState(t)
	p := &l.pins
	*p.Up = true
	for range 2 * linkproto.LaneFaults / linkproto.LaneFault {
		l.say(p.WordBad)
	}
	l.say(p.Init)
	l.say(p.Word)
	l.run(2)
	l.wants("after faults before it was heard", true, true)
	*p.MayLeave = false
	for _, alone := range []bool{true, false} {
		*p.Alone = alone
		for range linkproto.LaneFaults / linkproto.LaneFault {
			l.say(p.FrameBad)
		}
		for _, pulse := range []*bool{p.FrameGood, p.FrameBad, p.FrameGood} { // what is above the limit does not count
			l.say(pulse)
		}
		*p.Alone, *p.MayLeave = false, true
		l.run(2)
		l.wants("after faults and good frames", alone, alone)
		*p.MayLeave = false
		for range linkproto.LaneFaults {
			l.say(p.Word)
		}
	}
}

// While no lane of the link is open the first word of the peer's ends a trial; its INIT does not, by which it does not hear this end.
func TestLaneStateNeeded(t *testing.T) {
	l := newLaneState(t)
	p := &l.pins
	l.bring()
	l.run(linkproto.LaneSilentTimers*laneTimer + 2)
	l.say(p.Word)
	l.wants("a word while another lane is open", false, false)
	*p.NoneOpen = true
	l.say(p.Init)
	l.wants("an INIT", false, false)
	l.say(p.Word)
	l.wants("a word", true, true)
	l.run(linkproto.LaneTrialTimers * laneTimer / 4)
	l.say(p.Word)
	l.wants("a while later", true, true)
	*p.Other = true
	l.say(p.Init)
	l.wants("an INIT of another life", false, false)
	*p.Other = false
	l.say(p.Init)
	l.wants("an INIT of the peer", true, false)
	l.say(p.Word)
	*p.NoneOpen = false
	for range linkproto.LaneFaults / linkproto.LaneFault {
		l.say(p.FrameBad)
	}
	l.run(2)
	l.wants("after faults", false, false)
}

// A lane that hears another end is foreign, and not heard, until it hears the peer.
func TestLaneStateForeign(t *testing.T) {
	l := newLaneState(t)
	p := &l.pins
	l.bring()
	*p.Other = true
	l.say(p.Init)
	l.wants("after INIT of another life", false, false)
	*p.Other, *p.Same = false, false
	l.say(p.Init)
	l.run(2)
	check.Equal(t, "foreign", *p.Foreign, true)
	*p.Same = true
	l.say(p.Init)
	check.Equal(t, "foreign still", *p.Foreign, false)
	l.wants("after INIT of the peer", true, false)
	// The peer need not say INIT: it may hear this end all along.
	*p.Other, *p.Same = true, false
	l.say(p.Init)
	l.say(p.Init)
	check.Equal(t, "foreign again", *p.Foreign, true)
	l.say(p.Word)
	check.Equal(t, "foreign after a word of the peer", *p.Foreign, false)
	l.say(p.Word)
	l.wants("after another", true, true)
	*p.Up = false
	l.say(p.Restart)
	check.Equal(t, "known after a restart", *p.Known || *p.Heard, false)
}

// Left out for faults and good from then on, it is heard again after its trial, to the symbol time, whatever clocks that takes.
func TestLaneStateTrial(t *testing.T) {
	l := newLaneState(t)
	p := &l.pins
	l.bring()
	rng := l.b.Rand("ticks")
	*p.Word = true
	for _, term := range []int{1, 2, 4, 8, 16, 16} {
		*p.FrameBad = true
		l.run(linkproto.LaneFaults / linkproto.LaneFault)
		*p.FrameBad = false
		l.run(1)
		l.wants("after faults", false, false)
		ticks := 0
		for !*p.Heard && ticks <= 40*laneTimer*linkproto.LaneTrialTimers {
			if *p.Tick = rng.Chance(0.5); *p.Tick {
				ticks++
			}
			l.run(1)
		}
		check.Equal(t, "symbol times of the trial", ticks, linkproto.LaneTrialTimers*laneTimer*term)
	}
}
