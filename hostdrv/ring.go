package hostdrv

import (
	"encoding/binary"

	"github.com/stafflink/lmmc/linkproto"
)

// ring carries ROUTEs over a cable between two nodes whose network interfaces carry none. Each has set a frame of its receive buffer aside, which the other
// writes: a header {session of the writer, session of the reader, head, tail}, and behind it the bytes of a stream. Head counts the bytes of the stream so far, tail
// those that the writer has read of the other direction's, both absolutely, modulo 2^32: so what is lost is written again, and a header that comes twice does no harm.
// A ROUTE in the stream stands behind its length. All is under the NI's lock.
type ring struct {
	link  *nodeLink
	frame int // of the own receive buffer
	size  int // of the bytes behind the header

	open   bool   // the peer has a ring too,
	theirs int    // in this frame
	flight []byte // of the stream, from byte acked on; to be written, or not known to have been read
	sent   int    // of them written
	acked  uint32
	place  int  // in the ring, of byte acked
	news   bool // the header has changed since it was written

	life    int // counts resets
	reading bool
	again   bool   // something has been written since reading began
	read    uint32 // bytes of the peer's stream
	at      int    // in the ring, of the next
	stream  []byte // what has come of a ROUTE that is not whole
}

const (
	ringHeader = 16
	ringQueue  = 1 << 16 // bytes that wait at most: what comes beyond is dropped, and virtual links send it again
)

func newRing(l *nodeLink, frame int) *ring {
	return &ring{link: l, frame: frame, size: l.node.identity.PageBytes - ringHeader}
}

// reset begins anew: the peer has.
func (r *ring) reset() {
	*r = ring{link: r.link, frame: r.frame, size: r.size, life: r.life + 1}
}

// opened says whether the peer has a ring, and where.
func (r *ring) opened(open bool, frame int) {
	r.open, r.theirs = open, frame
	if open {
		r.news = true
		r.look()
		r.pump()
	}
}

// put queues a ROUTE.
func (r *ring) put(route []byte) {
	if !r.open || len(r.flight)+len(route) > ringQueue {
		r.link.node.stats.Dropped++
		return
	}
	r.flight = binary.LittleEndian.AppendUint16(r.flight, uint16(len(route)))
	r.flight = append(r.flight, route...)
	r.pump()
}

// pump writes what there is room for into the peer's ring.
func (r *ring) pump() {
	if !r.open {
		return
	}
	for r.sent < min(len(r.flight), r.size) {
		at := (r.place + r.sent) % r.size
		n := min(r.size-at, min(len(r.flight), r.size)-r.sent)
		if !r.write(ringHeader+at, r.flight[r.sent:r.sent+n]) {
			return
		}
		r.sent += n
		r.news = true
	}
	if r.news {
		h := binary.LittleEndian.AppendUint32(make([]byte, 0, ringHeader), r.link.own)
		for _, v := range []uint32{r.link.session, r.acked + uint32(r.sent), r.read} {
			h = binary.LittleEndian.AppendUint32(h, v)
		}
		r.news = !r.write(0, h)
	}
}

// write writes into the peer's frame if there is room on the way.
func (r *ring) write(at int, data []byte) bool {
	addr := r.theirs*r.link.node.identity.PageBytes + at
	ok, err := r.link.carrier.Forward(&linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(addr), Data: data})
	if ok {
		r.link.node.wakeOwner()
	}
	return ok && err == nil
}

// look reads what the peer has written.
func (r *ring) look() {
	if r.reading {
		r.again = true
		return
	}
	r.reading, r.again = true, false
	r.get(0, ringHeader, func(h []byte) {
		word := func(i int) uint32 { return binary.LittleEndian.Uint32(h[4*i:]) }
		if !r.open || word(0) != r.link.session || word(1) != r.link.own { // of before
			r.done()
			return
		}
		r.freed(word(3))
		if n := int32(word(2) - r.read); n > 0 && int(n) <= r.size {
			r.take(int(n))
			return
		}
		r.done()
	})
}

// freed takes the peer's tail.
func (r *ring) freed(tail uint32) {
	n := int(int32(tail - r.acked))
	if n <= 0 || n > len(r.flight) {
		return
	}
	r.flight, r.acked, r.place = r.flight[n:], tail, (r.place+n)%r.size
	r.sent = max(r.sent-n, 0)
	r.pump()
}

// take reads so many bytes of the stream.
func (r *ring) take(n int) {
	part := min(n, r.size-r.at)
	r.get(ringHeader+r.at, part, func(data []byte) {
		r.stream = append(r.stream, data...)
		r.read, r.at = r.read+uint32(part), (r.at+part)%r.size
		r.news = true
		if n > part {
			r.take(n - part)
			return
		}
		r.deliver()
		r.done()
	})
}

// done ends a look.
func (r *ring) done() {
	r.reading = false
	if r.again {
		r.look()
	}
	r.pump()
}

// deliver passes on the ROUTEs that are whole.
func (r *ring) deliver() {
	for len(r.stream) >= 2 {
		end := 2 + int(binary.LittleEndian.Uint16(r.stream))
		if len(r.stream) < end {
			return
		}
		route := r.stream[2:end]
		r.stream = r.stream[end:]
		r.link.node.relayed(route)
	}
}

// get reads bytes of the own frame, unless the ring begins anew meanwhile.
func (r *ring) get(at, n int, then func([]byte)) {
	life := r.life
	read := linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(r.frame*r.link.node.identity.PageBytes + at), Count: uint16(n)}
	r.link.node.core.Demand(read, "it refused to read a ring", func(a linkproto.Packet, err error) {
		if err == nil && r.life == life {
			then(a.Data)
		}
	})
}

// forward sends a ROUTE on to the node that it is for, by the ring of the link that leads there, or by the uplink.
func (node *localNode) forward(route []byte) {
	var r linkproto.Route
	if r.Open(route) != nil {
		return
	}
	if link, ok := node.relay[r.Dest]; !ok && node.uplink != nil {
		node.uplink.send(route)
	} else if l := node.linkOf(link); l != nil && l.ring != nil {
		l.ring.put(route)
	}
}

// room reports whether the ring towards a node takes datagrams, which leave most of it to virtual links. One that leads nowhere drops them.
func (node *localNode) room(dest uint16) bool {
	link, ok := node.relay[dest]
	if !ok && node.uplink != nil {
		return !node.uplink.out.crowded()
	}
	l := node.linkOf(link)
	return l == nil || l.ring == nil || !l.ring.open || len(l.ring.flight) < ringQueue/4
}

// relayed takes a ROUTE that a neighbour has sent: it is for this node, or goes on if it has hops left.
func (node *localNode) relayed(raw []byte) {
	var r linkproto.Route
	switch err := r.Open(raw); {
	case err != nil:
		node.stats.Malformed++
	case r.Dest == node.node:
		node.core.FeedRoute(&r, raw)
	case r.Hops > 0:
		raw[linkproto.RoutePathAt]--
		node.stats.Relayed++
		node.forward(raw)
	}
}
