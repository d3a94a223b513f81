package msg

import (
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/linkproto"
)

const defaultPatience = time.Second

// messageHeader is how many bytes of a MESSAGE are not data.
var messageHeader = linkproto.HeaderBytes + linkproto.TypeMessage.Info().MinLength()

// carrier takes packets to a peer, as a virtual link does.
type carrier interface {
	Offer(p *linkproto.Packet) bool
	Sent() uint64
	Freed() uint64
	Touch()
}

// peer is a node that a context exchanges messages with: a virtual link's Taker. Or it is the members of a group, which a stream leads to.
type peer struct {
	context   *Context
	node      uint16
	link      carrier
	virtual   engine.Carrier // the same, of a node
	most      int            // bytes of data in a packet
	downSince uint64
	starves   bool // it is among those that do

	first, last *post // sends that have not completed, in order
	next        *post // the first one that is not all given to the link
	offered     int   // bytes of it that are
	out         linkproto.Packet

	// What comes.
	in   Receive // descriptor of the message underway
	tag  uint32  // of it
	got  int     // bytes of it
	want int     // bytes that are missing; 0: none is underway
	skip bool    // the rest of a message is to be dropped, up to the packet that says it is the last one
}

// post is a Send that is posted.
type post struct {
	Send
	next *post
	end  uint64 // packets of the link up to its last one, once all are given to it
}

// post adds a send behind the others.
func (p *peer) post(e *post) {
	if p.last == nil {
		p.first = e
	} else {
		p.last.next = e
	}
	p.last = e
	p.context.owe(1)
	if p.next == nil {
		p.next = e
	}
}

// Turn gives the link what it has room for, and completes what is acknowledged.
func (p *peer) Turn() {
	if p.refused() {
		p.context.core.RemoveTimer(&p.context.timer)
		p.context.core.AddTimer(&p.context.timer, p.context.core.Now())
		return
	}
	p.acknowledged(p.link.Freed())
	for p.next != nil {
		e := p.next
		part := e.Data[p.offered:]
		p.out = linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: e.Tag, Rest: uint32(len(part)), Data: part[:min(len(part), p.most)]}
		if !p.link.Offer(&p.out) {
			return
		}
		if p.offered += len(p.out.Data); p.offered == len(e.Data) {
			e.end, p.next, p.offered = p.link.Sent(), e.next, 0
		}
	}
}

// refused says whether sends fail since no program at the node has the context.
func (p *peer) refused() bool { return p.context.o.Refuse && p.virtual != nil && p.virtual.Alone() }

// acknowledged completes the sends of which the link has so many packets acknowledged.
func (p *peer) acknowledged(packets uint64) {
	for p.first != nil && p.first != p.next && p.first.end <= packets {
		p.complete(nil)
		p.context.stats.Sent++
	}
}

// complete ends the first send.
func (p *peer) complete(err error) {
	c, e := p.context, p.first
	if p.first = e.next; p.first == nil {
		p.last = nil
	}
	c.owe(-1)
	c.completed(Completion{Node: p.node, Tag: e.Tag, Data: e.Data, Cookie: e.Cookie, Quiet: e.Quiet && err == nil, Err: err})
	*e = post{next: c.free}
	c.free = e
}

// fail ends all sends, since a node will not acknowledge them.
func (p *peer) fail(node uint16, why string) {
	if p.first == nil {
		return
	}
	err := &PeerError{node, why}
	for p.first != nil {
		p.complete(err)
		p.context.stats.Failed++
	}
	p.next, p.offered = nil, 0
}

// Lost fails what was posted before the link started again, if a part of it was sent. Otherwise it is still to be sent.
func (p *peer) Lost(kept uint64) {
	p.acknowledged(kept)
	if p.first != p.next || p.offered > 0 {
		p.fail(p.node, startedAgain)
	}
}

// Broken drops the message underway, whose rest will not come.
func (p *peer) Broken() {
	if p.want > 0 {
		p.context.stats.Broken++
	}
	p.abort()
}

// Dropped counts a message that the NI has dropped.
func (p *peer) Dropped(tooLong bool) {
	if tooLong {
		p.context.stats.TooLong++
	} else {
		p.context.stats.Broken++
	}
}

// abort gives the descriptor of the message underway back to the ring.
func (p *peer) abort() {
	if p.want > 0 {
		p.context.posts.unpop(p.in)
		p.in, p.want, p.got = Receive{}, 0, 0
		p.context.feed()
	}
	p.skip = false
}

// Take takes a packet of a message; false if it begins one and there is no descriptor for it.
func (p *peer) Take(m linkproto.Packet) bool {
	c, rest := p.context, int(m.Rest)
	last := len(m.Data) == rest
	switch {
	case p.skip:
		p.skip = !last
	case m.Type != linkproto.TypeMessage || len(m.Data) > rest || len(m.Data) == 0 && rest > 0,
		p.want > 0 && (rest != p.want || m.MsgTag != p.tag):
		c.stats.Malformed++
		p.abort()
		p.skip = m.Type == linkproto.TypeMessage && !last
	case p.want > 0:
		p.join(m)
	case rest > c.o.Longest:
		c.stats.TooLong++
		p.skip = !last
	case c.posts.len() == 0:
		if !p.starves {
			p.starves = true
			c.starving = append(c.starving, p)
		}
		return false
	default:
		p.in, p.tag, p.want, p.got = c.posts.pop(), m.MsgTag, rest, 0
		if rest <= len(p.in.Data) {
			p.join(m)
			break
		}
		c.stats.TooLong++
		p.skip = !last
		p.received(&TooLongError{Node: p.node, Bytes: rest, Room: len(p.in.Data)})
	}
	return true
}

// join puts a packet's data behind what came of the message.
func (p *peer) join(m linkproto.Packet) {
	p.got += copy(p.in.Data[p.got:], m.Data)
	if p.want -= len(m.Data); p.want == 0 {
		p.context.stats.Received++
		p.received(nil)
	}
}

// received completes the descriptor of the message underway.
func (p *peer) received(err error) {
	p.context.completed(Completion{Received: true, Node: p.node, Tag: p.tag, Data: p.in.Data[:p.got:p.got], Cookie: p.in.Cookie, Err: err})
	p.in, p.want, p.got = Receive{}, 0, 0
}
