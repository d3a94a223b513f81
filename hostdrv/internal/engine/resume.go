package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// resume is the exchange that follows each start of the host's cable: it reads the NI's counter of packets received from the host, twice with
// different tags, since answers that come before the one to the second read may belong to requests of before. The counter tells which of
// the unacknowledged packets the NI has received. Between the two it reads the identity, unless this is the first resume: the cable
// may have been plugged into another NI. The other reads are sent once the first one was answered, so that few packets are unacknowledged
// if the cable fails again soon.
type resume struct {
	done     bool
	sent     int   // reads sent since the cable came up
	answered int   // and answered
	tag      uint8 // of the first
	regs     []linkproto.Reg
	ident    [len(IdentityRegs)]uint32 // once answered, unless this is the first resume

	// known: at packet number at, the counter was value.
	known bool
	at    uint64
	value uint32

	unacked []inFlight // packets sent before the cable failed that may have arrived, in order
	own     int        // of them, how many at the end are reads of later resumes that were interrupted
}

// The registers that are read.
var (
	countReg   = linkproto.CounterReg(0, linkproto.CntRxPackets)
	firstReads = []linkproto.Reg{countReg, countReg}
	laterReads = slices.Concat([]linkproto.Reg{countReg}, IdentityRegs[:], []linkproto.Reg{countReg})
)

// checkRestart begins a resume if the host's cable has started again.
func (c *Core) checkRestart() {
	now := c.link.Counter(linkproto.CntRestarts)
	if now == c.restarts {
		return
	}
	c.restarts = now
	loss, _ := c.link.Lost()
	if len(c.resume.unacked) > 0 {
		c.resume.own += int(loss.Count)
	}
	for n := loss.First; n < loss.First+loss.Count; n++ {
		p := c.inFlight[n%uint64(len(c.inFlight))]
		if p.call != nil && c.calls[p.call.Packet.Tag] != p.call { // answered, and the acknowledgement was lost
			p.call = nil
		}
		c.resume.unacked = append(c.resume.unacked, p)
	}
	c.resume.done, c.resume.sent, c.resume.answered = false, 0, 0
	var received []*Call
	for i := range c.calls {
		tag := (int(c.tag) + i) % len(c.calls) // the oldest first
		r := c.calls[tag]
		if r == nil {
			continue
		}
		c.calls[tag] = nil
		c.free++
		if loss.Count == 0 || r.number < loss.First { // acknowledged
			received = append(received, r)
		}
	}
	c.resend(received, nil)
}

// resend handles requests without answer: those that the NI has not received, and reads, are sent again in the order in which they were submitted; the others
// were carried out, and their result is unknown.
func (c *Core) resend(received, lost []*Call) {
	again := lost
	for _, r := range received {
		if r.Packet.Type == linkproto.TypeRegRead || r.Packet.Type == linkproto.TypeBufRead {
			again = append(again, r)
		} else {
			r.Done(linkproto.Packet{}, &RestartError{r.Packet.Type, Object(&r.Packet)})
		}
	}
	c.backlog = append(c.backlog, again...)
	slices.SortFunc(c.backlog, func(a, b *Call) int { return cmp.Compare(a.order, b.order) })
}

// takeCalls returns the requests among packets, which then belong to the caller.
func takeCalls(packets []inFlight) (calls []*Call) {
	for i, p := range packets {
		if p.call != nil {
			calls = append(calls, p.call)
			packets[i].call = nil
		}
	}
	return calls
}

// sendResume sends the reads of a resume once the link is up.
func (c *Core) sendResume() {
	j := &c.resume
	for c.link.Status().Up && (j.sent == 0 || j.answered > 0 && j.sent < len(j.regs)) {
		if j.sent == 0 {
			j.regs = firstReads
			if c.id.Links > 0 { // the identity is known
				j.regs = laterReads
			}
			j.tag = c.tag
			c.tag = j.tagOf(len(j.regs))
		}
		p := linkproto.Packet{Type: linkproto.TypeRegRead, Tag: j.tagOf(j.sent), Reg: j.regs[j.sent]}
		if !c.send(&p, inFlight{}) {
			return
		}
		j.sent++
	}
}

func (j *resume) tagOf(i int) uint8 { return uint8((int(j.tag) + i) % linkproto.TagNone) }

// resumeAnswer takes an answer that came during a resume.
func (c *Core) resumeAnswer(p linkproto.Packet) {
	j := &c.resume
	if j.answered == j.sent || p.Type != linkproto.TypeRegData || p.Reg != j.regs[j.answered] || p.Tag != j.tagOf(j.answered) {
		return // to a request of before
	}
	if 0 < j.answered && j.answered < len(j.regs)-1 {
		j.ident[j.answered-1] = p.Value
	}
	if j.answered++; j.answered < len(j.regs) {
		return
	}
	if len(j.regs) == len(laterReads) {
		if err := NewIdentity(j.ident).same(c.id); err != nil {
			c.Fail(err)
			return
		}
	}
	at := c.sent // since the last read nothing was sent
	missing := uint32(at-j.at) - (p.Value - j.value)
	switch {
	case !j.known:
	case missing > uint32(len(j.unacked)):
		c.Fail(fmt.Errorf("%w: it counts %d packets received, want at least %d; its frame table and queues are empty: open it again",
			ErrReset, p.Value, j.value+uint32(at-j.at)-uint32(len(j.unacked))))
		return
	case relevant(j.uncertain(int(missing))) > 0:
		c.Fail(fmt.Errorf("%w: the cable failed again before the driver could read the counter, with %d packets unacknowledged: open it again",
			ErrUncertain, relevant(j.uncertain(int(missing)))))
		return
	}
	received := len(j.unacked) - min(int(missing), len(j.unacked))
	lost := c.unsend(j.unacked[received:])
	c.resend(takeCalls(j.unacked[:received]), takeCalls(j.unacked[received:]))
	restarted := j.known
	c.resume = resume{done: true, known: true, at: at, value: p.Value, unacked: j.unacked[:0]}
	c.down = 0
	if !restarted {
		return
	}
	if c.events != nil {
		c.events.Restarted(lost)
	}
	c.restartOffloads()
	for link := 1; link <= c.id.Links; link++ {
		c.probe(link)
	}
}

// uncertain are the packets of which it is unknown whether they were received, if that many unacknowledged ones were not: the NI has received
// the first ones before the cable failed, and of the reads of each later resume also the first ones.
func (j *resume) uncertain(missing int) []inFlight {
	earlier := len(j.unacked) - j.own
	first, last := earlier-missing, earlier-missing+j.own // if all of those reads were received, and none
	return j.unacked[min(max(first, 0), earlier):min(max(last, 0), earlier)]
}

// relevant counts the packets that are not the driver's own reads.
func relevant(packets []inFlight) (n int) {
	for _, p := range packets {
		if p.via > 0 || p.call != nil {
			n++
		}
	}
	return n
}

// unsend takes packets that never reached the NI out of the accounts of their links, and returns how many of each there were.
func (c *Core) unsend(lost []inFlight) []int {
	counts := make([]int, c.links())
	for _, p := range lost {
		if p.via > 0 {
			counts[p.via-1]++
			c.queues[p.via-1].unsend()
		}
	}
	return counts
}
