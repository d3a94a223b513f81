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

var longest = linkproto.MaxRoute(linkproto.MaxPageBytes)

// observer follows the link layer of both ends by what the host sends and receives. It knows of the host what its words say.
type observer struct {
	now      uint64
	line     uint64 // when the line to the NI is free
	out, in  direction
	packets  []*Packet // Raw is nil for those that got lost
	restarts int

	host, peer linkproto.Life // the host's, and the NI's as the host knows it; 0 for unknown
	up         bool
	pending    []*Packet // sent, and not acknowledged
	unacked    []*Packet // sent in an earlier life of the link, and not acknowledged
	sent       uint32    // packets sent, without those known to be lost
	life       uint32    // and at the beginning of this life of the link
	asked      []asked   // for the counter of received packets, and not answered
	known      bool      // ahead holds
	ahead      uint32    // that counter, less the packets sent until it was asked for
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
	case e.Kind == linkproto.EventInit:
		switch o.host {
		case e.Init.Life:
		case 0: // it has known who is there since before it spoke, perhaps
			o.host = e.Init.Life
			o.setKeys()
		default:
			o.restart(e.Init.Life)
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

// restart ends a life of the host's end.
func (o *observer) restart(life linkproto.Life) {
	if o.up {
		o.restarts++
	}
	o.host, o.up, o.peer = life, false, 0
	o.unacked, o.pending = append(o.unacked, o.pending...), nil
	o.out.next, o.in.next, o.life = 0, 0, o.sent
	o.in.deframer.DropFrame()
}

// receivedEvent is for what the host receives: by the table of doc/protocol.md.
func (o *observer) receivedEvent(e linkproto.Event, now uint64) {
	switch e.Kind {
	case linkproto.EventInit:
		o.init(e.Init)
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

// setKeys is for when it is known who speaks with whom, or one of them.
func (o *observer) setKeys() {
	key := linkproto.KeyOf(o.peer, o.host)
	o.out.deframer.SetKey(key)
	o.in.deframer.SetKey(key.Back())
}

func (o *observer) init(w linkproto.Init) {
	switch {
	case o.peer == 0:
		o.peer = w.Life
		o.setKeys()
	case w.Life == o.peer:
	case o.up:
		o.restart(linkproto.LifeOf(0, 0, linkproto.NextEpoch(o.host.Epoch())))
	default:
		o.peer = 0
	}
}

func (o *observer) word(w linkproto.Word) {
	if o.peer == 0 {
		return
	}
	if !o.up {
		o.comeUp()
	}
	if n := int(w.Value - (o.out.next - uint8(len(o.pending)))); n <= len(o.pending) {
		o.pending = o.pending[n:]
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
