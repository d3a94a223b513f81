package golden

import (
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// forwardAll sends by a link what there is room for.
func (p *Player) forwardAll(link int) {
	out := p.round.Links[link-1].Out
	for p.host.out[link-1] < len(out) && p.forward(link, out[p.host.out[link-1]]) {
		continue
	}
}

// emptied waits until all that the host has sent by a link is acknowledged, lost or refused, and the host knows.
func (p *Player) emptied(link int, settled func()) {
	c := &p.host.credit[link-1]
	p.run(1_000_000, "the host's cable to be empty", nothing, func() bool { return p.Ports[0].Link.Queued() == 0 })
	settled()
	p.run(1_000_000, "the link's queue to be empty", nothing, func() bool { return c.FreedPackets == c.SentPackets })
}

// admit is for when a link may have lost packets of the host: then LOST says so, all that is sent is refused until it is cleared, and all goes on.
func (p *Player) admit(link int, cause string) {
	c := &p.host.credit[link-1]
	lost := p.readRegister(linkproto.CounterReg(link, linkproto.CntLostPackets))
	dropped := lost != c.lost || c.Stopped
	c.lost = lost
	p.isLost(link, dropped)
	if !dropped {
		p.out.hit("LOST", "nothing dropped")
		return
	}
	p.out.hit("LOST", cause)
	p.tryOut(link)
	if p.rng.Chance(0.3) {
		p.out.hit("LOST", "another write of LINK_STATUS")
		p.writeStatus(link, ^linkproto.StatusLost.In(1))
		p.isLost(link, true)
		p.tryOut(link)
	}
	p.writeStatus(link, linkproto.StatusLost.In(1))
	p.isLost(link, false)
	c.Stopped = false
}

// tryOut sends packets by a link that has LOST others, one after the other: each must be refused.
func (p *Player) tryOut(link int) {
	c, out := &p.host.credit[link-1], p.round.Links[link-1].Out
	for range p.rng.IntN(3) {
		at := p.host.out[link-1]
		if at == len(out) {
			return
		}
		pushed, goal := false, c.Refused+1
		p.run(1_000_000, "a packet to be refused", func() { pushed = pushed || p.push(link, out[at]) }, func() bool { return c.Refused == goal })
		p.out.hit("LOST", "packets refused behind it")
	}
}

func (p *Player) isLost(link int, want bool) {
	status := p.readRegister(linkproto.LinkStatusReg(link))
	if have := linkproto.StatusLost.Of(status) == 1; have != want {
		try.Failf("link %d: LINK_STATUS is %#x, LOST ought to be %v", link, status, want)
	}
}

func (p *Player) writeStatus(link int, value uint32) {
	a := p.must(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.LinkStatusReg(link), Value: value})
	if a.Status != linkproto.StatusOK {
		try.Failf("link %d: LINK_STATUS cannot be written: %v", link, a.Status)
	}
}

// learn gets to know a link's queue as a host does that knows nothing of what was sent before: once QUEUED is clear, a SPACE that tells as many
// packets as FREED tells all.
func (p *Player) learn(link int) {
	c := &p.host.credit[link-1]
	var status uint32
	for queued := true; queued; queued = linkproto.StatusQueued.Of(status) == 1 {
		status = p.readRegister(linkproto.LinkStatusReg(link))
		if linkproto.StatusQueued.Of(status) == 1 {
			p.out.hit("host starts again", "a queue not empty")
		}
		p.cables[link].frames = whole
	}
	p.run(1_000_000, "SPACE", nothing, func() bool { return c.told && uint32(uint8(c.FreedPackets)) == linkproto.StatusFreed.Of(status) })
	if c.FreedPackets != c.SentPackets || c.FreedBytes != c.SentBytes {
		try.Failf("link %d: QUEUED is clear and SPACE agrees with FREED; %d packets of %d bytes were sent, and %d of %d are freed", link,
			c.SentPackets, c.SentBytes, c.FreedPackets, c.FreedBytes)
	}
}
