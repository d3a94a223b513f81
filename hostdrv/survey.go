package hostdrv

import "github.com/stafflink/lmmc/linkproto"

// survey is how the driver gets to know what the NI holds for a link, before it sends the first packet by it and after a loss: nothing goes out
// meanwhile. It clears LOST, waits until the queue is empty and SPACE has told all of it, and counts what was lost or refused.
type survey struct {
	known    bool // the account of the queue is exact
	underway bool
	empty    bool   // the NI says that the queue is, and
	freed    uint8  // how many packets it has freed, modulo
	seen     uint64 // losses that the last survey has found
	poll     timer
}

// pollEvery is how many ticks pass between two looks at a queue that is to become empty.
const pollEvery = linkproto.DefaultWordTimer

// startSurvey begins one unless one is underway.
func (c *core) startSurvey(link int) {
	q := &c.queues[link-1]
	if q.survey.underway {
		return
	}
	q.survey.known, q.survey.underway, q.survey.empty = false, true, false
	c.submit(&call{patient: true, packet: linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.LinkStatusReg(link), Value: linkproto.StatusLost.In(1)},
		done: func(_ linkproto.Packet, err error) {
			if refused, ok := err.(*RefusedError); ok {
				c.fail(brokenf("it does not clear LOST: %w", refused))
			}
		}})
	c.lookAtQueue(link)
}

// lookAtQueue asks for what was lost, and then whether the queue is empty: in this order, so that nothing is lost between.
func (c *core) lookAtQueue(link int) {
	q := &c.queues[link-1]
	c.countLosses(link, func(error) {})
	c.submit(&call{patient: true, packet: linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.LinkStatusReg(link)},
		done: func(a linkproto.Packet, err error) {
			switch {
			case err != nil:
			case linkproto.StatusLost.Of(a.Value) != 0: // what a program before has queued, since it was cleared
				q.survey.underway = false
				c.startSurvey(link)
			case linkproto.StatusQueued.Of(a.Value) != 0:
				q.survey.poll = timer{fire: func() { c.lookAtQueue(link) }}
				c.timers.add(&q.survey.poll, c.now+pollEvery)
			default:
				q.survey.empty, q.survey.freed = true, uint8(linkproto.StatusFreed.Of(a.Value))
				c.surveyed(link)
			}
		}})
}

// surveyed ends a survey once SPACE has told all that the NI has freed. Ports learn of a loss before anything is sent.
func (c *core) surveyed(link int) {
	q := &c.queues[link-1]
	if !q.survey.underway || !q.survey.empty || q.freedPackets != q.survey.freed {
		return
	}
	q.freed, q.sentBytes, q.full = q.sent, q.freedBytes, false
	q.survey.known, q.survey.underway = true, false
	if q.link > q.survey.seen {
		q.survey.seen = q.link
		if c.events != nil {
			c.events.lost(link)
		}
	}
}

// countLosses asks how many packets of a link the NI has lost or refused. done is called with the second answer.
func (c *core) countLosses(link int, done func(error)) {
	q := &c.queues[link-1]
	var lost uint32
	for _, counter := range lossCounters {
		c.submit(&call{patient: true, packet: linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.CounterReg(link, counter)},
			done: func(a linkproto.Packet, err error) {
				lost += a.Value
				if counter != lossCounters[len(lossCounters)-1] {
					return
				}
				if err == nil {
					q.found(lost)
				}
				done(err)
			}})
	}
}

// lossCounters are the counters that make up a link's losses.
var lossCounters = [...]linkproto.Counter{linkproto.CntLostPackets, linkproto.CntNoSpace}

// found takes the sum of a link's lossCounters. What is lost before the first packet was sent is a program's before.
func (q *queue) found(sum uint32) {
	if q.sent == 0 {
		q.base = sum
		return
	}
	q.link = max(q.link, uint64(sum-q.base))
}

// refused takes the NI's refusal to forward a packet: it has LOST others, and refuses all until that is cleared.
func (c *core) refused(p linkproto.Packet) {
	if p.Type != linkproto.TypeDone || p.Status != linkproto.StatusNoSpace || p.Via < 1 || int(p.Via) > c.links() {
		c.fail(brokenf("it refused a packet for link %d, of which there are %d, with %v", p.Via, c.links(), p.Status))
		return
	}
	if q := &c.queues[p.Via-1]; q.sent == q.freed {
		c.fail(brokenf("it refused a packet for link %d with %v, to which none is on its way", p.Via, p.Status))
		return
	}
	c.startSurvey(int(p.Via))
}

// look is for when something of the NI's may have got lost with the host's cable, or was told to a program before: refusals, and TRAPs. The
// answer comes behind every TRAP that was told and every RESUME asked for before, so a link is trapped then by one that was known already, by
// one that has come meanwhile, or by one that is to be told again.
func (c *core) look(link int) {
	q := &c.queues[link-1]
	stood, told := c.traps[link-1] != nil, q.traps
	c.submit(&call{patient: true, packet: linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.LinkStatusReg(link)},
		done: func(a linkproto.Packet, err error) {
			if err != nil {
				return
			}
			if linkproto.StatusLost.Of(a.Value) != 0 && q.survey.known {
				c.startSurvey(link)
			}
			if linkproto.StatusTrapped.Of(a.Value) != 0 && !stood && q.traps == told && !q.retrap {
				q.retrap = true
				q.retold++
				c.submit(&call{patient: true, packet: linkproto.Packet{Type: linkproto.TypeRetrap, Via: uint8(link)},
					done: func(linkproto.Packet, error) { q.retrap = false }})
			}
		}})
}
