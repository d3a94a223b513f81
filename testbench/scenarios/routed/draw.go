package routed

import (
	"encoding/binary"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/model"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// packet draws what a peer sends next, and takes note of what must become of it.
func (s *routes) packet(l *link) []byte {
	raw, carried := s.inside(l)
	if s.Rand.Chance(0.15) && !l.late && s.answers < 1 {
		carried()
		return raw
	}
	if raw = s.around(raw); l.late {
		raw[0] = byte(linkproto.TypeRoute) // with via it would be none, and wait
	}
	switch _, told, ok := model.Routed(raw, s.number, s.gateway); {
	case raw[0]>>linkproto.TypeBits != 0 || !ok:
		l.bad++
	case told:
		s.tell(l, raw)
	default:
		carried()
	}
	return raw
}

// inside draws a packet that the link, or a ROUTE, may carry. carried takes note that it has been carried out, or refused.
func (s *routes) inside(l *link) (raw []byte, carried func()) {
	page, frames := s.Params.PageBytes, s.Params.Frames
	malformed := func() { l.bad++ }
	kind := s.Rand.Weighted(30, 20, 8, 6, 6, 4, 4)
	switch {
	case l.late:
		if kind != 1 && l.at < (frames-1)/s.Params.Links*page {
			return s.place(l)
		}
		kind = 1
	case s.Rand.Chance(s.answers):
		kind = 1
	case len(l.traps) > 0 && s.Rand.Chance(0.2): // traps are often behind each other
		kind = 3
	}
	switch kind {
	case 0:
		frame := l.number - 1 + s.Params.Links*s.Rand.IntN((frames-1)/s.Params.Links)
		n := s.Rand.Size(page, page)
		addr := frame*page + s.Rand.IntN(page-max(n, 1)+1)
		data := s.Rand.Bytes(n)
		return stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(addr), Data: data}), func() {
			copy(s.Node.Image[addr:], data)
			s.carried++
		}
	case 1: // an answer, or part of a message
		kind := testbench.Pick(s.Rand, linkproto.TypeRegData, linkproto.TypeDone, linkproto.TypeMessage)
		return stimulus.RawPacket(kind, 0, s.Rand.Bytes(s.Rand.IntN(80))), malformed
	case 2: // of a frame that is not the link's, or across a page's end
		n := s.Rand.Between(0, 100)
		addr := l.number % s.Params.Links * page
		if s.Rand.Bool() {
			n = s.Rand.Between(2, page)
			addr = s.Rand.Between(1, frames)*page - s.Rand.Between(1, n-1)
		}
		return stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(addr), Data: s.Rand.Bytes(n)}), func() { l.denied++ }
	case 3:
		raw := stimulus.Encode(linkproto.Packet{Type: linkproto.TypeConnect, Port: s.Rand.Uint32(), Data: s.Rand.Bytes(s.Rand.Size(linkproto.MaxParams, 0))})
		if s.Rand.Bool() {
			raw = stimulus.Encode(linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(s.Rand.IntN(frames)), Port: s.Rand.Uint32()})
		}
		return raw, func() { l.traps = append(l.traps, raw) }
	case 4: // a PAGE or CONNECT of a wrong length, which is right as far as it goes
		least, most := linkproto.TypePage.Info().MinLength(), linkproto.MaxPacket(page)-linkproto.HeaderBytes
		kind, n := linkproto.TypePage, testbench.Pick(s.Rand, s.Rand.IntN(least), s.Rand.Between(least+1, page))
		if s.Rand.Bool() {
			least = linkproto.TypeConnect.Info().MinLength()
			kind, n = linkproto.TypeConnect, testbench.Pick(s.Rand, s.Rand.IntN(least), s.Rand.Between(least+linkproto.MaxParams+1, most), most)
		}
		return stimulus.RawPacket(kind, 0, append([]byte{byte(s.Rand.IntN(frames)), 0}, s.Rand.Bytes(page+linkproto.PacketExtra)...)[:n]), malformed
	case 5: // a type that no link has
		kind := linkproto.Type(s.Rand.Between(0, 31))
		if info := kind.Info(); info != nil && info.Dir&linkproto.OnLink != 0 || kind == linkproto.TypeMessage || kind == linkproto.TypeRegData || kind == linkproto.TypeDone || kind == linkproto.TypeRoute {
			kind = linkproto.TypeBarrier
		}
		return stimulus.RawPacket(kind, 0, s.Rand.Bytes(s.Rand.Size(page, 0))), malformed
	default: // too short to be a WRITE, or with via
		if s.Rand.Bool() {
			return stimulus.RawPacket(linkproto.TypeWrite, 0, s.Rand.Bytes(s.Rand.IntN(4))), malformed
		}
		return stimulus.RawPacket(linkproto.Type(s.Rand.Between(1, 3)), s.Rand.Between(1, linkproto.MaxVia), s.Rand.Bytes(6)), malformed
	}
}

// around draws a ROUTE with a packet inside, for this node or another one, right or wrong.
func (s *routes) around(packet []byte) []byte {
	packet = append([]byte(nil), packet...)
	r := linkproto.Route{Dest: s.number, Src: uint16(s.Rand.Uint32()), Hops: uint8(s.Rand.IntN(linkproto.MaxHops + 1)), Class: uint8(s.Rand.IntN(4)), State: linkproto.RouteDatagram}
	wrong := 1
	if s.answers == 1 {
		wrong = 0
	}
	switch s.Rand.Weighted(12, 2*wrong, 3*wrong, wrong) {
	case 1:
		r.Dest = linkproto.MulticastBase + uint16(s.Rand.IntN(1<<12))
	case 2:
		r.Dest ^= 1 << s.Rand.IntN(16)
	case 3: // below the groups
		r.Dest = linkproto.MulticastBase - 1 - uint16(s.Rand.IntN(1<<9))
	}
	kind := s.Rand.Weighted(60, 16, 3*wrong, 3*wrong, 2*wrong, 3*wrong, 3*wrong, wrong)
	switch kind {
	case 1: // of a virtual link, with a CRC that only its hosts know
		r.State ^= uint8(s.Rand.Between(1, 255))
		r.VL, r.Next, r.Seq = uint16(s.Rand.Uint32()), uint8(s.Rand.Uint32()), uint8(s.Rand.Uint32())
		packet = packet[:testbench.Pick(s.Rand, 0, 1, len(packet), len(packet))]
	case 2:
		*testbench.Pick(s.Rand, &r.Next, &r.Seq) = 1 << s.Rand.IntN(8)
		if s.Rand.Bool() {
			r.VL, r.Next, r.Seq = 1<<s.Rand.IntN(16), 0, 0
		}
	case 3: // the length inside
		packet[1+s.Rand.IntN(2)] ^= 1 << s.Rand.IntN(8)
	case 4:
		packet = packet[:s.Rand.IntN(linkproto.HeaderBytes)]
	}
	r.Packet = packet
	raw := try.Get(r.Append(nil))
	switch kind {
	case 1:
		copy(raw[len(raw)-linkproto.CRCBytes:], s.Rand.Bytes(s.Rand.IntN(2)*linkproto.CRCBytes))
	case 5: // damaged
		raw[s.Rand.Between(linkproto.HeaderBytes, len(raw)-1)] ^= 1 << s.Rand.IntN(8)
	case 6: // too short for a ROUTE
		raw = raw[:s.Rand.Between(linkproto.MinPacket, linkproto.RouteExtra-1)]
		if state := linkproto.RoutePathAt + 3; s.Rand.Bool() && len(raw) > state {
			raw[state] = 0
		}
		binary.LittleEndian.PutUint16(raw[1:], uint16(len(raw)-linkproto.HeaderBytes))
	case 7:
		raw[0] |= byte(s.Rand.Between(1, linkproto.MaxVia)) << linkproto.TypeBits
	}
	return raw
}
