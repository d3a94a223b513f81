package virtuallink

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
)

// nodeContext is a context of messages of scenario hostile-node.
type nodeContext struct {
	world     *world
	number    int
	enabled   bool
	posted    [2]uint16 // sends and receives
	completed [2]uint16
}

func (c *nodeContext) start() int { return (c.number - 1) * harness.RegionFrames * harness.MessagePage }

// act has the host do something with it.
func (c *nodeContext) act() {
	rng := c.world.rng
	switch {
	case !c.enabled:
		c.begin()
	case rng.Chance(0.03):
		c.end()
	case c.posted[1]-c.completed[1] < harness.RegionRing && rng.Chance(0.6):
		c.post(1)
	case c.posted[0]-c.completed[0] < harness.RegionRing && c.alone():
		c.post(0)
	}
}

// sending reports whether sends of contexts are underway.
func (w *world) sending() bool {
	return slices.ContainsFunc(w.engines, func(c *nodeContext) bool { return c.enabled && c.posted[0] != c.completed[0] })
}

// alone reports whether no send is underway with which another would share slots: who has the last ones depends on who asks first.
func (c *nodeContext) alone() bool {
	return !c.world.sending() && c.world.waiting(nil) < 3 && c.world.model.VirtualQueued() <= harness.Messages.VLSlots/2
}

// compare compares the bytes of a message that has come.
func (c *nodeContext) compare(d linkproto.Completion) {
	if d.Status != linkproto.CompletionOK {
		return
	}
	at := c.start() + linkproto.RingsOf(harness.RegionRing) + (harness.RegionRing+int(d.Cookie)%harness.RegionRing)*harness.MessageMost
	for end := at + int(d.Length); at < end; {
		n := min(end-at, harness.MessagePage-at%harness.MessagePage)
		c.world.read(linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(at), Count: uint16(n)})
		at += n
	}
}

func (c *nodeContext) begin() {
	w, first := c.world, uint32((c.number-1)*harness.RegionFrames)
	w.set(linkproto.ContextRegRegion.Reg(c.number), linkproto.ContextFirst.In(first)|linkproto.ContextLast.In(first+harness.RegionFrames-1)|linkproto.ContextSize.In(2))
	w.set(linkproto.ContextRegStatus.Reg(c.number), linkproto.ContextEnabled.In(1))
	c.enabled, c.posted, c.completed = true, [2]uint16{}, [2]uint16{}
}

// end ends it, and closes its virtual links.
func (c *nodeContext) end() {
	c.enabled = false
	c.world.set(linkproto.ContextRegStatus.Reg(c.number), 0)
	for _, e := range c.world.links[1:] {
		if e.context == c.number {
			e.close()
		}
	}
}

// post posts a send (0) or a receive (1).
func (c *nodeContext) post(ring int) {
	w := c.world
	rng := w.rng
	slot := c.start() + linkproto.RingsOf(harness.RegionRing) + (ring*harness.RegionRing+int(c.posted[ring])%harness.RegionRing)*harness.MessageMost
	d := linkproto.Posted{Addr: uint32(slot), Length: uint32(testbench.Pick(rng, 0, 1, 60, 61, 62, 122, harness.MessageMost, harness.MessageMost, rng.IntN(harness.MessageMost))), Cookie: c.posted[ring]}
	if rng.Chance(0.05) {
		d.Addr, d.Length = testbench.Pick(rng, d.Addr+1, uint32(c.start()+harness.RegionFrames*harness.MessagePage-4), 0, 1<<20), uint32(rng.Between(5, 100))
	}
	if ring == 0 {
		d.Tag = rng.Uint32()
		d.VL = uint16(testbench.Pick(rng, c.number, c.number, c.number, c.number+rng.IntN(2), rng.IntN(nodeLinks+1)))
		if c.number == 2 && d.VL == 2 {
			d.VL = 3
		}
	}
	entry := c.start() + linkproto.RingEntry*(ring*harness.RegionRing+int(c.posted[ring])%harness.RegionRing)
	w.ask(linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: uint32(entry), Data: d.Append(nil)})
	c.posted[ring]++
	w.set([]linkproto.ContextReg{linkproto.ContextRegSendTail, linkproto.ContextRegReceiveTail}[ring].Reg(c.number), uint32(c.posted[ring]))
	w.tried["posted"]++
}

// learn reads what has been completed.
func (c *nodeContext) learn() {
	w := c.world
	if !c.enabled {
		return
	}
	count := uint16(w.register(linkproto.ContextRegCompletions.Reg(c.number)))
	var done [2]map[string][]linkproto.Completion // by what must come in this order
	for side := range done {
		done[side] = map[string][]linkproto.Completion{}
	}
	for n := c.completed[0] + c.completed[1]; n != count; n++ {
		at := c.start() + linkproto.RingEntry*(linkproto.RingCompletions*harness.RegionRing+int(n)%(2*harness.RegionRing))
		for side, a := range w.readBoth(linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(at), Count: linkproto.RingEntry}) {
			d, ok := linkproto.DecodeCompletion(a.Data)
			if !ok {
				w.failf("completion %d of context %d is none: % x", n, c.number, a.Data)
			}
			if e := w.links[d.VL%nodeLinks]; e != nil && e.context == c.number && d.Status == linkproto.CompletionBadLink { // or it has begun, and then the link has closed
				d.Status = linkproto.CompletionClosed
			}
			key := fmt.Sprintf("receives %v, by virtual link %d", d.Receive, d.VL)
			done[side][key] = append(done[side][key], d)
		}
	}
	for side := range done { // sends begin in order, and may be completed in another
		for _, all := range done[side] {
			if !all[0].Receive {
				slices.SortFunc(all, func(a, b linkproto.Completion) int { return int(int16(a.Cookie - b.Cookie)) })
			}
		}
	}
	if !reflect.DeepEqual(done[0], done[1]) {
		w.failf("context %d: the RTL has completed %+v, the model %+v", c.number, done[0], done[1])
	}
	for _, all := range done[1] {
		for _, d := range all {
			ring := 0
			if d.Receive {
				ring = 1
				c.compare(d)
			}
			c.completed[ring]++
		}
	}
	w.register(linkproto.ContextRegStatus.Reg(c.number))
	if c.completed == c.posted {
		w.register(linkproto.ContextRegSendHead.Reg(c.number))
	}
}
