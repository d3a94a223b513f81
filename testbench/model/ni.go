// Package model is the network interface in Go, on the protocol code that hosts use: the reference that the RTL is
// compared with, a peer for it in simulated networks, and a target for software where there is no simulator.
//
// An NI is a pure state machine. It starts no goroutine, reads no clock and does no I/O: the caller feeds each port
// the symbols that arrived, takes the symbols to send, and says how much time has passed. Between two calls it has
// carried out whatever could be carried out, in no time; what takes time is the links alone. It is not safe for
// concurrent use. The rules that it follows are in doc/protocol.md, not in the RTL.
package model

import (
	"fmt"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
)

// NI is a network interface. Make it with New.
type NI struct {
	cfg      Config
	ports    []*port       // the host port, then the links
	lines    []flowctl.End // of them, the links'; with a router nil but for the host port's
	network  *network      // link 1, if there is a router
	virtuals *virtuals     // behind it, if it carries out some
	contexts *contexts     // of messages, which go by these, if it carries out some
	buffer   []byte
	frames   []frame

	scratch uint32
	node    uint32 // NODE_ID
	nonce   uint32
	notify  bool   // CONTROL.NOTIFY
	gateway bool   // CONTROL.GATEWAY
	answer  []byte // to the request carried out last, until the host port takes it
	turn    int    // source of packets for the host that goes first
	scan    int    // frame whose NOTIFY goes first
	packet  []byte // of the host, on its way into a queue
}

// port is the host port or a link.
type port struct {
	end
	counters [linkproto.NumCounters]uint32 // of the packet layer

	// Totals put into the transmit queue, totals that the last SPACE reported freed, and whether a SPACE is due.
	bytes, packets uint64
	told           uint64
	again          bool

	trap    []byte // TRAP that waits for the host port; nothing more is received meanwhile
	trapped bool   // until RESUME
	stands  []byte // what RETRAP tells again
	retrap  []byte // repeated TRAP that waits for the host port

	routes      [][]byte // ROUTEs for the host that wait for the host port
	routeBytes  int
	behind      [][]byte // with Routes and no router: packets that wait behind a trap
	behindBytes int

	lost bool // packets of the host have been dropped: refuse all others

	impatience
}

// end is what is behind a port: a link, or the network.
type end interface {
	Send(packet []byte) error
	Receive() (packet []byte, ok bool)
	Freed() (packets, bytes uint64)
	Lost() (flowctl.Loss, bool)
	Counter(linkproto.Counter) uint32
	Status() flowctl.Status
	SetNode(uint16)
	SetNonce(uint32)
	IdleFor() int
	Config() flowctl.Config
}

// frame is an entry of the frame table, and what remote writes have changed in the frame since the host was told.
type frame struct {
	valid       bool
	link        uint8
	vl          uint16 // virtual link that may write it instead, 0: none
	changed     bool
	first, last int
}

// New returns a network interface as after reset, its receive buffer zero. Its errors wrap ErrConfig or flowctl.ErrConfig.
func New(c Config) (*NI, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	n := &NI{cfg: c, buffer: make([]byte, c.Frames*c.PageBytes)}
	for i := range c.Links + 1 {
		if i > 0 && c.Router > 0 {
			if n.network, err = newNetwork(c, n); err != nil {
				return nil, err
			}
			n.ports = append(n.ports, &port{end: n.network})
			break
		}
		link, err := flowctl.NewEnd(c.endpoint(i))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
		n.lines = append(n.lines, link)
		n.ports = append(n.ports, &port{end: link})
	}
	n.clear()
	return n, nil
}

// Config returns the configuration with all defaults filled in.
func (n *NI) Config() Config { return n.cfg }

// Reset is the hardware reset: every port starts a session with its next epoch; all state is lost but the receive buffer's content.
func (n *NI) Reset() {
	for i, line := range n.lines {
		n.lines[i] = restarted(line)
		n.ports[i] = &port{end: n.lines[i]}
	}
	if n.network != nil {
		n.network.reset()
		n.ports[1] = &port{end: n.network}
	}
	n.clear()
}

// restarted is an end of a link after the hardware reset.
func restarted(link flowctl.End) flowctl.End {
	c := link.Config()
	c.Epoch = linkproto.NextEpoch(link.Status().Epoch)
	c.Node, c.Nonce = 0, 0
	link, err := flowctl.NewEnd(c)
	if err != nil {
		panic(err) // it was good before
	}
	return link
}

func (n *NI) clear() {
	n.frames = make([]frame, n.cfg.Frames)
	n.node, n.nonce = 0, 0
	if n.cfg.Virtual > 0 {
		n.virtuals = newVirtuals(n)
	}
	if n.cfg.Contexts > 0 {
		n.contexts = newContexts(n)
	}
	n.scratch, n.notify, n.gateway, n.answer, n.turn, n.scan = 0, false, false, nil, 0, 0
}

// IdleFor returns for how many ticks no port will have anything to send if nothing is fed meanwhile; a caller may skip that time
// with one Tick of each port. It is 0 if there is something to send.
func (n *NI) IdleFor() int {
	idle := n.ports[0].IdleFor()
	for _, p := range n.ports[1:] {
		idle = min(idle, p.IdleFor())
	}
	return idle
}

// damage is how often a port has started again, and how many packets that has dropped.
type damage struct{ restarts, packets uint32 }

func (p *port) damage() damage {
	return damage{p.Counter(linkproto.CntRestarts), p.Counter(linkproto.CntLostPackets)}
}

// work carries out all that can be. before is the damage of the port before what happened to it just now.
func (n *NI) work(changed int, before damage) {
	switch now := n.ports[changed].damage(); {
	case changed > 0:
		n.ports[changed].lost = n.ports[changed].lost || now.packets != before.packets
	case now.restarts != before.restarts:
		for _, p := range n.ports[1:] {
			p.again = true
		}
	}
	for progress := true; progress; {
		progress = n.serveHost()
		for link := range n.ports[1:] {
			progress = n.serveLink(link+1) || progress
		}
		progress = n.contexts != nil && n.contexts.work() || progress
		progress = n.tellHost() || progress
	}
}

// hasRoom reports whether the transmit queue may take another packet of the host's, of so many bytes.
func (p *port) hasRoom(size int) bool {
	packets, bytes := p.Freed()
	c := p.Config()
	return !p.lost && p.packets-packets < uint64(c.Window) && p.bytes-bytes+uint64(size) <= uint64(c.ReplayBytes)
}

// send queues a packet; it reports false if there is no room. The link itself counts the packets it dropped.
func (p *port) send(packet []byte) bool {
	p.Lost()
	if p.Send(packet) != nil {
		return false
	}
	p.bytes += uint64(len(packet))
	p.packets++
	return true
}

func (n *NI) feed(p, lane int, in []linkproto.Symbol) {
	n.happens(p, len(in) > 0, func(line ported) { line.feed(p, lane, in) }, func(line flowctl.End) { line.Feed(lane, in) })
}

func (n *NI) tick(p, ticks int) {
	n.happens(p, false, func(line ported) { line.tick(p, ticks) }, func(line flowctl.End) {
		line.Tick(ticks)
		n.wait(p, ticks)
	})
}

func (n *NI) emit(p, lane int, dst []linkproto.Symbol) int {
	if p < len(n.lines) {
		return n.lines[p].Emit(lane, dst)
	}
	return n.network.emit(p, lane, dst)
}

// happens lets something happen at a port, be it one of the router or an own one, which may have heard something.
func (n *NI) happens(p int, heard bool, routed func(ported), own func(flowctl.End)) {
	if p >= len(n.lines) {
		routed(n.network)
		n.work(1, n.ports[1].damage())
		return
	}
	before := n.ports[p].damage()
	own(n.lines[p])
	if heard || n.virtuals != nil || n.ports[p].overdue || n.ports[p].damage() != before { // else there is nothing to carry out, and no more room than before
		n.work(p, before)
	}
}

// Busy reports whether a packet from or to a link waits in the network interface, or has not been acknowledged by the peer that it has been sent to.
func (n *NI) Busy() bool {
	for _, link := range n.lines[1:] {
		if link.Queued() > 0 || link.Readable() > 0 {
			return true
		}
	}
	for _, p := range n.ports[1:] {
		if len(p.routes)+len(p.behind) > 0 {
			return true
		}
	}
	if n.virtuals != nil && n.virtuals.busy() {
		return true
	}
	return n.network != nil && (n.network.busy() || len(n.network.queue) > 0 || len(n.network.inbox) > 0)
}

// PortStatus is what the PORT_STATUS register of a router's port reads.
func (n *NI) PortStatus(port int) uint32 { return n.network.PortStatus(port) }

// Port returns a port, 0 being the host port. It stays the same over Reset.
func (n *NI) Port(index int) Port { return Port{n, index, 0} }
