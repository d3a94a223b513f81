package golden

import (
	"fmt"
	"slices"

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

// noise plans faults for every cable, both ways. A frame of any length has a good chance to get through, and enough words to the
// network interface do that it takes nobody for gone.
func (p *Player) noise() {
	symbols := uint64(20 * p.prog.PacketsEach() * p.Params.MaxPacket())
	perSymbol := p.round.Rate / float64(p.Params.MaxPacket())
	for port, c := range p.cables {
		plan := func(way string) *noise {
			r := p.split(fmt.Sprintf("noise %d %s", port, way))
			return &noise{injector: testbench.GenerateFaults(r, testbench.FaultRates{
				Symbols: symbols, BitError: perSymbol / 9, Drop: perSymbol / 2, Duplicate: perSymbol / 2, Burst: perSymbol / 4,
				Stuck: perSymbol / 8, Unplug: perSymbol / 16, Open: uint64(linkproto.SymIdle),
			}).Injector(9)}
		}
		c.toNI, c.fromNI = plan("to"), plan("from")
		c.toNI.patience = 2 * p.Params.WordTimer // peers and hosts bear any silence
	}
}

// violate puts the round's violations on each port's cable, one at a time. Each must be counted as its rule says, and change nothing.
func (p *Player) violate() {
	p.rest()
	for _, c := range p.cables {
		c.insert = []linkproto.Symbol{linkproto.SymEOP} // ends a frame that an end before has abandoned
	}
	p.run(2*p.Params.WordTimer, "EOPs to pass", nothing, func() bool {
		return !slices.ContainsFunc(p.cables, func(c *cable) bool { return c.insert != nil })
	})
	base := p.readCounters()
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
			symbols := v.Symbols(p.cables[port].state())
			p.cables[port].insert = symbols
			wants[port].Add(v.Want)
			p.wait(2*len(symbols)/p.Params.Width + 300)
		}
	}
	p.behindLost()
	now := p.readCounters()
	for port := range now {
		for _, c := range violated {
			have := now[port][c] - base[port][c]
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

// ways are those in which a link is given up: its cable is unplugged, maybe when the peer has just said STOP; the peer hears and is not heard;
// the peer hears no frames, or damaged ones, and says so.
var ways = []string{"unplugged", "unplugged behind STOP", "the peer is not heard", "the peer hears no frames", "the peer hears damaged frames"}

// giveUp keeps the host's packets from the peer until the network interface starts the link again.
func (p *Player) giveUp(link int) {
	c, s := p.cables[link], p.Ports[link].Link.Status()
	way := p.split("give up").IntN(len(ways))
	p.out.hit("give up", ways[way])
	from := p.now
	switch way {
	case 1:
		c.insert = linkproto.AppendWord(nil, c.state().Key, linkproto.Word{Kind: linkproto.KindAck, Stop: true, Value: c.wants})
		p.run(p.Params.WordTimer, "STOP to pass", nothing, func() bool { return c.insert == nil })
		c.cut = true
	case 0:
		c.cut = true
	case 2:
		c.silent = true
	case 3:
		c.frames = missing
	case 4:
		c.frames = damaged
	}
	out := p.round.Links[link-1].Out
	for p.host.out[link-1] < min(5, len(out)) && p.forward(link, out[p.host.out[link-1]]) {
		continue
	}
	before := p.base[link][linkproto.CntRestarts]
	for restarts := before; restarts == before; {
		if p.now-from > uint64(2*p.Params.Retry*p.Params.RetryLimit) {
			try.Failf("%w: link %d is not given up, though nothing was acknowledged for %d clocks", ErrStuck, link, p.now-from)
		}
		restarts = p.readRegister(linkproto.CounterReg(link, linkproto.CntRestarts))
		p.wait(p.Params.WordTimer / 8)
	}
	p.checkGivenUp(link, way, p.now-from)
	p.out.hit("SPACE", "lost packets")
	c.cut, c.silent, c.frames = false, false, whole
	p.run(2*p.Params.Retry, "the peer to notice", nothing, func() bool {
		now := p.Ports[link].Link.Status()
		return now.Up && now.Epoch != s.Epoch
	})
	p.sessions()
	p.admit(link, "by giving up")
}

// checkGivenUp wants all retries to have been made, or the link to have been silent for so long, and all that the host has sent by the link in
// this round to count as lost.
func (p *Player) checkGivenUp(link, way int, took uint64) {
	wants := map[linkproto.Counter]int{linkproto.CntLostPackets: p.host.out[link-1], linkproto.CntTxPackets: 0}
	switch {
	case way < 3: // the last word may have come a WORD_TIMER before
		timer := uint64(p.Params.WordTimer)
		if took < (linkproto.SilentTimers-1)*timer || took > linkproto.SilentTimers*timer+timer/2 {
			try.Failf("link %d, %s, was given up after %d clocks, want %d and up to half a WORD_TIMER more or a whole less", link, ways[way], took, linkproto.SilentTimers*timer)
		}
		wants[linkproto.CntReplays] = 0
	case way == 3:
		wants[linkproto.CntReplays] = p.Params.RetryLimit - 1
		fallthrough
	default:
		wants[linkproto.CntRetries] = p.Params.RetryLimit
	}
	for c, want := range wants {
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
	c.frames = missing
	tooMany, refused := 0, credit.Refused
	p.run(1_000_000, "the flood", func() {
		for at := &p.host.out[link-1]; *at < len(out) && tooMany < 5; {
			room := credit.HasRoom(len(out[*at])) && tooMany == 0
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
	c.frames = whole
	p.admit(link, "by sending too much")
}
