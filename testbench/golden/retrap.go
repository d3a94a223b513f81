package golden

import (
	"slices"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// retold is a packet that traps as it is told again: of a CONNECT without its params.
func retold(raw []byte) []byte {
	if least := linkproto.TypeConnect.Info().MinLength(); linkproto.Type(raw[0]) == linkproto.TypeConnect {
		raw = slices.Clone(raw[:linkproto.HeaderBytes+least])
		raw[1], raw[2] = byte(least), 0
	}
	return raw
}

// toldAgain takes note of a trap that was told again.
func (p *Player) toldAgain(link int) {
	s := &p.host.traps[link-1]
	switch {
	case s.again == 0:
		s.stray--
		return
	case !s.busy():
		p.out.hit("RETRAP", "the TRAP comes behind RESUME")
	}
	s.again--
	in := p.round.Links[link-1].In[s.next-1]
	p.out.hit("RETRAP", firstOf([]candidate{
		{"a PAGE", linkproto.Type(in.Raw[0]) != linkproto.TypeConnect}, {"a CONNECT, its params left out", len(in.Raw) > len(s.retold)},
		{"a CONNECT without params", true}}))
}

// lostTraps asks again for traps whose TRAP was lost: a link is trapped, and no host is at it.
func (p *Player) lostTraps() {
	for link := 1; link <= p.Params.Links; link++ {
		status := p.readRegister(linkproto.LinkStatusReg(link))
		s := &p.host.traps[link-1]
		if linkproto.StatusTrapped.Of(status) == 0 || s.busy() || s.open > 0 {
			continue
		}
		p.out.hit("host starts again", "a TRAP lost")
		s.missed = true
		a := p.must(linkproto.Packet{Type: linkproto.TypeRetrap, Via: uint8(link)})
		if a.Status != linkproto.StatusOK || int(a.Via) != link {
			try.Failf("link %d is trapped, and RETRAP is answered %v via %d", link, a.Status, a.Via)
		}
		p.run(100_000, "the TRAP asked for again", nothing, func() bool { return !s.missed })
	}
}
