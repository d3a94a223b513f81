package golden

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// begin brings the network interface into the state in which the round begins, and reads the counters.
func (p *Player) begin() {
	r := p.round
	first := p.out.Round == 0
	p.host.own, p.host.out = 0, make([]int, p.Params.Links)
	p.host.traps = make([]service, p.Params.Links)
	for i := range p.peers {
		p.peers[i] = peer{}
	}
	switch {
	case r.Kind == stimulus.Reset && first:
		p.identify("identity before the reset") // no link is up without
		p.reset()
	case r.Kind == stimulus.Reset:
		p.reset()
	case first:
		p.identify("identity")
	}
	p.rest()
	// After a reset the receive buffer holds anything.
	if first || r.Kind == stimulus.Reset {
		p.fill()
	}
	setup := []linkproto.Packet{{Type: linkproto.TypeRegWrite, Reg: linkproto.RegControl, Value: r.Control}}
	for frame, entry := range r.Table {
		setup = append(setup, linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.FrameReg(frame), Value: entry})
	}
	p.askAll("begin", setup)
	p.out.Muted = r.Control == 0 && r.Kind != stimulus.Mute
	p.out.Gaps = r.Kind == stimulus.Mute || r.Kind == stimulus.HostRestart
	p.rest()
	for i := range p.host.credit {
		c := &p.host.credit[i]
		c.began, c.refused = c.SentPackets, c.Refused
	}
	for _, c := range p.cables {
		c.session(p.out.Round)
		c.missing = c.words.Lost || c.kind == linkproto.KindLost
	}
	if r.Kind == stimulus.Revoke {
		p.beforeRevoke()
	}
	p.heard = p.host.received
	p.base = p.readCounters()
	for i := range p.host.credit {
		p.host.credit[i].lost = p.base[i+1][linkproto.CntLostPackets]
	}
	p.host.log = nil
}

// reset resets the network interface; hosts and peers notice.
func (p *Player) reset() {
	p.rest()
	epochs := make([]uint8, len(p.Ports))
	for i, port := range p.Ports {
		epochs[i] = port.Link.Status().Epoch
	}
	p.host = host{credit: newCredits(p.Params), traps: make([]service, p.Params.Links), out: make([]int, p.Params.Links)}
	try.OK(p.World.Reset())
	again := func(ports []*ni.Port) {
		p.run(2*p.Params.Retry, "ports to start again", nothing, func() bool {
			return !slices.ContainsFunc(ports, func(port *ni.Port) bool {
				s := port.Link.Status()
				return s.Epoch == epochs[slices.Index(p.Ports, port)] || !s.Up
			})
		})
	}
	again(p.Ports[:1])
	p.cables[0].session(p.out.Round)
	p.identify("identity")
	again(p.Ports)
	for _, c := range p.cables[1:] {
		c.session(p.out.Round)
	}
}

// identify gives the network interface a number and a nonce, of a stream of random numbers. Until then its links are down.
func (p *Player) identify(stream string) {
	p.waitUp(0)
	r := p.split(stream)
	p.nonce = ni.Nonce(r)
	p.askAll("begin", []linkproto.Packet{
		{Type: linkproto.TypeRegWrite, Reg: linkproto.RegNodeID, Value: r.Uint32()},
		{Type: linkproto.TypeRegWrite, Reg: linkproto.RegNonce, Value: p.nonce},
	})
}

// fill gives the receive buffer a content.
func (p *Player) fill() {
	r := p.split("fill")
	var writes []linkproto.Packet
	for frame := range p.Params.Frames {
		writes = append(writes, p.restore(frame, r.Bytes(p.Params.PageBytes)))
	}
	p.askAll("begin", writes)
}

func (p *Player) restore(frame int, page []byte) linkproto.Packet {
	return linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: uint32(frame * p.Params.PageBytes), Data: page}
}

// askAll asks several questions and waits for all answers.
func (p *Player) askAll(lane string, questions []linkproto.Packet) []linkproto.Packet {
	var answers []linkproto.Packet
	take := func(a linkproto.Packet) {
		a.Data = bytes.Clone(a.Data)
		answers = append(answers, a)
	}
	next := 0
	p.run(1_000_000+100_000*len(questions), fmt.Sprintf("the answers to %v", questions[0].Type), func() {
		for next < len(questions) && p.ask(question{lane, stimulus.Encode(questions[next]), take}, nothing) {
			next++
		}
	}, func() bool { return len(answers) == len(questions) })
	return answers
}

// readCounters reads all counters of all ports.
func (p *Player) readCounters() []Counts {
	var questions []linkproto.Packet
	for port := range p.Ports {
		for c := range linkproto.Counter(linkproto.NumCounters) {
			questions = append(questions, linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.CounterReg(port, c)})
		}
	}
	answers := p.askAll("", questions)
	counts := make([]Counts, len(p.Ports))
	for i, a := range answers {
		counts[i/linkproto.NumCounters][i%linkproto.NumCounters] = a.Value
	}
	return counts
}

// end waits for rest and writes down all that can be read, after a check of what this world alone can tell.
func (p *Player) end() {
	r := p.round
	if r.Kind == stimulus.Mute {
		p.must(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RegControl, Value: r.Control})
	}
	p.rest()
	heard, sent := p.host.received, p.host.sent
	delivered := p.readRegister(linkproto.CounterReg(0, linkproto.CntRxPackets))
	if delivered != sent+1 {
		p.fail("the host sent %d packets and this question, and %d count as delivered", sent, delivered)
	}
	now := p.readCounters()
	for port := range now {
		var delta Counts
		for c := range delta {
			delta[c] = now[port][c] - p.base[port][c]
		}
		p.out.Counts = append(p.out.Counts, delta)
		where := "counter of a link"
		if port == 0 {
			where = "counter of the host port"
		}
		for c, n := range delta {
			if n > 0 {
				p.out.hit(where, linkproto.Counter(c).String())
			}
		}
		if port > 0 {
			p.checkLink(port, delta)
		}
		p.writeCounters(port, delta)
	}
	if got, want := int(p.out.Counts[0][linkproto.CntTxPackets]), int(heard-p.heard); r.Kind != stimulus.HostRestart && (got < want || got > want+2) {
		p.fail("the host received %d packets, and %d count as acknowledged", want, got)
	}
	restarts := uint32(0)
	if r.Kind == stimulus.HostRestart {
		restarts = uint32(p.restarts())
	}
	if have := p.out.Counts[0][linkproto.CntRestarts]; have != restarts {
		p.fail("the host port counts %d restarts, want %d", have, restarts)
	}
	if r.Kind == stimulus.Revoke {
		p.checkRevoked(p.out.Counts[r.Port][linkproto.CntDenied])
	}
	p.readBack()
	try.OK(p.wrong)
}

// checkLink compares a link's counters with what its peer and the host know.
func (p *Player) checkLink(link int, delta Counts) {
	in, good := p.round.Links[link-1].In, 0
	for _, a := range in {
		if a.Forged == 0 {
			good++
		}
	}
	credit := &p.host.credit[link-1]
	sent := credit.SentPackets - credit.began
	tx, lost, restarts := delta[linkproto.CntTxPackets], delta[linkproto.CntLostPackets], uint32(0)
	switch {
	case p.round.Kind == stimulus.Restarts && p.round.Port == link:
		restarts = min(max(delta[linkproto.CntRestarts], uint32(p.restarts())), uint32(p.restarts()+p.twice))
	case p.round.Kind == stimulus.Restarts:
		restarts = uint32(p.renonced)
	case p.round.Port != link:
	case p.round.Kind == stimulus.PeerRestart:
		restarts = uint32(p.restarts())
	case p.round.Kind == stimulus.GiveUp:
		restarts = 1
	}
	for _, c := range []struct {
		what       string
		have, want uint32
	}{
		{"packets delivered", delta[linkproto.CntRxPackets], uint32(good)},
		{"packets acknowledged or lost", tx + lost, uint32(sent)},
		{"restarts", delta[linkproto.CntRestarts], restarts},
		{"packets refused", delta[linkproto.CntNoSpace], uint32(credit.Refused - credit.refused)},
	} {
		if c.have != c.want {
			p.fail("link %d: %d %s, want %d; its counters: %v", link, c.have, c.what, c.want, delta)
		}
	}
	if lost > 0 && restarts == 0 {
		p.fail("link %d: %d packets lost without a restart", link, lost)
	}
}

// disturbances are the counters of what does not happen on a clean link.
var disturbances = []linkproto.Counter{linkproto.CntRxCRC, linkproto.CntRxDup, linkproto.CntRxGap, linkproto.CntRxOverrun, linkproto.CntRxStray,
	linkproto.CntBadWord, linkproto.CntReplays, linkproto.CntRetries}

// writeCounters writes down those counters that do not depend on time.
func (p *Player) writeCounters(port int, delta Counts) {
	k := p.round.Kind
	hit := p.round.Port == port
	restarts := k == stimulus.PeerRestart || k == stimulus.Restarts
	exact := []linkproto.Counter{linkproto.CntBadPacket}
	if k != stimulus.Revoke || !hit {
		exact = append(exact, linkproto.CntDenied)
	}
	if port > 0 {
		exact = append(exact, linkproto.CntRxPackets)
		if !hit || k != stimulus.Restarts {
			exact = append(exact, linkproto.CntRestarts)
		}
		if !hit || !restarts && k != stimulus.GiveUp && k != stimulus.Flood { // whose host tries out what is refused
			exact = append(exact, linkproto.CntNoSpace)
		}
		if !restarts || !hit {
			exact = append(exact, linkproto.CntTxPackets, linkproto.CntLostPackets)
		}
	}
	// A violation has LOST asked for, which may come in the middle of the next frame that is sent, and have that repeated.
	clean := k != stimulus.Noisy && k != stimulus.Deaf && k != stimulus.Violate && !restarts && k != stimulus.HostRestart && !((k == stimulus.GiveUp || k == stimulus.Flood) && hit)
	if clean {
		exact = append(exact, disturbances...)
	}
	for _, c := range exact {
		value := fmt.Sprint(delta[c])
		switch {
		// A frame that its sender abandoned when the link started again may count when the next one begins.
		case c == linkproto.CntRxStray && p.out.Round <= p.cables[port].renewed+1:
			value = unknown
		// LOST that is still being said when the first frame is on its way has that sent twice.
		case (c == linkproto.CntReplays || c == linkproto.CntRxDup) && p.cables[port].missing:
			value = unknown
		}
		p.out.line(fmt.Sprintf("counters of port %d", port), "%v %s", c, value)
	}
}

// readBack writes down registers, frame table and receive buffer.
func (p *Player) readBack() {
	var questions []linkproto.Packet
	for _, r := range []linkproto.Reg{linkproto.RegScratch, linkproto.RegControl, linkproto.RegNodeID, linkproto.RegNonce} {
		questions = append(questions, linkproto.Packet{Type: linkproto.TypeRegRead, Reg: r})
	}
	for frame := range p.Params.Frames {
		questions = append(questions, linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.FrameReg(frame)})
	}
	p.askAll("registers at the end", questions)
	questions = nil
	for frame := range p.Params.Frames {
		questions = append(questions, p.readPage(frame))
	}
	pages := p.askAll("", questions)
	for frame, page := range pages {
		if len(page.Data) != p.Params.PageBytes {
			try.Failf("a read of frame %d gave %d bytes, status %v", frame, len(page.Data), page.Status)
		}
		p.out.Buffer = append(p.out.Buffer, page.Data...)
	}
	p.checkStatus()
}

// lifeOf is how the life of an end differs from that of a port of the network interface before its first epoch.
func (p *Player) lifeOf(port int, end flowctl.Peer) linkproto.Life {
	if port == 0 {
		return end.Life
	}
	return end.Life ^ linkproto.LifeOf(p.nonce, uint8(port), 0)
}

// checkStatus compares each LINK_STATUS and PEER with what the other end knows, at rest.
func (p *Player) checkStatus() {
	for port, end := range p.Ports {
		have := p.readRegister(linkproto.LinkStatusReg(port))
		s := end.Link.Status()
		life := p.lifeOf(port, s.Peer)
		want := linkproto.StatusUp.In(1) | linkproto.StatusEpoch.In(uint32(life.Epoch()))
		if !life.HostLife() {
			p.fail("port %d: its life is %#x to its peer, of another end", port, s.Peer.Life)
		}
		if p.cables[port].words.Lost {
			want |= linkproto.StatusMissing.In(1)
		}
		if port > 0 {
			want |= linkproto.StatusFreed.In(uint32(p.host.credit[port-1].SentPackets))
		}
		if have != want {
			p.fail("port %d: LINK_STATUS is %#x at rest, want %#x", port, have, want)
		}
		who := linkproto.PeerKnown.In(1) | linkproto.PeerNode.In(uint32(end.Link.Config().Node))
		if have := p.readRegister(linkproto.PeerReg(port)); have != who {
			p.fail("port %d: PEER is %#x at rest, want %#x", port, have, who)
		}
	}
}
