package model

import (
	"bytes"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
)

// network is what is behind link 1 of an NI with a router. It takes packets of the host for the router, and keeps what comes for this node until it
// is carried out.
type network struct {
	*router
	ni       *NI
	nonce    uint32
	queue    [][]byte // of the host, that the router has not taken
	next     bool     // the host's packets have had their turn, and virtual links have not
	freed    uint64   // packets that it has, and their bytes
	bytes    uint64
	inbox    [][]byte // for this node
	held     int      // bytes of them
	counters [linkproto.NumCounters]uint32
	waited   int  // ticks without room
	overdue  bool // nothing has moved for too long: packets for this node are dropped
}

func newNetwork(c Config, n *NI) (*network, error) {
	w := &network{ni: n}
	var err error
	w.router, err = newRouter(c, w)
	if err == nil {
		w.strict = true
	}
	return w, err
}

func (w *network) reset() {
	w.router.reset()
	*w = network{router: w.router, ni: w.ni}
}

// room reports whether there is room for another packet for this node.
func (w *network) room() bool { return w.held+w.cfg.maxPacket() <= w.cfg.RxBytes }

// accept takes a packet for this node, or drops it when nothing has moved for too long.
func (w *network) accept(_ int, raw []byte) bool {
	switch {
	case w.ni.virtuals != nil && w.ni.virtuals.feed(raw):
		w.counters[linkproto.CntRxPackets]++
	case w.room():
		w.counters[linkproto.CntRxPackets]++
		if !w.ni.sorted(1, raw) {
			w.inbox = append(w.inbox, bytes.Clone(raw))
			w.held += len(raw)
		}
	case w.overdue:
		w.ports[0].counters[linkproto.RouterLate]++
	default:
		return false
	}
	return true
}

// wait lets time pass.
func (w *network) wait(ticks int) {
	if w.ni.virtuals != nil {
		w.ni.virtuals.tick(ticks)
	}
	if w.room() {
		w.waited = 0
	} else if w.waited += ticks; w.waited >= w.cfg.Patience {
		w.overdue = true
		w.work(0)
	}
}

// Send takes a packet of the host.
func (w *network) Send(packet []byte) error {
	held := 0
	for _, p := range w.queue {
		held += len(p)
	}
	if len(w.queue) == linkproto.MaxWindow || held+len(packet) > w.cfg.ReplayBytes {
		return flowctl.ErrFull
	}
	w.queue = append(w.queue, bytes.Clone(packet))
	w.work(0)
	return nil
}

// work gives the router what it takes of the host's packets and of virtual links, whenever something has happened.
func (w *network) work(port int) {
	w.router.work(port)
	for idle := 0; idle < 2; idle++ {
		if w.next = !w.next; w.next && w.sendQueued() || !w.next && w.sendVirtual() {
			idle = -1
		}
	}
}

// sendVirtual gives the router a ROUTE of a virtual link, if there is one and it has room.
func (w *network) sendVirtual() bool {
	if w.ni.virtuals == nil || w.ports[0].kept == w.cfg.Slots {
		return false
	}
	route, ok := w.ni.virtuals.emit(nil)
	if ok {
		w.take(0, route)
		w.counters[linkproto.CntTxPackets]++
		w.router.work(0)
	}
	return ok
}

// sendQueued gives the router the host's next packet, if there is one and it has room.
func (w *network) sendQueued() bool {
	if len(w.queue) == 0 || !w.take(0, w.queue[0]) {
		return false
	}
	w.freed, w.bytes = w.freed+1, w.bytes+uint64(len(w.queue[0]))
	w.counters[linkproto.CntTxPackets]++
	w.queue = w.queue[1:]
	w.router.work(0)
	return true
}

func (w *network) feed(port, lane int, in []linkproto.Symbol) {
	w.router.feed(port, lane, in)
	w.work(port)
}

func (w *network) tick(port, ticks int) {
	w.router.tick(port, ticks)
	w.work(port)
}

// Receive returns the oldest packet for this node.
func (w *network) Receive() (packet []byte, ok bool) {
	if len(w.inbox) == 0 {
		return nil, false
	}
	packet, w.inbox = w.inbox[0], w.inbox[1:]
	w.held -= len(packet)
	w.waited, w.overdue = 0, false
	w.work(0)
	return packet, true
}

// Freed returns what the router has taken.
func (w *network) Freed() (packets, bytes uint64) { return w.freed, w.bytes }

// Lost: what the router has taken is nobody's promise.
func (w *network) Lost() (flowctl.Loss, bool) { return flowctl.Loss{}, false }

// Counter returns a counter of packets to and from the router.
func (w *network) Counter(c linkproto.Counter) uint32 { return w.counters[c] }

// Status is that of the network as of one link, which is up as soon as there is a nonce, and has no single peer.
func (w *network) Status() flowctl.Status {
	return flowctl.Status{Up: w.nonce != 0, OwnStop: !w.room(), Epoch: 1}
}

// SetNode gives the router the number of its node.
func (w *network) SetNode(node uint16) { w.identify(node) }

// SetNonce starts the router's links.
func (w *network) SetNonce(nonce uint32) {
	w.nonce = nonce
	w.start(nonce)
}

// IdleFor is as that of a link.
func (w *network) IdleFor() int {
	idle := w.links[1].IdleFor()
	for _, link := range w.links[2:] {
		idle = min(idle, link.IdleFor())
	}
	if w.ni.virtuals != nil {
		idle = min(idle, w.ni.virtuals.idleFor())
	}
	if w.barriers != nil {
		idle = w.barriers.IdleFor(idle)
	}
	return idle
}

// Config is that of a link, of which only the sizes count.
func (w *network) Config() flowctl.Config { return w.links[1].Config() }

func (w *network) portStatus() uint32 { return w.ni.LinkStatus(1) & 0xFFFF }

func (w *network) portCounter(c linkproto.Counter) uint32 {
	return w.counters[c] + w.ni.ports[1].counters[c]
}
