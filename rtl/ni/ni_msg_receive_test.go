package ni_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

const messageFields = 8 // bytes of a MESSAGE's msg_tag and rest

// msgReceiveTest is ni_msg_receive with links, receives, the memory and the host at random, and a model of it.
type msgReceiveTest struct {
	SValid, SReady, SLast, SVoid, XLook, XCredit, XBlind, Look, Blind, PReady, Consume, PostedIdle, WValid, WTake *bool `port:"*"`
	ToldValid, ToldOpen, ToldReady, DValid, DReady, Forget, Forgotten, EvBad                                      *bool `port:"*"`

	SVl, SContext, SLife, SData, XVl, XContext, XLife, LookContext, PAddress, ConsumeContext, WAddr, WMask *uint8 `port:"*"`
	ToldVl, ToldLife, DContext, DStatus, ForgetContext                                                     *uint8 `port:"*"`

	PLength, PCookie, DVl, DCookie *uint16 `port:"*"`
	WData, DLength, DTag           *uint32 `port:"*"`

	t        *testing.T
	b        *testbench.Bench
	r        *testbench.Rand
	now      int
	joins    [4]msgJoin
	lives    [4]uint8
	contexts [4]uint8             // of links
	posted   [4]*linkproto.Posted // by context

	packet    []byte // that comes
	at        int    // bytes of it that have come
	of        uint8  // context of the last one that has begun
	ready     *linkproto.Posted
	looks     bool // for the packet
	cancelled bool
	voids     int // where it is taken back
	gap       int
	bit       int
	ended     int // clock in which the last one was whole
	unsure    int // link of which it is not known whether its message has been broken already
	bad       int
	consumes  bool
	optional  bool // what consumes and bad say may not happen
	due       []msgByte
	done      []msgDone // completions that are to come
	stuck     int
	forgot    int      // clock in which a context has been forgotten
	idleAt    int      // when who reads receives ahead is idle again
	asked     msgAsked // in the clock before
	seen      map[string]int
	busy      float64
}

// msgJoin is what is known of the message that a link is in the middle of.
type msgJoin struct {
	active, drops     bool
	life, ctx         uint8
	cookie            uint16
	tag, length, rest uint32
	place             uint8
}

type msgByte struct {
	addr, data, ctx uint8
	optional        bool
}

type msgDone struct {
	msgWhat
	optional bool
}

// msgAsked is what has been looked at in a clock.
type msgAsked struct {
	x, known, credit bool // for net_vl: it is known what is to be said
	calm             bool // it must be known
	written          bool // in the same clock, so that what is found has no meaning
	found            *linkproto.Posted
}

// draw draws a packet of a link.
func (e *msgReceiveTest) draw() {
	r, vl := e.r, uint8(e.r.IntN(4))
	if r.Chance(0.05) { // another has taken the link over, which is not told yet
		e.lives[vl], e.contexts[vl] = (e.lives[vl]+uint8(r.IntN(2)))&15, uint8(r.IntN(4))
	}
	*e.SVl, *e.SContext, *e.SLife = vl, e.contexts[vl], e.lives[vl]
	j, p := e.joins[vl], e.posted[e.contexts[vl]]
	tag, rest := r.Uint32(), uint32(r.IntN(24))
	if j.active || j.drops {
		tag, rest = j.tag, j.rest
		if j.drops {
			rest = uint32(r.IntN(24))
		}
	} else if p != nil && r.Bool() {
		rest = p.Length + uint32(r.IntN(2))
	}
	data := testbench.Pick(r, rest, rest, 1, uint32(r.IntN(9)))
	switch r.IntN(16) {
	case 0:
		tag ^= 1 << r.IntN(32)
	case 1:
		rest ^= 1 << r.IntN(32)
	case 2:
		data = rest + 1
	case 3, 4, 5, 6:
		rest = 1 << e.bit // whose low bits are less than the length of the data
		e.bit = (e.bit + 1) % 32
	}
	if data = min(data, rest+1, testbench.Pick[uint32](r, 40, 40, 40, 256)); data == 0 && rest > 0 && r.Chance(0.9) {
		data = 1
	}
	length := messageFields + data
	e.packet = []byte{byte(linkproto.TypeMessage), byte(length), byte(length >> 8)}
	e.packet = binary.LittleEndian.AppendUint32(e.packet, tag)
	e.packet = append(binary.LittleEndian.AppendUint32(e.packet, rest), r.Bytes(int(data))...)
	if e.at, e.voids = 0, len(e.packet); r.Chance(0.15) {
		e.voids = r.Between(1, len(e.packet)-1)
	}
}

// push is a completion that is to come.
func (e *msgReceiveTest) push(j msgJoin, vl uint8, status linkproto.CompletionStatus) {
	e.done = append(e.done, msgDone{msgWhat{j.tag, j.length, uint16(vl), j.cookie, uint8(status), j.ctx}, *e.Forget && *e.ForgetContext == j.ctx})
	e.seen[linkproto.CompletionStatuses[status].Name]++
}

// broken ends the message of a link that is not what it was.
func (e *msgReceiveTest) broken(vl uint8) {
	if e.joins[vl].active {
		e.push(e.joins[vl], vl, linkproto.CompletionBroken)
	}
	e.joins[vl] = msgJoin{}
}

// takes is a byte of the packet that is taken.
func (e *msgReceiveTest) takes() {
	vl := *e.SVl
	j := &e.joins[vl]
	if e.at == 0 {
		e.of = *e.SContext
		e.bad, e.consumes, e.optional, e.cancelled, e.looks, e.ready = 0, false, false, false, true, nil
		if e.unsure = -1; (j.active || j.drops) && (j.life != *e.SLife || j.ctx != *e.SContext) {
			e.unsure = int(vl)
			e.broken(vl)
		}
	} else {
		e.unsure = -1
	}
	const head = linkproto.HeaderBytes + messageFields
	bytes := uint32(len(e.packet) - head)
	tag, rest := binary.LittleEndian.Uint32(e.packet[3:]), binary.LittleEndian.Uint32(e.packet[7:])
	fresh := !j.active && !j.drops
	malformed := !j.drops && (rest < bytes || bytes == 0 && rest != 0 || j.active && (tag != j.tag || rest != j.rest))
	fits := e.ready != nil && rest <= e.ready.Length
	if e.at == head { // all that came before has been written, or is not any more
		e.due = slices.DeleteFunc(e.due, func(b msgByte) bool { return b.optional })
	}
	if e.at >= head && !malformed && (j.active || fresh && fits) && !e.cancelled {
		place := j.place
		if fresh {
			place = uint8(e.ready.Addr)
		}
		e.due = append(e.due, msgByte{place + uint8(e.at-head), e.packet[e.at], *e.SContext, *e.Forget && *e.ForgetContext == *e.SContext})
	}
	if e.at++; e.at < len(e.packet) {
		return
	}
	e.packet, e.ended = nil, e.now
	e.gap = testbench.Pick(e.r, 0, e.r.IntN(40))
	if e.cancelled || *e.Forget && !*e.Forgotten && *e.ForgetContext == *e.SContext {
		return
	}
	was := *j
	next := msgJoin{drops: rest != bytes, life: *e.SLife, ctx: *e.SContext}
	e.consumes = fresh && !malformed && e.ready != nil
	switch {
	case malformed:
		if e.bad = 1; was.active {
			e.push(was, vl, linkproto.CompletionBroken)
		}
		e.seen["malformed ones"]++
	case was.drops:
	case fresh && !fits:
		if e.ready != nil {
			e.push(msgJoin{cookie: e.ready.Cookie, tag: tag, length: rest, ctx: *e.SContext}, vl, linkproto.CompletionTooLong)
		}
	default:
		if next = was; fresh {
			next = msgJoin{life: *e.SLife, ctx: *e.SContext, cookie: e.ready.Cookie, tag: tag, length: rest, place: uint8(e.ready.Addr)}
		}
		next.active, next.rest, next.place = rest != bytes, rest-bytes, next.place+uint8(bytes)
		if rest == bytes {
			e.push(next, vl, linkproto.CompletionOK)
		}
	}
	*j = next
}
