package hostdrv

import (
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// join is how the driver gets to know where it stands with the NI each time the host's cable has come up. It reads the counter of
// the packets that the NI has received from it, twice with different tags: what comes before the answer to the second may belong to
// requests from before. The counter also tells which of the packets that nobody acknowledged have arrived. Between the two it reads the
// identity, unless this is the first join, since the cable may have been plugged into another NI. Only when the first read has been answered are the others sent: of
// a life of the cable that ends soon, few packets are in doubt.
type join struct {
	done  bool
	asked int   // of the reads, how many were sent since the cable came up
	heard int   // and answered
	tag   uint8 // of the first
	regs  []linkproto.Reg
	ident [len(identityRegs)]uint32 // once heard, unless this is the first join

	// known: at packet number at, the counter was value.
	known bool
	at    uint64
	value uint32

	doubt []carried // packets of earlier lives of the cable that may have arrived, in order
	own   int       // of them, how many at the end are reads of later joins, which did not come to their end
}

// The registers that are read.
var (
	countReg  = linkproto.CounterReg(0, linkproto.CntRxPackets)
	joinFirst = []linkproto.Reg{countReg, countReg}
	joinAgain = slices.Concat([]linkproto.Reg{countReg}, identityRegs[:], []linkproto.Reg{countReg})
)

// settleLink looks whether the host's cable has started again, and takes stock if so.
func (c *core) settleLink() {
	now := c.link.Counter(linkproto.CntRestarts)
	if now == c.restarts {
		return
	}
	c.restarts = now
	loss, _ := c.link.Lost()
	if len(c.join.doubt) > 0 {
		c.join.own += int(loss.Count)
	}
	for n := loss.First; n < loss.First+loss.Count; n++ {
		p := c.carries[n%uint64(len(c.carries))]
		if p.call != nil && c.calls[p.call.packet.Tag] != p.call { // answered, and the acknowledgement was lost
			p.call = nil
		}
		c.join.doubt = append(c.join.doubt, p)
	}
	c.join.done, c.join.asked, c.join.heard = false, 0, 0
	var settled []*call
	for i := range c.calls {
		tag := (int(c.tag) + i) % len(c.calls) // the oldest first
		r := c.calls[tag]
		if r == nil {
			continue
		}
		c.calls[tag] = nil
		c.free++
		if loss.Count == 0 || r.number < loss.First { // the NI has received it
			settled = append(settled, r)
		}
	}
	c.repeat(settled, nil)
}

// repeat does what is to be done about requests without answer, of which the NI has received the first ones and not the others: those and
// reads are sent again, before anything else; with what was carried out and cannot be asked again nobody knows how it went.
func (c *core) repeat(received, lost []*call) {
	var again []*call
	for _, r := range received {
		if r.packet.Type == linkproto.TypeRegRead || r.packet.Type == linkproto.TypeBufRead {
			again = append(again, r)
		} else {
			r.done(linkproto.Packet{}, &RestartError{r.packet.Type, what(&r.packet)})
		}
	}
	again = append(again, lost...)
	c.backlog = append(again, c.backlog...)
}

// takeCalls returns the requests among packets, which then belong to the caller.
func (j *join) takeCalls(packets []carried) (calls []*call) {
	for i, p := range packets {
		if p.call != nil {
			calls = append(calls, p.call)
			packets[i].call = nil
		}
	}
	return calls
}

// rejoin asks for the counter once the link is up.
func (c *core) rejoin() {
	j := &c.join
	for c.link.Status().Up && (j.asked == 0 || j.heard > 0 && j.asked < len(j.regs)) {
		if j.asked == 0 {
			j.regs = joinFirst
			if c.id.Links > 0 { // the identity is known
				j.regs = joinAgain
			}
			j.tag = c.tag
			c.tag = c.joinTag(len(j.regs))
		}
		p := linkproto.Packet{Type: linkproto.TypeRegRead, Tag: c.joinTag(j.asked), Reg: j.regs[j.asked]}
		if !c.send(&p, carried{}) {
			return
		}
		j.asked++
	}
}

func (c *core) joinTag(i int) uint8 { return uint8((int(c.join.tag) + i) % linkproto.TagNone) }

// joinAnswer takes an answer that came before the driver knows where it stands.
func (c *core) joinAnswer(p linkproto.Packet) {
	j := &c.join
	if j.heard == j.asked || p.Type != linkproto.TypeRegData || p.Reg != j.regs[j.heard] || p.Tag != c.joinTag(j.heard) {
		return // to somebody else's question
	}
	if 0 < j.heard && j.heard < len(j.regs)-1 {
		j.ident[j.heard-1] = p.Value
	}
	if j.heard++; j.heard < len(j.regs) {
		return
	}
	if len(j.regs) == len(joinAgain) {
		if err := newIdentity(j.ident).same(c.id); err != nil {
			c.fail(err)
			return
		}
	}
	at := c.sent // since the last read nothing was sent
	missing := uint32(at-j.at) - (p.Value - j.value)
	switch {
	case !j.known:
	case missing > uint32(len(j.doubt)):
		c.fail(fmt.Errorf("%w: it has received %d packets, where %d were sent to it; what was set up and queued there is gone: open it again",
			ErrReset, p.Value, j.value+uint32(at-j.at)-uint32(len(j.doubt))))
		return
	case notable(j.uncertain(int(missing))) > 0:
		c.fail(fmt.Errorf("%w: the cable to it failed again before that could be found out, for %d packets: open it again", ErrUncertain, notable(j.uncertain(int(missing)))))
		return
	}
	received := len(j.doubt) - min(int(missing), len(j.doubt))
	r := c.account(j.doubt[received:])
	c.repeat(j.takeCalls(j.doubt[:received]), j.takeCalls(j.doubt[received:]))
	restarted := j.known
	c.join = join{done: true, known: true, at: at, value: p.Value, doubt: j.doubt[:0]}
	c.down = 0
	if !restarted {
		return
	}
	if c.events != nil {
		c.events.restarted(r)
	}
	for link := 1; link <= c.id.Links; link++ {
		c.look(link)
	}
}

// uncertain are the packets of which nobody can know whether they were received, if that many in doubt were not: the NI has received the first
// ones of the life of the cable that they are of, and of the reads of each later join also the first ones.
func (j *join) uncertain(missing int) []carried {
	earlier := len(j.doubt) - j.own
	first, last := earlier-missing, earlier-missing+j.own // if all of those reads were received, and none
	return j.doubt[min(max(first, 0), earlier):min(max(last, 0), earlier)]
}

// notable counts the packets that it matters for whether they have arrived.
func notable(packets []carried) (n int) {
	for _, p := range packets {
		if p.via > 0 || p.call != nil {
			n++
		}
	}
	return n
}

// account takes packets that never reached the NI out of the accounts of their links.
func (c *core) account(lost []carried) Restart {
	r := Restart{Lost: make([]int, c.links())}
	for _, p := range lost {
		if p.via > 0 {
			r.Lost[p.via-1]++
			c.queues[p.via-1].unsend()
		}
	}
	return r
}
