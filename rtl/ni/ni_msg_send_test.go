package ni_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// Sizes of TestSend.
const (
	sendFrames = 256
	sendWindow = 6
	sendShare  = 4
	sendMost   = msgPage + linkproto.PacketExtra - linkproto.HeaderBytes - messageFields // bytes of a message in a packet
)

// msgSendTest is ni_msg_send with the table, the memory, virtual links and the host at random, and a model of it.
type msgSendTest struct {
	QValid, QTake, Takes, More, EEnabled, ESends, Ask, Asked, Want, Turn, VValid, VReady, VLast, VBegins, VFinal *bool `port:"*"`
	Sent, Refused, Note, Freed, DValid, DReady, Forget, Forgotten                                                *bool `port:"*"`

	QContext, ESize, EFirst, ELast, AskVl, VData, VLife, Ctx, DStatus, ForgetContext *uint8   `port:"*"`
	ESendHead, VSize, DVl, DCookie                                                   *uint16  `port:"*"`
	Link, DLength, DTag                                                              *uint32  `port:"*"`
	U                                                                                msgAsks  `port:"*"`
	Rd                                                                               msgReads `port:"*"`

	t      *testing.T
	b      *testbench.Bench
	r      *testbench.Rand
	now    int
	memory []byte
	table  [4]msgSender
	queue  []uint8
	lives  [8]uint32 // of links
	used   int       // slots

	// What goes on.
	state       sendState
	of          uint8
	entry       msgEntry
	words       []uint32
	vl          uint16
	link        uint32
	status      linkproto.CompletionStatus
	packet      []byte   // what is left of it
	size        int      // all of it
	reads       []uint32 // words of the memory that are still to be read for it
	given       int      // words that have been read for it
	last        bool     // it is the last one of the message
	takes, more bool
	after       uint32 // offset behind it
	quick       bool   // the memory gives a word every other clock, and net_vl takes a byte every clock
	waits       int
	frees       float64 // chance that a slot is freed, by clock
	seen        map[string]int
}

// msgSender is a context, as the table and the memory have it, and what has been sent of its first message.
type msgSender struct {
	msgEntry
	sends, queued bool
	d             linkproto.Posted
	offset, life  uint32
}

type sendState int

const (
	sendIdle sendState = iota
	sendPeek
	sendRead
	sendJudge
	sendAsk
	sendCheck
	sendWant
	sendBytes
	sendSent
	sendFail
	sendEnd
)

// draw draws a send of a context.
func (e *msgSendTest) draw(c uint8) {
	x, r := &e.table[c], e.r
	x.d = linkproto.Posted{Tag: r.Uint32(), VL: uint16(r.IntN(8)), Cookie: uint16(r.Uint32())}
	x.d.Addr, x.d.Length = x.drawBytes(r)
	if !x.owns(x.d.Addr, x.d.Length) && r.Chance(0.7) {
		x.d.Addr, x.d.Length = x.drawBytes(r)
	}
	if x.owns(x.d.Addr, x.d.Length) && r.Chance(0.8) {
		x.d.Length = min(x.d.Length, uint32(testbench.Pick(r, 0, 1, 3, sendMost-1, sendMost, sendMost+1, 2*sendMost, 3*sendMost+1)))
	}
	if long := uint32(r.Between(4096, 8191)); x.owns(x.d.Addr, long) && r.Chance(0.2) {
		x.d.Length = long
	}
	if r.Chance(0.05) {
		x.d.VL |= 1 << r.IntN(16)
	}
	if x.sends = r.Chance(0.8); x.sends && x.enabled && !x.queued {
		x.queued, e.queue = true, append(e.queue, c)
	}
}

// inputs draws what comes from outside in a clock.
func (e *msgSendTest) inputs() {
	r := e.r
	if c := uint8(r.IntN(4)); !e.table[c].enabled {
		if !(*e.Forget && *e.ForgetContext == c) && r.Chance(0.05) {
			e.table[c].msgEntry = drawEntry(r, sendFrames)
			e.table[c].enabled = true
		}
	} else if !e.table[c].sends && r.Chance(0.05) {
		e.draw(c)
	} else if x := &e.table[c]; r.Chance(0.004) && (e.state == sendIdle || e.of != c) { // its program writes to what it has posted
		was := x.d
		e.draw(c)
		x.sends = true
		switch r.IntN(3) {
		case 0:
			x.d.Addr, x.d.VL = was.Addr, was.VL
		case 1:
			x.d.Addr, x.d.Length = was.Addr, was.Length
		}
	}
	if !*e.Forget && r.Chance(0.004) {
		*e.Forget, *e.ForgetContext = true, uint8(r.IntN(4))
		e.table[*e.ForgetContext].enabled = false
	}
	*e.QValid, *e.QContext = len(e.queue) > 0, uint8(r.IntN(4))
	if *e.QValid {
		*e.QContext = e.queue[0]
	}
	*e.Turn, *e.Sent, *e.Refused, *e.Freed = false, e.state == sendSent && r.Chance(0.3), r.Chance(0.1), e.used > 0 && r.Chance(e.frees)
	*e.VReady = e.quick || r.Chance(0.8)
	settle(e.t, e.b)
	*e.Turn, *e.DReady = *e.Want && r.Chance(0.3), *e.DValid && r.Chance(0.3)
	if *e.Asked = *e.Ask && r.Chance(0.3); *e.Asked {
		e.answer()
	}
	*e.Rd.Data = r.Uint32()
	if *e.Rd.Done = *e.Rd.Valid && (e.quick && e.now%2 == 0 || !e.quick && r.Chance(0.3)); *e.Rd.Done {
		if *e.Rd.Data = binary.LittleEndian.Uint32(e.memory[4**e.Rd.Addr:]); e.state == sendRead {
			*e.Rd.Data = binary.LittleEndian.Uint32(e.table[e.of].d.Append(nil)[4*len(e.words):])
		}
	}
	if *e.U.Done = *e.U.Valid && e.waits >= 2 && r.Chance(0.3); *e.U.Done { // as ni_msg_table takes some clocks
		x := &e.table[*e.Ctx]
		*e.EEnabled, *e.ESends, *e.ESize, *e.EFirst, *e.ELast, *e.ESendHead = x.enabled, x.sends, x.size, x.first, x.last, x.count
	}
	settle(e.t, e.b)
}

// answer draws what net_vl says of a link.
func (e *msgSendTest) answer() {
	r, vl := e.r, *e.AskVl
	if r.Chance(0.1) {
		e.lives[vl] = (e.lives[vl] + uint32(r.Between(1, 15))) & 15
	}
	c := uint32(e.of)
	if r.Chance(0.04) {
		c ^= uint32(r.Between(1, 3))
	}
	held := uint32(testbench.Pick(r, 0, 0, 1, 2, 3, sendWindow-1, sendWindow, sendWindow+1, r.IntN(128)))
	*e.Link = r.Uint32()&^(0xF<<18|0xFFF) | e.lives[vl]<<18 | c<<10 | held<<3 | uint32(count(r.Chance(0.1)))<<2 | uint32(count(r.Chance(0.9)))<<1 | uint32(count(r.Chance(0.97)))
}

// clock lets one pass.
func (e *msgSendTest) clock() {
	t := e.t
	e.inputs()
	streams := e.state == sendWant || e.state == sendBytes
	have := fmt.Sprintf("take %v peek %v end %v ask %v want %v begins %v fail %v note %v", *e.QTake, *e.U.Valid && !*e.U.Op, *e.U.Valid && *e.U.Op, *e.Ask, *e.Want,
		*e.VBegins, *e.DValid, *e.Note)
	want := fmt.Sprintf("take %v peek %v end %v ask %v want %v begins %v fail %v note %v", e.state == sendIdle && *e.QValid && !*e.Forget && !*e.Forgotten, e.state == sendPeek,
		e.state == sendEnd, e.state == sendAsk, e.state == sendWant, e.state == sendBytes, e.state == sendFail,
		e.state == sendSent && *e.Sent && !*e.Refused && e.last)
	check.Equal(t, "what it says", have, want)
	if *e.Rd.Valid && e.state != sendRead && !(streams && len(e.reads) > 0) || e.state == sendRead && !*e.Rd.Valid {
		t.Errorf("it reads: %v", *e.Rd.Valid)
	}
	x, used := &e.table[e.of], count(e.state == sendSent && *e.Sent && !*e.Refused)-count(*e.Freed)
	if *e.Forgotten {
		check.Equal(t, "a context is forgotten between two turns", *e.Forget && e.state == sendIdle, true)
		y := &e.table[*e.ForgetContext]
		e.seen["forgotten in the middle"] += count(y.offset != 0)
		y.offset = 0
	}
	if *e.VValid && e.state != sendBytes {
		t.Errorf("a byte comes that has not its turn")
	}
	if e.waits++; e.state != sendIdle && e.waits > 600 {
		t.Errorf("it stands still")
	}
	was := e.state
	if e.state == sendIdle {
		if *e.QTake {
			e.of, e.queue, e.state, e.words = e.queue[0], e.queue[1:], sendPeek, nil
		}
	} else {
		check.Equal(t, "context", *e.Ctx, e.of)
		e.step(x, streams)
	}
	if e.state != was {
		e.waits = 0
	}
	if t.Failed() {
		t.Fatalf("clock %d, state %d of context %d: %+v, %d slots used", e.now, was, e.of, *x, e.used)
	}
	e.used += used
	over := *e.Forgotten
	e.b.Step(1)
	*e.Forget = *e.Forget && !over
	e.now++
}

// step is a clock in which a context has its turn.
func (e *msgSendTest) step(x *msgSender, streams bool) {
	t := e.t
	switch e.state {
	case sendPeek:
		if e.takes, e.more, e.after = false, false, x.offset; *e.U.Done {
			if e.entry, e.state = x.msgEntry, sendEnd; x.enabled && x.sends {
				e.state = sendRead
			}
			e.link = x.life << 18
		}
	case sendRead:
		check.Equal(t, "address of the send", int(*e.Rd.Addr), e.entry.place(0, int(e.entry.count), 1)/4+len(e.words))
		if *e.Rd.Done {
			if e.words = append(e.words, *e.Rd.Data); len(e.words) == 4 {
				e.state = sendJudge
			}
		}
	case sendJudge:
		e.vl = uint16(e.words[3])
		switch e.state = sendAsk; {
		case !e.entry.owns(e.words[0], e.words[1]) || x.offset > e.words[1]:
			e.state, e.status = sendFail, linkproto.CompletionBadDescriptor
		case e.vl >= 8:
			e.state, e.status = sendFail, linkproto.CompletionBadLink
		}
	case sendAsk:
		if check.Equal(t, "link", uint16(*e.AskVl), e.vl); *e.Asked {
			e.state, e.link = sendCheck, *e.Link
		}
	case sendCheck:
		e.judgeLink(x)
	case sendWant, sendBytes:
		if *e.Rd.Done {
			check.Equal(t, "address of the message's bytes", uint32(*e.Rd.Addr), e.reads[0])
			e.reads, e.given = e.reads[1:], e.given+1
		}
		if e.state == sendWant {
			check.Equal(t, "it reads two words ahead before its turn", *e.Rd.Valid, e.given < 2 && len(e.reads) > 0 || *e.Rd.Done)
			if *e.Turn {
				e.state = sendBytes
			}
			return
		}
		e.streams()
	case sendSent:
		if check.Equal(t, "life", uint32(*e.VLife), e.link>>18&15); *e.Sent {
			if e.state, e.takes, e.more = sendEnd, !*e.Refused && e.last, *e.Refused || !e.last; *e.Refused {
				e.after = x.offset
				e.seen["refused"]++
			}
		}
	case sendFail:
		have := [5]uint32{*e.DLength, *e.DTag, uint32(*e.DVl), uint32(*e.DCookie), uint32(*e.DStatus)}
		check.Equal(t, "what is completed", have, [5]uint32{e.words[1], e.words[2], e.words[3] & 0xFFFF, e.words[3] >> 16, uint32(e.status)})
		if *e.DReady {
			e.state, e.takes, e.more, e.after = sendEnd, true, false, 0
			e.seen[linkproto.CompletionStatuses[e.status].Name]++
		}
	case sendEnd:
		check.Equal(t, "the send has been taken, and the context comes again", [2]bool{*e.Takes, *e.More}, [2]bool{e.takes, e.more})
		if *e.U.Done {
			e.ends(x)
		}
	}
}
