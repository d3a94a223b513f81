package hostdrv

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
)

// core is the driver without its goroutine: what it knows, and how it changes with what arrives and with time. It does no I/O, reads
// no clock, and is used under NI.mu.
type core struct {
	link *flowctl.Endpoint
	id   Identity
	now  uint64 // ticks since the beginning
	err  error  // why nothing works any more

	calls   [linkproto.TagNone]*call // requests on their way, by tag
	free    int                      // tags not in use
	tag     uint8                    // the next to try
	backlog []*call                  // requests that wait for room, first one first
	queues  [maxLinks]queue          // by link - 1
	traps   [maxLinks]*Trap          // by link - 1: what it waits for
	events  handler                  // gets what no request asked for

	sent     uint64                       // packets given to the link layer
	carries  [linkproto.MaxWindow]carried // what they are, by number modulo its length
	bytes    uint64                       // of them
	limit    uint64                       // bytes of packets waiting on the host's cable above which writes wait
	join     join                         // getting to know the NI, after each start of the link
	full     bool                         // crowded, and not yet by half less
	restarts uint32                       // of the link, seen so far
	quiet    uint64                       // ticks in which no request was answered though some wait
	away     bool                         // the target is, and may come back
	down     uint64                       // ticks since the NI was last joined, while it is not and the target is there
	patience uint64                       // ticks that down may reach before those who wait are told
	timers   timers
	packet   []byte
}

// carried says what a packet on the host's cable is: one for link via, or a request.
type carried struct {
	via  uint8
	call *call
}

// call is a request and what becomes of it.
type call struct {
	packet linkproto.Packet
	number uint64 // of the packet, on the host's cable
	// patient makes it wait for as long as the NI is silent: the driver's own.
	patient bool
	// done is called once, with the answer or an error. The answer's Data is valid during the call.
	done func(answer linkproto.Packet, err error)
}

// maxLinks is how many links an NI can have besides its host port.
const maxLinks = linkproto.MaxLinks - 1

// handler gets what the NI says without being asked.
type handler interface {
	trap(*Trap)
	notify(frame, first, last int)
	restarted(Restart)
	lost(link int) // packets by a link; nothing has been sent by it since
	turn()         // whenever time has passed or something has arrived
}

func newCore(epoch uint8, tag uint8, patience int) (*core, error) {
	// The page size is not known yet, so every one must fit.
	link, err := flowctl.New(flowctl.Config{MaxPacket: linkproto.MaxPacket(linkproto.MaxPageBytes), Epoch: epoch})
	if err != nil {
		return nil, err
	}
	c := &core{link: link, free: linkproto.TagNone, tag: tag % linkproto.TagNone, patience: uint64(patience), limit: 1 << 13}
	return c, nil
}

// identified sets up what the identity determines.
func (c *core) identified(id Identity, t Timing) {
	c.id = id
	c.limit = uint64(max(8*id.MaxPacket(), 4*t.Burst))
	// What the NI says meanwhile takes at most half of its replay buffer, and its window if those are the shortest packets.
	most := min(id.ReplayBytes/2, id.Window*(linkproto.MinPacket+linkproto.FrameOverhead))
	c.link.DelayAcks(most)
	c.link.HoldAcks(min(t.AckCoalesce, most/2))
}

// handle makes h hear of what happens from now on, and of the traps that wait.
func (c *core) handle(h handler) {
	c.events = h
	for _, t := range c.traps {
		if t != nil {
			h.trap(t)
		}
	}
}

// links is how many links the NI has, or can have as long as that is not known.
func (c *core) links() int {
	if c.id.Links == 0 {
		return maxLinks
	}
	return c.id.Links
}

// submit takes a request. Its packet's Data must stay as it is until done or withdraw.
func (c *core) submit(r *call) {
	switch {
	case c.err != nil:
		r.done(linkproto.Packet{}, c.err)
	case c.down >= c.patience && !r.patient:
		r.done(linkproto.Packet{}, c.silent())
	default:
		c.backlog = append(c.backlog, r)
		c.pump()
	}
}

// withdraw forgets requests that have not been sent.
func (c *core) withdraw(gone func(*call) bool) {
	for i, p := range c.join.doubt {
		if p.call != nil && gone(p.call) {
			c.join.doubt[i].call = nil
		}
	}
	kept := c.backlog[:0]
	for _, r := range c.backlog {
		if !gone(r) {
			kept = append(kept, r)
		}
	}
	clear(c.backlog[len(kept):])
	c.backlog = kept
}

// pump sends requests of the backlog while there is room.
func (c *core) pump() {
	n := 0
	for n < len(c.backlog) && c.join.done && c.free > 0 && c.request(c.backlog[n]) {
		n++
	}
	if n > 0 {
		kept := copy(c.backlog, c.backlog[n:])
		clear(c.backlog[kept:])
		c.backlog = c.backlog[:kept]
	}
}

// request sends one if there is room.
func (c *core) request(r *call) bool {
	for c.calls[c.tag] != nil {
		c.tag = (c.tag + 1) % linkproto.TagNone
	}
	r.packet.Tag = c.tag
	r.number = c.sent
	if !c.send(&r.packet, carried{call: r}) {
		return false
	}
	if r.packet.Type == linkproto.TypeResume { // the next TRAP may come before the answer
		c.traps[r.packet.Via-1] = nil
	}
	c.calls[c.tag] = r
	c.free--
	c.tag = (c.tag + 1) % linkproto.TagNone
	return true
}

// send gives a packet to the link layer; false means that it has no room now.
func (c *core) send(p *linkproto.Packet, as carried) bool {
	packet, err := p.Append(c.packet[:0])
	if err != nil {
		c.fail(err) // callers have checked what they send
		return true
	}
	c.packet = packet
	if err := c.link.Send(packet); err != nil {
		if !errors.Is(err, flowctl.ErrFull) && !errors.Is(err, flowctl.ErrLost) {
			c.fail(err)
		}
		return false
	}
	c.carries[c.sent%uint64(len(c.carries))] = as
	c.sent++
	c.bytes += uint64(len(packet))
	return true
}

// advance takes what has arrived, and lets time pass.
func (c *core) advance(in []linkproto.Symbol, ticks int) {
	if c.err != nil {
		return
	}
	for len(in) > 0 && c.err == nil {
		// A bounded part at a time, so that what has arrived is read before the link layer has to say STOP.
		n := min(len(in), 1<<12)
		c.link.Feed(in[:n])
		in = in[n:]
		c.settleLink()
		c.receive()
	}
	c.link.Tick(ticks)
	c.now += uint64(ticks)
	c.settleLink()
	if !c.join.done {
		c.rejoin()
		if !c.away {
			c.down += uint64(ticks)
		}
		if c.down >= c.patience {
			c.giveUp()
		}
	}
	if c.quiet += uint64(ticks); !c.join.done || c.free == len(c.calls) {
		c.quiet = 0
	}
	if c.quiet >= c.patience {
		c.fail(fmt.Errorf("%w: its link is up, and no request was answered for %d symbol times", ErrSilent, c.quiet))
	}
	c.pump()
	if c.events != nil && c.err == nil {
		c.events.turn()
	}
	c.timers.expire(c.now)
}

// setAway says whether the target is there. Once it has been away the link starts again, even if the NI noticed nothing.
func (c *core) setAway(away bool) {
	if away && !c.away {
		c.link.Restart()
		c.down = 0
	}
	c.away = away
}

// crowded reports whether so much waits on the host's cable that writes should wait too. Once it does they wait until half of it is gone,
// so that a writer which is faster than the cable is not woken for each packet.
func (c *core) crowded() bool {
	_, freed := c.link.Freed()
	waiting := c.bytes - freed
	c.full = waiting >= c.limit || c.full && waiting > c.limit/2
	return !c.join.done || c.full
}

// receive handles the packets that have arrived.
func (c *core) receive() {
	for c.err == nil {
		raw, ok := c.link.Receive()
		if !ok {
			return
		}
		var p linkproto.Packet
		if err := p.Decode(raw); err != nil {
			c.fail(brokenf("it sent % x: %w", raw[:min(len(raw), 32)], err))
			return
		}
		switch p.Type {
		case linkproto.TypeRegData, linkproto.TypeBufData, linkproto.TypeDone:
			c.answer(p)
		case linkproto.TypeSpace:
			c.space(p)
		case linkproto.TypeTrap:
			c.trapped(p)
		case linkproto.TypeNotify:
			c.notified(p)
		default:
			c.fail(brokenf("it sent a %v", p.Type))
		}
	}
}

// answer gives an answer to whoever asked.
func (c *core) answer(p linkproto.Packet) {
	if !c.join.done {
		c.joinAnswer(p)
		return
	}
	if p.Tag == linkproto.TagNone {
		c.refused(p)
		return
	}
	r := c.calls[p.Tag]
	if r == nil {
		c.fail(brokenf("it answered %v with tag %d, which nobody asked for", p.Type, p.Tag))
		return
	}
	if err := fits(&r.packet, &p); err != nil {
		c.fail(err)
		return
	}
	c.calls[p.Tag] = nil
	c.free++
	c.quiet = 0
	if p.Type == linkproto.TypeDone && p.Status != linkproto.StatusOK {
		r.done(p, &RefusedError{r.packet.Type, p.Status, what(&r.packet)})
		return
	}
	r.done(p, nil)
}

// fits says what is wrong with an answer to a request.
func fits(q, a *linkproto.Packet) error {
	refused := a.Type == linkproto.TypeDone && a.Status != linkproto.StatusOK
	ok := refused
	switch q.Type {
	case linkproto.TypeRegRead:
		ok = ok || a.Type == linkproto.TypeRegData && a.Reg == q.Reg
	case linkproto.TypeBufRead:
		ok = ok || a.Type == linkproto.TypeBufData && a.Addr == q.Addr && len(a.Data) == int(q.Count)
	default:
		ok = a.Type == linkproto.TypeDone
	}
	if ok {
		return nil
	}
	return brokenf("it answered %v of %s with %v (register %v, address %#x, %d bytes)", q.Type, what(q), a.Type, a.Reg, a.Addr, len(a.Data))
}

// what names the object of a request.
func what(p *linkproto.Packet) string {
	switch p.Type {
	case linkproto.TypeRegRead, linkproto.TypeRegWrite:
		return fmt.Sprintf("register %v", p.Reg)
	case linkproto.TypeBufRead:
		return fmt.Sprintf("%d bytes at %#x", p.Count, p.Addr)
	case linkproto.TypeBufWrite:
		return fmt.Sprintf("%d bytes at %#x", len(p.Data), p.Addr)
	}
	return fmt.Sprintf("link %d", p.Via)
}

// fail ends everything: whatever waits gets err, and so does what comes later.
func (c *core) fail(err error) {
	if c.err != nil {
		return
	}
	c.err = err
	waiting := append(c.join.takeCalls(c.join.doubt), c.backlog...)
	c.backlog = nil
	for tag, r := range c.calls {
		if r != nil {
			waiting = append(waiting, r)
			c.calls[tag] = nil
			c.free++
		}
	}
	for _, r := range waiting {
		r.done(linkproto.Packet{}, err)
	}
}

func (c *core) silent() error {
	s := c.link.Status()
	return fmt.Errorf("%w: the link has not come up for %d symbol times (its epoch is %d, 0 meaning that nothing was heard); is the right image loaded, "+
		"and is the rate of the cable right?", ErrSilent, c.down, s.PeerEpoch)
}

// giveUp tells those that wait for a link that does not come up. It may still come up later.
func (c *core) giveUp() {
	var tired []*call
	c.withdraw(func(r *call) bool {
		if !r.patient {
			tired = append(tired, r)
		}
		return !r.patient
	})
	if len(tired) > 0 {
		err := c.silent()
		for _, r := range tired {
			r.done(linkproto.Packet{}, err)
		}
	}
}

// nap is how many ticks may pass before there is something to do if nothing arrives. With sending set, something waits to be sent.
func (c *core) nap(sending bool) int {
	nap := uint64(1 << 30)
	if !sending {
		nap = uint64(c.link.IdleFor())
	}
	if len(c.timers) > 0 {
		nap = min(nap, c.timers[0].at-min(c.now, c.timers[0].at))
	}
	if !c.join.done && !c.away && c.down < c.patience {
		nap = min(nap, c.patience-c.down)
	}
	return int(max(nap, 1))
}
