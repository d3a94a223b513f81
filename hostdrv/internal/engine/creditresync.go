package engine

import "github.com/stafflink/lmmc/linkproto"

// creditResync finds out what the NI's queue of a link holds, before the first packet and after a loss; nothing is sent by the link
// meanwhile. It clears LOST, waits until the queue is empty and SPACE has reported all of it, and reads the counters of losses.
type creditResync struct {
	done    bool   // the account of the queue is exact
	running bool   // and will be
	empty   bool   // the NI says that the queue is empty, and
	freed   uint8  // how many packets it has freed, modulo
	losses  uint64 // that the last resync has found
	poll    Timer
}

// pollEvery is how many ticks pass between two reads of the status of a queue that is to become empty.
const pollEvery = linkproto.DefaultWordTimer

// StartResync begins a creditResync unless one is running.
func (c *Core) StartResync(link int) {
	q := &c.queues[link-1]
	if q.resync.running {
		return
	}
	q.resync.done, q.resync.running, q.resync.empty = false, true, false
	c.Demand(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.LinkStatusReg(link), Value: linkproto.StatusLost.In(1)}, "it does not clear LOST",
		func(linkproto.Packet, error) {})
	c.pollQueue(link)
}

// pollQueue reads how many packets were lost, and then whether the queue is empty: in this order, so that nothing is lost between.
func (c *Core) pollQueue(link int) {
	q := &c.queues[link-1]
	c.readLosses(link, func(error) {})
	c.Request(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.LinkStatusReg(link)}, func(a linkproto.Packet, err error) {
		switch {
		case err != nil:
		case linkproto.StatusLost.Of(a.Value) != 0: // set again, by packets that an earlier program has queued
			q.resync.running = false
			c.StartResync(link)
		case linkproto.StatusQueued.Of(a.Value) != 0:
			q.resync.poll = Timer{Fire: func() { c.pollQueue(link) }}
			c.AddTimer(&q.resync.poll, c.now+pollEvery)
		default:
			q.resync.empty, q.resync.freed = true, uint8(linkproto.StatusFreed.Of(a.Value))
			c.endResync(link)
		}
	})
}

// endResync ends a resync once SPACE has reported all that the NI has freed. The Handler learns of a loss before anything is sent.
func (c *Core) endResync(link int) {
	q := &c.queues[link-1]
	if !q.resync.running || !q.resync.empty || q.freedPackets != q.resync.freed {
		return
	}
	q.freed, q.sentBytes, q.full = q.sent, q.freedBytes, false
	q.resync.done, q.resync.running = true, false
	if q.linkLosses > q.resync.losses {
		q.resync.losses = q.linkLosses
		if c.events != nil {
			c.events.Lost(link)
		}
	}
}

// Audit reads how many packets of a link the NI has lost or refused. done gets whether there are more than the last resync has found,
// which another one follows then.
func (c *Core) Audit(link int, done func(more bool, err error)) {
	q := &c.queues[link-1]
	c.readLosses(link, func(err error) {
		more := err == nil && q.linkLosses > q.resync.losses
		done(more, err)
		if more {
			c.StartResync(link)
		}
	})
}

// readLosses reads the LossCounters of a link. done is called with the last answer.
func (c *Core) readLosses(link int, done func(error)) {
	q := &c.queues[link-1]
	var lost uint32
	for _, counter := range LossCounters {
		c.Request(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.CounterReg(link, counter)}, func(a linkproto.Packet, err error) {
			lost += a.Value
			if counter != LossCounters[len(LossCounters)-1] {
				return
			}
			if err == nil {
				q.setLosses(lost)
			}
			done(err)
		})
	}
}

// refused takes the NI's refusal to forward a packet: it has lost earlier ones, and refuses all until LOST is cleared.
func (c *Core) refused(p linkproto.Packet) {
	if p.Type == linkproto.TypeDone && p.Via == 0 && p.Status == linkproto.StatusNoSpace && c.id.Has(linkproto.FeatureVirtual) {
		return // of a virtual link that the NI has closed, which it says
	}
	if p.Type != linkproto.TypeDone || p.Status != linkproto.StatusNoSpace || p.Via < 1 || int(p.Via) > c.links() {
		c.Fail(Violation("it refused a packet for link %d of %d with %v", p.Via, c.links(), p.Status))
		return
	}
	if q := &c.queues[p.Via-1]; q.sent == q.freed {
		c.Fail(Violation("it refused a packet for link %d with %v, but none was sent", p.Via, p.Status))
		return
	}
	c.StartResync(int(p.Via))
}

// probe reads the status of a link, since its TRAP or its refusal of packets may have been lost with the host's cable, or received by
// an earlier program. A trap that the driver knows already, or that comes meanwhile, is not asked for again.
func (c *Core) probe(link int) {
	q := &c.queues[link-1]
	known, traps := c.traps[link-1] != nil, q.traps
	c.Request(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.LinkStatusReg(link)}, func(a linkproto.Packet, err error) {
		if err != nil {
			return
		}
		if linkproto.StatusLost.Of(a.Value) != 0 && q.resync.done {
			c.StartResync(link)
		}
		if linkproto.StatusTrapped.Of(a.Value) != 0 && !known && q.traps == traps && !q.retrap {
			q.retrap = true
			q.retraps++
			c.Request(linkproto.Packet{Type: linkproto.TypeRetrap, Via: uint8(link)}, func(linkproto.Packet, error) { q.retrap = false })
		}
	})
}
