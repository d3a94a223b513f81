package ni_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// judgeLink says what is done after what net_vl has said of the link, and makes the packet.
func (e *msgSendTest) judgeLink(x *msgSender) {
	life, begun := e.link>>18&15, x.offset != 0
	held := int(e.link >> 3 & 0x7F)
	open, up, stopped := e.link&1 != 0, e.link&2 != 0, e.link&4 != 0
	e.more = true
	switch {
	case !open || e.link>>10&3 != uint32(e.of) || begun && life != x.life:
		if e.state, e.status = sendFail, linkproto.CompletionBadLink; begun {
			e.status = linkproto.CompletionClosed
		}
		return
	case !up || stopped || e.used == sendShare || held >= sendWindow || held != 0 && held >= sendShare-e.used:
		e.state = sendEnd
		e.seen["no room for it"] += count(up && !stopped)
		return
	}
	rest := e.words[1] - x.offset
	bytes := min(rest, sendMost)
	from := e.words[0] + x.offset
	e.state, e.last, e.after, e.reads = sendWant, bytes == rest, x.offset+bytes, nil
	e.given = 0
	if e.last {
		e.after = 0
	}
	for at := from / 4; at < (from+bytes+3)/4; at++ {
		e.reads = append(e.reads, at)
	}
	p := linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: e.words[2], Rest: rest, Data: e.memory[from : from+bytes]}
	e.packet = check.Must(p.Append(nil))(e.t)
	e.size = len(e.packet)
	e.seen["of several packets"] += count(!e.last)
	e.seen["begun of 4 KB and more"] += count(e.words[1] >= 4096 && !begun)
	e.seen["all slots but one used"] += count(e.used == sendShare-1)
	e.seen["without a byte"] += count(bytes == 0)
	e.seen["with a link full but for one"] += count(held == sendWindow-1 || held == sendShare-e.used-1)
}

// streams is a clock in which a packet goes to net_vl.
func (e *msgSendTest) streams() {
	t := e.t
	check.Equal(t, "size", int(*e.VSize), e.size)
	check.Equal(t, "the last one of its message", *e.VFinal, e.last)
	if !*e.VValid {
		if e.quick || len(e.packet) > e.size-linkproto.HeaderBytes-messageFields {
			t.Errorf("it waits before the last %d bytes of %d", len(e.packet), e.size)
		}
		return
	}
	check.Equal(t, "byte", *e.VData, e.packet[0])
	check.Equal(t, "last byte", *e.VLast, len(e.packet) == 1)
	if *e.VReady {
		e.waits = 0
		if e.packet = e.packet[1:]; len(e.packet) == 0 {
			e.state = sendSent
			e.seen["packets"]++
		}
	}
}

// ends is the end of a context's turn.
func (e *msgSendTest) ends(x *msgSender) {
	e.state, x.offset, x.life, x.queued = sendIdle, e.after, e.link>>18&15, false
	if e.takes && x.enabled && x.sends {
		x.count++
		x.sends = false
		e.draw(e.of)
	}
	if x.enabled && (x.sends || e.more) && !x.queued {
		x.queued, e.queue = true, append(e.queue, e.of)
	}
}

// TestSend: the sends of contexts take turns, a packet each; each is the context's own bytes by a link that is its own, or is completed as wrong; packets begin only
// where there is room, and a message goes on behind what of it is net_vl's, while its link has the same life.
func TestSend(t *testing.T) {
	e := &msgSendTest{t: t, seen: map[string]int{}}
	e.b = moduletest.Open(t, "ni_msg_send", params{"CONTEXTS": 2, "VIRTUAL": 3, "PAGE_BYTES": msgPage, "ADDR_WIDTH": 14, "WINDOW": sendWindow, "SHARE": sendShare}, e)
	e.r = e.b.Rand("others")
	e.memory = e.r.Bytes(sendFrames * msgPage)
	e.b.Step(4) // it clears what it knows of messages
	for e.now < 60_000 {
		if e.state == sendIdle && e.r.Chance(0.02) {
			e.quick, e.frees = e.r.Bool(), testbench.Pick(e.r, 0.003, 0.02, 0.1)
		}
		e.clock()
	}
	enough(t, e.seen, 3, "packets", "without a byte", "of several packets", "begun of 4 KB and more", "all slots but one used", "with a link full but for one", "no room for it", "refused",
		"forgotten in the middle", "BAD_DESCRIPTOR", "BAD_LINK", "CLOSED")
}
