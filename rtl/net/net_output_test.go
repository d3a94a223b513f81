package net_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestOutput: packets go to a link that says now and then that it has room, and one after the other; the link drops what it holds, and the rest of
// what comes, until it is told to go on. Each beat is given once, however long other outputs take for theirs. While packets are overdue, each that comes is taken, and dropped if there is no room. has_room is stale behind a
// packet with WIDTH 1 only, and only then nothing begins for so long.
func TestOutput(t *testing.T) {
	for width, stale := range map[int]int{1: 3, 4: 0} {
		t.Run(fmt.Sprint("width ", width), func(t *testing.T) { testOutput(t, width, stale) })
	}
}

func testOutput(t *testing.T, width, stale int) {
	var p struct {
		Room, SStart, SValid, SReady, SLast, SCancel, SNext, MValid, MReady, MLast, MCancel, HasRoom, Overdue, Gap, Admit, EvLost *bool `port:"*"`
	}
	b := moduletest.Open(t, "net_output", params{"WIDTH": width}, &p)
	r := b.Rand("packets")
	in, out := moduletest.NewBeats(t, b, "s", width), moduletest.NewBeats(t, b, "m", width)
	var packet, have []byte
	var whole, cancelled, late, counted, gaps int
	var begun int                            // clock in which a packet began
	var ended int                            // and in which it ended
	var fresh int                            // when has_room says the truth again
	var got bool                             // the link has the beat, other outputs do not
	others := 1.0                            // chance that they have it
	var down bool                            // when the packet began, the link had just gone down
	room, chosen, had := false, false, false // chosen: a packet begins in this clock, had: has_room was high in the one before
	for now := 100; now < 60_000; now++ {
		if *p.Admit {
			*p.Gap = false
		}
		if !*p.Gap && now != begun+1 && r.Chance(0.005) { // has_room falls a clock before
			*p.Gap, room = true, false
			gaps++
		}
		if !*p.Gap {
			room = room || r.Chance(0.2)
		}
		*p.Overdue = *p.Overdue != r.Chance(0.01)
		*p.HasRoom = room || now < fresh
		if *p.Gap {
			*p.HasRoom = false
		}
		check.Fatal(t, b.Model().Eval())
		if idle := len(packet) == 0 && !chosen && now-ended > stale; !chosen && *p.Room != (idle && (*p.HasRoom || *p.Overdue)) {
			t.Fatalf("clock %d: room is %v", now, *p.Room)
		}
		if chosen {
			begun = now
			packet, have, *p.SStart = r.Bytes(1+r.IntN(20*width)), nil, true
			switch r.IntN(10) {
			case 0:
				*p.HasRoom, *p.Gap, room = false, true, false
				gaps++
			case 1: // what the packet before has taken
				*p.HasRoom, room = false, false
			}
			down = *p.Gap || !had && !*p.HasRoom
		}
		chosen = len(packet) == 0 && *p.Room && r.Chance(0.5)
		had = *p.HasRoom
		sent := packet
		if *p.SStart {
			sent = nil
		}
		*p.SCancel = len(sent) > 1 && !got && r.Chance(0.02)
		*p.SValid = len(sent) > 0 && !*p.SCancel && (got || r.Chance(0.8))
		beat := in.Put(sent)
		*p.SLast, *p.MReady = beat == len(sent), r.Chance(0.7)
		check.Fatal(t, b.Model().Eval())
		if got && (!*p.SReady || *p.MValid) {
			t.Fatalf("clock %d: a beat that has been given is given again, or not said to be", now)
		}
		*p.SNext = *p.SValid && *p.SReady && r.Chance(others)
		got = *p.SValid && *p.SReady && !*p.SNext
		check.Fatal(t, b.Model().Eval())
		if *p.MValid && down {
			t.Fatalf("clock %d: a packet goes to a link that has no room", now)
		}
		if *p.MValid && *p.MReady {
			have = append(have, out.Get()...)
			room = false
		}
		if *p.MCancel != (*p.SCancel && len(have) > 0) {
			t.Fatalf("clock %d: cancel is %v, of %d bytes", now, *p.MCancel, len(have))
		}
		if *p.SValid && *p.SNext {
			if !down && !bytes.Equal(have[len(have)-beat:], packet[:beat]) {
				t.Fatalf("clock %d: gave % x for % x", now, have, packet)
			}
			packet = packet[beat:]
		}
		if *p.SCancel || *p.SValid && *p.SNext && *p.SLast {
			others = testbench.Pick(r, 1, 1, 0.5)
			ended, fresh = now, now+stale
			switch {
			case *p.SCancel:
				cancelled++
			case down:
				late++
			default:
				whole++
			}
			packet = nil
		}
		b.Step(1)
		*p.SStart = false
		if *p.EvLost {
			counted++
		}
	}
	check.Equal(t, "packets counted as late", counted, late)
	if whole < 500 || cancelled < 50 || late < 20 || gaps < 100 {
		t.Errorf("%d packets whole, %d cancelled, %d late, %d gaps: too few", whole, cancelled, late, gaps)
	}
}
