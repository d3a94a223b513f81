package record

import (
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// Packet is a packet that went over the host's cable, once, however often its frame did.
type Packet struct {
	ToNI  bool   // from the host; else to it
	Start uint64 // ticks since the beginning of the session at which its frame began to be sent, or arrived
	End   uint64 // and was complete
	Raw   []byte
}

// Packets returns the packets that the network interface received from the host, and those that the host received, in the order in
// which they were sent or arrived. restarts is how many times the link between them started again.
//
// A packet that was sent and not acknowledged before the link started again is among them if the counter of received packets says so,
// which the driver reads then; without that, and at the end of a session, it is.
func (s *Session) Packets() (packets []Packet, restarts int) {
	o := observer{out: direction{deframer: linkproto.NewDeframer(longest)}, in: direction{deframer: linkproto.NewDeframer(longest)}}
	for _, x := range s.Exchanges {
		o.exchange(x)
	}
	kept := slices.DeleteFunc(o.packets, func(p *Packet) bool { return p.Raw == nil })
	for _, p := range kept {
		packets = append(packets, *p)
	}
	return packets, o.restarts
}

var longest = linkproto.MaxPacket(linkproto.MaxPageBytes)

// observer follows the link layer of both ends by what the host sends and receives. It knows of the host what its words say.
type observer struct {
	now      uint64
	line     uint64 // when the line to the NI is free
	out, in  direction
	packets  []*Packet // Raw is nil for those that got lost
	restarts int

	epoch, peer uint8 // the host's, and the NI's as the host knows it
	up          bool
	pending     []*Packet // sent, and not acknowledged
	unacked     []*Packet // sent in an earlier life of the link, and not acknowledged
	sent        uint32    // packets sent, without those known to be lost
	life        uint32    // and at the beginning of this life of the link
	asked       []asked   // for the counter of received packets, and not answered
	known       bool      // ahead holds
	ahead       uint32    // that counter, less the packets sent until it was asked for
}

// asked is a question for the counter of received packets.
type asked struct {
	tag    uint8
	number uint32 // packets sent before
}

// direction is one of the two streams.
type direction struct {
	deframer *linkproto.Deframer
	next     uint8  // sequence number of the next new frame
	began    uint64 // the tick of the last SOP
}

func (o *observer) exchange(x Exchange) {
	var stuff linkproto.Unstuffer
	o.line = max(o.line, o.now)
	for _, symbol := range stuff.Append(nil, x.Out) {
		o.out.feed(symbol, o.line, o.sentEvent)
		o.line++
	}
	o.now += x.Ticks
	stuff = linkproto.Unstuffer{}
	for _, symbol := range stuff.Append(nil, x.In) {
		o.in.feed(symbol, o.now, o.receivedEvent)
	}
}

func (d *direction) feed(symbol linkproto.Symbol, now uint64, do func(linkproto.Event, uint64)) {
	if symbol == linkproto.SymSOP {
		d.began = now
	}
	for in := []linkproto.Symbol{symbol}; ; {
		e, n := d.deframer.Next(in)
		if e.Kind == linkproto.EventNone {
			return
		}
		do(e, now)
		in = in[n:]
	}
}

// sentEvent is for what the host sends.
func (o *observer) sentEvent(e linkproto.Event, now uint64) {
	switch {
	case e.Kind == linkproto.EventWord && e.Word.Kind == linkproto.KindInit:
		if e.Word.Value != o.epoch {
			o.restart(e.Word.Value)
		}
		if !o.up {
			o.peer = e.Word.Echo
		}
	case e.Kind == linkproto.EventFrame && e.Seq == o.out.next:
		o.out.next++
		var p linkproto.Packet
		if p.Decode(e.Payload) == nil && p.Type == linkproto.TypeRegRead && p.Reg == received {
			o.asked = append(o.asked, asked{p.Tag, o.sent})
		}
		o.sent++
		o.pending = append(o.pending, o.add(Packet{ToNI: true, Start: o.out.began, End: now + 1, Raw: slices.Clone(e.Payload)}))
	}
}

func (o *observer) add(p Packet) *Packet {
	o.packets = append(o.packets, &p)
	return &p
}

// restart ends a life of the link.
func (o *observer) restart(epoch uint8) {
	if o.epoch != linkproto.EpochNone {
		o.restarts++
	}
	o.epoch, o.up, o.peer = epoch, false, linkproto.EpochNone
	o.unacked, o.pending = append(o.unacked, o.pending...), nil
	o.out.next, o.in.next, o.life = 0, 0, o.sent
	o.in.deframer.DropFrame()
}

// receivedEvent is for what the host receives: by the table of doc/protocol.md.
func (o *observer) receivedEvent(e linkproto.Event, now uint64) {
	switch e.Kind {
	case linkproto.EventWord:
		o.word(e.Word)
	case linkproto.EventFrame:
		if o.up && e.Seq == o.in.next {
			o.in.next++
			if linkproto.LengthFits(e.Payload) {
				o.settle(o.add(Packet{Start: o.in.began, End: now, Raw: slices.Clone(e.Payload)}))
			}
		}
	}
}

func (o *observer) word(w linkproto.Word) {
	switch {
	case w.Kind == linkproto.KindInit && w.Value == linkproto.EpochNone:
	case w.Kind == linkproto.KindInit && o.up && (w.Value != o.peer || w.Echo != o.epoch):
		o.restart(linkproto.NextEpoch(o.epoch))
		o.peer = w.Value
	case w.Kind == linkproto.KindInit && !o.up:
		o.peer = w.Value
		if w.Echo == o.epoch {
			o.comeUp()
		}
	case w.Kind == linkproto.KindInit, w.Echo != o.epoch, o.peer == linkproto.EpochNone:
	default:
		if !o.up {
			o.comeUp()
		}
		if n := int(w.Value - (o.out.next - uint8(len(o.pending)))); n <= len(o.pending) {
			o.pending = o.pending[n:]
		}
	}
}

func (o *observer) comeUp() {
	o.up = true
	o.in.deframer.DropFrame()
}

// settle looks whether a packet is the answer that tells how many packets the NI has received: the driver asks for it after each start
// of the link, twice and before anything else.
func (o *observer) settle(p *Packet) {
	var answer linkproto.Packet
	if answer.Decode(p.Raw) != nil || answer.Type != linkproto.TypeRegData || answer.Reg != received {
		return
	}
	at := -1
	for i, a := range o.asked {
		if a.tag == answer.Tag {
			at = i
		}
	}
	if at < 0 {
		return
	}
	question := o.asked[at]
	o.asked = o.asked[at+1:]
	if int32(question.number-o.life) < 0 || question.number != o.sent-1 {
		return // asked in an earlier life, or with more behind it, of which some may have been counted
	}
	ahead := answer.Value - question.number
	if missing := int(int32(o.ahead - ahead)); o.known && missing > 0 && missing <= len(o.unacked) {
		for _, lost := range o.unacked[len(o.unacked)-missing:] {
			lost.Raw = nil
		}
		o.sent -= uint32(missing)
		ahead = o.ahead
	}
	o.known, o.ahead, o.unacked = true, ahead, nil
}

var received = linkproto.CounterReg(0, linkproto.CntRxPackets)
