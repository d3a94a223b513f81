package model

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
)

// router takes packets that come by its ports and gives each to the ports that its tables name. Port 0 is its node, the others are links.
type router struct {
	cfg      Config
	node     uint16
	nodes    []entry  // of the table, by node
	groups   []uint32 // by multicast group: ports, a bit each
	links    []flowctl.End
	ports    []routerPort
	look     uint32 // ports, a bit each, at which something may be done
	own      local
	barriers *flowctl.Barriers // nil: none are carried out
	strict   bool              // packets of the node are dropped if they are not from its number
	back     int               // port by which packets of the node leave that have no way else; 0: none
	now      int               // ticks that have passed
}

// local is the node at port 0 of a router.
type local interface {
	accept(from int, packet []byte) bool // takes a packet that came by a port; false: not now
	portStatus() uint32
	portCounter(linkproto.Counter) uint32
	wait(ticks int)
}

// entry says by which port packets for a node leave, and by which while the link of that is down; 0: by none.
type entry struct{ port, alternate uint8 }

// routerPort is a port, with what has come by it.
type routerPort struct {
	kept     int         // packets that have come by the port and wait
	waiting  [][]*waiter // of them, by the port by which they leave; oldest first
	ticks    int         // that have passed on it
	turn     int         // the port whose packets are to leave by this one next
	counters [linkproto.NumRouterCounters]uint32
}

// waiter is a packet that waits, for one port or, if it is a multicast packet, for several.
type waiter struct {
	raw  []byte
	left int // ports for which it waits
}

// Passage is a packet that a router has dealt with.
type Passage struct {
	From      int    // port
	Packet    []byte // as it came; valid during the call
	Ways      uint32 // ports by which it leaves, a bit each; 0: it is dropped
	Alternate bool   // its first port is dead
	Drop      linkproto.RouterCounter
}

// newRouter returns a router as after reset. Port 0 is the node's.
func newRouter(c Config, own local) (*router, error) {
	r := &router{cfg: c, links: make([]flowctl.End, 1), own: own}
	for p := 1; p <= c.Router; p++ {
		link, err := flowctl.NewEnd(c.endpoint(p))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
		r.links = append(r.links, link)
	}
	r.clear()
	return r, nil
}

func (r *router) clear() {
	r.node, r.look, r.back, r.now = 0, 0, 0, 0
	r.nodes, r.groups = make([]entry, r.cfg.Nodes), make([]uint32, r.cfg.Groups)
	r.ports = make([]routerPort, len(r.links))
	if r.cfg.Barriers {
		r.barriers = flowctl.NewBarriers(r.cfg.Router, 0, func(w flowctl.BarrierWord) {
			if r.alive(w.Port) {
				r.links[w.Port].Say(w.Group, w.Value)
			}
		})
	}
	for p := range r.ports {
		r.ports[p].waiting = make([][]*waiter, len(r.links))
	}
}

// reset is the hardware reset.
func (r *router) reset() {
	for p, link := range r.links[1:] {
		r.links[p+1] = restarted(link)
	}
	r.clear()
}

// alive reports whether packets may leave by a port.
func (r *router) alive(port int) bool {
	return port > 0 && port < len(r.links) && r.links[port].Status().Up
}

// pass says what becomes of a packet that has come by a port.
func (r *router) pass(from int, raw []byte) Passage {
	o := Passage{From: from, Packet: raw, Drop: linkproto.RouterBad}
	if raw[0] != byte(linkproto.TypeRoute) || len(raw) < linkproto.RouteExtra {
		return o
	}
	if from == 0 && r.strict && binary.LittleEndian.Uint16(raw[linkproto.HeaderBytes+2:]) != r.node {
		return o
	}
	o.Drop = linkproto.RouterLost
	switch dest := binary.LittleEndian.Uint16(raw[linkproto.HeaderBytes:]); {
	case r.node == 0 && from != 0 || r.node != 0 && dest == r.node:
		o.Ways = 1
	case dest >= linkproto.MulticastBase:
		if group := int(dest - linkproto.MulticastBase); group < len(r.groups) {
			o.Ways = r.members(r.groups[group], from)
		}
	case int(dest) < len(r.nodes):
		e := r.nodes[dest]
		port := int(e.port)
		if !r.alive(port) {
			port, o.Alternate = int(e.alternate), true
		}
		if r.alive(port) {
			o.Ways = 1 << port
		}
	}
	if o.Ways == 0 && from == 0 && r.alive(r.back) {
		o.Ways = 1 << r.back
	}
	if o.Ways&^1 != 0 && raw[linkproto.RoutePathAt]&linkproto.RouteHopsMask == 0 {
		o.Ways, o.Drop = 0, linkproto.RouterHops
	}
	return o
}

// members are the ports of a multicast group by which a packet leaves that came by one.
func (r *router) members(group uint32, from int) (ways uint32) {
	for p := range r.links {
		if bit := uint32(1) << p; group&bit != 0 && p != from && (p == 0 || r.alive(p)) {
			ways |= bit
		}
	}
	return ways
}

// take takes a packet that has come by a port, if it is not kept waiting.
func (r *router) take(from int, raw []byte) bool {
	in := &r.ports[from]
	if in.kept == r.cfg.Slots {
		return false
	}
	o := r.pass(from, raw)
	if r.cfg.Passed != nil {
		r.cfg.Passed(o)
	}
	if o.Ways == 0 {
		in.counters[o.Drop]++
		return true
	}
	w := &waiter{bytes.Clone(raw), bits.OnesCount32(o.Ways)}
	if w.raw[linkproto.RoutePathAt]&linkproto.RouteHopsMask > 0 {
		w.raw[linkproto.RoutePathAt]--
	}
	in.kept++
	for p := range r.links {
		if o.Ways>>p&1 != 0 {
			in.waiting[p] = append(in.waiting[p], w)
		}
	}
	r.look |= o.Ways
	return true
}

// arrive takes what has come by a port.
func (r *router) arrive(port int) {
	for port > 0 && r.ports[port].kept < r.cfg.Slots {
		raw, ok := r.links[port].Receive()
		if !ok {
			return
		}
		r.take(port, raw)
	}
}

// depart gives a port what waits for it, of all ports in turn.
func (r *router) depart(port int) {
	out := &r.ports[port]
	for n := 0; n < len(r.ports); n++ {
		from := (out.turn + n) % len(r.ports)
		in := &r.ports[from]
		if len(in.waiting[port]) == 0 {
			continue
		}
		w := in.waiting[port][0]
		if !r.give(port, from, w.raw) {
			return
		}
		in.waiting[port] = in.waiting[port][1:]
		if w.left--; w.left == 0 {
			in.kept--
			r.look |= 1 << from
		}
		out.turn, n = (from+1)%len(r.ports), -1
	}
}

// give puts a packet into a port, and reports false if there is no room.
func (r *router) give(port, from int, raw []byte) bool {
	if port == 0 {
		return r.own.accept(from, raw)
	}
	r.links[port].Lost() // nothing is promised: go on behind it
	switch r.links[port].Send(raw) {
	case nil:
		return true
	case flowctl.ErrFull:
		return false
	}
	r.ports[port].counters[linkproto.RouterLate]++
	return true
}

// work does all that can be done, after something has happened at a port.
func (r *router) work(port int) {
	for r.look |= 1 << port; r.look != 0; {
		p := bits.TrailingZeros32(r.look)
		r.look &^= 1 << p
		r.depart(p)
		r.arrive(p)
	}
}

// feed takes symbols that arrived at a link.
func (r *router) feed(port, lane int, in []linkproto.Symbol) {
	r.links[port].Feed(lane, in)
	for r.barriers != nil {
		group, value, ok := r.links[port].Heard()
		if !ok {
			break
		}
		r.barriers.Hear(flowctl.BarrierWord{Port: port, Group: group, Value: value})
	}
	r.work(port)
}

// tick lets time pass at a link. It passes for the node as soon as for one of them.
func (r *router) tick(port, ticks int) {
	r.links[port].Tick(ticks)
	p := &r.ports[port]
	if p.ticks += ticks; p.ticks > r.now {
		r.own.wait(p.ticks - r.now)
		if r.barriers != nil {
			r.barriers.Tick(p.ticks - r.now)
		}
		r.now = p.ticks
	}
	r.work(port)
}

func (r *router) emit(port, lane int, dst []linkproto.Symbol) int {
	return r.links[port].Emit(lane, dst)
}

// identify gives the links the number of their node.
func (r *router) identify(node uint16) {
	r.node = node
	for _, link := range r.links[1:] {
		link.SetNode(node)
	}
}

// start gives the links the nonce of their node's life.
func (r *router) start(nonce uint32) {
	for p, link := range r.links[1:] {
		link.SetNonce(nonce)
		r.look |= 2 << p
	}
	r.work(0)
}

// busy reports whether a packet waits in the router, or has not been acknowledged.
func (r *router) busy() bool {
	for p, port := range r.ports {
		if port.kept > 0 || p > 0 && (r.links[p].Queued() > 0 || r.links[p].Readable() > 0) {
			return true
		}
	}
	return false
}
