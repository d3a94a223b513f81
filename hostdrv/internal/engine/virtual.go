package engine

import (
	"cmp"
	"fmt"
	"math"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
)

// virtuals are the virtual links that the driver carries out for an NI without any.
type virtuals struct {
	all       []*Virtual // by number - 1; nil where one was closed
	named     map[virtualName]*Virtual
	listeners map[uint16]func(node uint16, via uint8) // by channel: what opens a virtual link to a node that asks for it
	links     Share                                   // of those that carry links
	ready     []*Share                                // with virtual links that may have ROUTEs to send; they take turns
	held      []*Virtual                              // whose packets wait until fewer requests do
	marked    []*Virtual                              // that are to be touched
	owing     int                                     // without a Taker whose packets are not all acknowledged
}

// virtualBacklog is how many requests may wait before what comes by virtual links does.
const virtualBacklog = 4

// Virtual is an end of a virtual link, and what is done with the packets that come by it: what an NI does with those of a cable.
type Virtual struct {
	// Allowed says whether a frame of the receive buffer may be written by this link.
	Allowed func(frame int) bool

	core       *Core
	taker      Taker // nil: the Handler and the receive buffer
	share      *Share
	restarts   uint32   // that the taker knows of
	read       uint64   // packets taken out
	breaks     []uint64 // values of read at which the taker is to be told of a restart
	closed     bool
	farewell   []byte // a ROUTE that goes before any other
	delivering bool
	held       bool // it is among those that are
	owes       bool // the same
	link       int  // what the Handler calls it
	via        uint8
	vl         *flowctl.VirtualLink
	at         uint64 // ticks that it knows to have passed
	timer      Timer
	waits      bool // it is among those that are ready
	marked     bool // it is among those that are
	trapped    bool
	sent       uint64 // packets
	losses     uint64 // of them
	denied     uint64 // writes that were not allowed
	bad        uint64 // packets that were wrong
}

// VirtualConfig says how to make a Virtual.
type VirtualConfig struct {
	Link    int    // what it is called, above the NI's own links
	Via     int    // the NI's link by which its ROUTEs go
	Node    uint16 // this one
	Peer    uint16 // the other
	Channel uint16
	NewLife func() linkproto.Life
	Taker   Taker  // gets what comes by it; nil: what an NI does with it
	Share   *Share // of the host's cable; nil: that of all links
}

// virtualPackets is how many of the longest packets each end of a virtual link holds, to send and received.
const virtualPackets = 8

// NewVirtual makes a virtual link, which begins to come up. The identity is known.
func (c *Core) NewVirtual(v VirtualConfig) (*Virtual, error) {
	most, number := c.id.MaxPacket(), c.virtualNumber()
	if number > math.MaxUint16 {
		return nil, fmt.Errorf("a network interface has at most %d virtual links", math.MaxUint16)
	}
	vl, err := flowctl.NewVirtual(flowctl.VirtualConfig{
		Node: v.Node, Peer: v.Peer, Number: uint16(number), Channel: v.Channel, Via: uint8(v.Via), NewLife: v.NewLife, MaxPacket: most,
		ReplayBytes: virtualPackets * most, ReceiveBytes: 2 * virtualPackets * most,
		// A packet waits behind those of the other direction on two hosts' cables.
		Retry: max(linkproto.DefaultVLRetry, 8*virtualPackets*most),
	})
	if err != nil {
		return nil, err
	}
	link := &Virtual{core: c, link: v.Link, via: uint8(v.Via), vl: vl, at: c.now, taker: v.Taker, share: cmp.Or(v.Share, &c.virtuals.links)}
	if v.Taker != nil {
		vl.Direct = link.direct
	}
	link.timer.Fire = link.touch
	c.enter(link, virtualName{v.Peer, v.Channel})
	if v.Taker == nil { // which begins when it knows the link
		link.touch()
	}
	return link, nil
}

// Status is the state of the link.
func (v *Virtual) Status() flowctl.VirtualStatus { return v.vl.Status() }

// Alone reports whether the peer's node says that nobody there has the channel.
func (v *Virtual) Alone() bool { return v.vl.Alone() }

// Counter returns a counter of the link, as an NI has for its links.
func (v *Virtual) Counter(n linkproto.Counter) uint32 {
	switch n {
	case linkproto.CntDenied:
		return uint32(v.denied)
	case linkproto.CntBadPacket:
		return v.vl.Counter(n) + uint32(v.bad)
	}
	return v.vl.Counter(n)
}

// Forward has Settle send a packet if there is room; its fields have been checked.
func (v *Virtual) Forward(p *linkproto.Packet) (sent bool, err error) {
	c := v.core
	if ready, err := c.alive(); !ready || !v.HasRoom(p.Size()) {
		return false, err
	}
	via := p.Via
	p.Via = 0
	packet, err := p.Append(c.packet[:0])
	p.Via = via
	if err == nil {
		c.packet = packet
		err = v.vl.Send(packet)
	}
	if err != nil {
		return false, err
	}
	v.sent++
	v.mark()
	return true, nil
}

// HasRoom reports whether there is room for a packet of so many bytes.
func (v *Virtual) HasRoom(size int) bool {
	_, bytes := v.Pending()
	return bytes+size <= v.vl.Config().ReplayBytes && v.vl.Queued() < v.vl.Config().Window && !v.core.mustWait()
}

// Sent, Freed and Lost count packets: given to the link, acknowledged or lost, and lost.
func (v *Virtual) Sent() uint64  { return v.sent }
func (v *Virtual) Freed() uint64 { packets, _ := v.vl.Freed(); return packets }
func (v *Virtual) Lost() uint64  { return v.losses }

// Pending is what was sent and not freed.
func (v *Virtual) Pending() (packets, bytes int) { return v.vl.Queued(), v.vl.QueuedBytes() }

// Audit has nothing to ask: a loss is known when it happens.
func (v *Virtual) Audit(done func(more bool, err error)) { done(false, v.core.err) }

// Mark returns the number of packets sent so far.
func (v *Virtual) Mark() *uint64 { mark := v.sent; return &mark }

// Unmark ends what Mark began.
func (v *Virtual) Unmark(*uint64) {}

// Resume lets packets go on behind a trap.
func (v *Virtual) Resume() {
	v.trapped = false
	if !v.delivering {
		v.touch()
	}
}

// Restart gives up what was not acknowledged, as a cable does that is pulled.
func (v *Virtual) Restart() {
	v.vl.Restart()
	v.touch()
}

// tick lets time pass for the link, and reports whether it has started again.
func (v *Virtual) tick() (restarted bool) {
	restarted = v.vl.Tick(int(v.core.now - v.at))
	v.at = v.core.now
	return restarted
}

// touch does with the link's packets what is to be done, and has its turn come to send.
func (v *Virtual) touch() {
	c := v.core
	v.tick()
	loss, ok := v.vl.Lost()
	if ok {
		v.losses += loss.Count
		if c.events != nil && v.taker == nil {
			c.events.Lost(v.link)
		}
	}
	if v.taker != nil && !v.closed {
		v.looked(loss.Count)
	}
	v.deliver()
	if v.taker != nil && !v.closed {
		v.taker.Turn()
	}
	v.owe()
	v.rearm()
}

// rearm has the link's turn come to send, or later that of its timer.
func (v *Virtual) rearm() {
	c := v.core
	idle := v.vl.IdleFor()
	if idle > 0 && idle < never && !v.closed {
		c.AddTimer(&v.timer, c.now+uint64(idle))
		return
	}
	c.RemoveTimer(&v.timer)
	if idle == 0 {
		v.ready()
	}
}

// turnVirtuals carries out packets of virtual links that waited, and sends ROUTEs.
func (c *Core) turnVirtuals() {
	if len(c.backlog) < virtualBacklog {
		held := c.virtuals.held
		c.virtuals.held = nil
		for _, v := range held {
			v.held = false
			v.touch()
		}
	}
	for i := range c.queues {
		q := &c.queues[i]
		q.others = max(q.others-1, 0)
	}
	c.touchMarked()
	c.sendVirtuals()
}

// sendVirtuals sends ROUTEs of virtual links while there is room.
func (c *Core) sendVirtuals() {
	q := &c.virtuals
	for len(q.ready) > 0 {
		v := q.ready[0].ready[0]
		if c.Relay != nil {
			q.took()
			v.next(nil, c.Relay)
			continue
		}
		link := &c.queues[v.via-1]
		if link.others > 0 && link.owed {
			return
		}
		most := linkproto.RouteExtra + c.id.MaxPacket()
		if ready, _ := c.ready(v.via, most); !ready {
			return
		}
		room, ok := c.link.Room(most)
		if !ok {
			return
		}
		q.took()
		v.next(room, func(route []byte) {
			c.sendBytes(route, nil, inFlight{via: v.via})
			link.send(len(route))
			link.owed = true
		})
	}
}

// next has the link's next ROUTE sent.
func (v *Virtual) next(dst []byte, send func(route []byte)) {
	restarted := v.tick()
	if route, ok := v.emit(dst); ok {
		send(route)
	}
	if restarted {
		v.touch()
	} else {
		v.rearm()
	}
}

// emit appends the link's next ROUTE.
func (v *Virtual) emit(dst []byte) (route []byte, ok bool) {
	if last := v.farewell; last != nil {
		v.farewell = nil
		return append(dst, last...), true
	}
	return v.vl.Emit(dst)
}

// FeedRoute takes a ROUTE for this node that the host has carried.
func (c *Core) FeedRoute(r *linkproto.Route, raw []byte) {
	switch {
	case r.State != linkproto.RouteDatagram:
		c.feedVirtual(r, raw)
		c.touchMarked()
	case linkproto.CheckRoute(raw, 0) == nil && c.Routed != nil:
		c.Routed(r)
	}
}

// feedVirtual gives a ROUTE to the virtual link that it is for, if there is one. One with a Taker is touched when all that has come was taken, unless it has started again.
func (c *Core) feedVirtual(r *linkproto.Route, raw []byte) {
	v := c.virtualOf(r, raw)
	if v == nil {
		return
	}
	v.tick()
	v.vl.Feed(r, raw)
	if v.taker != nil && v.vl.Counter(linkproto.CntRestarts) == v.restarts {
		v.mark()
	} else {
		v.touch()
	}
}

// virtualOf returns the virtual link that a ROUTE is for: an INIT names its channel, anything else its number.
func (c *Core) virtualOf(r *linkproto.Route, raw []byte) *Virtual {
	q := &c.virtuals
	if state, ok := linkproto.DecodeVLState(r.State); ok && state.Kind == linkproto.KindInit {
		w, _ := linkproto.DecodeVLInit(r.Packet)
		name := virtualName{r.Src, w.Channel}
		if listen := q.listeners[w.Channel]; listen != nil && q.named[name] == nil && linkproto.CheckRoute(raw, 0) == nil {
			listen(r.Src, r.Via)
			if c.feedOffload(r, raw) {
				return nil
			}
		}
		if q.named[name] == nil && q.listeners[w.Channel] == nil && c.offloads.named[name] == nil {
			c.refuse(r, raw, w)
		}
		return q.named[name]
	}
	if i := c.virtualPlace(r.VL); i >= 0 && i < len(q.all) {
		return q.all[i]
	}
	return nil
}

// ContextChannels is the first channel of contexts of messages, which programs open and close.
const ContextChannels = 256

// refuse tells who asks for a channel of a context that nobody has it, if there is room: INIT comes again.
func (c *Core) refuse(r *linkproto.Route, raw []byte, w linkproto.VLInit) {
	if w.Channel < ContextChannels || w.Life == 0 || r.Src == 0 || r.Src > linkproto.MaxNode || linkproto.CheckRoute(raw, 0) != nil {
		return
	}
	none := linkproto.Route{
		Via: r.Via, Dest: r.Src, Src: r.Dest, Hops: linkproto.MaxHops, Class: r.Class, State: linkproto.VLState{Kind: linkproto.KindInit}.Byte(), Next: linkproto.Version,
		Packet: linkproto.VLInit{Heard: w.Life, Page: w.Page, Channel: w.Channel}.Append(nil),
	}
	if c.Relay == nil {
		_, _ = c.ForwardRoute(&none) // or the core has failed
	} else if route, err := none.Append(nil); err == nil {
		c.Relay(route)
	}
}
