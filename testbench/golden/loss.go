package golden

import (
	"errors"
	"fmt"

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
func (p *Player) emptied(link int) error {
	c := &p.host.credit[link-1]
	err := p.run(1_000_000, "the host's cable to be empty", nothing, func() bool { return p.Ports[0].Link.Queued() == 0 })
	return errors.Join(err, p.settle(), p.run(1_000_000, "the link's queue to be empty", nothing, func() bool { return c.FreedPackets == c.SentPackets }))
}

// admit is for when a link may have lost packets of the host: then LOST says so, all that is sent is refused until it is cleared, and all goes on.
func (p *Player) admit(link int, cause string) error {
	c := &p.host.credit[link-1]
	lost, err := p.readRegister(linkproto.CounterReg(link, linkproto.CntLostPackets))
	if err != nil {
		return err
	}
	dropped := lost != c.lost || c.Stopped
	c.lost = lost
	if err := p.isLost(link, dropped); err != nil || !dropped {
		p.out.hit("LOST", "nothing dropped")
		return err
	}
	p.out.hit("LOST", cause)
	if err := p.tryOut(link); err != nil {
		return err
	}
	if p.rng.Chance(0.3) {
		p.out.hit("LOST", "another write of LINK_STATUS")
		if err := errors.Join(p.writeStatus(link, ^linkproto.StatusLost.In(1)), p.isLost(link, true), p.tryOut(link)); err != nil {
			return err
		}
	}
	err = errors.Join(p.writeStatus(link, linkproto.StatusLost.In(1)), p.isLost(link, false))
	c.Stopped = false
	return err
}

// tryOut sends packets by a link that has LOST others, one after the other: each must be refused.
func (p *Player) tryOut(link int) error {
	c, out := &p.host.credit[link-1], p.round.Links[link-1].Out
	for range p.rng.IntN(3) {
		at := p.host.out[link-1]
		if at == len(out) {
			return nil
		}
		pushed, goal := false, c.Refused+1
		err := p.run(1_000_000, "a packet to be refused", func() { pushed = pushed || p.push(link, out[at]) }, func() bool { return c.Refused == goal })
		if err != nil {
			return err
		}
		p.out.hit("LOST", "packets refused behind it")
	}
	return nil
}

func (p *Player) isLost(link int, want bool) error {
	status, err := p.readRegister(linkproto.LinkStatusReg(link))
	if have := linkproto.StatusLost.Of(status) == 1; err == nil && have != want {
		err = fmt.Errorf("link %d: LINK_STATUS is %#x, LOST ought to be %v", link, status, want)
	}
	return err
}

func (p *Player) writeStatus(link int, value uint32) error {
	a, err := p.must(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.LinkStatusReg(link), Value: value})
	if err == nil && a.Status != linkproto.StatusOK {
		err = fmt.Errorf("link %d: LINK_STATUS cannot be written: %v", link, a.Status)
	}
	return err
}

// learn gets to know a link's queue as a host does that knows nothing of what was sent before: once QUEUED is clear, a SPACE that tells as many
// packets as FREED tells all.
func (p *Player) learn(link int) error {
	c := &p.host.credit[link-1]
	var status uint32
	for queued := true; queued; queued = linkproto.StatusQueued.Of(status) == 1 {
		var err error
		if status, err = p.readRegister(linkproto.LinkStatusReg(link)); err != nil {
			return err
		}
		if linkproto.StatusQueued.Of(status) == 1 {
			p.out.hit("host starts again", "a queue not empty")
		}
		p.cables[link].cut = false
	}
	err := p.run(1_000_000, "SPACE", nothing, func() bool { return c.told && uint32(uint8(c.FreedPackets)) == linkproto.StatusFreed.Of(status) })
	if err == nil && (c.FreedPackets != c.SentPackets || c.FreedBytes != c.SentBytes) {
		err = fmt.Errorf("link %d: QUEUED is clear and SPACE agrees with FREED; %d packets of %d bytes were sent, and %d of %d are freed", link,
			c.SentPackets, c.SentBytes, c.FreedPackets, c.FreedBytes)
	}
	return err
}
