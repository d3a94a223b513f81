package hostdrv

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/stafflink/lmmc/linkproto"
)

// carrier carries the packets of a nodeLink: a cable, or a virtual link.
type carrier interface {
	// Forward sends a packet if there is room.
	Forward(p *linkproto.Packet) (sent bool, err error)
	HasRoom(size int) bool
	// Resume lets packets go on behind a trap.
	Resume()
	// Sent, Freed and Lost count packets: sent, gone from the queue, and those of them that were lost.
	Sent() uint64
	Freed() uint64
	Lost() uint64
	// Audit finds out whether more packets were lost than is known.
	Audit(done func(more bool, err error))
	// Mark returns the number of packets sent so far, kept up to date until Unmark.
	Mark() *uint64
	Unmark(mark *uint64)
}

// nodeLink is a link of a node: what its two ends know of each other. All is under the NI's lock.
type nodeLink struct {
	node        *localNode
	carrier     carrier
	link        int
	writes      FrameEntry // of the frames that the peer has
	peer        uint16     // node at the far end, of a virtual link
	own         uint32     // session of this node, as the peer is told
	first       int        // frame of the own receive buffer that the peer has
	count       int        // and how many
	replacement func(frames int) Replacement

	session uint32                      // of the peer, 0 if it has sent no hello, or is incompatible
	misfit  error                       // why it does not, or nil
	frames  []outFrame                  // of the peer's receive buffer
	choice  Replacement                 // among them
	ports   [2]map[uint32]*localPort    // by Direction and number
	asked   [2]map[uint32]*localRequest // the same: what the peer has asked for and not been answered
	// The same: the last message about what the peer has asked for and has ended. Until it acknowledges that it may ask again.
	ended   [2]map[uint32]linkproto.NodeMessage
	outbox  []message // that wait for room
	unacked []message // sent, and not known to have arrived

	ring    *ring  // for ROUTEs, or nil
	losses  uint64 // of the link that its ports know of
	audited uint64 // packets that the NI had freed at the last check for lost ones
}

// outFrame is a frame of the peer that this node manages.
type outFrame struct {
	number int
	port   *localPort // nil if none has it
}

// newLink makes a link whose peer gets so many of the node's frames, which it appends to those that there are.
func (node *localNode) newLink(link int, c carrier, frames int, replacement func(frames int) Replacement) *nodeLink {
	l := &nodeLink{node: node, carrier: c, link: link, own: node.session, first: len(node.frames), count: frames, replacement: replacement}
	for d := range l.ports {
		l.ports[d], l.asked[d], l.ended[d] = map[uint32]*localPort{}, map[uint32]*localRequest{}, map[uint32]linkproto.NodeMessage{}
	}
	if node.relay != nil && link <= node.identity.Links { // a cable
		l.ring = newRing(l, len(node.frames))
		node.frames = append(node.frames, &inFrame{link: l, index: len(node.frames), ring: l.ring})
		l.first++
	}
	for range frames {
		node.frames = append(node.frames, &inFrame{link: l, index: len(node.frames)})
	}
	return l
}

// port returns a port of the link, or nil.
func (l *nodeLink) port(d Direction, id uint32) *localPort { return l.ports[d][id] }

// message handles a message of the peer; an error says that it is wrong.
func (l *nodeLink) message(port uint32, params []byte) error {
	var m linkproto.NodeMessage
	if err := m.Decode(params); err != nil {
		return err
	}
	if l.misfit != nil && m.Kind != linkproto.NodeHello {
		return l.misfit
	}
	role := Direction(m.Role)
	switch m.Kind {
	case linkproto.NodeHello:
		return l.helloFrom(m)
	case linkproto.NodeOpen:
		l.opened(port, role, m.Text)
	case linkproto.NodeAccept, linkproto.NodeRefuse:
		p := l.port(role, port)
		switch {
		case p == nil && m.Kind == linkproto.NodeAccept: // it is gone meanwhile
			l.enqueueBestEffort(port, linkproto.NodeMessage{Kind: linkproto.NodeClose, Role: m.Role})
		case p == nil, p.state == connected && !p.accepted: // repeated
		case p.state != connecting:
			return portError(port, "is "+p.state.String(), ErrPort)
		case m.Kind == linkproto.NodeAccept:
			p.state = connected
		default:
			l.close(p, &RefusedPortError{Port: port, Reason: string(m.Text)})
		}
	case linkproto.NodeClose:
		l.closed(port, role.other())
	case linkproto.NodeMissed:
		l.repeat(port, m.Ends)
	}
	return nil
}

// closed handles CLOSE: the peer has closed its end, or has none.
func (l *nodeLink) closed(id uint32, d Direction) {
	delete(l.ended[d], id)
	if r := l.asked[d][id]; r != nil {
		r.withdraw()
	}
	switch p := l.port(d, id); {
	case p == nil:
	case p.state == connecting:
		l.close(p, &RefusedPortError{Port: id, Reason: "the answer was lost on the way to this program"})
	default:
		if !p.accepted {
			l.enqueueClose(p)
		}
		p.accepted = false // the peer knows its end
		p.closedByPeer()
	}
}

// close ends a port. Its CLOSE comes behind every OPEN of it, so the peer need not remember it any more.
func (l *nodeLink) close(p *localPort, why error) {
	l.enqueueClose(p)
	p.end(why)
}

func (l *nodeLink) enqueueClose(p *localPort) {
	l.enqueue(p.id, linkproto.NodeMessage{Kind: linkproto.NodeClose, Role: uint8(p.direction)})
}

// ends are the ends that the node has of ports with a number, or has had and the peer may not know that, a bit by Direction; without those
// that the peer cannot know.
func (l *nodeLink) ends(id uint32) (ends uint8) {
	for d := range Direction(len(l.ports)) {
		_, over := l.ended[d][id]
		if p := l.port(d, id); over || p != nil && p.state != created {
			ends |= 1 << d
		}
	}
	return ends
}

// repeat sends again what the peer may have missed about ports with a number, of which it has some ends.
func (l *nodeLink) repeat(id uint32, theirs uint8) {
	if id == 0 {
		l.hello(true)
		return
	}
	for d := range Direction(len(l.ports)) {
		over, isOver := l.ended[d][id]
		switch p, other := l.port(d, id), theirs>>d.other()&1 != 0; {
		case p != nil && p.state == connecting:
			l.enqueue(id, linkproto.NodeMessage{Kind: linkproto.NodeOpen, Role: uint8(d), Text: p.params})
		case p != nil && p.accepted && other:
			l.enqueueBestEffort(id, linkproto.NodeMessage{Kind: linkproto.NodeAccept, Role: uint8(d.other())})
		case isOver && other:
			l.enqueueBestEffort(id, over)
		case p == nil && l.asked[d][id] == nil && other:
			l.enqueueBestEffort(id, linkproto.NodeMessage{Kind: linkproto.NodeClose, Role: uint8(d)})
		}
	}
}

// helloFrom handles a hello. One with another session means that the peer has started again: nothing of before counts.
func (l *nodeLink) helloFrom(m linkproto.NodeMessage) error {
	first, frames := int(m.FirstFrame), int(m.Frames)
	if first+frames > 1<<16 {
		return fmt.Errorf("%w: frames %d to %d", ErrRange, first, first+frames-1)
	}
	if l.misfit = l.fits(m); l.misfit != nil {
		l.startOver(0, l.misfit)
	} else if l.session != m.Session {
		if l.session != 0 {
			l.node.stats.Restarted++
		}
		l.startOver(m.Session, &PeerError{l.link})
		for i := range frames {
			l.frames = append(l.frames, outFrame{number: first + i})
		}
		l.choice = l.replacement(frames)
	}
	if l.ring != nil {
		l.ring.opened(m.Flags&linkproto.NodeFlagRing != 0 && first > 0 && l.misfit == nil, first-1)
	}
	if m.Flags&linkproto.NodeFlagAgain != 0 {
		l.hello(false)
	}
	return nil
}

// fits says what makes the nodes incompatible, if anything does.
func (l *nodeLink) fits(m linkproto.NodeMessage) error {
	e := &IncompatibleError{Link: l.link}
	want := func(field string, have, want int) {
		if have != want {
			e.Mismatches = append(e.Mismatches, Mismatch{Field: field, Have: strconv.Itoa(have), Want: strconv.Itoa(want)})
		}
	}
	if want("version", int(m.Version), linkproto.NodeVersion); m.Version == linkproto.NodeVersion { // else the other fields mean something else
		want("page_bytes", int(m.PageBytes), l.node.identity.PageBytes)
	}
	if len(e.Mismatches) > 0 {
		return e
	}
	return nil
}

// startOver forgets what was agreed with the peer, which has a new session. Ports end with why.
func (l *nodeLink) startOver(session uint32, why error) {
	for _, ports := range l.ports {
		for _, p := range ports {
			if l.session != 0 || p.state == connected {
				p.end(why)
			}
		}
	}
	l.session = session
	if l.ring != nil {
		l.ring.reset()
	}
	for _, asked := range l.asked {
		for _, r := range asked {
			r.withdraw()
		}
	}
	for _, ended := range l.ended {
		clear(ended)
	}
	l.frames = nil
}

// opened handles a request to connect.
func (l *nodeLink) opened(id uint32, role Direction, params []byte) {
	n, d := l.node, role.other()
	refuse := func(why string) {
		l.enqueueBestEffort(id, linkproto.NodeMessage{Kind: linkproto.NodeRefuse, Role: uint8(role), Text: []byte(why)})
	}
	switch p := l.port(d, id); {
	case p != nil && p.accepted: // the ACCEPT was lost
		l.enqueueBestEffort(id, linkproto.NodeMessage{Kind: linkproto.NodeAccept, Role: uint8(role)})
	case l.asked[d][id] != nil:
	case l.ended[d][id].Kind != 0: // or this
		l.enqueueBestEffort(id, l.ended[d][id])
	case id == 0 || p != nil:
		refuse("the port number is in use")
	case len(n.requests) >= maxRequests:
		n.stats.Discarded++
		refuse("too many requests wait to be accepted")
	case len(l.ended[d]) >= maxEnded:
		n.stats.Discarded++
		refuse("too many ports that the peer asked for have ended without its acknowledgement")
	default:
		r := &localRequest{link: l, id: id, direction: d, session: l.session, params: params}
		l.asked[d][id] = r
		n.requests = append(n.requests, r)
	}
}

// forget takes all frames from their ports, since the PAGEs may be lost.
func (l *nodeLink) forget() {
	for i := range l.frames {
		if p := l.frames[i].port; p != nil {
			p.frame, l.frames[i].port = -1, nil
		}
	}
}

// audit reads how many packets the NI has lost or refused on the link, and tells the ports if there are more.
func (l *nodeLink) audit(done func(error)) {
	freed := l.carrier.Freed()
	l.audited = freed
	l.carrier.Audit(func(more bool, err error) {
		switch {
		case err != nil:
		case more:
			l.lost()
		default:
			l.arrived(freed)
		}
		done(err)
	})
}

// lost tells the ports of packets that the link has lost, and sends the messages among them again.
func (l *nodeLink) lost() {
	l.losses = l.carrier.Lost()
	if l.ring != nil {
		l.ring.sent, l.ring.news = 0, true
	}
	l.forget()
	l.resend()
}

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
	sent := 0
	for sent < len(l.outbox) {
		m := &l.outbox[sent]
		if ok, err := l.carrier.Forward(&linkproto.Packet{Type: linkproto.TypeConnect, Port: m.port, Data: m.body.Append(nil)}); !ok || err != nil {
			break
		}
		m.number = l.carrier.Sent()
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
	m := linkproto.NodeMessage{Kind: linkproto.NodeHello, Session: l.own,
		PageBytes: uint16(l.node.identity.PageBytes), FirstFrame: uint16(l.first), Frames: uint16(l.count)}
	if again {
		m.Flags = linkproto.NodeFlagAgain
	}
	if l.ring != nil {
		m.Flags |= linkproto.NodeFlagRing
	}
	l.enqueueBestEffort(0, m)
}
