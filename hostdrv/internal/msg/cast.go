package msg

import (
	"encoding/binary"

	"github.com/stafflink/lmmc/linkproto"
)

// A message to a multicast group goes in one datagram, a MESSAGE whose tag is that of its context, and whose data begin with its own tag.
const (
	castShift = 16 // the tags of kernels' frames are below
	castTag   = 4  // bytes
)

// LongestCast is how many bytes a message to a multicast group that is not one of Options.Groups may have; less than 0: there are no such groups.
func (c *Context) LongestCast() int {
	if c.core.Relay != nil {
		return -1
	}
	return c.core.MaxPacket() - messageHeader - castTag
}

// cast sends what there is room for. With that a send has completed: nobody tells what becomes of a datagram.
func (c *Context) cast() {
	c.core.RemoveTimer(&c.castTimer)
	for c.casts.len() > 0 {
		s := c.casts.head()
		data := append(binary.LittleEndian.AppendUint32(nil, s.Tag), s.Data...)
		m := linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: uint32(c.number) << castShift, Rest: uint32(len(data)), Data: data}
		packet, err := m.Append(nil)
		sent := false
		if err == nil {
			sent, err = c.core.ForwardRoute(&linkproto.Route{Via: 1, Dest: s.Node, Src: c.node, Hops: linkproto.MaxHops, State: linkproto.RouteDatagram, Packet: packet})
		}
		if !sent && err == nil {
			c.core.AddTimer(&c.castTimer, c.core.Now()+1)
			return
		}
		c.casts.pop()
		if sent {
			c.stats.Sent++
		} else {
			c.stats.Failed++
		}
		c.completed(Completion{Node: s.Node, Tag: s.Tag, Data: s.Data, Cookie: s.Cookie, Quiet: s.Quiet && err == nil, Err: err})
	}
}

// CastOf is the context that a datagram's MESSAGE is for; 0: none.
func CastOf(p *linkproto.Packet) int {
	mark := p.MsgTag & (1<<castShift - 1)
	if p.MsgTag>>castShift > LastContext || mark > streamMark || mark == 0 && (len(p.Data) < castTag || int64(p.Rest) != int64(len(p.Data))) {
		return 0
	}
	return int(p.MsgTag >> castShift)
}

// Cast takes what CastOf says is for the context: a message that was sent to a multicast group, or what members that acknowledge and their sender tell each other. False says that it is dropped: a
// message for which no descriptor is there, or one of too little room, or what belongs to no stream.
func (c *Context) Cast(src uint16, p *linkproto.Packet) bool {
	if p.MsgTag&(1<<castShift-1) == streamMark {
		return c.stream(src, p)
	}
	tag, data := binary.LittleEndian.Uint32(p.Data), p.Data[castTag:]
	if _, is := c.links[src]; c.closed || c.links != nil && !is || c.posts.len() == 0 || len(data) > len(c.posts.head().Data) {
		return false
	}
	in := c.posts.pop()
	c.stats.Received++
	size := copy(in.Data, data)
	c.completed(Completion{Received: true, Node: src, Tag: tag, Data: in.Data[:size:size], Cookie: in.Cookie})
	return true
}
