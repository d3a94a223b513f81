package model

import (
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// contexts are the contexts of messages that an NI carries out.
type contexts struct {
	ni   *NI
	all  []messages // by number, of which 0 is none
	turn int        // number of that which sends first
	told []*messages
}

// messages is a context.
type messages struct {
	of      *contexts
	number  int
	region  uint32
	enabled bool
	fault   uint32
	due     bool // it is among those of which the host is to be told

	sendTail, receiveTail, sendHead, receiveHead, completions uint16

	send  *send             // that has begun, and is not all given to its link
	ready *linkproto.Posted // receive for the next message
}

// send is a message that is underway.
type send struct {
	linkproto.Posted
	context *messages
	link    *virtual
	given   uint32 // bytes
	end     uint64 // packets of the link up to its last one, if all is given
}

// joining is the message that comes by a virtual link.
type joining struct {
	of   *messages // that has it; nil: none comes
	post linkproto.Posted
	tag  uint32
	got  uint32
	want uint32 // bytes that are missing
	skip bool   // the rest of a message is dropped, up to the packet that says it is the last one
}

func newContexts(n *NI) *contexts {
	w := &contexts{ni: n, all: make([]messages, 1<<n.cfg.Contexts)}
	for i := range w.all {
		w.all[i].of, w.all[i].number = w, i
	}
	return w
}

// work carries out what can be, and reports whether there was something.
func (w *contexts) work() (progress bool) {
	for i := range w.all {
		progress = w.all[i].prefetch() || progress
	}
	for i := range w.all {
		if c := &w.all[(w.turn+i)%len(w.all)]; c.sendNext() {
			w.turn = (c.number + 1) % len(w.all)
			return true
		}
	}
	return progress
}

// offer tells the host of completions.
func (w *contexts) offer() bool {
	if len(w.told) == 0 {
		return false
	}
	c := w.told[0]
	if !w.ni.ports[0].send(encode(linkproto.Packet{Type: linkproto.TypeCompleted, Context: uint16(c.number), Count: c.completions})) {
		return false
	}
	c.due, w.told = false, w.told[1:]
	return true
}

// entries is how many a ring of sends has, start the first byte of the region, and end the first one behind it.
func (c *messages) entries() int { return 1 << linkproto.ContextSize.Of(c.region) }
func (c *messages) start() int {
	return int(linkproto.ContextFirst.Of(c.region)) * c.of.ni.cfg.PageBytes
}
func (c *messages) end() int {
	return int(linkproto.ContextLast.Of(c.region)+1) * c.of.ni.cfg.PageBytes
}

// entry is where entry number n of a ring stands, which has so many and begins behind the rings of so many bytes.
func (c *messages) entry(before int, n uint16, of int) []byte {
	return c.of.ni.buffer[c.start()+before*linkproto.RingEntry*c.entries()+int(n)%of*linkproto.RingEntry:][:linkproto.RingEntry]
}

// holds reports whether the bytes of a descriptor are of the region behind the rings.
func (c *messages) holds(d linkproto.Posted) bool {
	return d.Addr%4 == 0 && int(d.Addr) >= c.start()+linkproto.RingsOf(c.entries()) && int(d.Addr)+int(d.Length) <= c.end()
}

// complete writes a completion.
func (c *messages) complete(done linkproto.Completion) {
	copy(c.entry(linkproto.RingCompletions, c.completions, 2*c.entries()), done.Append(nil))
	c.completions++
	if !c.due {
		c.due = true
		c.of.told = append(c.of.told, c)
	}
}

// prefetch takes the next receive, for the next message, and wakes links that wait for one.
func (c *messages) prefetch() bool {
	if !c.enabled || c.ready != nil || c.receiveHead == c.receiveTail {
		return false
	}
	d := linkproto.DecodePosted(c.entry(linkproto.RingReceives, c.receiveHead, c.entries()))
	c.receiveHead++
	if !c.holds(d) {
		c.complete(linkproto.Completion{Length: d.Length, Cookie: d.Cookie, Receive: true, Status: linkproto.CompletionBadDescriptor})
		return true
	}
	c.ready = &d
	for _, v := range slices.Clone(c.of.ni.virtuals.open) {
		if v.starved && v.context == uint32(c.number) {
			v.starved = false
			v.moved()
		}
	}
	return true
}

// sendNext takes the next send if there is none, and gives its link a packet if that has room for it.
func (c *messages) sendNext() bool {
	if !c.enabled || c.send == nil && !c.beginSend() {
		return false
	}
	if c.send == nil {
		return true
	}
	s, n := c.send, c.of.ni
	v := s.link
	queued, _ := v.flow.Queued()
	left := n.cfg.VirtualSlots/2 - c.of.held()
	if !v.flow.Up() || v.flow.PeerStop() || queued >= n.cfg.VirtualWindow || left <= 0 || queued > 0 && queued >= left || n.virtuals.queued() >= n.cfg.VirtualSlots {
		return false
	}
	rest := s.Length - s.given
	part := min(rest, uint32(linkproto.MaxPacket(n.cfg.PageBytes)-linkproto.HeaderBytes-linkproto.TypeMessage.Info().MinLength()))
	data := n.buffer[s.Addr+s.given:][:part]
	if v.flow.Send(encode(linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: s.Tag, Rest: rest, Data: data})) != nil {
		return false
	}
	if s.given += part; s.given == s.Length {
		freed, _ := v.flow.Freed()
		queued, _ := v.flow.Queued()
		s.end, c.send = freed+uint64(queued), nil
	}
	v.moved()
	return true
}

// beginSend takes the next send, and completes it if it is wrong.
func (c *messages) beginSend() bool {
	if c.sendHead == c.sendTail {
		return false
	}
	d := linkproto.DecodePosted(c.entry(0, c.sendHead, c.entries()))
	c.sendHead++
	links := c.of.ni.virtuals.links
	status := linkproto.CompletionOK
	switch {
	case !c.holds(d):
		status = linkproto.CompletionBadDescriptor
	case int(d.VL) >= len(links) || links[d.VL].context != uint32(c.number) || !links[d.VL].isOpen():
		status = linkproto.CompletionBadLink
	default:
		c.send = &send{Posted: d, context: c, link: &links[d.VL]}
		c.send.link.sends = append(c.send.link.sends, c.send)
		return true
	}
	c.complete(linkproto.Completion{Length: d.Length, Tag: d.Tag, VL: d.VL, Cookie: d.Cookie, Status: status})
	return true
}

// held is how many packets links of contexts hold for sending.
func (w *contexts) held() (n int) {
	for _, v := range w.ni.virtuals.open {
		if v.context != 0 {
			packets, _ := v.flow.Queued()
			n += packets
		}
	}
	return n
}

// settle completes the sends of a link that have been acknowledged, and all of one that closes.
func (v *virtual) settle(closes bool) {
	if v.flow == nil {
		return
	}
	freed, _ := v.flow.Freed()
	for len(v.sends) > 0 {
		s, status := v.sends[0], linkproto.CompletionOK
		if s.end == 0 || s.end > freed {
			if !closes {
				return
			}
			status = linkproto.CompletionClosed
		}
		v.sends = v.sends[1:]
		if s.context.send == s {
			s.context.send = nil
		}
		s.context.complete(linkproto.Completion{Length: s.Length, Tag: s.Tag, VL: s.VL, Cookie: s.Cookie, Status: status})
	}
	if c := v.in.of; closes && c != nil {
		v.received(linkproto.CompletionBroken)
	}
}

// join takes a MESSAGE for the link's context, or refuses it for now.
func (v *virtual) join(m linkproto.Packet) bool {
	n, in := uint32(len(m.Data)), &v.in
	last := n == m.Rest
	c := &v.of.ni.contexts.all[v.context]
	switch {
	case in.skip:
		in.skip = !last
	case in.of == nil && (!c.enabled || c.ready == nil):
		v.starved = true
		return false
	case n > m.Rest || n == 0 && m.Rest > 0, in.of != nil && (m.Rest != in.want || m.MsgTag != in.tag):
		v.of.ni.ports[1].counters[linkproto.CntBadPacket]++
		if in.of != nil {
			v.received(linkproto.CompletionBroken)
		}
		in.skip = !last
	case in.of != nil:
		v.put(m.Data)
	default:
		*in = joining{of: c, post: *c.ready, tag: m.MsgTag, want: m.Rest}
		c.ready = nil
		if m.Rest <= in.post.Length {
			v.put(m.Data)
			break
		}
		v.received(linkproto.CompletionTooLong)
		in.skip = !last
	}
	return true
}

// put puts bytes behind what came of the message.
func (v *virtual) put(data []byte) {
	in := &v.in
	copy(v.of.ni.buffer[in.post.Addr+in.got:], data)
	in.got, in.want = in.got+uint32(len(data)), in.want-uint32(len(data))
	if in.want == 0 {
		v.received(linkproto.CompletionOK)
	}
}

// received completes the descriptor of the message that comes.
func (v *virtual) received(status linkproto.CompletionStatus) {
	in := v.in
	v.in = joining{}
	in.of.complete(linkproto.Completion{Length: in.got + in.want, Tag: in.tag, VL: uint16(v.number), Cookie: in.post.Cookie, Receive: true, Status: status})
}
