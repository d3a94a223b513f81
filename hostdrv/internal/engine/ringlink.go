package engine

import (
	"bytes"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// RingLink is a virtual link whose messages a context of the NI carries out. It is a Carrier of whole messages, of which each counts as a packet.
type RingLink struct {
	*Offload
	rings       *Rings
	taker       RingTaker
	sent, freed uint64
	inbox       []ringMessage
	delivering  bool
	since       uint64 // the first completion that can be of this link, and not of the one that had its number before
	known       bool   // since is
}

// ringMessage is a message that has come, and the slot that it has.
type ringMessage struct {
	slot int
	linkproto.Packet
}

// NewLink makes a virtual link of the context. The NI can carry out another one.
func (r *Rings) NewLink(v VirtualConfig, taker RingTaker) (*RingLink, error) {
	l := &RingLink{rings: r, taker: taker}
	v.Taker = ringEvents{l}
	o, err := r.core.NewOffload(v)
	if err != nil {
		return nil, err
	}
	l.Offload, o.ring = o, l
	r.links = append(r.links, l)
	return l, nil
}

// opening has it known which completions are of the link, before the NI opens it.
func (l *RingLink) opening() {
	if l.known {
		return
	}
	r := l.rings
	l.core.Request(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.ContextRegCompletions.Reg(r.number)}, func(a linkproto.Packet, err error) {
		if err == nil && !l.known {
			l.since, l.known = r.done+uint64(r.ahead(uint16(a.Value))), true
		}
	})
}

// has reports whether a completion is of this link.
func (l *RingLink) has(number uint64) bool { return l.known && number >= l.since }

// Offer posts a message if there is a slot for it.
func (l *RingLink) Offer(p *linkproto.Packet) bool {
	r := l.rings
	slot := slices.IndexFunc(r.sends, func(s ringSlot) bool { return !s.used })
	if slot < 0 || r.closed || !l.up() {
		return false
	}
	r.sends[slot] = ringSlot{used: true, link: l}
	at := r.slotAt(false, slot)
	r.put(at, bytes.Clone(p.Data))
	r.post(0, linkproto.Posted{Addr: uint32(at), Length: uint32(len(p.Data)), Tag: p.MsgTag, VL: uint16(l.Number()), Cookie: uint16(slot)})
	l.sent++
	return true
}

// Sent and Freed count messages: given to the NI, and acknowledged or lost.
func (l *RingLink) Sent() uint64  { return l.sent }
func (l *RingLink) Freed() uint64 { return l.freed }

// Touch has the Taker take and offer what it can.
func (l *RingLink) Touch() {
	l.deliver()
	if !l.closed { // else it was being read when the link ended
		l.Offload.Touch()
	}
}

// deliver gives the Taker what has come, until it takes no more, and has the slots posted again.
func (l *RingLink) deliver() {
	if l.delivering {
		return
	}
	l.delivering = true
	defer func() { l.delivering = false }()
	for len(l.inbox) > 0 && l.core.err == nil && !l.rings.closed && l.taker.Take(l.inbox[0].Packet) {
		l.rings.postReceive(l.inbox[0].slot)
		l.inbox = slices.Delete(l.inbox, 0, 1)
	}
}

// Close ends the link, and gives its slots free.
func (l *RingLink) Close() {
	r := l.rings
	r.links = slices.DeleteFunc(r.links, func(other *RingLink) bool { return other == l })
	l.forget()
	for _, m := range l.inbox {
		if !r.closed {
			r.postReceive(m.slot)
		}
	}
	l.inbox = nil
	l.Offload.Close()
}

// forget lets messages that are underway go.
func (l *RingLink) forget() {
	for i := range l.rings.sends {
		if l.rings.sends[i].link == l {
			l.rings.sends[i].link = nil
		}
	}
	l.freed = l.sent
}

// ringEvents is the Taker of the Offload of a RingLink.
type ringEvents struct{ *RingLink }

// Take takes what is no MESSAGE, which nobody wants.
func (e ringEvents) Take(p linkproto.Packet) bool { return true }

// Broken: the NI completes messages that are broken.
func (e ringEvents) Broken() {}

// Lost says that what the NI has not completed is lost.
func (e ringEvents) Lost(uint64) {
	kept := e.freed
	e.forget()
	e.taker.Lost(kept)
}

// Turn has the Taker offer what it can.
func (e ringEvents) Turn() { e.taker.Turn() }
