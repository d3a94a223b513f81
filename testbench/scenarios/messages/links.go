package messages

import (
	"bytes"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
)

// virtualEnd is an end of a virtual link, of a context or, with context 0, of the host, which sends WRITEs, MESSAGEs, CONNECTs and PAGEs by it.
type virtualEnd struct {
	host            *host
	peer            *virtualEnd
	number, context int
	life            linkproto.Life
	opened, closing bool
	ending          bool // closing, and the host sends MESSAGEs up to the end

	// Of what was sent since it was opened.
	sent  []virtualPacket // by the host
	count uint32          // packets, by the host or the context
	acked uint32
	freed uint8 // as SPACE says, which begins at reset

	// Of what has come since.
	came        int // of what the peer's host has sent
	trapped     bool
	given, told uint8 // MESSAGEs, and how many the network interface knows to be freed

	// Of a context.
	underway int     // sends by this end
	coming   []*send // sends of the peer whose messages have not come
}

// virtualPacket is what a host has sent by a virtual link.
type virtualPacket struct {
	raw    []byte
	silent bool // the other host does not get it
}

// frame is the one of the receive buffer that the peer may write.
func (e *virtualEnd) frame() int { return harness.MessageContexts*harness.RegionFrames + e.number }

// newLives draws the lives of a virtual link's ends.
func (e *virtualEnd) newLives(rng *testbench.Rand) {
	e.life, e.peer.life = linkproto.Life(rng.Uint32()|1), linkproto.Life(rng.Uint32()|1)
}

// open has the network interface open it.
func (e *virtualEnd) open() {
	for r, value := range []uint32{ // PEER, NUMBER, KEY
		linkproto.VLPeerNode.In(uint32(e.peer.host.id())) | linkproto.VLPeerClass.In(uint32(e.number%4)), uint32(e.peer.number), uint32(linkproto.KeyOf(e.peer.life, e.life)),
	} {
		e.host.set(linkproto.VLReg(r).Reg(e.number), value)
	}
	if e.context != 0 {
		e.host.set(linkproto.VLRegContext.Reg(e.number), uint32(e.context))
	}
	status := linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.VLRegStatus.Reg(e.number), Value: linkproto.VLOpen.In(1) | linkproto.VLUp.In(1)}
	e.host.ask(status, func(linkproto.Packet) { e.opened = true })
}

// quiet reports whether nothing of the host's is underway, on the host's cable either.
func (e *virtualEnd) quiet() bool {
	e.passSilent()
	return e.context != 0 || e.acked == e.count && !e.trapped && e.came == len(e.peer.sent)
}

// passSilent passes over packets that do not come to the host.
func (e *virtualEnd) passSilent() {
	for e.came < len(e.peer.sent) && e.peer.sent[e.came].silent {
		e.came++
	}
}

// over reports whether it is closed, and nothing of it is underway.
func (e *virtualEnd) over() bool { return !e.opened && e.underway == 0 }

// renewed forgets what was before it was closed. What is sent by it now is refused.
func (e *virtualEnd) renewed() {
	if e.acked != e.count && e.context == 0 {
		e.host.failf("%s: closed, and not all packets are freed", e)
	}
	e.sent, e.count, e.acked, e.came, e.given, e.told, e.coming = nil, 0, 0, 0, 0, 0, nil
	e.tell(linkproto.Packet{Type: linkproto.TypeMessage}, linkproto.StatusNoSpace)
}

// tell has a packet sent in a VIRTUAL, which is answered by these.
func (e *virtualEnd) tell(p linkproto.Packet, answers ...linkproto.Status) {
	e.host.virtual(e.number, try.Get(p.Append(nil)), answers...)
}

// virtual sends a VIRTUAL.
func (h *host) virtual(number int, inner []byte, answers ...linkproto.Status) {
	h.refusals = append(h.refusals, answers...)
	h.orders = append(h.orders, order{Packet: linkproto.Packet{Type: linkproto.TypeVirtual, VL: uint16(number), Data: inner}})
}

func (e *virtualEnd) turn() {
	h := e.host
	rng := h.world.rng
	if h.world.offering && len(h.orders) == 0 && rng.Chance(0.005) {
		e.wrong(rng)
	}
	if e.trapped && rng.Chance(0.02) {
		e.trapped = false
		e.tell(linkproto.Packet{Type: linkproto.TypeResume, Tag: linkproto.TagNone}, linkproto.StatusOK)
	}
	if e.given != e.told && rng.Chance(0.05) {
		e.told = e.given
		e.tell(linkproto.Packet{Type: linkproto.TypeSpace, Packets: e.given})
	}
	if e.context == 0 && e.opened && e.closing == e.ending && h.world.offering && len(h.orders) == 0 && e.underwayPackets() < h.Params.VLWindow && h.underwayPackets() < h.Params.VLSlots/2 && rng.Chance(0.5) {
		e.send(rng)
	}
}

// wrong sends a VIRTUAL that is refused.
func (e *virtualEnd) wrong(rng *testbench.Rand) {
	inner, vl, status := try.Get((&linkproto.Packet{Type: linkproto.TypeMessage, Data: rng.Bytes(rng.IntN(40))}).Append(nil)), e.number, linkproto.StatusBadType
	switch rng.IntN(5) {
	case 0:
		inner[0] = byte(testbench.Pick(rng, linkproto.TypeRetrap, linkproto.TypeRegRead, linkproto.TypeBufWrite, linkproto.TypeVirtual))
	case 1:
		inner[1], status = inner[1]+1, linkproto.StatusBadLength
	case 2:
		vl, status = 1<<e.host.Params.Virtual+rng.IntN(9), linkproto.StatusBadLink
	case 3:
		inner[0], status = inner[0]|1<<linkproto.TypeBits, linkproto.StatusBadLink
	default:
		if e.context == 0 { // which may be trapped
			return
		}
		inner, status = try.Get((&linkproto.Packet{Type: linkproto.TypeResume, Tag: linkproto.TagNone}).Append(nil)), linkproto.StatusNotTrapped
	}
	e.host.virtual(vl, inner, status)
}

func (e *virtualEnd) underwayPackets() int { return int(e.count - e.acked) }

// underwayPackets is how many the host has sent by its virtual links.
func (h *host) underwayPackets() (n int) {
	for _, e := range h.ends {
		if e.context == 0 {
			n += e.underwayPackets()
		}
	}
	return n
}

// send sends the next packet of the host's.
func (e *virtualEnd) send(rng *testbench.Rand) {
	p := linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: rng.Uint32(), Rest: rng.Uint32(), Data: rng.Bytes(rng.IntN(harness.MessagePage - 2))}
	silent, far := false, e.peer.host
	if kind := rng.IntN(8); !e.closing && kind < 6 {
		switch {
		case kind < 4:
			offset := rng.IntN(harness.MessagePage)
			frame := testbench.Pick(rng, e.peer.frame(), e.peer.frame(), e.peer.frame(), rng.IntN(harness.Messages.Frames))
			p = linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(frame*harness.MessagePage + offset), Data: rng.Bytes(testbench.Pick(rng, 1, rng.Between(1, harness.MessagePage), harness.MessagePage-offset))}
			silent = true
			if frame == e.peer.frame() && offset+len(p.Data) <= harness.MessagePage {
				copy(far.memory[p.Addr:], p.Data)
				break
			}
			far.denied++
		case kind == 4:
			p = linkproto.Packet{Type: linkproto.TypeConnect, Port: rng.Uint32(), Data: rng.Bytes(rng.IntN(harness.MessagePage / 2))}
		default:
			p = linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(rng.IntN(harness.Messages.Frames)), Port: rng.Uint32()}
			if silent = rng.Chance(0.2); silent {
				p.Frame += uint16(harness.Messages.Frames)
				far.malformed++
			}
		}
	}
	e.sent = append(e.sent, virtualPacket{try.Get(p.Append(nil)), silent})
	e.count++
	e.tell(p)
}

// received takes what the network interface says, or hands on, of the virtual link.
func (e *virtualEnd) received(q linkproto.Packet) {
	h := e.host
	if q.Type == linkproto.TypeSpace {
		e.acked += uint32(q.Packets - e.freed)
		if e.freed = q.Packets; e.acked > e.count {
			h.failf("%s: %d packets are freed", e, e.acked)
		}
		if linkproto.VLOpen.Of(uint32(q.Bytes)) == 0 {
			if e.opened = false; !e.closing {
				h.failf("%s: it has closed by itself", e)
			}
		}
		return
	}
	e.passSilent()
	raw := try.Get(q.Append(nil))
	if e.came == len(e.peer.sent) || !bytes.Equal(raw, e.peer.sent[e.came].raw) || e.trapped {
		h.failf("%s: a %v comes, % x, with trap %v", e, q.Type, raw, e.trapped)
	}
	e.came++
	if h.packets++; q.Type != linkproto.TypeMessage {
		e.trapped = true
	} else if e.given++; int(e.given-e.told) > h.Params.VLWindow {
		h.failf("%s: %d MESSAGEs have come that are not freed", e, e.given-e.told)
	}
}

func (e *virtualEnd) idle() bool {
	return e.opened && !e.closing && !e.trapped && e.given == e.told && e.acked == e.count && e.underway == 0 && len(e.coming) == 0
}

// check compares what can be read of it when nothing is underway.
func (e *virtualEnd) check(read func(string, linkproto.Reg, uint32)) {
	what := fmt.Sprintf("of virtual link %d, ", e.number)
	read(what+"EXPECT", linkproto.VLRegExpect.Reg(e.number), e.peer.count)
	read(what+"PEER", linkproto.VLRegPeer.Reg(e.number), linkproto.VLPeerNode.In(uint32(e.peer.host.id()))|linkproto.VLPeerClass.In(uint32(e.number%4)))
	read(what+"CONTEXT", linkproto.VLRegContext.Reg(e.number), uint32(e.context))
	read(what+"KEY", linkproto.VLRegKey.Reg(e.number), uint32(linkproto.KeyOf(e.peer.life, e.life)))
	// A ROUTE that says GO may have been lost: the next one says it.
	status := try.Get(e.host.world.ReadRegister(e.host.node, linkproto.VLRegStatus.Reg(e.number))) &^ linkproto.StatusPeerStop.In(1)
	if want := linkproto.VLUp.In(1) | linkproto.VLOpen.In(1) | linkproto.StatusFreed.In(uint32(e.freed)); status != want {
		e.host.failf("%sSTATUS is %#x, want %#x", what, status, want)
	}
}

func (e *virtualEnd) String() string {
	return fmt.Sprintf("virtual link %d to node %d, context %d: opened %v, closing %v, %d packets sent, %d freed, %d sends underway, trapped %v, %d of %d packets came, %d messages coming",
		e.number, e.peer.host.node, e.context, e.opened, e.closing, e.count, e.acked, e.underway, e.trapped, e.came, len(e.peer.sent), len(e.coming))
}
