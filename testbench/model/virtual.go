package model

import (
	"slices"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
)

// virtuals are the virtual links that an NI carries out.
type virtuals struct {
	ni      *NI
	links   []virtual  // by number
	open    []*virtual // of them, in turn to send
	told    [][]byte   // VIRTUALs for the host
	held    int        // bytes of them
	changed []*virtual // of which a SPACE is due
}

// virtual is a virtual link.
type virtual struct {
	of     *virtuals
	number int
	peer   uint32
	theirs uint32
	key    uint32

	flow    *flowctl.VirtualFlow // nil as long as it was never opened
	before  uint64               // packets freed by flows of before
	lost    bool                 // it has closed by itself
	trapped bool
	waiting bool  // for room, or for the host to free a MESSAGE
	starved bool  // for a receive of its context
	given   uint8 // MESSAGEs given to the host
	freed   uint8 // and freed by it
	due     bool  // it is among those that have changed
	known   uint32

	context uint32  // whose its MESSAGEs are; 0: the host's
	sends   []*send // of it, that are underway
	in      joining
}

func newVirtuals(n *NI) *virtuals {
	w := &virtuals{ni: n, links: make([]virtual, 1<<n.cfg.Virtual)}
	for i := range w.links {
		w.links[i].of, w.links[i].number = w, i
	}
	return w
}

// feed takes a ROUTE from the network if it is of a virtual link here, and reports whether it is.
func (w *virtuals) feed(raw []byte) bool {
	var r linkproto.Route
	if r.Open(raw) != nil || w.ni.node == 0 || uint32(r.Dest) != w.ni.node&0xFFFF || r.State == linkproto.RouteDatagram ||
		linkproto.Kind(r.State>>linkproto.WordKindShift) == linkproto.KindInit || int(r.VL) >= len(w.links) {
		return false
	}
	w.ni.observe(Observation{Port: 1, Packet: raw, Outcome: Virtual})
	if v := &w.links[r.VL]; v.isOpen() {
		v.flow.Feed(&r, raw)
		v.look()
	}
	return true
}

// emit appends the next ROUTE to send, of all links in turn.
func (w *virtuals) emit(dst []byte) (route []byte, ok bool) {
	for i, v := range w.open {
		if route, ok = v.flow.Emit(dst); ok {
			w.open = append(slices.Delete(w.open, i, i+1), v)
			return route, true
		}
	}
	return dst, false
}

// tick lets time pass.
func (w *virtuals) tick(ticks int) {
	for _, v := range slices.Clone(w.open) {
		if v.flow.Tick(ticks) {
			v.close()
			v.lost = true
		}
		v.look()
	}
}

func (w *virtuals) idleFor() int {
	idle := 1 << 30
	for _, v := range w.open {
		idle = min(idle, v.flow.IdleFor())
	}
	return idle
}

// busy reports whether a packet waits for its acknowledgement, or for the host.
func (w *virtuals) busy() bool { return w.queued() > 0 || len(w.told) > 0 }

// queued is how many packets all links hold for sending.
func (w *virtuals) queued() (n int) {
	for _, v := range w.open {
		packets, _ := v.flow.Queued()
		n += packets
	}
	return n
}

func (v *virtual) isOpen() bool { return v.flow != nil && v.flow.IsOpen() }

// start opens the link.
func (v *virtual) start() {
	v.lost, v.trapped, v.waiting, v.starved, v.given, v.freed = false, false, false, false, 0, 0
	c := v.of.ni.cfg
	packet := linkproto.MaxPacket(c.PageBytes)
	flow, err := flowctl.NewFlow(flowctl.VirtualConfig{
		Node: uint16(v.of.ni.node), Peer: uint16(linkproto.VLPeerNode.Of(v.peer)), Class: uint8(linkproto.VLPeerClass.Of(v.peer)),
		MaxPacket: packet, Window: c.VirtualWindow, ReplayBytes: c.VirtualWindow * packet, AckDelay: c.AckDelay, RetryLimit: c.RetryLimit, Retry: c.VirtualRetry,
	}, v.take)
	if err != nil { // it names no node
		return
	}
	v.flow = flow
	v.flow.Open(uint16(v.theirs), linkproto.Key(v.key))
	v.of.open = append(v.of.open, v)
}

// close ends what start began.
func (v *virtual) close() {
	v.lost, v.trapped, v.waiting, v.starved = false, false, false, false
	if v.flow == nil {
		return
	}
	v.settle(true)
	v.in = joining{}
	v.flow.Close()
	packets, _ := v.flow.Freed()
	v.before += packets
	v.flow = nil
	v.of.open = slices.DeleteFunc(v.of.open, func(o *virtual) bool { return o == v })
}

// moved is look behind what the host has done: the network has its turn.
func (v *virtual) moved() {
	v.look()
	v.of.ni.network.work(0)
}

// look has the peer and the host told what has changed.
func (v *virtual) look() {
	v.settle(false)
	if v.isOpen() {
		v.flow.SetStop(v.trapped || v.waiting || v.starved)
	}
	const tells = 0xFF<<24 | 1<<7 | 1
	if v.status()&tells != v.known {
		v.known = v.status() & tells
		v.tell()
	}
}

// tell has the host told the link's status.
func (v *virtual) tell() {
	if !v.due {
		v.due = true
		v.of.changed = append(v.of.changed, v)
	}
}

// take takes a packet that has come, or refuses it for now.
func (v *virtual) take(raw []byte) bool {
	n := v.of.ni
	var q linkproto.Packet
	err := q.Decode(raw)
	switch {
	case v.trapped:
		return false
	case err == nil && q.Via == 0 && q.Type == linkproto.TypeWrite:
		if n.write(1, v.number, q) != Written {
			n.ports[1].counters[linkproto.CntDenied]++
		}
		return true
	case err == nil && q.Via == 0 && q.Type == linkproto.TypeMessage && v.context != 0:
		return v.join(q)
	case err == nil && q.Via == 0 && (n.traps(q, raw) || q.Type == linkproto.TypeMessage):
		message := q.Type == linkproto.TypeMessage
		if v.waiting = !v.of.room() || message && int(v.given-v.freed) >= n.cfg.VirtualWindow; v.waiting {
			return false
		}
		v.trapped = !message
		v.given += uint8(flag(message))
		told := encode(linkproto.Packet{Type: linkproto.TypeVirtual, VL: uint16(v.number), Data: raw})
		v.of.told, v.of.held = append(v.of.told, told), v.of.held+len(told)
		return true
	}
	n.ports[1].counters[linkproto.CntBadPacket]++
	return true
}

// room reports whether there is room for another packet for the host.
func (w *virtuals) room() bool { return w.held+w.ni.cfg.maxPacket() <= w.ni.cfg.RxBytes }

// offer gives the host what it is to be told.
func (w *virtuals) offer() bool {
	host := w.ni.ports[0]
	if len(w.told) > 0 {
		if !host.send(w.told[0]) {
			return false
		}
		w.told, w.held = w.told[1:], w.held-len(w.told[0])
		for _, v := range w.open {
			v.waiting = v.waiting && int(v.given-v.freed) >= w.ni.cfg.VirtualWindow
			v.look()
		}
		w.ni.network.work(0)
		return true
	}
	if len(w.changed) == 0 {
		return false
	}
	v := w.changed[0]
	space := linkproto.Packet{Type: linkproto.TypeSpace, Bytes: uint16(v.status()), Packets: uint8(linkproto.StatusFreed.Of(v.status()))}
	if !host.send(encode(linkproto.Packet{Type: linkproto.TypeVirtual, VL: uint16(v.number), Data: encode(space)})) {
		return false
	}
	v.due, w.changed = false, w.changed[1:]
	return true
}

// request carries out a VIRTUAL of the host's, and leaves its answer if it has one.
func (w *virtuals) request(raw []byte) (Outcome, linkproto.Status) {
	refuse := func(s linkproto.Status) (Outcome, linkproto.Status) {
		return Answered, w.ni.refuse(0, linkproto.TagNone, s)
	}
	var p, q linkproto.Packet
	if p.Decode(raw) != nil || len(p.Data) == 0 {
		return refuse(linkproto.StatusBadLength)
	}
	inner, sent := p.Data, false
	switch linkproto.Type(inner[0] & (1<<linkproto.TypeBits - 1)) {
	case linkproto.TypeWrite, linkproto.TypePage, linkproto.TypeConnect, linkproto.TypeMessage:
		sent = true
	case linkproto.TypeResume, linkproto.TypeSpace:
	default:
		return refuse(linkproto.StatusBadType)
	}
	switch {
	case !linkproto.LengthFits(inner) || len(inner) > linkproto.MaxPacket(w.ni.cfg.PageBytes) || !sent && q.Decode(inner) != nil:
		return refuse(linkproto.StatusBadLength)
	case inner[0]>>linkproto.TypeBits != 0 || int(p.VL) >= len(w.links):
		return refuse(linkproto.StatusBadLink)
	}
	v := &w.links[p.VL]
	switch {
	case sent && (!v.isOpen() || w.queued() >= w.ni.cfg.VirtualSlots || v.flow.Send(inner) != nil):
		return Answered, w.ni.done(0, linkproto.TagNone, linkproto.StatusNoSpace)
	case sent:
		v.moved()
		return Forwarded, linkproto.StatusOK
	case q.Type == linkproto.TypeSpace:
		v.freed = q.Packets
		v.waiting = v.waiting && !w.room()
		v.moved()
		return Forwarded, linkproto.StatusOK
	case !v.trapped:
		return Answered, w.ni.done(0, q.Tag, linkproto.StatusNotTrapped)
	}
	v.trapped = false
	v.moved()
	return Answered, w.ni.done(0, q.Tag, linkproto.StatusOK)
}

// isVirtual reports whether a packet of the host's is for a virtual link.
func (n *NI) isVirtual(raw []byte) bool {
	return n.virtuals != nil && raw[0] == byte(linkproto.TypeVirtual)
}

// VirtualIdle returns for how many ticks no virtual link will have anything to send if nothing is fed meanwhile.
func (n *NI) VirtualIdle() int { return n.virtuals.idleFor() }

// VirtualQueued returns how many packets virtual links hold for sending.
func (n *NI) VirtualQueued() int { return n.virtuals.queued() }
