package hostdrv

import (
	"fmt"
	"strconv"

	"github.com/stafflink/lmmc/linkproto"
)

// nodeLink is a link of a node: what its two ends know of each other. All is under the NI's lock.
type nodeLink struct {
	node        *Node
	link        int
	first       int // frame of the own receive buffer that the peer has
	count       int // and how many
	replacement func(frames int) Replacement

	session  uint32                 // of the peer, 0 if it has not said hello, or does not fit
	misfit   error                  // why it does not, or nil
	frames   []outFrame             // of the peer's receive buffer
	choice   Replacement            // among them
	ports    [2]map[uint32]*Port    // by Direction and number
	asked    [2]map[uint32]*Request // the same: what the peer has asked for and not been answered
	over     [2]endings             // the same: how what the peer has asked for came to its end, until the peer says that it knows
	outbox   []said                 // that wait for room
	onTheWay []said                 // sent, and not known to have arrived

	lossAt  uint64 // losses of the link that its ports have been told of
	audited uint64 // packets that the NI had freed at the last look for lost ones
}

// outFrame is a frame of the peer that this node manages.
type outFrame struct {
	number int
	port   *Port // nil if none has it
}

// endings are what was said of ports that have ended, by number.
type endings map[uint32]linkproto.NodeMessage

// port returns a port of the link, or nil.
func (l *nodeLink) port(d Direction, id uint32) *Port { return l.ports[d][id] }

func (l *nodeLink) addPort(p *Port) {
	if l.ports[p.direction] == nil {
		l.ports[p.direction] = map[uint32]*Port{}
	}
	l.ports[p.direction][p.id] = p
}

// message handles what the peer says; an error says that it made no sense.
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
		return l.greeted(m)
	case linkproto.NodeOpen:
		l.opened(port, role, m.Text)
	case linkproto.NodeAccept, linkproto.NodeRefuse:
		p := l.port(role, port)
		switch {
		case p == nil && m.Kind == linkproto.NodeAccept: // it is gone meanwhile
			l.suggest(port, linkproto.NodeMessage{Kind: linkproto.NodeClose, Role: m.Role})
		case p == nil, p.state == connected && !p.accepted: // said again
		case p.state != connecting:
			return fmt.Errorf("%w %d is %v", ErrPort, port, p.state)
		case m.Kind == linkproto.NodeAccept:
			p.state = connected
		default:
			l.close(p, &RefusedPortError{Port: port, Reason: string(m.Text)})
		}
	case linkproto.NodeClose:
		l.closed(port, role.other())
	case linkproto.NodeMissed:
		l.sayAgain(port, m.Ends)
	}
	return nil
}

// closed takes what the peer has closed, or does not have.
func (l *nodeLink) closed(id uint32, d Direction) {
	delete(l.over[d], id)
	if r := l.asked[d][id]; r != nil {
		r.withdraw()
	}
	switch p := l.port(d, id); {
	case p == nil:
	case p.state == connecting:
		l.close(p, &RefusedPortError{Port: id, Reason: "what the other node said about it got lost on the way to this program"})
	default:
		if !p.accepted {
			l.sayClosed(p)
		}
		p.accepted = false // the peer knows its end
		p.closedByPeer()
	}
}

// close ends a port. Its CLOSE comes behind every OPEN of it, so the peer need not remember it any more.
func (l *nodeLink) close(p *Port, why error) {
	l.sayClosed(p)
	p.end(why)
}

func (l *nodeLink) sayClosed(p *Port) {
	l.say(p.id, linkproto.NodeMessage{Kind: linkproto.NodeClose, Role: uint8(p.direction)})
}

// finish keeps how what the peer had asked for came to its end: it may ask again before it knows.
func (l *nodeLink) finish(d Direction, id uint32, m linkproto.NodeMessage) {
	if l.over[d] == nil {
		l.over[d] = endings{}
	}
	l.over[d][id] = m
}

// ends are the ends that the node has of ports with a number, or has had and the peer may not know that, a bit by Direction; without those
// that the peer cannot know.
func (l *nodeLink) ends(id uint32) (ends uint8) {
	for d := range Direction(len(l.ports)) {
		_, over := l.over[d][id]
		if p := l.port(d, id); over || p != nil && p.state != created {
			ends |= 1 << d
		}
	}
	return ends
}

// sayAgain says what the peer may have missed about ports with a number, of which it has some ends. What it asked for has come before that was said.
func (l *nodeLink) sayAgain(id uint32, theirs uint8) {
	if id == 0 {
		l.greet(true)
		return
	}
	for d := range Direction(len(l.ports)) {
		over, isOver := l.over[d][id]
		switch p, other := l.port(d, id), theirs>>d.other()&1 != 0; {
		case p != nil && p.state == connecting:
			l.say(id, linkproto.NodeMessage{Kind: linkproto.NodeOpen, Role: uint8(d), Text: p.params})
		case p != nil && p.accepted && other:
			l.suggest(id, linkproto.NodeMessage{Kind: linkproto.NodeAccept, Role: uint8(d.other())})
		case isOver && other:
			l.suggest(id, over)
		case p == nil && l.asked[d][id] == nil && other:
			l.suggest(id, linkproto.NodeMessage{Kind: linkproto.NodeClose, Role: uint8(d)})
		}
	}
}

// greeted handles a hello. One with another session means that the peer has started again: nothing of before counts.
func (l *nodeLink) greeted(m linkproto.NodeMessage) error {
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
	if m.Flags&linkproto.NodeFlagAgain != 0 {
		l.greet(false)
	}
	return nil
}

// fits says what keeps the nodes from talking to each other, if anything does.
func (l *nodeLink) fits(m linkproto.NodeMessage) error {
	e := &IncompatibleError{Link: l.link}
	want := func(field string, have, want int) {
		if have != want {
			e.Mismatches = append(e.Mismatches, Mismatch{field, strconv.Itoa(have), strconv.Itoa(want)})
		}
	}
	if want("version", int(m.Version), linkproto.NodeVersion); m.Version == linkproto.NodeVersion { // else the other fields mean something else
		want("page_bytes", int(m.PageBytes), l.node.ni.identity.PageBytes)
	}
	if len(e.Mismatches) > 0 {
		return e
	}
	return nil
}

// startOver forgets what was agreed with the peer, whose session is another one now. Ports end with why.
func (l *nodeLink) startOver(session uint32, why error) {
	for _, ports := range l.ports {
		for _, p := range ports {
			if l.session != 0 || p.state == connected {
				p.end(why)
			}
		}
	}
	l.session = session
	for _, asked := range l.asked {
		for _, r := range asked {
			r.withdraw()
		}
	}
	l.over = [2]endings{}
	l.frames = nil
}

// opened handles a request to connect.
func (l *nodeLink) opened(id uint32, role Direction, params []byte) {
	n, d := l.node, role.other()
	refuse := func(why string) {
		l.suggest(id, linkproto.NodeMessage{Kind: linkproto.NodeRefuse, Role: uint8(role), Text: []byte(why)})
	}
	switch p := l.port(d, id); {
	case p != nil && p.accepted: // it has not heard
		l.suggest(id, linkproto.NodeMessage{Kind: linkproto.NodeAccept, Role: uint8(role)})
	case l.asked[d][id] != nil:
	case l.over[d][id].Kind != 0: // nor this
		l.suggest(id, l.over[d][id])
	case id == 0 || p != nil:
		refuse("the port number is in use")
	case len(n.offers) >= maxOffers:
		n.stats.Discarded++
		refuse("too many requests wait to be accepted")
	case len(l.over[d]) >= maxOver:
		n.stats.Discarded++
		refuse("too many ports that were asked for before have ended, and the node that asks has not said that it knows")
	default:
		r := &Request{node: n, via: l.link, link: l, id: id, direction: d, session: l.session, params: params}
		if l.asked[d] == nil {
			l.asked[d] = map[uint32]*Request{}
		}
		l.asked[d][id] = r
		n.offers = append(n.offers, r)
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

// forget takes all frames from their ports, since the PAGEs that said so may be lost.
func (l *nodeLink) forget() {
	for i := range l.frames {
		if p := l.frames[i].port; p != nil {
			p.frame, l.frames[i].port = -1, nil
		}
	}
}

// audit asks how many packets the NI has lost or refused on the link, and tells the ports if there are more.
func (l *nodeLink) audit(done func(error)) {
	c := l.node.ni.core
	q := &c.queues[l.link-1]
	freed := q.freed
	l.audited = freed
	c.countLosses(l.link, func(err error) {
		switch {
		case err != nil:
		case q.link > q.survey.seen:
			l.lost()
			c.startSurvey(l.link)
		default:
			l.arrived(freed)
		}
		done(err)
	})
}

// lost tells the ports of packets that the link has lost, and says again what was among them.
func (l *nodeLink) lost() {
	l.lossAt = l.node.ni.core.queues[l.link-1].lost()
	l.forget()
	l.repeat()
}
