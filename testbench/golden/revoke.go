package golden

import (
	"bytes"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// beforeRevoke reads the page that is going to be revoked.
func (p *Player) beforeRevoke() {
	p.revoked, p.revokeFirst, p.out.Unsure = false, p.rng.Chance(0.3), p.round.Frame
	p.revokeChance = testbench.Pick(p.rng, 0.003, 0.03, 0.03)
	p.page = p.must(p.readPage(p.round.Frame)).Data
}

func (p *Player) readPage(frame int) linkproto.Packet {
	page := p.Params.PageBytes
	return linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(frame * page), Count: uint16(page)}
}

// checkRevoked checks that all writes up to some point were carried out and none behind it, but for a part of the first of those;
// denied is how many count as denied. Then the page gets a content that does not depend on time.
func (p *Player) checkRevoked(denied uint32) {
	have, want := p.must(p.readPage(p.round.Frame)).Data, p.page
	in := p.round.Links[p.round.Port-1].In
	whole := len(in) - int(denied)
	if whole < 0 {
		try.Failf("link %d: %d writes denied of %d", p.round.Port, denied, len(in))
	}
	var next linkproto.Packet
	for i, a := range in {
		try.OK(next.Decode(a.Raw))
		if i == whole {
			break
		}
		copy(want[int(next.Addr)%p.Params.PageBytes:], next.Data)
	}
	cut := 0
	for n := 0; n <= len(next.Data) && whole < len(in) && !bytes.Equal(have, want); n++ {
		copy(want[int(next.Addr)%p.Params.PageBytes:], next.Data[:n])
		cut = n
	}
	if !bytes.Equal(have, want) {
		try.Failf("frame %d was taken from link %d; %d of %d writes count as denied, but the page holds something else at %#x than the %d before and a part of the next",
			p.round.Frame, p.round.Port, denied, len(in), firstDifference(have, want), whole)
	}
	p.out.hit("frame taken away", firstOf([]candidate{
		{"in the middle of a write", cut > 0 && cut < len(next.Data)}, {"after all writes", whole == len(in)},
		{"before all writes", whole == 0}, {"between writes", true}}))
	p.must(p.restore(p.round.Frame, p.split("revoked").Bytes(p.Params.PageBytes)))
}
