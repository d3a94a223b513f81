package hostdrv

import (
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// message is a message to the peer.
type message struct {
	port   uint32
	body   linkproto.NodeMessage
	number uint64 // of its packet, among those sent by the link: the first is 1
}

// enqueueBestEffort is enqueue for what may be dropped if too much waits already.
func (l *nodeLink) enqueueBestEffort(port uint32, m linkproto.NodeMessage) {
	if len(l.outbox) >= maxOutbox {
		l.node.stats.Discarded++
		return
	}
	l.enqueue(port, m)
}

// enqueue queues a message to the peer. It is sent again if the link may have lost it: receiving it twice has no effect.
func (l *nodeLink) enqueue(port uint32, m linkproto.NodeMessage) {
	l.outbox = append(l.outbox, message{port: port, body: m})
	l.flushOutbox()
}

func (l *nodeLink) flushOutbox() {
	c := l.node.core
	sent := 0
	for sent < len(l.outbox) {
		m := &l.outbox[sent]
		if ok, err := c.Forward(&linkproto.Packet{Type: linkproto.TypeConnect, Via: uint8(l.link), Port: m.port, Data: m.body.Append(nil)}); !ok || err != nil {
			break
		}
		m.number = c.Queue(l.link).Sent()
		sent++
	}
	if sent > 0 {
		l.unacked = append(l.unacked, l.outbox[:sent]...)
		l.outbox = slices.Delete(l.outbox, 0, sent)
		l.node.wakeOwner()
	}
}

// arrived takes that so many packets of the link were freed, and none lost.
func (l *nodeLink) arrived(freed uint64) {
	l.unacked = slices.DeleteFunc(l.unacked, func(m message) bool { return m.number <= freed })
}

// resend queues what is not known to have arrived before all else, but for requests that were answered or given up.
func (l *nodeLink) resend() {
	again := slices.DeleteFunc(l.unacked, func(m message) bool {
		p := l.port(Direction(m.body.Role), m.port)
		return m.body.Kind == linkproto.NodeOpen && (p == nil || p.state != connecting)
	})
	l.node.stats.Resent += uint64(len(again))
	l.outbox, l.unacked = slices.Concat(again, l.outbox), nil
}

// hello sends a hello, and with again asks for one.
func (l *nodeLink) hello(again bool) {
	m := linkproto.NodeMessage{Kind: linkproto.NodeHello, Session: l.node.session,
		PageBytes: uint16(l.node.identity.PageBytes), FirstFrame: uint16(l.first), Frames: uint16(l.count)}
	if again {
		m.Flags = linkproto.NodeFlagAgain
	}
	l.enqueueBestEffort(0, m)
}
