package ni

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
)

func TestCredit(t *testing.T) {
	p := rtl.Params{}.WithDefaults()
	space := func(bytes uint16, packets uint8) linkproto.Packet {
		return linkproto.Packet{Type: linkproto.TypeSpace, Via: 1, Bytes: bytes, Packets: packets}
	}
	c := NewCredit(p, false)
	for c.HasRoom(100) {
		c.Sent(100)
	}
	if c.Outstanding() <= p.ReplayBytes-100 && c.SentPackets < linkproto.MaxWindow {
		t.Errorf("no room with %d bytes of %d outstanding", c.Outstanding(), p.ReplayBytes)
	}
	sent := c.SentPackets
	if err := c.Space(space(100, 1)); err != nil || c.FreedPackets != 1 || c.FreedBytes != 100 {
		t.Errorf("%v: %+v", err, c)
	}
	check.Fails(t, "more bytes freed than sent", c.Space(space(uint16(100*sent+1), uint8(sent))), nil)
	check.Fails(t, "a SPACE that goes back", c.Space(space(0, 0)), nil)
	check.Fails(t, "a refusal with a tag", c.Refuse(linkproto.Packet{Via: 1, Tag: 3}), nil)
	c = NewCredit(p, false)
	check.Fails(t, "a refusal when none was sent", c.Refuse(linkproto.Packet{Via: 1, Tag: linkproto.TagNone}), nil)
	c.Sent(9)
	if err := c.Refuse(linkproto.Packet{Via: 1, Tag: linkproto.TagNone}); err != nil || c.HasRoom(3) || c.SentPackets != 0 || c.SentBytes != 0 || c.Refused != 1 {
		t.Errorf("%v: %+v", err, c)
	}

	c = NewCredit(p, true) // whose queue has been used
	if err := c.Space(space(65_500, 255)); err != nil || c.Outstanding() != 0 {
		t.Errorf("%v: %+v", err, c)
	}
	c.Sent(100)
	if err := c.Space(space(64, 0)); err != nil || c.Outstanding() != 0 { // both wrap
		t.Errorf("%v: %+v", err, c)
	}
}
