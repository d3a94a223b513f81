package virtuallink

import (
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
)

// farEnd is the other end of a virtual link, which is played by hand.
type farEnd struct {
	world           *world
	number, context int
	node            uint16 // that it is at
	theirs          uint16 // its number there
	key             linkproto.Key
	isOpen, up      bool
	trapped         bool
	stopped, stops  bool // by the peer; it stops the peer

	expect   uint32 // number of the packet that the network interface takes next
	first    uint32 // packets that it had freed when it was opened
	freed    uint32 // and has since
	returned uint8  // MESSAGEs that the host has freed

	// What was sent last of what was expected. As long as the network interface says STOP the same comes again.
	last       []byte
	lastNumber uint32
	lastGoesOn func()

	// The message that is sent to a context.
	tag, rest uint32
}

// frameOf is the frame of the receive buffer that a virtual link may write, and datagrams if its number is 0.
func frameOf(number int) int { return harness.MessageContexts*harness.RegionFrames + number }

func (e *farEnd) frame() int { return frameOf(e.number) }

// top is one past the number of the highest packet that has come.
func (e *farEnd) top() uint32 {
	return linkproto.VLNumber(e.freed, e.world.sides[1].tops[e.theirs])
}

// route draws a ROUTE for the network interface, in which all is right but what is changed.
func (e *farEnd) route() []byte {
	w := e.world
	rng := w.rng
	packet, goesOn := e.packet()
	if e.stops && e.last != nil && e.lastNumber == e.expect {
		packet, goesOn = e.last, e.lastGoesOn
	}
	state := linkproto.VLState{Kind: linkproto.KindAck, Packet: rng.Chance(0.65), Stop: rng.Chance(0.1)}
	if state.Kind == linkproto.KindAck && rng.Chance(0.15) {
		state.Kind = linkproto.KindLost
	}
	r := linkproto.Route{Src: e.node, Dest: nodeSelf, Hops: uint8(rng.IntN(8)), Class: uint8(rng.IntN(4)), VL: uint16(e.number)}
	if state.Kind == linkproto.KindLost { // the model goes back for another LOST sooner, if packets have been acknowledged meanwhile
		w.quiet(e, harness.Messages.VLRetry/4)
	}
	next, seq, key := e.top(), e.expect, e.key.Back()
	if next != e.freed && rng.Bool() {
		next = e.freed + uint32(rng.IntN(int(next-e.freed)+1))
	}
	what := fmt.Sprintf("a ROUTE for virtual link %d", e.number)
	damaged, datagram := false, false
	change := func(text string) { what += ", " + text; w.tried["wrong"]++ }
	for more := 0.6; rng.Chance(more); more = 0.25 {
		switch rng.IntN(17) {
		case 0:
			change("another key")
			key ^= 1 << rng.IntN(32)
		case 1:
			change("another source")
			r.Src = uint16(testbench.Pick(rng, 0, nodeSelf, nodeSelf+4, int(e.node)^1, int(e.node)^1))
		case 2:
			change("another destination")
			r.Dest = uint16(testbench.Pick(rng, 0, nodeSelf+9, linkproto.MulticastBase, linkproto.MulticastBase))
		case 3, 4:
			change("ahead of what was sent")
			next = e.top() + uint32(rng.Between(1, 127))
		case 5:
			change("behind what was acknowledged")
			next = e.freed - min(e.freed, uint32(rng.Between(1, 8)))
		case 6, 7:
			change("a packet ahead")
			seq = e.expect + uint32(testbench.Pick(rng, 1, 1, rng.Between(1, 126)))
		case 8:
			change("a packet of before")
			seq = e.expect - min(e.expect, uint32(rng.Between(1, 127)))
		case 9:
			change("another number")
			r.VL = uint16(testbench.Pick(rng, 0, rng.IntN(nodeLinks), e.number+nodeLinks, e.number+nodeLinks<<rng.IntN(12)))
		case 10:
			change("reserved bits")
			r.State |= 1 << rng.Between(1, 4)
		case 11:
			change("an INIT")
			state.Kind = linkproto.KindInit
		case 12:
			change("a state that there is not")
			r.State |= 0xC0 | byte(rng.IntN(2))<<5
		case 13:
			change("damage")
			damaged = true
		case 14:
			change("a datagram")
			datagram = true
		case 15:
			change("a number beside no packet")
			state.Packet = false
			seq = uint32(rng.IntN(256))
		case 16:
			if !e.stops || e.trapped { // else it would be taken in the place of the one for which there is STOP
				change("a packet that does not fit")
				packet, goesOn = e.unfit(packet), nil
			}
		}
	}
	r.State ^= state.Byte()
	if datagram {
		r.State = linkproto.RouteDatagram
	}
	if r.Packet = packet; !state.Packet && r.State&1 == 0 {
		r.Packet = nil
		if rng.Chance(0.05) {
			change("bytes behind a word")
			r.Packet = rng.Bytes(rng.Between(1, 8))
		}
	}
	if e.stopped && !state.Stop {
		w.late[e.said()] = true
	}
	sealed := uint32(0)
	if r.State&1 != 0 {
		sealed, r.Seq = seq, uint8(seq)
		if seq == e.expect {
			e.last, e.lastNumber, e.lastGoesOn = packet, seq, goesOn
		}
		if goesOn != nil && !damaged && seq == e.expect {
			goesOn()
		}
	} else if seq != e.expect {
		r.Seq = uint8(seq)
	}
	r.Next = uint8(next)
	sealing := key.At(sealed, next)
	if datagram {
		sealing = 0
	}
	raw := try.Get(r.Seal(nil, sealing))
	if damaged {
		raw[rng.Between(linkproto.HeaderBytes, len(raw)-1)] ^= 1 << rng.IntN(8)
	}
	w.history = append(w.history, fmt.Sprintf("%s: %+v", what, r))
	return raw
}

// datagram draws a WRITE that belongs to no virtual link.
func (e *farEnd) datagram() []byte {
	rng := e.world.rng
	write := linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(frameOf(rng.IntN(nodeLinks)) * harness.MessagePage), Data: rng.Bytes(rng.Between(1, harness.MessagePage))}
	r := linkproto.Route{Src: e.node, Dest: nodeSelf, State: linkproto.RouteDatagram, Packet: try.Get(write.Append(nil))}
	return try.Get(r.Seal(nil, 0))
}

// packet draws a packet for the network interface. goesOn is for when it is sent; it may be nil.
func (e *farEnd) packet() (raw []byte, goesOn func()) {
	rng := e.world.rng
	encode := func(p linkproto.Packet) []byte { return try.Get(p.Append(nil)) }
	kind := rng.IntN(10)
	if e.context != 0 && kind < 8 || e.context == 0 && kind < 3 {
		return e.message()
	}
	switch kind {
	case 3, 4, 5:
		offset := rng.IntN(harness.MessagePage)
		frame := testbench.Pick(rng, e.frame(), e.frame(), e.frame(), rng.IntN(harness.Messages.Frames), harness.Messages.Frames)
		return encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(frame*harness.MessagePage + offset), Data: rng.Bytes(testbench.Pick(rng, 0, 1, harness.MessagePage-offset, rng.Between(1, harness.MessagePage)))}), nil
	case 6:
		return encode(linkproto.Packet{Type: linkproto.TypeConnect, Port: rng.Uint32(), Data: rng.Bytes(rng.IntN(harness.MessagePage / 2))}), nil
	case 7:
		return encode(linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(rng.IntN(harness.Messages.Frames + 2)), Port: rng.Uint32()}), nil
	case 8: // of another type, or via something
		kinds := []linkproto.Type{linkproto.TypeRegRead, linkproto.TypeResume, linkproto.TypeVirtual, linkproto.TypeBufWrite, linkproto.TypeSpace, 0, 0x1F, linkproto.TypeRoute}
		raw = append([]byte{byte(testbench.Pick(rng, kinds...)), 0, 0}, rng.Bytes(rng.IntN(20))...)
		if raw[1] = byte(len(raw) - linkproto.HeaderBytes); rng.Chance(0.3) {
			raw, _ = e.message()
			raw[0] |= byte(rng.Between(1, 7)) << linkproto.TypeBits
		}
		return raw, nil
	}
	// Too short for its type.
	least := testbench.Pick(rng, linkproto.TypeMessage, linkproto.TypeMessage, linkproto.TypeWrite, linkproto.TypePage, linkproto.TypeConnect)
	n := rng.IntN(least.Info().MinLength())
	return append([]byte{byte(least), byte(n), 0}, rng.Bytes(n)...), nil
}

// unfit is a packet that has another length than it says.
func (e *farEnd) unfit(packet []byte) []byte {
	rng := e.world.rng
	if len(packet) < linkproto.HeaderBytes { // it says no length: it was made so before
		return packet
	}
	switch rng.IntN(4) {
	case 0:
		if len(packet) < linkproto.MaxPacket(harness.MessagePage) {
			return append(packet, byte(rng.IntN(256)))
		}
		return packet[:len(packet)-1]
	case 1:
		return packet[:len(packet)-1]
	case 2:
		return packet[:rng.IntN(min(len(packet), 4))]
	}
	packet[1+rng.IntN(2)] ^= 1 << rng.IntN(8)
	return packet
}

// message is the next MESSAGE, of a message for a context or of one by itself.
func (e *farEnd) message() (raw []byte, goesOn func()) {
	const most = harness.MessagePage - 3
	rng := e.world.rng
	tag, rest := e.tag, e.rest
	if rest == 0 {
		tag, rest = rng.Uint32(), uint32(testbench.Pick(rng, 0, 1, most, most+1, 2*most, harness.MessageMost, rng.IntN(harness.MessageMost)))
	}
	n := min(rest, most)
	p := linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: tag, Rest: rest, Data: rng.Bytes(int(n))}
	if rng.Chance(0.1) { // what breaks the rules, or ends it sooner
		switch rng.IntN(4) {
		case 0:
			p.MsgTag ^= 1 << rng.IntN(32)
		case 1:
			p.Rest += uint32(rng.Between(1, 70))
		case 2:
			p.Rest = uint32(rng.IntN(int(rest) + 1))
		default:
			p.Data = p.Data[:rng.IntN(len(p.Data)+1)]
		}
	}
	return try.Get(p.Append(nil)), func() { e.tag, e.rest = tag, rest-n }
}
