package collective

import (
	"slices"

	"github.com/stafflink/lmmc/hostdrv/message"
)

// Releases by multicast may get lost, unless Options.Acknowledged has them arrive. No acknowledgements come then: a release says of which barrier it is, and a member that has waited for long asks the first one for it, which says it again to
// that member alone, by a message that arrives. One that comes a second time is of a barrier before, and dropped.

// cast releases all others.
func (g *Group) cast() error {
	if !g.acknowledged {
		g.released = g.tag
	}
	return g.sendTo(g.multicast, nil)
}

// casts reports whether the members of a group hear from the first one by a multicast.
func (g *Group) casts() bool { return g.barrier.Multicast() || g.acknowledged }

// leave is the end of a group: no member is gone before all have heard, and acknowledged, the last multicast.
func (g *Group) leave() error {
	for g.acknowledged && g.rank == 0 && g.posted > 0 {
		if err := g.step(); err != nil {
			return err
		}
	}
	return g.carryOut(tree(2)(len(g.members), g.rank))
}

// early reports whether a packet of the first member is of a later call, which has overtaken a multicast that this member waits for. The members disagree if that does not come for long, or, where it may
// be lost, if the first one has been asked for it and says that it is in a call, but not the release before.
func (g *Group) early(rank int, p packet) bool {
	if rank != 0 || !g.casts() || int16(uint16(p.tag>>serialShift)-g.serial) <= 0 {
		return false
	}
	if !g.overtaken {
		g.overtaken, g.passed = true, 0
	}
	if g.acknowledged || g.kind != kindBarrier {
		return g.passed < 2
	}
	return !g.refused
}

// keep puts a packet behind those that came from its sender before, or, if some of later calls have overtaken it, before these.
func (g *Group) keep(rank int, p packet) {
	at := len(g.came[rank])
	for rank == 0 && g.casts() && at > 0 && int16(uint16(g.came[rank][at-1].tag>>serialShift)-uint16(p.tag>>serialShift)) > 0 {
		at--
	}
	g.came[rank] = slices.Insert(g.came[rank], at, p)
}

// late asks for a release that has not come, and if a later call has, whether the first member is in one: that says it again before it answers.
func (g *Group) late() {
	if g.rank == 0 || g.kind != kindBarrier || !g.barrier.Multicast() || g.acknowledged || g.asking {
		return
	}
	if g.asking = g.tell(0, kindLate, nil); g.asking && g.overtaken {
		g.tell(0, kindAsk, nil)
	}
}

// again says a release again to a member that asks for it.
func (g *Group) again(rank int, tag uint32) error {
	if g.released>>serialShift != tag>>serialShift || g.released == 0 {
		return nil // the barrier is not over
	}
	err := g.transport.PostSend(message.Send{Node: g.members[rank], Tag: g.released, Cookie: uint64(kindBarrier)})
	if err == nil {
		g.posted++
	}
	return err
}

// stale reports whether a packet is a release of a barrier before.
func (g *Group) stale(rank int, p packet) bool {
	return rank == 0 && g.barrier.Multicast() && kind(p.tag>>kindShift&0xF) == kindBarrier && int16(uint16(p.tag>>serialShift)-g.serial) < 0
}
