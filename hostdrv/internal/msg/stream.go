package msg

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/linkproto"
)

// Group is a multicast group to whose members messages go so that they arrive: each acknowledges.
type Group struct {
	Address uint16   `json:"address"` // linkproto.MulticastBase and its number
	Members []uint16 `json:"members"` // those of its nodes that must acknowledge, without the own one
}

// A CastWord goes in a datagram, a MESSAGE whose tag is that of its context with this mark; of CastData, `rest` is that of its packet, whose tag and bytes stand behind the word.
const (
	streamMark = 1
	tagBytes   = 4
	restBytes  = 4
)

// outlet sends CastWords of one end, each when there is room for it, and lets time pass for it.
type outlet struct {
	context *Context
	timer   engine.Timer // work
	now     uint64       // up to which time has passed
	raw     []byte       // MESSAGE that found no room
	to      uint16       // for which node
	busy    bool         // work is done
	more    bool         // and is to be done again
}

// elapsed are the ticks since it was asked last.
func (o *outlet) elapsed() int {
	n := o.context.core.Now() - o.now
	o.now += n
	return int(n)
}

// send sends a word, or keeps it; false: the one before it has found no room yet.
func (o *outlet) send(to uint16, w *flowctl.CastWord, rest uint32, packet []byte) {
	data := append(w.Append(nil), packet...)
	if w.Kind != flowctl.CastData {
		rest = uint32(len(data))
	}
	m := linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: uint32(o.context.number)<<castShift | streamMark, Rest: rest, Data: data}
	raw, err := m.Append(nil)
	if err == nil {
		o.to, o.raw = to, raw
		o.flush()
	}
}

// flush reports whether nothing waits for room.
func (o *outlet) flush() bool {
	if o.raw == nil {
		return true
	}
	c := o.context
	sent, err := c.core.ForwardRoute(&linkproto.Route{Via: 1, Dest: o.to, Src: c.node, Hops: linkproto.MaxHops, State: linkproto.RouteDatagram, Packet: o.raw})
	if sent || err != nil {
		o.raw = nil
	}
	return o.raw == nil
}

// work has what is to be sent sent by next, which says whether there was something, and comes back when that may have more.
func (o *outlet) work(next func() bool, idle func() int) {
	if o.more = true; o.busy || o.context.closed {
		return
	}
	o.busy = true
	for o.more {
		o.more = false
		for o.flush() && next() {
		}
	}
	o.busy = false
	o.context.core.RemoveTimer(&o.timer)
	wait := 1 // for room
	if o.raw == nil {
		wait = idle()
	}
	if wait < 1<<30 {
		o.context.core.AddTimer(&o.timer, o.context.core.Now()+uint64(max(wait, 1)))
	}
}

// stream is the way to the members of a Group, of which one peer stands for all.
type stream struct {
	outlet
	peer  *peer
	flow  *flowctl.CastSender
	given uint64 // packets
}

func (c *Context) newStream(g Group) (*stream, error) {
	// Members are asked several times before they are given up.
	delay := min(flowctl.CastAckDelay(len(g.Members)), int(c.patience/16))
	most := c.core.MaxPacket() - messageHeader - flowctl.CastDataBytes - tagBytes
	flow, err := flowctl.NewCastSender(flowctl.CastConfig{
		Group: g.Address, Members: slices.Clone(g.Members), NewLife: c.newLife, MaxPacket: restBytes + tagBytes + most,
		AckDelay: delay, Retry: min(max(linkproto.DefaultVLRetry, 4*delay), int(c.patience/4)), Patience: int(c.patience),
	})
	if err != nil {
		return nil, fmt.Errorf("multicast group %#x: %w", g.Address, err)
	}
	s := &stream{outlet: outlet{context: c, now: c.core.Now()}, flow: flow}
	s.peer = &peer{context: c, node: g.Address, most: most, link: s}
	s.timer.Fire = s.Touch
	return s, nil
}

// Offer sends a packet if there is room for it.
func (s *stream) Offer(p *linkproto.Packet) bool {
	packet := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, p.Rest), p.MsgTag)
	if s.flow.Send(append(packet, p.Data...)) != nil {
		return false
	}
	s.given++
	return true
}

// Sent and Freed count packets: given, and acknowledged by all or lost.
func (s *stream) Sent() uint64  { return s.given }
func (s *stream) Freed() uint64 { return s.flow.Freed() }

// Touch does what there is to do.
func (s *stream) Touch() { s.work(s.next, s.flow.IdleFor) }

func (s *stream) next() bool {
	s.flow.Tick(s.elapsed())
	if s.peer.offered == 0 {
		s.flow.Renew()
	}
	if node, restarted, failed := s.flow.Failed(); failed {
		why := noAnswer
		if restarted {
			why = startedAgain
		}
		s.end()
		s.peer.fail(node, why)
	}
	s.peer.Turn()
	out, ok := s.flow.Emit()
	if !ok {
		return false
	}
	to, rest, packet := out.To, uint32(0), out.Packet
	if to == 0 {
		to = s.peer.node
	}
	if len(packet) > 0 {
		rest, packet = binary.LittleEndian.Uint32(packet), packet[restBytes:]
	}
	s.send(to, &out.Word, rest, packet)
	return true
}

// end begins anew, and tells the members.
func (s *stream) end() {
	if w, ok := s.flow.Restart(); ok && s.flush() {
		s.send(s.peer.node, &w, 0, nil)
	}
}

// member is this node's end of the stream of another one.
type member struct {
	outlet
	peer *peer
	flow *flowctl.CastReceiver
	rest uint32 // of the packet that comes
}

// mostMembers is how many Options.Groups a context has, and of how many groups of another node it is a member: that one makes it one.
const mostMembers = 256

func (c *Context) newMember(sender, group uint16) *member {
	m := &member{outlet: outlet{context: c, now: c.core.Now()}}
	m.peer = &peer{context: c, node: sender, link: m}
	m.timer.Fire = m.Touch
	flow, err := flowctl.NewCastReceiver(flowctl.CastConfig{Group: group, NewLife: c.newLife}, m.take, m.peer.Broken)
	if err != nil {
		panic(err) // its numbers are this package's
	}
	m.flow = flow
	return m
}

// take takes a packet of a message.
func (m *member) take(packet []byte) bool {
	return m.peer.Take(linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: binary.LittleEndian.Uint32(packet), Rest: m.rest, Data: packet[tagBytes:]})
}

// A member sends no packets.
func (m *member) Offer(*linkproto.Packet) bool { return false }
func (m *member) Sent() uint64                 { return 0 }
func (m *member) Freed() uint64                { return 0 }

// Touch says that there may be room for messages, and does what there is to do.
func (m *member) Touch() {
	if !m.peer.starves {
		m.flow.Room()
	}
	m.work(m.next, m.flow.IdleFor)
}

func (m *member) next() bool {
	m.flow.Tick(m.elapsed())
	w, ok := m.flow.Emit()
	if ok {
		m.send(m.peer.node, &w, 0, nil)
	}
	return ok
}

// stream takes a CastWord from another node.
func (c *Context) stream(src uint16, p *linkproto.Packet) bool {
	w, packet, ok := flowctl.DecodeCastWord(p.Data)
	if _, is := c.links[src]; !ok || c.closed || c.links != nil && !is || src == 0 || src > linkproto.MaxNode || src == c.node {
		return false
	}
	if w.Kind == flowctl.CastState || w.Kind == flowctl.CastEnd && w.Own != 0 {
		s := c.streams[w.Group]
		if s != nil {
			s.flow.Tick(s.elapsed())
			s.flow.Feed(src, w)
			s.Touch()
		}
		return s != nil
	}
	if w.Kind == flowctl.CastData && len(packet) < tagBytes {
		return false
	}
	m := c.members[src][w.Group]
	if m == nil {
		if w.Group < linkproto.MulticastBase || len(c.members[src]) == mostMembers {
			return false
		}
		if c.members[src] == nil {
			c.members[src] = map[uint16]*member{}
		}
		m = c.newMember(src, w.Group)
		c.members[src][w.Group] = m
	}
	m.flow.Tick(m.elapsed())
	m.rest = p.Rest
	m.flow.Feed(w, packet)
	m.work(m.next, m.flow.IdleFor)
	return true
}

// endStreams tells the other ends of all streams that this context ends, if there is room.
func (c *Context) endStreams() {
	for _, group := range slices.Sorted(maps.Keys(c.streams)) {
		s := c.streams[group]
		s.end()
		c.core.RemoveTimer(&s.timer)
	}
	for _, src := range slices.Sorted(maps.Keys(c.members)) {
		for _, group := range slices.Sorted(maps.Keys(c.members[src])) {
			m := c.members[src][group]
			if w, ok := m.flow.Close(); ok && m.flush() {
				m.send(src, &w, 0, nil)
			}
			c.core.RemoveTimer(&m.timer)
		}
	}
}
