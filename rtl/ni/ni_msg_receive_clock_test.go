package ni_test

import (
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// inputs draws what comes from outside in a clock, and returns the context whose receive is set in it, or -1.
func (e *msgReceiveTest) inputs() (set int) {
	r := e.r
	*e.SVoid, *e.Blind = false, false
	switch {
	case e.packet == nil:
		if e.gap--; e.gap < 0 {
			e.draw()
		}
	case e.at > 0 && e.at == e.voids:
		*e.SVoid, e.packet, e.looks, e.gap = true, nil, false, testbench.Pick(r, 0, 0, r.IntN(20))
		for i := range e.due {
			e.due[i].optional = true
		}
		e.seen["packets taken back"]++
	}
	if e.packet != nil && !*e.SValid && r.Chance(0.8) {
		*e.SValid, *e.SData, *e.SLast = true, e.packet[e.at], e.at+1 == len(e.packet)
	}
	if vl := uint8(r.IntN(4)); !*e.ToldValid && r.Chance(0.004) {
		e.lives[vl], e.contexts[vl] = (e.lives[vl]+uint8(r.IntN(2)))&15, uint8(r.IntN(4))
		*e.ToldValid, *e.ToldVl, *e.ToldLife, *e.ToldOpen = true, vl, e.lives[vl], r.Chance(0.7)
	}
	if !*e.Forget && e.now > e.forgot+1 && r.Chance(0.004) {
		*e.Forget, *e.ForgetContext = true, uint8(r.IntN(4))
		e.forgets()
	}
	set = r.IntN(4)
	if e.posted[set] != nil || e.now < e.idleAt || *e.Forget && int(*e.ForgetContext) == set || !r.Chance(0.2) {
		set = -1
	}
	*e.Blind = set >= 0
	if *e.XLook = !e.asked.x && r.Chance(0.6); *e.XLook {
		vl := uint8(r.IntN(4))
		*e.XVl, *e.XContext, *e.XLife = vl, testbench.Pick(r, e.contexts[vl], e.contexts[vl], uint8(r.IntN(4))), testbench.Pick(r, e.lives[vl], e.lives[vl], e.lives[vl]^1)
	}
	found := e.asked.found
	if *e.PReady = found != nil; e.asked.written {
		*e.PReady = r.Bool()
	}
	if found == nil {
		found = &linkproto.Posted{Addr: r.Uint32(), Length: r.Uint32(), Cookie: uint16(r.Uint32())}
	}
	*e.PAddress, *e.PLength, *e.PCookie, *e.PostedIdle = uint8(found.Addr), uint16(found.Length&0x1FF), found.Cookie, e.now >= e.idleAt
	*e.WTake, *e.DReady = false, false
	settle(e.t, e.b)
	*e.Blind = *e.Blind || *e.Consume
	*e.WTake, *e.DReady = *e.WValid && r.Chance(e.busy), *e.DValid && r.Chance(e.busy*e.busy)
	settle(e.t, e.b)
	return set
}

// forgets begins to forget a context: what of it was to happen may not happen any more.
func (e *msgReceiveTest) forgets() {
	of := *e.ForgetContext
	for i := range e.done {
		e.done[i].optional = e.done[i].optional || e.done[i].number == of
	}
	for i := range e.due {
		e.due[i].optional = e.due[i].optional || e.due[i].ctx == of
	}
	if (e.packet == nil || e.at == 0) && e.of == of {
		e.optional = true
	}
	e.seen["forgotten"]++
}

// clock lets one pass.
func (e *msgReceiveTest) clock() {
	t, set := e.t, e.inputs()
	if a := e.asked; a.x && !*e.XBlind && a.known {
		check.Equal(t, "credit", *e.XCredit, a.credit)
		e.seen["credit said"] += count(a.credit)
	} else if a.x && *e.XBlind {
		check.Equal(t, "credit may be unknown", a.calm, false)
	}
	e.look(set)
	if *e.EvBad {
		check.Equal(t, "a malformed packet may be counted", e.bad, 1)
		e.bad = 0
	}
	if *e.Consume {
		check.Equal(t, "a receive may be taken", e.consumes && *e.PostedIdle && *e.ConsumeContext == e.of, true)
		e.consumes, e.posted[*e.ConsumeContext], e.idleAt = false, nil, e.now+1+e.r.IntN(8)
	}
	if *e.WTake {
		e.writesWord()
	}
	if *e.DValid {
		e.completes()
	}
	if *e.ToldReady {
		if j := e.joins[*e.ToldVl]; j.life != *e.ToldLife || !*e.ToldOpen {
			e.broken(*e.ToldVl)
		}
	}
	if *e.Forgotten {
		of := *e.ForgetContext
		e.forgot = e.now
		check.Equal(t, "a context is to be forgotten", *e.Forget, true)
		for i := range e.joins {
			if e.joins[i].ctx == of {
				e.joins[i] = msgJoin{}
			}
		}
		e.due = slices.DeleteFunc(e.due, func(b msgByte) bool { return b.ctx == of })
		e.done = slices.DeleteFunc(e.done, func(d msgDone) bool { return d.optional && d.number == of })
		e.posted[of] = nil
	}
	taken := *e.SValid && *e.SReady
	if e.stuck++; taken || !*e.SValid && !*e.Forget && !*e.ToldValid {
		e.stuck = 0
	}
	if taken {
		if e.at == 0 && (e.consumes || e.bad != 0) && !e.optional {
			t.Errorf("a packet begins; before it a receive should have been taken (%v), and %d malformed packets counted", e.consumes, e.bad)
		}
		e.takes()
	}
	if e.packet != nil && e.at > 0 && *e.Forget && !*e.Forgotten && *e.ForgetContext == *e.SContext {
		e.cancelled = true
	}
	if set >= 0 {
		at := uint32(testbench.Pick(e.r, 0, 4*e.r.IntN(64)))
		room := min(256-int(at), testbench.Pick(e.r, e.r.IntN(50), e.r.IntN(50), 256))
		e.posted[set] = &linkproto.Posted{Addr: at, Length: uint32(room), Cookie: uint16(e.r.Uint32())}
	}
	if t.Failed() || e.stuck > 4000 {
		t.Fatalf("clock %d: byte %d of % x by link %d of context %d; %d clocks without progress", e.now, e.at, e.packet, *e.SVl, *e.SContext, e.stuck)
	}
	told, forgotten := *e.ToldReady, *e.Forgotten
	e.b.Step(1)
	*e.SValid, *e.ToldValid, *e.Forget = *e.SValid && !taken, *e.ToldValid && !told, *e.Forget && !forgotten
	e.now++
}

// look is what is looked at, for net_vl or for the packet.
func (e *msgReceiveTest) look(set int) {
	e.asked = msgAsked{x: *e.XLook, written: int(*e.LookContext) == set || *e.Consume && *e.ConsumeContext == *e.LookContext}
	if *e.Look {
		e.asked.found = e.posted[*e.LookContext]
	}
	if *e.XLook {
		j := e.joins[*e.XVl]
		check.Equal(e.t, "it looks for net_vl", *e.Look && *e.LookContext == *e.XContext, true)
		e.asked.known = int(*e.XVl) != e.unsure && !(*e.Forget && *e.ForgetContext == *e.XContext)
		e.asked.credit = e.posted[*e.XContext] != nil || (j.active || j.drops) && j.life == *e.XLife && j.ctx == *e.XContext
		e.asked.calm = !*e.Blind && e.now > e.ended+150 && !*e.ToldReady && !*e.Forget && e.unsure < 0
	} else if *e.Look && e.looks {
		check.Equal(e.t, "context of the packet", *e.LookContext, e.of)
		check.Equal(e.t, "what is found for the packet has a meaning", e.asked.written, false)
		e.ready, e.looks = e.posted[e.of], false
	}
}

// writesWord is a word that is written: bytes that have come, in their order.
func (e *msgReceiveTest) writesWord() {
	for lane := range 4 {
		if *e.WMask>>lane&1 == 0 {
			continue
		}
		addr, data := *e.WAddr<<2+uint8(lane), uint8(*e.WData>>(8*lane))
		for len(e.due) > 0 && e.due[0].optional && (e.due[0].addr != addr || e.due[0].data != data) {
			e.due = e.due[1:]
		}
		if len(e.due) == 0 || e.due[0].addr != addr || e.due[0].data != data {
			e.t.Errorf("%#x is written at %#x; the bytes that are to be: %v", data, addr, e.due)
			return
		}
		e.due = e.due[1:]
		e.seen["bytes written"]++
	}
}

// completes is a receive that is completed.
func (e *msgReceiveTest) completes() {
	check.Equal(e.t, "a word waits while a receive is completed", *e.WValid, false)
	have := msgWhat{*e.DTag, *e.DLength, *e.DVl, *e.DCookie, *e.DStatus, *e.DContext}
	for len(e.done) > 0 && e.done[0].optional && e.done[0].msgWhat != have {
		e.done = e.done[1:]
	}
	if len(e.done) == 0 {
		e.t.Errorf("%+v is completed, and nothing was to be", have)
		return
	}
	check.Equal(e.t, "what is completed", have, e.done[0].msgWhat)
	for _, b := range e.due {
		if !b.optional {
			e.t.Errorf("%+v is completed before %v is written", have, b)
		}
	}
	if *e.DReady {
		e.done = e.done[1:]
	}
}

// TestReceive: the bytes of each message come to where its receive says, and nowhere else; it is completed behind them, once; packets that break the rules, are taken
// back or are of a link that has changed end no other message; of a context that has ended nothing is left.
func TestReceive(t *testing.T) {
	e := &msgReceiveTest{t: t, unsure: -1, ended: -200, seen: map[string]int{}, busy: 1}
	e.b = moduletest.Open(t, "ni_msg_receive", params{"CONTEXTS": 2, "VIRTUAL": 2, "ADDR_WIDTH": 8}, e)
	e.r = e.b.Rand("others")
	e.b.Step(4) // it clears what it knows of links
	for e.now < 50_000 {
		if e.now%500 == 0 {
			e.busy = testbench.Pick(e.r, 0.1, 0.5, 1)
		}
		e.clock()
	}
	enough(t, e.seen, 20, "OK", "BROKEN", "TOO_LONG", "bytes written", "credit said", "forgotten", "malformed ones", "packets taken back")
}
