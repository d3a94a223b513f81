package golden

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// disturb does what the round's kind wants done before the traffic.
func (p *Player) disturb() error {
	switch p.round.Kind {
	case Noisy:
		p.noise()
	case Deaf:
		for _, c := range p.cables {
			c.deaf = true
		}
	case Vandals:
		return p.vandals()
	case GiveUp:
		return p.giveUp(p.round.Port)
	case Flood:
		return p.flood(p.round.Port)
	}
	return nil
}

// noise plans faults for every cable, both ways. A frame of any length has a good chance to get through, and nothing lasts so long that a
// link would be given up.
func (p *Player) noise() {
	symbols := uint64(20 * p.prog.packets() * p.Params.MaxPacket())
	perSymbol := p.round.Rate / float64(p.Params.MaxPacket())
	for port, c := range p.cables {
		plan := func(way string) *testbench.Injector {
			r := p.rng.Split(fmt.Sprintf("noise %d %d %s", p.out.Round, port, way))
			return testbench.GenerateFaults(r, testbench.FaultRates{
				Symbols: symbols, BitError: perSymbol / 9, Drop: perSymbol / 2, Duplicate: perSymbol / 2, Burst: perSymbol / 4,
				Stuck: perSymbol / 8, Unplug: perSymbol / 16, Open: uint64(linkproto.SymIdle),
			}).Injector(9)
		}
		c.toNI, c.fromNI = plan("to"), plan("from")
	}
}

// packets is about how many packets pass each way on each port in a round.
func (p Program) packets() int {
	most := 0
	for _, r := range p.Rounds {
		most = max(most, len(r.Host))
	}
	return most
}

// vandals slips into the stream of every port, one at a time, what must be counted and change nothing.
func (p *Player) vandals() error {
	if err := p.rest(); err != nil {
		return err
	}
	r := testbench.NewRand(p.prog.Seed).Split(fmt.Sprint("vandals ", p.out.Round))
	for port := range p.Ports {
		where := "vandal at a link"
		if port == 0 {
			where = "vandal at the host port"
		}
		for _, kind := range r.Perm(len(vandalisms))[:12] {
			p.out.hit(where, vandalisms[kind])
			p.cables[port].insert = p.vandalism(r, kind, port)
			if err := p.wait(2*p.Params.MaxPacket() + 500); err != nil {
				return err
			}
		}
	}
	if err := p.behindLost(); err != nil {
		return err
	}
	now, err := p.readCounters()
	for port := range now {
		for _, c := range disturbances {
			p.out.line(fmt.Sprintf("vandals at port %d", port), "%v %d", c, now[port][c]-p.base[port][c])
		}
	}
	return err
}

// behindLost waits for the host port to say LOST, if it does. A LOST that comes while the first question is on its way would have that sent
// twice; the next one comes ACK_DELAY later, when the question has arrived.
func (p *Player) behindLost() error {
	c := p.cables[0]
	heard := c.heard
	return p.run(2*p.Params.AckDelay, "LOST", nothing, func() bool { return !c.lost || c.heard > heard })
}

// vandalisms are what vandalism makes, by number.
var vandalisms = [...]string{
	"damaged word",
	"reserved bits in a word",
	"reserved kind of word",
	"word cut off",
	"INIT of epoch 0",
	"word of another life",
	"impossible number",
	"INIT again",
	"data outside a frame",
	"EOP outside a frame",
	"what no PHY could decode",
	"damaged frame",
	"frame too short",
	"frame too long",
	"what no PHY could decode in a frame",
	"frame in a frame",
	"frame again",
	"frame ahead",
}

// vandalism is something bad of a kind for a link at rest.
func (p *Player) vandalism(r *testbench.Rand, kind, port int) []linkproto.Symbol {
	status := p.Ports[port].Link.Status()
	next := p.cables[port].next()
	word := func(w linkproto.Word, damage byte) []linkproto.Symbol {
		s := w.Symbols()
		s[len(s)-1] ^= linkproto.Symbol(damage)
		return s[:]
	}
	data := func(n int) (s []linkproto.Symbol) {
		for _, b := range r.Bytes(n) {
			s = append(s, linkproto.Data(b))
		}
		return s
	}
	good := packet(linkproto.TypeWrite, 0, r.Bytes(4+r.IntN(20)))
	frame := func(seq uint8, payload []byte) []linkproto.Symbol { return linkproto.AppendFrame(nil, seq, payload) }
	ack := linkproto.Word{Kind: linkproto.KindAck, Value: status.PeerEpoch, Echo: status.PeerEpoch}
	switch kind {
	case 0:
		return word(ack, byte(r.Between(1, 255)))
	case 1: // reserved bits, with the check that is right for them
		return rawWord(byte(r.Between(1, 31)), r)
	case 2:
		return rawWord(3<<linkproto.WordKindShift, r)
	case 3: // cut off
		s := ack.Symbols()
		return append(s[:r.Between(1, 5):5], linkproto.SymEOP)
	case 4:
		return word(linkproto.Word{Kind: linkproto.KindInit, Value: linkproto.EpochNone, Echo: status.PeerEpoch}, 0)
	case 5: // of an earlier life
		return word(linkproto.Word{Kind: linkproto.KindAck, Echo: status.PeerEpoch + uint8(r.Between(1, 255))}, 0)
	case 6: // a number that cannot be
		return word(linkproto.Word{Kind: testbench.Pick(r, linkproto.KindAck, linkproto.KindLost), Value: p.cables[port].wants + uint8(r.Between(1, 255)), Echo: status.PeerEpoch}, 0)
	case 7: // that all is known
		return word(linkproto.Word{Kind: linkproto.KindInit, Value: status.Epoch, Echo: status.PeerEpoch}, 0)
	case 8:
		return data(r.Between(1, 20))
	case 9:
		return []linkproto.Symbol{linkproto.SymEOP}
	case 10:
		return []linkproto.Symbol{linkproto.SymErr, 0x1FF, 0x100}
	case 11: // wrong CRC
		s := frame(next, good)
		s[r.Between(2, len(s)-2)] ^= linkproto.Symbol(1 << r.IntN(8))
		return s
	case 12: // too short
		return frame(next, good[:r.IntN(3)])
	case 13: // too long
		return frame(next, packet(linkproto.TypeWrite, 0, r.Bytes(p.Params.MaxPacket()-linkproto.HeaderBytes+r.Between(1, 9))))
	case 14: // what no PHY could decode inside
		s := frame(next, good)
		s[r.Between(1, len(s)-2)] = testbench.Pick(r, linkproto.SymErr, 0x1F7)
		return s
	case 15: // another frame inside
		s := frame(next, good)
		return append(s[:r.Between(1, len(s)-1)], frame(next-1, good)...)
	case 16:
		return frame(next-uint8(r.Between(1, 128)), good)
	default:
		return frame(next+uint8(r.Between(1, 127)), good)
	}
}

// rawWord is a word with this first byte and the check that is right for it.
func rawWord(first byte, r *testbench.Rand) []linkproto.Symbol {
	body := []byte{first, byte(r.Uint32()), byte(r.Uint32())}
	check := linkproto.CRC16(body)
	s := []linkproto.Symbol{linkproto.SymLSW}
	for _, b := range append(body, byte(check>>8), byte(check)) {
		s = append(s, linkproto.Data(b))
	}
	return s
}

// giveUp unplugs a cable while the host has packets for the peer, until the network interface starts the link again.
func (p *Player) giveUp(link int) error {
	c := p.cables[link]
	c.cut = true
	out := p.round.Links[link-1].Out
	for p.host.out[link-1] < min(5, len(out)) && p.forward(link, out[p.host.out[link-1]]) {
		continue
	}
	before := p.base[link][linkproto.CntRestarts]
	for restarts, from := before, p.now; restarts == before; {
		if p.now-from > uint64(2*p.Params.Retry*p.Params.RetryLimit) {
			return fmt.Errorf("%w: link %d is not given up, though nothing was acknowledged for %d clocks", ErrStuck, link, p.now-from)
		}
		var err error
		restarts, err = p.readRegister(linkproto.CounterReg(link, linkproto.CntRestarts))
		if err = errors.Join(err, p.wait(p.Params.Retry/8)); err != nil {
			return err
		}
	}
	p.out.hit("SPACE", "lost packets")
	epoch := p.Ports[link].Link.Status().Epoch
	c.cut = false
	return errors.Join(p.run(2*p.Params.Retry, "the peer to notice", nothing, func() bool {
		s := p.Ports[link].Link.Status()
		return s.Up && s.Epoch != epoch
	}), p.sessions(), p.admit(link, "by giving up"))
}

// sessions is for when links may have started again; it brings rest.
func (p *Player) sessions() error {
	err := p.rest()
	for _, c := range p.cables {
		c.session(p.out.Round)
	}
	return err
}

// flood lets the host send more than it may by a link that acknowledges nothing: what is too much must be refused, exactly.
func (p *Player) flood(link int) error {
	c, credit, out := p.cables[link], &p.host.credit[link-1], p.round.Links[link-1].Out
	c.cut = true
	tooMany := 0
	err := p.run(1_000_000, "the flood", func() {
		for at := &p.host.out[link-1]; *at < len(out) && tooMany < 5; {
			room := p.hasRoom(credit) && tooMany == 0
			if !p.push(link, out[*at]) {
				return
			}
			if !room {
				tooMany++
			}
		}
	}, func() bool { return int(credit.refused) == tooMany && (tooMany == 5 || p.host.out[link-1] == len(out)) })
	c.cut = false
	return errors.Join(err, p.admit(link, "by sending too much"))
}
