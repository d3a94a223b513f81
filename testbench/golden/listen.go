package golden

import (
	"bytes"
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// listen lets the host and the peers read what has come, unless they nap.
func (p *Player) listen() {
	p.watchStops()
	for link := 1; link <= p.Params.Links; link++ {
		peer := &p.peers[link-1]
		for peer.nap <= p.now {
			raw, ok := p.Ports[link].Link.Receive()
			if !ok {
				break
			}
			p.quiet = p.now
			p.Packets++
			peer.received++
			p.out.line(fmt.Sprintf("peer %d", link), "%s", show(raw))
		}
	}
	for p.host.nap <= p.now && p.wrong == nil {
		raw, ok := p.Ports[0].Link.Receive()
		if !ok {
			break
		}
		p.quiet = p.now
		p.Packets++
		p.host.received++
		p.hear(raw)
	}
}

// watchStops takes note of who stops whom.
func (p *Player) watchStops() {
	for port, end := range p.Ports {
		side := "a peer"
		if port == 0 {
			side = "the host"
		}
		status := end.Link.Status()
		if status.PeerStop {
			p.out.hit("STOP", "to "+side)
			if port > 0 && p.isTrapped(port) {
				p.out.hit("while trapped", "the peer is told to stop")
			}
		}
		if status.OwnStop {
			p.out.hit("STOP", "from "+side)
		}
	}
}

// isTrapped reports whether a link waits for RESUME, as far as the host knows.
func (p *Player) isTrapped(link int) bool {
	return link <= len(p.host.traps) && (p.host.traps[link-1].busy() || p.unresumed(link))
}

// othersAcknowledged is how many packets of the other peers have been acknowledged.
func (p *Player) othersAcknowledged(link int) (n uint32) {
	for other := 1; other <= p.Params.Links; other++ {
		if other != link {
			n += p.Ports[other].Link.Counter(linkproto.CntTxPackets)
		}
	}
	return n
}

// hear handles a packet from the network interface.
func (p *Player) hear(raw []byte) {
	var q linkproto.Packet
	if err := q.Decode(raw); err != nil {
		p.fail("the host received % x: %w", raw, err)
		return
	}
	switch isLink := q.Via >= 1 && int(q.Via) <= p.Params.Links; {
	case isLink:
	case q.Type == linkproto.TypeSpace, q.Type == linkproto.TypeTrap, q.Status == linkproto.StatusNoSpace:
		p.fail("the host received %s of link %d; there are %d", show(raw), q.Via, p.Params.Links)
		return
	}
	switch q.Type {
	case linkproto.TypeSpace:
		p.space(q)
	case linkproto.TypeNotify:
		p.notified(q)
	case linkproto.TypeTrap:
		p.trapped(q)
	case linkproto.TypeRegData, linkproto.TypeBufData, linkproto.TypeDone:
		if q.Type == linkproto.TypeDone && q.Status == linkproto.StatusNoSpace {
			p.refused(q)
			return
		}
		if p.host.collect {
			q.Data = bytes.Clone(q.Data)
			p.host.answers = append(p.host.answers, q)
			return
		}
		if len(p.host.asked) == 0 {
			p.fail("the host received %s and had asked nothing", show(raw))
			return
		}
		asked := p.host.asked[0]
		p.host.asked = p.host.asked[1:]
		p.answered(asked, show(raw))
		if asked.then != nil {
			asked.then(q)
		}
	default:
		p.fail("the host received %s", show(raw))
	}
}

func (p *Player) answered(q question, answer string) {
	if q.lane != "" {
		p.out.line(q.lane, "%s -> %s", show(q.raw), answer)
	}
}

// space takes note of what a link's queue has freed: never more than was sent, nor less than before.
func (p *Player) space(q linkproto.Packet) {
	c := &p.host.credit[q.Via-1]
	before := c.Credit
	if err := c.Space(q); err != nil {
		p.fail("%w", err)
		return
	}
	switch n := c.FreedPackets - before.FreedPackets; {
	case n == 1:
		p.out.hit("SPACE", "one packet")
	case n > 1:
		p.out.hit("SPACE", "several packets")
	case p.host.collect:
		p.out.hit("SPACE", "repeated for a new host")
	}
	if c.FreedBytes>>16 > before.FreedBytes>>16 {
		p.out.hit("SPACE", "bytes wrap")
	}
	if c.FreedPackets>>8 > before.FreedPackets>>8 {
		p.out.hit("SPACE", "packets wrap")
	}
	c.told = true
}

// trapped finds the arrival that a TRAP reports and begins to serve it.
func (p *Player) trapped(q linkproto.Packet) {
	link := int(q.Via)
	s := &p.host.traps[link-1]
	if s.again+s.stray > 0 && bytes.Equal(q.Data, s.retold) {
		p.toldAgain(link)
		return
	}
	if s.busy() || s.again > 0 {
		p.fail("TRAP of link %d, %s, before the last was resumed, or told again %d times as was asked for", link, show(q.Data), s.again)
		return
	}
	in := p.round.Links[link-1].In
	for i := s.next; i < len(in); i++ {
		if bytes.Equal(in[i].Raw, q.Data) || s.missed && in[i].Traps && bytes.Equal(retold(in[i].Raw), q.Data) {
			p.out.line(fmt.Sprintf("traps of link %d", link), "%s", show(in[i].Raw))
			p.serve(link, i)
			return
		}
	}
	p.fail("TRAP of link %d, %s, which the peer has not sent since the last", link, show(q.Data))
}

// serve begins to serve the trap of an arrival.
func (p *Player) serve(link, arrival int) {
	s := &p.host.traps[link-1]
	when := "no other link trapped"
	for other := 1; other <= p.Params.Links; other++ {
		if other != link && p.isTrapped(other) {
			when = "another link trapped"
		}
	}
	p.out.hit("trap, when", when)
	if s.raised > 0 && arrival < s.behind {
		p.out.hit("trap, when", "held behind a trap")
	} else if s.raised > 0 {
		p.out.hit("trap, when", "after the last was served")
	}
	s.others = p.othersAcknowledged(link)
	s.retold = retold(p.round.Links[link-1].In[arrival].Raw)
	s.next, s.at, s.stray, s.missed = arrival+1, 0, 0, false
	s.raised++
	s.script = p.round.Links[link-1].In[arrival].Serve
	if p.isWild(link) {
		s.script = nil
	}
	s.due = p.now + p.pause(4000)
}

func lane(link int) string { return fmt.Sprintf("serving link %d", link) }

// pause is a random time, mostly short.
func (p *Player) pause(most int) uint64 {
	if p.rng.Bool() {
		return 0
	}
	return uint64(p.rng.IntN(1 + most/(1+p.rng.IntN(20))))
}
