package engine

import (
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// Queue is the account of the NI's transmit queue of one link.
type Queue struct {
	sent, freed           uint64                      // packets, since the NI was opened
	sentBytes, freedBytes uint16                      // modulo, as in SPACE
	freedPackets          uint8                       // the same
	sizes                 [linkproto.MaxWindow]uint16 // of packets sent, by number modulo its length
	full                  bool                        // was full, and less than half has gone since
	resync                creditResync
	traps                 uint64 // that were reported
	retrap                bool   // RETRAP was sent and not answered
	retraps               uint64 // how often it was sent

	cableLosses uint64 // packets lost on the host's cable
	base        uint32 // the sum of the NI's LossCounters when it was opened
	linkLosses  uint64 // packets lost or refused since, according to it
	reported    uint64 // losses that TakeLosses has returned

	others int  // turns for which a datagram still counts as waiting for room
	owed   bool // what went last is of a virtual link, so that datagram is next

	marks []*uint64 // values of sent that Syncs wait for freed to reach
}

// LossCounters are the counters that make up a link's losses.
var LossCounters = [...]linkproto.Counter{linkproto.CntLostPackets, linkproto.CntNoSpace}

// Sent and Freed count packets since the NI was opened: given to the link, and freed by the NI.
func (q *Queue) Sent() uint64  { return q.sent }
func (q *Queue) Freed() uint64 { return q.freed }

// Cable is a link of the NI as Virtual is one of the driver's.
type Cable struct {
	core *Core
	link int
}

// Cable returns a link of the NI.
func (c *Core) Cable(link int) Cable { return Cable{c, link} }

func (l Cable) queue() *Queue { return &l.core.queues[l.link-1] }

// Forward sends a packet if there is room; its fields have been checked.
func (l Cable) Forward(p *linkproto.Packet) (sent bool, err error) {
	p.Via = uint8(l.link)
	return l.core.Forward(p)
}

// HasRoom reports whether there is room for a packet of so many bytes.
func (l Cable) HasRoom(size int) bool { return l.core.HasRoom(l.link, size) }

// Resume lets packets go on behind a trap. When that is answered by a RestartError it was carried out.
func (l Cable) Resume() {
	l.core.Demand(linkproto.Packet{Type: linkproto.TypeResume, Via: uint8(l.link)},
		fmt.Sprintf("it reported a trap of link %d, and refused to resume", l.link), func(linkproto.Packet, error) {})
}

// Sent, Freed and Lost count packets: given to the link, freed by the NI, and lost.
func (l Cable) Sent() uint64  { return l.queue().Sent() }
func (l Cable) Freed() uint64 { return l.queue().Freed() }
func (l Cable) Lost() uint64  { return l.queue().Lost() }

// Audit is Core.Audit.
func (l Cable) Audit(done func(more bool, err error)) { l.core.Audit(l.link, done) }

// Mark and Unmark are Queue's.
func (l Cable) Mark() *uint64       { return l.queue().Mark() }
func (l Cable) Unmark(mark *uint64) { l.queue().Unmark(mark) }

// Pending is what was sent and not freed.
func (q *Queue) Pending() (packets, bytes int) {
	return int(q.sent - q.freed), int(q.sentBytes - q.freedBytes)
}

// Lost is how many packets were lost, on the host's cable and by the link.
func (q *Queue) Lost() uint64 { return q.cableLosses + q.linkLosses }

// hasRoom reports whether the NI will take a packet of so many bytes. Once it will not, writers wait until half of the queue is gone, so
// that one which is faster than the link is not woken for each packet, and that short packets do not keep a long one out.
func (q *Queue) hasRoom(id *Identity, size int) bool {
	packets, bytes := q.Pending()
	q.full = bytes+size > id.ReplayBytes || packets >= id.Window || q.full && (bytes > id.ReplayBytes/2 || packets > id.Window/2)
	return !q.full
}

func (q *Queue) send(bytes int) {
	q.sizes[q.sent%uint64(len(q.sizes))] = uint16(bytes)
	q.sentBytes += uint16(bytes)
	q.sent++
}

// unsend takes the last packet sent back: it never reached the NI.
func (q *Queue) unsend() {
	q.sent--
	q.sentBytes -= q.sizes[q.sent%uint64(len(q.sizes))]
	q.cableLosses++
	for _, mark := range q.marks {
		*mark = min(*mark, q.sent)
	}
}

// Mark returns the number of packets sent so far, kept up to date when some of them turn out never to have reached the NI, until Unmark.
func (q *Queue) Mark() *uint64 {
	mark := q.sent
	q.marks = append(q.marks, &mark)
	return &mark
}

// Unmark ends what Mark began.
func (q *Queue) Unmark(mark *uint64) {
	q.marks = slices.DeleteFunc(q.marks, func(m *uint64) bool { return m == mark })
}

// setLosses takes the sum of the link's LossCounters. Packets that were lost before the first one was sent are an earlier program's.
func (q *Queue) setLosses(sum uint32) {
	if q.sent == 0 {
		q.base = sum
		return
	}
	q.linkLosses = max(q.linkLosses, uint64(sum-q.base))
}

// TakeLosses takes the sum of a link's LossCounters, and returns how many packets were lost since it was called last.
func (c *Core) TakeLosses(link int, sum uint32) uint64 {
	q := &c.queues[link-1]
	if q.setLosses(sum); q.linkLosses > q.resync.losses {
		c.StartResync(link)
	}
	lost := q.Lost() - q.reported
	q.reported += lost
	return lost
}

// Forward sends a packet by a link if there is room; its fields have been checked.
func (c *Core) Forward(p *linkproto.Packet) (sent bool, err error) {
	if ready, err := c.ready(p.Via, p.Size()); !ready || !c.send(p, inFlight{via: p.Via}) {
		return false, err
	}
	c.queues[p.Via-1].send(len(c.packet))
	return true, nil
}

// ForwardRoute is Forward for a datagram. One that finds no room has its turn behind one ROUTE of a virtual link; who does not try again for two turns has given up.
func (c *Core) ForwardRoute(r *linkproto.Route) (sent bool, err error) {
	q := &c.queues[r.Via-1]
	ready, err := c.ready(r.Via, linkproto.RouteExtra+len(r.Packet))
	if !ready {
		q.others = 2
		return false, err
	}
	q.others, q.owed = 0, false
	packet, err := r.Append(c.packet[:0])
	c.packet = packet
	if !c.sendBytes(packet, err, inFlight{via: r.Via}) {
		return false, nil
	}
	q.send(len(c.packet))
	return true, nil
}

// ForwardRaw is Forward for a ROUTE as it is, of any node, but for `via`.
func (c *Core) ForwardRaw(via uint8, route []byte) (sent bool, err error) {
	route[0] = via<<linkproto.TypeBits | byte(linkproto.TypeRoute)
	if ready, err := c.ready(via, len(route)); !ready || !c.sendBytes(route, nil, inFlight{via: via}) {
		return false, err
	}
	c.queues[via-1].send(len(route))
	return true, nil
}

// ready reports whether a packet of so many bytes can be sent by a link.
func (c *Core) ready(link uint8, size int) (bool, error) {
	alive, err := c.alive()
	return alive && c.HasRoom(int(link), size), err
}

// alive reports whether there is anything to send to, or why not.
func (c *Core) alive() (bool, error) {
	switch {
	case c.err != nil:
		return false, c.err
	case c.down >= c.linkTimeout:
		return false, c.silent()
	}
	return true, nil
}

// HasRoom reports whether there is room for a packet of so many bytes by a link. If it is not known what the NI holds for the link, that
// is found out.
func (c *Core) HasRoom(link, size int) bool {
	if c.err != nil || c.mustWait() {
		return false
	}
	q := &c.queues[link-1]
	if !q.resync.done {
		c.StartResync(link)
	}
	return q.resync.done && q.hasRoom(&c.id, size)
}

// space takes a SPACE.
func (c *Core) space(p linkproto.Packet) {
	if p.Via < 1 || int(p.Via) > c.links() {
		c.Fail(Violation("it reported space of link %d of %d", p.Via, c.links()))
		return
	}
	q := &c.queues[p.Via-1]
	packets, bytes := p.Packets-q.freedPackets, p.Bytes-q.freedBytes
	switch {
	case !q.resync.done && q.sent == q.freed: // of an earlier program
		q.sentBytes = p.Bytes
	case uint64(packets) > q.sent-q.freed || bytes > q.sentBytes-q.freedBytes:
		c.Fail(Violation("link %d freed %d packets of %d bytes, but only %d of %d bytes were sent", p.Via, packets, bytes, q.sent-q.freed, q.sentBytes-q.freedBytes))
		return
	default:
		q.freed += uint64(packets)
	}
	q.freedPackets, q.freedBytes = p.Packets, p.Bytes
	c.endResync(int(p.Via))
}
