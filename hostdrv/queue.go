package hostdrv

import (
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// queue is the account of the NI's transmit queue of one link.
type queue struct {
	sent, freed           uint64                      // packets, since the NI was opened
	sentBytes, freedBytes uint16                      // modulo, as in SPACE
	freedPackets          uint8                       // the same
	sizes                 [linkproto.MaxWindow]uint16 // of packets sent, by number modulo its length
	full                  bool                        // has no room, and not yet by half less
	survey                survey
	traps                 uint64 // that were told
	retrap                bool   // RETRAP is on its way
	retold                uint64 // how often it was sent

	cable uint64 // packets lost on the host's cable
	base  uint32 // the sum of the NI's lossCounters when it was opened
	link  uint64 // packets lost or refused since, according to it
	told  uint64 // losses that Sync has reported

	marks []*uint64 // of Syncs: values of sent that they wait for freed to reach
}

func (q *queue) lost() uint64 { return q.cable + q.link }

// hasRoom reports whether the NI will take a packet. Once it will not, writers wait until half of the queue is gone, so that one which is
// faster than the link is not woken for each packet.
func (q *queue) hasRoom(id *Identity) bool {
	bytes, packets := int(q.sentBytes-q.freedBytes), int(q.sent-q.freed)
	most := id.ReplayBytes - id.MaxPacket()
	q.full = bytes > most || packets >= id.Window || q.full && (bytes > most/2 || packets > id.Window/2)
	return !q.full
}

func (q *queue) send(bytes int) {
	q.sizes[q.sent%uint64(len(q.sizes))] = uint16(bytes)
	q.sentBytes += uint16(bytes)
	q.sent++
}

// unsend takes the last packet sent back: it never reached the NI.
func (q *queue) unsend() {
	q.sent--
	q.sentBytes -= q.sizes[q.sent%uint64(len(q.sizes))]
	q.cable++
	for _, mark := range q.marks {
		*mark = min(*mark, q.sent)
	}
}

// mark returns the number of packets sent so far, kept up to date when some of them turn out never to have reached the NI.
func (q *queue) mark() *uint64 {
	mark := q.sent
	q.marks = append(q.marks, &mark)
	return &mark
}

func (q *queue) unmark(mark *uint64) {
	q.marks = slices.DeleteFunc(q.marks, func(m *uint64) bool { return m == mark })
}

// space takes what the NI says it has freed.
func (c *core) space(p linkproto.Packet) {
	if p.Via < 1 || int(p.Via) > c.links() {
		c.fail(brokenf("it reported space of link %d, there are %d", p.Via, c.links()))
		return
	}
	q := &c.queues[p.Via-1]
	packets, bytes := p.Packets-q.freedPackets, p.Bytes-q.freedBytes
	switch {
	case !q.survey.known && q.sent == q.freed: // what was sent before the account began
		q.sentBytes = p.Bytes
	case uint64(packets) > q.sent-q.freed || bytes > q.sentBytes-q.freedBytes:
		c.fail(brokenf("link %d freed %d packets of %d bytes, of %d of %d bytes that were sent", p.Via, packets, bytes, q.sent-q.freed, q.sentBytes-q.freedBytes))
		return
	default:
		q.freed += uint64(packets)
	}
	q.freedPackets, q.freedBytes = p.Packets, p.Bytes
	c.surveyed(int(p.Via))
}
