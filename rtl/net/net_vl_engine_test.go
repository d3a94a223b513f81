package net_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// engineIn is what net_vl_engine is given.
type engineIn struct {
	Look, There, Hear, RStop, RLost, RPacket, RFits, RGood, RHost, RMessage, RHalts, MRoom        *bool   `port:"*"`
	Put, Begins, PMine, PFinal, FreeReady, CEn, CWrite, CResume, CSpace, CWake, SendIdle, SendCut *bool   `port:"*"`
	Tick, Pace, ToldReady, XCredit, XBlind, Back                                                  *bool   `port:"*"`
	RVl, RNext, RSeq, PVl, PSlot, CVl, CReg, BackSlot, PLife                                      *uint8  `port:"*"`
	RSrc, PSize, PTotal                                                                           *uint16 `port:"*"`
	CWdata                                                                                        *uint32 `port:"*"`
}

// engineOut is what it says in return.
type engineOut struct {
	Looked, Opened, Ours, Takes, Heard, Delivers, PutDone, PutOk, FreeValid, CDone, COk        *bool   `port:"*"`
	SendStart, SendEarly, SendWhole, SendUndo, Told, XLook, XRefused, Done, DoneClosed         *bool   `port:"*"`
	Frees, BackReady, FreedOne, EvReplay, EvDrop                                               *bool   `port:"*"`
	FreeSlot, SendClass, SendState, SendNext, SendSeq, SendSlot, ToldVl, ToldFreed, XVl, XLife *uint8  `port:"*"`
	XContext, DoneSlot                                                                         *uint8  `port:"*"`
	SendDest, SendVl, SendSize, ToldStatus                                                     *uint16 `port:"*"`
	Key, CValue, SendKey                                                                       *uint32 `port:"*"`
}

// engineSays is all that net_vl_engine says in a clock; what has no meaning in it is 0.
type engineSays struct {
	looked, opened, ours, takes, heard, delivers, putDone, putOk, cDone, cOk, replay, drop     bool
	start, early, whole, undo, told, xLook, xRefused, done, closed, frees, backReady, freedOne bool
	toldVL, toldFreed, xVL, context, life, doneSlot                                            uint8
	toldStatus                                                                                 uint16
	key, value                                                                                 uint32
	send                                                                                       engineSend
}

// engineSend is what the sender is told of a ROUTE.
type engineSend struct {
	class, state, next, seq, slot uint8
	dest, vl, size                uint16
	key                           uint32
}

// says reads the outputs.
func (o *engineOut) says() (s engineSays) {
	s = engineSays{looked: *o.Looked, heard: *o.Heard, putDone: *o.PutDone, putOk: *o.PutOk, cDone: *o.CDone, replay: *o.EvReplay, drop: *o.EvDrop,
		start: *o.SendStart, early: *o.SendEarly, whole: *o.SendWhole, undo: *o.SendUndo, told: *o.Told, xLook: *o.XLook, xRefused: *o.XRefused, done: *o.Done,
		frees: *o.Frees, backReady: *o.BackReady, freedOne: *o.FreedOne}
	if s.looked {
		s.opened, s.ours, s.takes, s.key = *o.Opened, *o.Ours, *o.Takes, *o.Key
	}
	if s.heard {
		s.delivers = *o.Delivers
	}
	if s.cDone {
		s.cOk, s.value = *o.COk, *o.CValue
	}
	if s.told {
		s.toldVL, s.toldFreed, s.toldStatus = *o.ToldVl, *o.ToldFreed, *o.ToldStatus
	}
	if s.looked || s.told || s.xLook {
		s.context, s.life = *o.XContext, *o.XLife
	}
	if s.xLook {
		s.xVL = *o.XVl
	}
	if s.frees {
		s.doneSlot, s.closed = *o.DoneSlot, *o.DoneClosed
	}
	if s.start {
		s.send = engineSend{class: *o.SendClass, state: *o.SendState, next: *o.SendNext, seq: *o.SendSeq, dest: *o.SendDest, vl: *o.SendVl,
			size: *o.SendSize, key: *o.SendKey}
		if s.send.state&1 != 0 {
			s.send.slot = *o.SendSlot
		}
	}
	return s
}

// engineOdds says how likely it is that the others do something in a clock.
type engineOdds struct {
	route, looks, there, put, ahead, cancel, idle, told, room, pace, tick, host, close, back float64
	packet, next, message, halts, lost, stop, good, mine, ack, free, focus                   float64
	vl                                                                                       int // the virtual link of most of it, by focus
}

// engineTest is net_vl_engine with all that is around it, at random, and its model, which is exact to the clock.
type engineTest struct {
	engineIn
	engineOut
	engineModel
	odds      engineOdds
	t         testing.TB
	b         *testbench.Bench
	r         *testbench.Rand
	receiving int     // of a ROUTE: 0 none, 1 look, 2 hear
	busy      bool    // the sender
	coming    bool    // a packet comes that is sent ahead
	kept      []uint8 // slots that a completion goes with
	dry       int     // clocks without a free slot, though there are some
	seen      struct{ delivers, replays, drops, ahead, whole, undone, refused, done, closedDone, freed, gaveUp, full, parked, missing, peeks int }
}

func newEngineTest(t testing.TB) *engineTest {
	e := &engineTest{t: t}
	e.b = moduletest.New(t, "net_vl_engine", params{"VIRTUAL": 3, "SLOTS": engineSlots, "WINDOW": engineWindow, "RETRY": engineRetry,
		"RETRY_LIMIT": engineRetryLimit, "ACK_DELAY": engineAckDelay, "CONTEXTS": 8}, &e.engineIn)
	e.b.Bind(&e.engineOut)
	e.b.Reset("rst", 4)
	e.r = e.b.Rand("others")
	e.queues = map[engineEvent][]engineWait{}
	for slot := range engineSlots { // cleared
		e.clock(func(s *engineSays) { s.backReady = false })
		e.free = append(e.free, uint8(slot))
	}
	return e
}

// clock lets a clock pass in which the module says what the model does, and what this adds.
func (e *engineTest) clock(model func(*engineSays)) {
	e.drive()
	check.Fatal(e.t, e.b.Model().Eval())
	*e.FreeReady, *e.SendCut = *e.PutOk, *e.Frees && e.r.Chance(0.3)
	check.Fatal(e.t, e.b.Model().Eval())
	want, led, quit := engineSays{backReady: true}, e.leading, !*e.Begins && !*e.Put
	if model(&want); led && quit {
		want.undo = true
	}
	gives := *e.Back && want.backReady
	want.freedOne = want.freedOne || gives
	if have := e.says(); have != want {
		e.t.Fatalf("clock %d, in event %d of virtual link %d: %+v\nsays %+v\nwant %+v", e.clocks, e.event, e.vl, e.links[e.vl], have, want)
	}
	if *e.FreeValid {
		e.dry = 0
		if len(e.free) == 0 || e.free[0] != *e.FreeSlot {
			e.t.Fatalf("clock %d: slot %d is free, want the first of %v", e.clocks, *e.FreeSlot, e.free)
		}
	} else if e.dry = min(len(e.free), e.dry+1); e.dry > 3 {
		e.t.Fatalf("clock %d: no slot is free, want one of %v", e.clocks, e.free)
	}
	if want.putOk {
		e.free = e.free[1:]
	}
	if gives {
		e.free = append(e.free, *e.BackSlot)
	}
	e.passes(*e.Begins, quit, *e.Pace, *e.Tick)
	e.b.Step(1)
	e.react(want, gives)
}

// react is what the others do next, for what they are told.
func (e *engineTest) react(s engineSays, gives bool) {
	l := &e.links[e.vl]
	count(&e.seen.delivers, s.delivers)
	count(&e.seen.replays, s.replay)
	count(&e.seen.drops, s.drop)
	count(&e.seen.ahead, s.early)
	count(&e.seen.whole, s.whole)
	count(&e.seen.undone, s.undo)
	count(&e.seen.refused, s.xRefused)
	count(&e.seen.done, s.done)
	count(&e.seen.closedDone, s.done && s.closed)
	count(&e.seen.freed, s.freedOne)
	count(&e.seen.gaveUp, s.told && l.gaveUp)
	count(&e.seen.full, s.putDone && len(l.held) == engineWindow)
	count(&e.seen.parked, l.parked)
	count(&e.seen.missing, s.start && l.lost)
	count(&e.seen.peeks, s.start && l.peerStop && s.send.state&1 != 0)
	if s.looked && e.receiving == 1 {
		e.receiving = 2 - 2*b2i(e.r.Chance(0.1))
	}
	if s.heard {
		e.receiving = 0
	}
	if s.start {
		e.busy, e.coming = true, s.early
	}
	if s.whole || s.undo {
		e.coming = false
	}
	if s.putDone {
		*e.Put = false
	}
	if s.cDone {
		*e.CEn, *e.CWrite, *e.CResume, *e.CSpace, *e.CWake = false, false, false, false, false
	}
	if s.done {
		e.kept = append(e.kept, s.doneSlot)
	}
	if gives {
		*e.Back = false
	}
}

// link draws a virtual link.
func (e *engineTest) link() uint8 {
	if e.r.Chance(e.odds.focus) {
		return uint8(e.odds.vl)
	}
	return uint8(e.r.IntN(len(e.links)))
}

// drive draws what comes in.
func (e *engineTest) drive() {
	o, r := &e.odds, e.r
	if e.receiving == 0 && r.Chance(o.route) {
		e.route()
		e.receiving = 2 - b2i(r.Chance(o.looks))
	}
	*e.Look, *e.Hear, *e.There = e.receiving == 1 && r.Chance(0.9), e.receiving == 2 && r.Chance(0.9), r.Chance(o.there)
	*e.RHalts, *e.MRoom, *e.XCredit, *e.XBlind = r.Chance(o.halts), r.Chance(o.room), r.Chance(0.7), r.Chance(0.1)
	switch {
	case *e.Put:
	case *e.Begins && r.Chance(o.cancel):
		*e.Begins = false
	case *e.Begins && r.Chance(0.2):
		*e.Begins, *e.Put = false, true
	case !*e.Begins && *e.FreeValid && r.Chance(o.put):
		ahead := r.Chance(o.ahead)
		*e.Begins, *e.Put = ahead, !ahead
		*e.PVl, *e.PSlot, *e.PSize, *e.PTotal = e.link(), *e.FreeSlot, uint16(r.Uint32()), uint16(r.Uint32())
		*e.PMine = r.Chance(o.mine)
		*e.PFinal, *e.PLife = r.Bool(), (e.links[*e.PVl].life+uint8(b2i(r.Chance(0.1))))&15
	}
	if e.busy && !e.coming && r.Chance(o.idle) {
		e.busy = false
	}
	*e.SendIdle, *e.ToldReady = !e.busy, r.Chance(o.told)
	*e.Pace, *e.Tick = r.Chance(o.pace), r.Chance(o.tick)
	if !*e.CEn && r.Chance(o.host) {
		e.host()
	}
	if !*e.Back && len(e.kept) > 0 && r.Chance(o.back) {
		i := r.IntN(len(e.kept))
		*e.Back, *e.BackSlot = true, e.kept[i]
		e.kept = append(e.kept[:i], e.kept[i+1:]...)
	}
}

// route draws a ROUTE: mostly one that goes on with what its virtual link has.
func (e *engineTest) route() {
	o, r := &e.odds, e.r
	*e.RVl = e.link()
	l := &e.links[*e.RVl]
	*e.RSrc = l.peer
	if r.Chance(0.1) {
		*e.RSrc ^= 1 << r.IntN(16)
	}
	*e.RPacket, *e.RSeq, *e.RNext = r.Chance(o.packet), 0, uint8(l.base)
	if *e.RPacket {
		if *e.RSeq = uint8(l.expect); !r.Chance(o.next) {
			*e.RSeq += uint8(testbench.Pick(r, r.IntN(256), 1, 255, 127, 128, r.IntN(4)))
		}
	}
	switch {
	case r.Chance(o.ack):
		*e.RNext += uint8(testbench.Pick(r, r.IntN(l.top+1), l.top))
	case r.Chance(0.1):
		*e.RNext += uint8(testbench.Pick(r, r.IntN(256), l.top+1, 255, 127, 128))
	}
	*e.RStop, *e.RLost, *e.RGood, *e.RFits, *e.RMessage = r.Chance(o.stop), r.Chance(o.lost), r.Chance(o.good), r.Chance(0.95), r.Chance(o.message)
	*e.RHost = *e.RMessage || r.Chance(0.2)
}

// host draws what the host wants.
func (e *engineTest) host() {
	o, r := &e.odds, e.r
	*e.CEn, *e.CVl, *e.CReg, *e.CWdata = true, e.link(), uint8(r.IntN(8)), r.Uint32()
	l := &e.links[*e.CVl]
	switch {
	case r.Chance(0.3): // it reads
	case r.Chance(o.free):
		if *e.CSpace = true; r.Chance(0.9) {
			*e.CWdata = *e.CWdata&^0xFF | uint32(l.given)
		}
	case r.Chance(0.1 + 0.4*float64(b2i(l.trapped))):
		*e.CResume = true
	case r.Chance(0.2):
		*e.CWake = true
	default:
		*e.CWrite = true
		if l.open || r.Chance(0.3) {
			*e.CReg = uint8(vlStatus)
		}
		if *e.CReg == uint8(vlStatus) {
			*e.CWdata |= vlIsOpen
			if r.Chance(o.close) {
				*e.CWdata &^= vlIsOpen
			}
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestEngine: the engine does what its model does, in each clock, whatever those around it do within its contract.
func TestEngine(t *testing.T) {
	e := newEngineTest(t)
	r := e.r
	for range 120 {
		e.odds = engineOdds{
			route: testbench.Pick(r, 0, 0.02, 0.05, 1), looks: testbench.Pick(r, 0.9, 1), there: testbench.Pick(r, 0.5, 1), put: testbench.Pick(r, 0, 0.02, 1),
			ahead: testbench.Pick(r, 0, 0.5, 1), cancel: testbench.Pick(r, 0, 0.05), idle: testbench.Pick(r, 0.02, 0.3, 1), told: testbench.Pick(r, 0.02, 1),
			room: testbench.Pick(r, 0, 0.3, 1), pace: testbench.Pick(r, 0.06, 0.5), tick: testbench.Pick(r, 0.0005, 0.005, 0.02),
			host: testbench.Pick(r, 0.01, 0.03, 0.2), close: testbench.Pick(r, 0, 0, 0.1), back: testbench.Pick(r, 0, 0.02, 1),
			packet: testbench.Pick(r, 0.1, 0.9), next: testbench.Pick(r, 0.5, 0.95, 1), message: testbench.Pick(r, 0.1, 0.9), halts: testbench.Pick(r, 0, 0, 0.1),
			lost: testbench.Pick(r, 0, 0.1, 0.5), stop: testbench.Pick(r, 0, 0.02, 0.5), good: testbench.Pick(r, 0.9, 1), mine: testbench.Pick(r, 0, 0.6),
			ack: testbench.Pick(r, 0, 0.3, 0.9), free: testbench.Pick(r, 0, 0.3), focus: testbench.Pick(r, 0, 0.8, 1), vl: r.IntN(8),
		}
		if o := &e.odds; r.Chance(0.3) { // so calm that packets are sent while they come
			o.route, o.put, o.ahead, o.idle, o.ack, o.told, o.host, o.good = 0.02, 1, 1, 1, 0.9, 1, 0.01, 1
		}
		for end := e.clocks + 2000; e.clocks < end; {
			e.turn()
		}
	}
	t.Logf("%+v", e.seen)
	if s := e.seen; min(s.delivers, s.replays, s.drops, s.done, s.closedDone, s.freed, s.parked, s.missing) < 100 || min(s.ahead, s.whole, s.peeks, s.gaveUp) < 20 ||
		s.undone < 3 || s.refused < 5 {
		t.Errorf("%+v: too few", s)
	}
}

// TestEngineFar: numbers count far beyond what ROUTEs say of them, and what is counted for the host ends at the highest value.
func TestEngineFar(t *testing.T) {
	const vl, far = 5, 1<<16 + 200
	e := newEngineTest(t)
	l := &e.links[vl]
	calm := engineOdds{there: 1, room: 1, good: 1, looks: 1, focus: 1, vl: vl}
	until := func(what string, odds engineOdds, holds func() bool) {
		e.odds = odds
		for start := e.clocks; !holds(); e.turn() {
			if e.clocks > start+2_000_000 {
				t.Fatalf("not within %d clocks: %s: expects %d, base %d, %d replays, %d dropped", e.clocks-start, what, l.expect, l.base, l.replays, l.dropped)
			}
		}
	}
	write := func(reg int, value uint32) {
		*e.CEn, *e.CWrite, *e.CVl, *e.CReg, *e.CWdata = true, true, vl, uint8(reg), value
		until("written", calm, func() bool { return !*e.CEn })
	}
	for reg, value := range []uint32{vlPeer: 0x2ABCD, vlNumber: 0x9876, vlKey: 0x13579BDF, vlStatus: vlIsOpen | vlUp} {
		write(reg, value)
	}
	odds := calm
	odds.route, odds.packet, odds.next = 1, 1, 1
	until("a packet", odds, func() bool { return l.expect > 0 })
	odds.looks = 0.01
	until("packets that come", odds, func() bool { return l.expect > far })

	odds = calm
	odds.route, odds.put, odds.idle, odds.ack, odds.packet, odds.told, odds.pace = 0.02, 1, 1, 0.9, 0.1, 1, 0.02
	until("packets that are sent", odds, func() bool { return l.base > far })

	odds = calm
	odds.route, odds.packet, odds.lost, odds.tick, odds.idle, odds.put = 0.25, 1, 1, 1, 1, 0.002
	until("what is counted", odds, func() bool { return l.replays == 1<<16-1 && l.dropped == 1<<16-1 })

	odds.next, odds.ack, odds.put, odds.host, odds.message = 0.5, 0.5, 0.1, 0.1, 0.5
	end := e.clocks + 20_000
	until("all of it", odds, func() bool { return e.clocks > end })
}
