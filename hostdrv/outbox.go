package hostdrv

import (
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// said is a message to the peer.
type said struct {
	port    uint32
	message linkproto.NodeMessage
	number  uint64 // of its packet, among those sent by the link: the first is 1
}

// suggest is say for what may be dropped if too much waits already.
func (l *nodeLink) suggest(port uint32, m linkproto.NodeMessage) {
	if len(l.outbox) >= maxOutbox {
		l.node.stats.Discarded++
		return
	}
	l.say(port, m)
}

// say queues a message to the peer. It is sent again if the link may have lost it: whoever hears one twice does nothing the second time.
func (l *nodeLink) say(port uint32, m linkproto.NodeMessage) {
	l.outbox = append(l.outbox, said{port: port, message: m})
	l.flushOutbox()
}

func (l *nodeLink) flushOutbox() {
	c := l.node.ni.core
	sent := 0
	for sent < len(l.outbox) {
		s := &l.outbox[sent]
		if ok, err := c.forward(&linkproto.Packet{Type: linkproto.TypeConnect, Via: uint8(l.link), Port: s.port, Data: s.message.Append(nil)}); !ok || err != nil {
			break
		}
		s.number = c.queues[l.link-1].sent
		sent++
	}
	if sent > 0 {
		l.onTheWay = append(l.onTheWay, l.outbox[:sent]...)
		l.outbox = slices.Delete(l.outbox, 0, sent)
		l.node.ni.wakeOwner()
	}
}

// arrived takes that of the packets sent by the link so many were freed, and none lost.
func (l *nodeLink) arrived(freed uint64) {
	l.onTheWay = slices.DeleteFunc(l.onTheWay, func(s said) bool { return s.number <= freed })
}

// repeat queues what is not known to have arrived before all else, but for requests that were answered or given up.
func (l *nodeLink) repeat() {
	again := slices.DeleteFunc(l.onTheWay, func(s said) bool {
		p := l.port(Direction(s.message.Role), s.port)
		return s.message.Kind == linkproto.NodeOpen && (p == nil || p.state != connecting)
	})
	l.node.stats.Repeated += uint64(len(again))
	l.outbox, l.onTheWay = slices.Concat(again, l.outbox), nil
}

// greet says hello, and with again asks for one.
func (l *nodeLink) greet(again bool) {
	m := linkproto.NodeMessage{Kind: linkproto.NodeHello, Session: l.node.session,
		PageBytes: uint16(l.node.ni.identity.PageBytes), FirstFrame: uint16(l.first), Frames: uint16(l.count)}
	if again {
		m.Flags = linkproto.NodeFlagAgain
	}
	l.suggest(0, m)
}
