// Package engine is the part of the driver without goroutine, clock and I/O: symbols and ticks go in, symbols come out. It brings the link to the
// NI up, sends requests and packets, accounts for the NI's transmit queues, and finds out after each start of the link what the NI has received.
package engine

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
)

// MaxLinks is how many links an NI can have besides its host port.
const MaxLinks = linkproto.MaxLinks - 1

// Config says how to make a Core.
type Config struct {
	Epoch       uint8
	Tag         uint8  // of the first request
	LinkTimeout uint64 // ticks for which the link may be down before requests fail with ErrSilent
}

// Core is the driver of one NI. The caller serialises all use of it.
type Core struct {
	link *flowctl.Endpoint
	id   Identity
	now  uint64 // ticks since the beginning
	err  error  // why nothing works any more

	calls     [linkproto.TagNone]*Call // requests that were sent, by tag
	free      int                      // tags not in use
	tag       uint8                    // the next to try
	backlog   []*Call                  // requests that wait for room, in their order
	submitted uint64                   // requests
	queues    [MaxLinks]Queue          // by link - 1
	traps     [MaxLinks]*Trap          // by link - 1: what it waits for
	events    Handler                  // gets unsolicited packets
	// Routed gets the datagrams that come; nil drops them. It is set before anything is received.
	Routed func(*linkproto.Route)
	// Relay takes the ROUTEs of virtual links, and datagrams, that are to be sent, for an NI that carries none; nil gives them to the NI.
	Relay func(route []byte)
	// RelayRoom, set with Relay, reports whether the way to a node has room for a datagram: those wait, while ROUTEs of virtual links are dropped and sent again.
	RelayRoom func(node uint16) bool
	// Uplink gets all ROUTEs that come, and each turn, of an NI that is the way of another one's node into a network; nil: it is not.
	Uplink Uplink

	sent        uint64                        // packets given to the link layer
	inFlight    [linkproto.MaxWindow]inFlight // what they are, by number modulo its length
	bytes       uint64                        // of them
	limit       uint64                        // bytes of packets waiting on the host's cable above which writes wait
	resume      resume                        // the exchange after each start of the link
	congested   bool                          // limit was reached, and less than half has gone since
	restarts    uint32                        // of the link, seen so far
	unanswered  uint64                        // ticks in which no request was answered though some wait
	away        bool                          // the target is, and may come back
	down        uint64                        // ticks since the last resume, while the link is down and the target is there
	linkTimeout uint64                        // ticks that down may reach before requests fail
	timers      timers
	timersAdded uint64
	virtuals    virtuals
	offloads    offloads
	claimed     []bool // frames of the receive buffer that somebody has; nil: not known yet
	unacked     int    // messages that have been posted, and not completed
	farewell    uint64 // bytes of packets up to the last one that tells a peer that the driver ends; 0: not yet
	packet      []byte
	route       linkproto.Route // the one that has come
}

// inFlight says what a packet on the host's cable is: one for link via, or a request.
type inFlight struct {
	via  uint8
	call *Call
}

// New makes a Core.
func New(c Config) (*Core, error) {
	// The page size is not known yet, so every one must fit.
	link, err := flowctl.New(flowctl.Config{
		MaxPacket: linkproto.MaxPacket(linkproto.MaxPageBytes), PeerPacket: linkproto.MaxPacket(linkproto.MinPageBytes), Silence: -1, Epoch: c.Epoch,
	})
	if err != nil {
		return nil, err
	}
	return &Core{link: link, free: linkproto.TagNone, tag: c.Tag % linkproto.TagNone, linkTimeout: c.LinkTimeout, limit: 1 << 13}, nil
}

// Identified sets up what the identity determines. lost are the sums of each link's LossCounters so far.
func (c *Core) Identified(id Identity, burst, ackCoalesce int, lost []uint32) {
	c.id = id
	c.limit = uint64(max(8*id.MaxPacket(), 4*burst))
	// Unacknowledged packets of the NI take at most half of its replay buffer, and of its window if they are the shortest ones.
	most := min(id.ReplayBytes/2, id.Window*(linkproto.MinPacket+linkproto.FrameOverhead))
	c.link.DelayAcks(most)
	c.link.HoldAcks(min(ackCoalesce, most/2))
	for i, sum := range lost {
		c.queues[i].base = sum
		c.probe(i + 1)
	}
}

// Handled reports whether there is a Handler.
func (c *Core) Handled() bool { return c.events != nil }

// Handle makes h, the first Handler, get unsolicited packets from now on, and the traps that wait.
func (c *Core) Handle(h Handler) {
	c.events = h
	for _, t := range c.traps {
		if t != nil {
			h.Trap(t)
		}
	}
	for _, v := range c.virtuals.all {
		if v != nil {
			v.touch()
		}
	}
	for _, o := range c.offloads.links {
		o.deliver()
	}
}

// MaxPacket is the longest packet of a virtual link.
func (c *Core) MaxPacket() int { return c.id.MaxPacket() }

// Now is the number of ticks since the beginning.
func (c *Core) Now() uint64 { return c.now }

// Err is why nothing works any more, or nil.
func (c *Core) Err() error { return c.err }

// Arriving reports whether a packet is coming.
func (c *Core) Arriving() bool { return c.link.Arriving() }

// Running reports whether the NI's state is known: the link is up, and the exchange after its start is over.
func (c *Core) Running() bool { return c.resume.done }

// Settled reports whether nothing that was asked for is to be answered, and no message or packet of a virtual link to be acknowledged.
func (c *Core) Settled() bool {
	return c.resume.done && c.free == len(c.calls) && len(c.backlog)+c.unacked+c.virtuals.owing+c.offloads.held == 0
}

// Owe counts messages that are posted, with n below 0 those that are completed.
func (c *Core) Owe(n int) { c.unacked += n }

// Queue is the account of the transmit queue of a link.
func (c *Core) Queue(link int) *Queue { return &c.queues[link-1] }

// Counter is a counter of the host's end of the cable.
func (c *Core) Counter(counter linkproto.Counter) uint32 { return c.link.Counter(counter) }

// Emit fills line with symbols to send, and returns how many there are.
func (c *Core) Emit(line []linkproto.Symbol) int { return c.link.Emit(line) }

// FlushAcks makes acknowledgements that were held back go out.
func (c *Core) FlushAcks() { c.link.HoldAcks(0) }

// Retraps is how often a link was asked to repeat its trap, of all links.
func (c *Core) Retraps() (n uint64) {
	for i := range c.queues {
		n += c.queues[i].retraps
	}
	return n
}

// links is how many links the NI has, or can have as long as that is not known.
func (c *Core) links() int {
	if c.id.Links == 0 {
		return MaxLinks
	}
	return c.id.Links
}

// send gives a packet to the link layer; false means that it has no room now.
func (c *Core) send(p *linkproto.Packet, as inFlight) bool {
	packet, err := p.Append(c.packet[:0])
	c.packet = packet
	return c.sendBytes(packet, err, as)
}

// sendBytes is send for the bytes of a packet, or why there are none.
func (c *Core) sendBytes(packet []byte, err error, as inFlight) bool {
	if err != nil {
		c.Fail(err) // callers have checked what they send
		return true
	}
	if err := c.link.Send(packet); err != nil {
		if !errors.Is(err, flowctl.ErrFull) && !errors.Is(err, flowctl.ErrLost) {
			c.Fail(err)
		}
		return false
	}
	c.inFlight[c.sent%uint64(len(c.inFlight))] = as
	c.sent++
	c.bytes += uint64(len(packet))
	return true
}

// Uplink is a node of another NI.
type Uplink interface {
	Take(route []byte)
	Turn()
}

// Advance takes what has arrived, and lets time pass.
func (c *Core) Advance(in []linkproto.Symbol, ticks int) {
	if c.err != nil {
		return
	}
	for len(in) > 0 && c.err == nil {
		// A bounded part at a time, so that packets are received before the link layer has to say STOP.
		n := min(len(in), 1<<12)
		c.link.Feed(in[:n])
		in = in[n:]
		c.checkRestart()
		c.receive()
		c.touchMarked()
	}
	c.link.Tick(ticks)
	c.now += uint64(ticks)
	c.checkRestart()
	if !c.resume.done {
		c.sendResume()
		if !c.away {
			c.renew(uint64(ticks))
		}
		if c.down >= c.linkTimeout {
			c.failWaiting()
		}
	}
	if c.unanswered += uint64(ticks); !c.resume.done || c.free == len(c.calls) {
		c.unanswered = 0
	}
	if c.unanswered >= c.linkTimeout {
		c.Fail(fmt.Errorf("%w: the link is up, but no request was answered for %d symbol times; reset the network interface", ErrSilent, c.unanswered))
	}
	c.pump()
	if c.events != nil && c.err == nil {
		c.events.Turn()
	}
	if c.Uplink != nil && c.err == nil {
		c.Uplink.Turn()
	}
	c.expire()
	if c.offloads.first = !c.offloads.first; c.offloads.first { // or the driver's virtual links might leave no room for the NI's
		c.sendOffloads()
	}
	c.turnVirtuals()
	c.sendOffloads()
}

// renew counts ticks for which the link has been down. If the NI says nothing of itself meanwhile, it may take this driver for one of before, which
// had the same epoch; with another one it starts again. That is likely once it says other things, of which the first may be older than this driver.
func (c *Core) renew(ticks uint64) {
	every := c.linkTimeout/8 + 1
	if c.link.Unread() > 1 {
		every = c.linkTimeout/256 + 1
	}
	if (c.down+ticks)/every != c.down/every && !c.link.Status().Peer.Known {
		c.link.Renew()
	}
	c.down += ticks
}

// SetAway says whether the target is away. When it comes back the link starts again, even if the NI noticed nothing.
func (c *Core) SetAway(away bool) {
	if away && !c.away {
		c.link.Restart()
		c.down = 0
	}
	c.away = away
}

// mustWait reports whether so much waits on the host's cable that writes should wait too. Then they wait until half of it is gone,
// so that a writer which is faster than the cable is not woken for each packet.
func (c *Core) mustWait() bool {
	_, freed := c.link.Freed()
	waiting := c.bytes - freed
	c.congested = waiting >= c.limit || c.congested && waiting > c.limit/2
	return !c.resume.done || c.congested
}

// receive handles the packets that have arrived.
func (c *Core) receive() {
	for c.err == nil {
		raw, ok := c.link.Receive()
		if !ok {
			return
		}
		if c.routed(raw) {
			continue
		}
		var p linkproto.Packet
		if err := p.Decode(raw); err != nil {
			c.Fail(Violation("packet % x: %w", raw[:min(len(raw), 32)], err))
			return
		}
		switch p.Type {
		case linkproto.TypeRegData, linkproto.TypeBufData, linkproto.TypeDone:
			c.answer(p)
		case linkproto.TypeSpace:
			c.space(p)
		case linkproto.TypeTrap:
			c.trapped(p)
		case linkproto.TypeVirtual:
			c.virtual(p)
		case linkproto.TypeCompleted:
			c.completed(p)
		case linkproto.TypeNotify:
			c.notified(p)
		default:
			c.Fail(Violation("it sent a %v", p.Type))
		}
	}
}

// routed takes a ROUTE, and reports whether it is one. Until the identity is known, one may come that an earlier program has asked for. Of a virtual link the
// CRC is for those to check who know its key.
func (c *Core) routed(raw []byte) bool {
	kind := linkproto.Type(raw[0] & (1<<linkproto.TypeBits - 1))
	if kind != linkproto.TypeRoute || c.id.Links > 0 && !c.id.Has(linkproto.FeatureRoutes) {
		return false
	}
	r := &c.route
	err := r.Open(raw)
	if err == nil && r.State == linkproto.RouteDatagram {
		err = linkproto.CheckRoute(raw, 0)
	}
	switch {
	case err != nil:
		c.Fail(Violation("packet % x: %w", raw[:min(len(raw), 32)], err))
	case c.Uplink != nil:
		c.Uplink.Take(raw)
	case r.State != linkproto.RouteDatagram && c.feedOffload(r, raw):
	case r.State != linkproto.RouteDatagram:
		c.feedVirtual(r, raw)
	case c.Routed != nil:
		c.Routed(r)
	}
	return true
}

// Fail ends everything: all requests fail with err, and so does what comes later.
func (c *Core) Fail(err error) {
	if c.err != nil {
		return
	}
	c.err = err
	waiting := append(takeCalls(c.resume.unacked), c.backlog...)
	c.backlog = nil
	for tag, r := range c.calls {
		if r != nil {
			waiting = append(waiting, r)
			c.calls[tag] = nil
			c.free++
		}
	}
	for _, r := range waiting {
		r.Done(linkproto.Packet{}, err)
	}
}

// IdleFor is how many ticks may pass before there is something to do if nothing arrives. With sending set, something waits to be sent.
func (c *Core) IdleFor(sending bool) int {
	idle := uint64(1 << 30)
	if !sending {
		idle = uint64(c.link.IdleFor())
	}
	if len(c.timers) > 0 {
		idle = min(idle, c.timers[0].at-min(c.now, c.timers[0].at))
	}
	if !c.resume.done && !c.away && c.down < c.linkTimeout {
		idle = min(idle, c.linkTimeout-c.down)
	}
	return int(max(idle, 1))
}
