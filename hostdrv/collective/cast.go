package collective

import "github.com/stafflink/lmmc/hostdrv/message"

// Releases by multicast may get lost. No acknowledgements come: a release says of which barrier it is, and a member that has waited for long asks the first one for it, which says it again to
// that member alone, by a message that arrives. One that comes a second time is of a barrier before, and dropped.

// cast releases all others.
func (g *Group) cast() error {
	err := g.transport.PostSend(message.Send{Node: g.multicast, Tag: g.tag, Cookie: uint64(g.kind)})
	if err == nil {
		g.posted++
		g.released = g.tag
	}
	return err
}

// leave is the end of a group: no member is gone before all have heard the last release.
func (g *Group) leave() error { return g.carryOut(tree(2)(len(g.members), g.rank)) }

// late asks for a release that has not come.
func (g *Group) late() {
	if g.rank > 0 && g.kind == kindBarrier && g.barrier.Multicast() {
		g.tell(0, kindLate, nil)
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
