package engine

import (
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// Call is a request.
type Call struct {
	Packet linkproto.Packet
	// VL is the virtual link that it is for, in a VIRTUAL; 0: none.
	VL uint16
	// Persistent makes it wait for as long as the NI is silent: the driver's own requests.
	Persistent bool
	// Done is called once, with the answer or an error. The answer's Data is valid during the call.
	Done func(answer linkproto.Packet, err error)

	order  uint64 // among all that were submitted
	number uint64 // of the packet, on the host's cable
}

// Submit takes a request. Its packet's Data must stay as it is until Done or Withdraw.
func (c *Core) Submit(r *Call) {
	switch {
	case c.err != nil:
		r.Done(linkproto.Packet{}, c.err)
	case c.down >= c.linkTimeout && !r.Persistent:
		r.Done(linkproto.Packet{}, c.silent())
	default:
		c.submitted++
		r.order = c.submitted
		c.backlog = append(c.backlog, r)
		c.pump()
	}
}

// Request submits one of the driver's own requests.
func (c *Core) Request(p linkproto.Packet, done func(linkproto.Packet, error)) {
	c.Submit(&Call{Persistent: true, Packet: p, Done: done})
}

// Demand is Request for what the NI must not refuse: that would be a violation, with what in its text.
func (c *Core) Demand(p linkproto.Packet, what string, done func(linkproto.Packet, error)) {
	c.Request(p, func(a linkproto.Packet, err error) {
		if refused, ok := err.(*RefusedError); ok {
			c.Fail(Violation("%s: %w", what, refused))
		}
		done(a, err)
	})
}

// Withdraw forgets requests that have not been sent.
func (c *Core) Withdraw(gone func(*Call) bool) {
	for i, p := range c.resume.unacked {
		if p.call != nil && gone(p.call) {
			c.resume.unacked[i].call = nil
		}
	}
	c.backlog = slices.DeleteFunc(c.backlog, gone)
}

// pump sends requests of the backlog while there is room.
func (c *Core) pump() {
	n := 0
	for n < len(c.backlog) && c.resume.done && c.free > 0 && c.sendCall(c.backlog[n]) {
		n++
	}
	c.backlog = slices.Delete(c.backlog, 0, n)
}

// sendCall sends a request if there is room.
func (c *Core) sendCall(r *Call) bool {
	for c.calls[c.tag] != nil {
		c.tag = (c.tag + 1) % linkproto.TagNone
	}
	r.Packet.Tag = c.tag
	r.number = c.sent
	if !c.send(r.wrapped(), inFlight{call: r}) {
		return false
	}
	if r.Packet.Type == linkproto.TypeResume && r.VL == 0 { // the next TRAP may come before the answer
		c.traps[r.Packet.Via-1] = nil
	}
	c.calls[c.tag] = r
	c.free--
	c.tag = (c.tag + 1) % linkproto.TagNone
	return true
}

// wrapped is the packet as it is sent.
func (r *Call) wrapped() *linkproto.Packet {
	if r.VL == 0 {
		return &r.Packet
	}
	inner, _ := r.Packet.Append(nil) // a request of the driver's
	return &linkproto.Packet{Type: linkproto.TypeVirtual, VL: r.VL, Data: inner}
}

// answer completes the request that a packet answers.
func (c *Core) answer(p linkproto.Packet) {
	if !c.resume.done {
		c.resumeAnswer(p)
		return
	}
	if p.Tag == linkproto.TagNone {
		c.refused(p)
		return
	}
	r := c.calls[p.Tag]
	if r == nil {
		c.Fail(Violation("%v answers tag %d, which is not in use", p.Type, p.Tag))
		return
	}
	if err := fits(&r.Packet, &p); err != nil {
		c.Fail(err)
		return
	}
	c.calls[p.Tag] = nil
	c.free++
	c.unanswered = 0
	if p.Type == linkproto.TypeDone && p.Status != linkproto.StatusOK {
		r.Done(p, &RefusedError{r.Packet.Type, p.Status, Object(&r.Packet)})
		return
	}
	r.Done(p, nil)
}

// fits checks an answer against its request.
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
	return Violation("%v of %s was answered by %v (register %v, address %#x, %d bytes)", q.Type, Object(q), a.Type, a.Reg, a.Addr, len(a.Data))
}

// Object names the object of a request.
func Object(p *linkproto.Packet) string {
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
