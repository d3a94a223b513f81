package golden

import (
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// disturb does what the round's kind wants done before the traffic.
func (p *Player) disturb() {
	switch p.round.Kind {
	case stimulus.Noisy:
		p.noise()
	case stimulus.Deaf:
		for _, c := range p.cables {
			c.words.DropStop = true
		}
	case stimulus.Violate:
		p.violate()
	case stimulus.GiveUp:
		p.giveUp(p.round.Port)
	case stimulus.Flood:
		p.flood(p.round.Port)
	}
}

// noise plans faults for every cable, both ways. A frame of any length has a good chance to get through, and nothing lasts so long that a
// link would be given up.
func (p *Player) noise() {
	symbols := uint64(20 * p.prog.PacketsEach() * p.Params.MaxPacket())
	perSymbol := p.round.Rate / float64(p.Params.MaxPacket())
	for port, c := range p.cables {
		plan := func(way string) *testbench.Injector {
			r := p.split(fmt.Sprintf("noise %d %s", port, way))
			return testbench.GenerateFaults(r, testbench.FaultRates{
				Symbols: symbols, BitError: perSymbol / 9, Drop: perSymbol / 2, Duplicate: perSymbol / 2, Burst: perSymbol / 4,
				Stuck: perSymbol / 8, Unplug: perSymbol / 16, Open: uint64(linkproto.SymIdle),
			}).Injector(9)
		}
		c.toNI, c.fromNI = plan("to"), plan("from")
	}
}

// violate puts the round's violations on each port's cable, one at a time. Each must be counted as its rule says, and change nothing.
func (p *Player) violate() {
	p.rest()
	wants := make([]stimulus.Counts, len(p.Ports))
	for port, all := range p.round.Violations {
		where := "violation at a link"
		if port == 0 {
			where = "violation at the host port"
		}
		wants[port] = stimulus.Counts{}
		for _, v := range all {
			p.out.hit(where, v.Rule)
			p.cables[port].insert = v.Symbols(p.cables[port].state())
			wants[port].Add(v.Want)
			p.wait(2*p.Params.MaxPacket() + 500)
		}
	}
	p.behindLost()
	now := p.readCounters()
	for port := range now {
		for _, c := range violated {
			have := now[port][c] - p.base[port][c]
			if want := wants[port][c]; have != want {
				p.fail("port %d: violations raised %v by %d, want %d: %v", port, c, have, want, p.round.Violations[port])
			}
			p.out.line(fmt.Sprintf("violations at port %d", port), "%v %d", c, have)
		}
	}
}

// violated are the counters that only violations raise, in a round of them.
var violated = []linkproto.Counter{linkproto.CntRxCRC, linkproto.CntRxDup, linkproto.CntRxGap, linkproto.CntRxOverrun, linkproto.CntRxStray,
	linkproto.CntBadWord, linkproto.CntReplays, linkproto.CntRetries, linkproto.CntRestarts, linkproto.CntLostPackets, linkproto.CntBadPacket, linkproto.CntDenied}

// behindLost waits for the host port to say LOST, if it does. A LOST that comes while the first question is on its way would have that sent
// twice; the next one comes ACK_DELAY later, when the question has arrived.
func (p *Player) behindLost() {
	c := p.cables[0]
	heard := c.words.Words
	p.run(2*p.Params.AckDelay, "LOST", nothing, func() bool { return !c.words.Lost || c.words.Words > heard })
}

// giveUp unplugs a cable, or has the peer hear and not be heard, while the host has packets for the peer, until the network interface starts
// the link again.
func (p *Player) giveUp(link int) {
	c, epoch := p.cables[link], p.Ports[link].Link.Status().Epoch
	c.silent = p.split("give up").Bool()
	c.cut = !c.silent
	out := p.round.Links[link-1].Out
	for p.host.out[link-1] < min(5, len(out)) && p.forward(link, out[p.host.out[link-1]]) {
		continue
	}
	before := p.base[link][linkproto.CntRestarts]
	for restarts, from := before, p.now; restarts == before; {
		if p.now-from > uint64(2*p.Params.Retry*p.Params.RetryLimit) {
			try.Failf("%w: link %d is not given up, though nothing was acknowledged for %d clocks", ErrStuck, link, p.now-from)
		}
		restarts = p.readRegister(linkproto.CounterReg(link, linkproto.CntRestarts))
		p.wait(p.Params.Retry / 8)
	}
	p.checkGivenUp(link)
	p.out.hit("SPACE", "lost packets")
	c.cut, c.silent = false, false
	p.run(2*p.Params.Retry, "the peer to notice", nothing, func() bool {
		s := p.Ports[link].Link.Status()
		return s.Up && s.Epoch != epoch
	})
	p.sessions()
	p.admit(link, "by giving up")
}

// checkGivenUp wants all retries to have been made, and all that the host has sent by the link in this round to count as lost.
func (p *Player) checkGivenUp(link int) {
	for c, want := range map[linkproto.Counter]int{linkproto.CntRetries: p.Params.RetryLimit, linkproto.CntLostPackets: p.host.out[link-1], linkproto.CntTxPackets: 0} {
		now := p.readRegister(linkproto.CounterReg(link, c))
		if have := now - p.base[link][c]; have != uint32(want) {
			try.Failf("link %d was given up with %d packets underway: counter %v went up by %d, want %d", link, p.host.out[link-1], c, have, want)
		}
	}
}

// sessions is for when links may have started again; it brings rest.
func (p *Player) sessions() {
	p.rest()
	for _, c := range p.cables {
		c.session(p.out.Round)
	}
}

// flood lets the host send more than it may by a link that acknowledges nothing: what is too much must be refused, exactly.
func (p *Player) flood(link int) {
	c, credit, out := p.cables[link], &p.host.credit[link-1], p.round.Links[link-1].Out
	c.cut = true
	tooMany, refused := 0, credit.Refused
	p.run(1_000_000, "the flood", func() {
		for at := &p.host.out[link-1]; *at < len(out) && tooMany < 5; {
			room := credit.HasRoom() && tooMany == 0
			if !p.push(link, out[*at]) {
				return
			}
			if !room {
				tooMany++
			}
		}
	}, func() bool {
		return credit.Refused-refused == tooMany && (tooMany == 5 || p.host.out[link-1] == len(out))
	})
	from := p.now
	p.readRegister(linkproto.RegMagic)
	if took := p.now - from; took > uint64(20*p.Params.MaxPacket()) { // what the host has queued goes before
		p.fail("during the flood of link %d a register read took %d clocks, want at most %d", link, took, 20*p.Params.MaxPacket())
	}
	c.cut = false
	p.admit(link, "by sending too much")
}
