package net_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestNext: what is chosen is the model's choice, in each clock in which the engine is idle; a packet that is put, and the link that is the next to send, are
// overtaken by seven events at most, whatever asks.
func TestNext(t *testing.T) {
	var p struct {
		Rst, Tick, Pace, Idle, Look, Hear, Put, Begins, CEn, SendIdle, ToldReady, MRoom *bool  `port:"*"`
		ToTurn, ToTell, ToWake, ToSettle, Chosen                                        *bool  `port:"*"`
		RVl, PVl, CVl, OfVl, Choice, Vl                                                 *uint8 `port:"*"`
	}
	b := moduletest.Open(t, "net_vl_next", params{"VIRTUAL": 3, "ACK_DELAY": engineAckDelay}, &p)
	r := b.Rand("who asks")
	codes := map[engineEvent]uint8{
		evLook: 0, evSettle: 1, evPut: 2, evHost: 3, evTalk: 4, evTimes: 5, evWake: 6, evTell: 7, evHear: 8, evAhead: 10,
	}
	puts := map[engineEvent]*bool{evTalk: p.ToTurn, evTell: p.ToTell, evWake: p.ToWake, evSettle: p.ToSettle}
	m := nextModel{queues: map[engineEvent][]engineWait{}}
	var waiting map[engineEvent]*[engineLinks]bool
	reset := func() {
		b.Reset("rst", 4)
		m = nextModel{queues: map[engineEvent][]engineWait{}}
		waiting = map[engineEvent]*[engineLinks]bool{evTalk: {}, evTell: {}, evWake: {}, evSettle: {}}
	}
	reset()
	var asks, room, pace, tick, idle float64
	var chosen [evAhead + 1]int
	var putWaits, talkWaits, longest int
	for now := range 200_000 {
		if now%1000 == 0 {
			asks, room, pace, tick, idle = testbench.Pick(r, 0.02, 0.2, 1), testbench.Pick(r, 0.1, 1), testbench.Pick(r, 0.06, 0.5), testbench.Pick(r, 0.001, 0.1, 1), testbench.Pick(r, 0.2, 1)
			if r.Chance(0.1) {
				reset()
				putWaits, talkWaits = 0, 0
			}
		}
		ask := func(stands *bool, vl *uint8) {
			if !*stands && r.Chance(asks) {
				*stands, *vl = true, uint8(r.IntN(engineLinks))
			}
		}
		if !*p.Hear {
			ask(p.Look, p.RVl)
		}
		if !*p.Look {
			ask(p.Hear, p.RVl)
		}
		if !*p.Begins {
			ask(p.Put, p.PVl)
		}
		if *p.Begins = *p.Begins || (!*p.Put && r.Chance(asks)); *p.Begins && r.Chance(0.1) {
			*p.Begins = false
		}
		ask(p.CEn, p.CVl)
		*p.SendIdle, *p.ToldReady, *p.MRoom, *p.Pace, *p.Tick, *p.Idle = r.Chance(room), r.Chance(room), r.Chance(room), r.Chance(pace), r.Chance(tick), r.Chance(idle)
		*p.OfVl = uint8(r.IntN(engineLinks))
		for queue, put := range puts {
			*put = !waiting[queue][*p.OfVl] && r.Chance(asks)
		}
		check.Fatal(t, b.Model().Eval())
		event, vl := evNone, uint8(0)
		if *p.Idle {
			talks := m.waits(evTalk) && *p.SendIdle
			event, vl = m.choose(nextIn{*p.Look, *p.Hear, *p.Put, *p.Begins, *p.CEn, *p.SendIdle, *p.ToldReady, *p.MRoom, *p.RVl, *p.PVl, *p.CVl})
			if *p.Chosen != (event != evNone) || *p.Chosen && (*p.Choice != codes[event] || *p.Vl != vl) {
				t.Fatalf("clock %d: %t, event %d of virtual link %d, want %d of %d", now, *p.Chosen, *p.Choice, *p.Vl, codes[event], vl)
			}
			chosen[event]++
			if event != evNone {
				putWaits, talkWaits = putWaits+b2i(*p.Put), (talkWaits+1)*b2i(talks) // the sender stays idle, or it waits anew
			}
			if w := waiting[event]; w != nil {
				w[vl] = false
			}
		}
		for queue, put := range puts {
			if *put {
				waiting[queue][*p.OfVl] = true
				m.wait(queue, *p.OfVl)
			}
		}
		m.passes(*p.Pace, *p.Tick)
		b.Step(1)
		switch event {
		case evLook:
			*p.Look = false
		case evHear:
			*p.Hear = false
		case evHost:
			*p.CEn = false
		case evPut:
			longest, putWaits = max(longest, putWaits-1), 0
			*p.Put = false
		case evTalk:
			longest, talkWaits = max(longest, talkWaits-1), 0
		}
		for _, n := range []int{putWaits, talkWaits} {
			if n > 7 {
				t.Fatalf("clock %d: %d events have overtaken a packet that is put, or the next link to send", now, n)
			}
		}
	}
	t.Logf("%v; at most %d overtook one that sends", chosen, longest)
	for event, n := range chosen {
		if n < 100 {
			t.Errorf("event %d was chosen %d times", event, n)
		}
	}
	if longest < 7 {
		t.Errorf("%d events at most overtook one that sends, want 7 once", longest)
	}
}
