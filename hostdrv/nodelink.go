package hostdrv

import (
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// nodeLink is a link of a node: what its two ends know of each other. All is under the NI's lock.
type nodeLink struct {
	node        *Node
	link        int
	first       int // frame of the own receive buffer that the peer has
	count       int // and how many
	replacement func(frames int) Replacement

	session uint32              // of the peer, 0 if it has not said hello
	frames  []outFrame          // of the peer's receive buffer
	choice  Replacement         // among them
	ports   [2]map[uint32]*Port // by Direction and number
	outbox  []linkproto.Packet

	traps       uint64 // that were told
	lossAt      uint64 // losses of the link that its ports have been told of
	auditedSent uint64
}

// outFrame is a frame of the peer that this node manages.
type outFrame struct {
	number int
	port   *Port // nil if none has it
}

// port returns a port of the link, or nil.
func (l *nodeLink) port(d Direction, id uint32) *Port { return l.ports[d][id] }

func (l *nodeLink) addPort(p *Port) {
	if l.ports[p.direction] == nil {
		l.ports[p.direction] = map[uint32]*Port{}
	}
	l.ports[p.direction][p.id] = p
}

// suggest is say for what may be dropped if too much waits already.
func (l *nodeLink) suggest(port uint32, m message) {
	if len(l.outbox) >= maxOutbox {
		l.node.stats.Discarded++
		return
	}
	l.say(port, m)
}

// say queues a message to the peer.
func (l *nodeLink) say(port uint32, m message) {
	l.outbox = append(l.outbox, linkproto.Packet{Type: linkproto.TypeConnect, Via: uint8(l.link), Port: port, Data: m.append(nil)})
	l.flushOutbox()
}

func (l *nodeLink) flushOutbox() {
	sent := 0
	for sent < len(l.outbox) {
		if ok, err := l.node.ni.core.forward(&l.outbox[sent]); !ok || err != nil {
			break
		}
		sent++
	}
	if sent > 0 {
		kept := copy(l.outbox, l.outbox[sent:])
		clear(l.outbox[kept:])
		l.outbox = l.outbox[:kept]
		l.node.ni.wakeOwner()
	}
}

// greet says hello.
func (l *nodeLink) greet(again bool) {
	l.suggest(0, message{kind: hello, again: again, session: l.node.session, pageBytes: l.node.ni.identity.PageBytes, first: l.first, frames: l.count})
}

// message handles what the peer says.
func (l *nodeLink) message(port uint32, m message) {
	switch m.kind {
	case hello:
		l.greeted(m)
	case open:
		l.opened(port, m)
	case accept, refuse:
		p := l.port(m.role, port)
		switch {
		case p == nil || p.state != connecting:
			l.node.stats.Malformed++
		case m.kind == accept:
			p.state = connected
		default:
			p.end(&RefusedPortError{Port: port, Reason: string(m.text)})
		}
	case shut:
		if p := l.port(m.role.other(), port); p != nil {
			p.closedByPeer()
		}
	}
}

// greeted handles a hello. One with another session means that the peer has started again: nothing of before counts.
func (l *nodeLink) greeted(m message) {
	if m.pageBytes != l.node.ni.identity.PageBytes || m.first+m.frames > 1<<16 {
		l.node.stats.Malformed++
		return
	}
	if l.session != m.session {
		if l.session != 0 {
			l.node.stats.Restarted++
		}
		for _, ports := range l.ports {
			for _, p := range ports {
				if l.session != 0 || p.state == connected {
					p.end(&PeerError{l.link})
				}
			}
		}
		l.session = m.session
		l.frames = nil
		for i := range m.frames {
			l.frames = append(l.frames, outFrame{number: m.first + i})
		}
		l.choice = l.replacement(m.frames)
	}
	if m.again {
		l.greet(false)
	}
}

// opened handles a request to connect.
func (l *nodeLink) opened(id uint32, m message) {
	n := l.node
	switch {
	case id == 0 || l.port(m.role.other(), id) != nil:
		l.suggest(id, message{kind: refuse, role: m.role, text: []byte("the port number is in use")})
	case len(n.offers) >= maxOffers:
		n.stats.Discarded++
		l.suggest(id, message{kind: refuse, role: m.role, text: []byte("too many requests wait to be accepted")})
	default:
		n.offers = append(n.offers, &Request{node: n, via: l.link, link: l, id: id, direction: m.role.other(), session: l.session, params: m.text})
	}
}

// resume lets the link's packets go on.
func (l *nodeLink) resume() {
	l.node.ni.core.submit(&call{patient: true, packet: linkproto.Packet{Type: linkproto.TypeResume, Via: uint8(l.link)}, done: l.resumed})
}

// resumed takes the answer to a RESUME. A RestartError means that it was carried out.
func (l *nodeLink) resumed(_ linkproto.Packet, err error) {
	if refused, ok := err.(*RefusedError); ok {
		l.node.ni.core.fail(brokenf("it reported a trap of link %d and then refused to resume: %w", l.link, refused))
	}
}

// checkTrap looks whether the link waits at a trap that got lost on the host's cable. The answer comes behind every TRAP that was told
// before and every RESUME asked for, so the link is trapped then by one that is known, by one that has come meanwhile, or by one that
// nobody knows of.
func (l *nodeLink) checkTrap() {
	c := l.node.ni.core
	if c.traps[l.link-1] != nil {
		return
	}
	told := l.traps
	c.submit(&call{patient: true, packet: linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.LinkStatusReg(l.link)},
		done: func(a linkproto.Packet, err error) {
			if err == nil && l.traps == told && linkproto.StatusTrapped.Of(a.Value) != 0 {
				c.fail(fmt.Errorf("%w: link %d waits at a PAGE or CONNECT that got lost when the cable failed, and the network interface does not tell it again: "+
					"reset it", ErrTrapLost, l.link))
			}
		}})
}

// forget takes all frames from their ports, since the PAGEs that said so may be lost.
func (l *nodeLink) forget() {
	for i := range l.frames {
		if p := l.frames[i].port; p != nil {
			p.frame, l.frames[i].port = -1, nil
		}
	}
}

// audit asks how many packets the NI has lost on the link, and tells the ports if there are more. done is called under the lock.
func (l *nodeLink) audit(done func(error)) {
	c := l.node.ni.core
	c.submit(&call{patient: true, packet: linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.CounterReg(l.link, linkproto.CntLostPackets)},
		done: func(a linkproto.Packet, err error) {
			if err == nil {
				q := &c.queues[l.link-1]
				q.link = max(q.link, uint64(a.Value-q.base))
				if q.lost() > l.lossAt {
					l.lossAt = q.lost()
					l.forget()
				}
			}
			done(err)
		}})
}
