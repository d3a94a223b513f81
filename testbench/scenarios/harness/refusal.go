package harness

import (
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// Refusal is a malformed request and the answer it must get.
type Refusal struct {
	Raw  []byte
	Want linkproto.Packet
}

// Refusable draws a request that must be refused.
func (s *Harness) Refusable() Refusal {
	tag := uint8(s.Rand.IntN(256))
	page, size := s.Params.PageBytes, s.Params.BufferBytes()
	done := func(raw []byte, status linkproto.Status, tag uint8) Refusal {
		return Refusal{raw, linkproto.Packet{Type: linkproto.TypeDone, Status: status, Tag: tag}}
	}
	body := func(kind linkproto.Type, via, n int) []byte {
		raw := []byte{byte(via)<<linkproto.TypeBits | byte(kind), byte(n), byte(n >> 8)}
		for i := range n {
			if i == 0 {
				raw = append(raw, tag)
			} else {
				raw = append(raw, byte(s.Rand.Uint32()))
			}
		}
		return raw
	}
	aboutTrap := []linkproto.Type{linkproto.TypeResume, linkproto.TypeRetrap}[s.Rand.IntN(2)]
	switch s.Rand.IntN(9) {
	case 0: // a type that is none, or that only goes the other way
		kinds := []linkproto.Type{0, 0x16, 0x17, linkproto.TypeRegData, linkproto.TypeDone, linkproto.TypeTrap, linkproto.TypeSpace, 0x1E, 0x1F}
		return done(body(kinds[s.Rand.IntN(len(kinds))], s.Rand.IntN(8), s.Rand.IntN(page)), linkproto.StatusBadType, linkproto.TagNone)
	case 1: // a link's packet for no link
		return done(body(linkproto.TypeWrite, 0, s.Rand.IntN(page)), linkproto.StatusBadType, linkproto.TagNone)
	case 2:
		via := s.Params.Links + 1 + s.Rand.IntN(linkproto.MaxVia-s.Params.Links)
		return done(body(linkproto.Type(1+s.Rand.IntN(3)), via, s.Rand.IntN(page)), linkproto.StatusBadLink, linkproto.TagNone)
	case 3: // any other length than the type's
		kind := linkproto.Type(int(linkproto.TypeRegRead) + s.Rand.IntN(6))
		n := s.Rand.IntN(12)
		if info := kind.Info(); n >= info.MinLength() {
			n = info.MinLength() - 1
			if most, bounded := info.MaxLength(); bounded && s.Rand.Bool() {
				n = most + 1 + s.Rand.IntN(s.Params.MaxPacket()-linkproto.HeaderBytes-most)
			}
		}
		if n == 0 {
			tag = linkproto.TagNone
		}
		return done(body(kind, s.Rand.IntN(2), n), linkproto.StatusBadLength, tag)
	case 4: // registers that do not exist or cannot be written
		if s.Rand.Bool() {
			return done(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeRegRead, Tag: tag, Reg: linkproto.FrameReg(s.Params.Frames)}), linkproto.StatusBadAddress, tag)
		}
		return done(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeRegWrite, Tag: tag, Reg: linkproto.CounterReg(1, 0)}), linkproto.StatusBadAddress, tag)
	case 5: // outside the buffer, or across a page's end
		n, addr := s.across()
		if s.Rand.IntN(4) == 0 {
			n, addr = page+1+s.Rand.IntN(0xFFFF-page), uint32(s.Rand.IntN(size))
		}
		return done(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeBufRead, Tag: tag, Addr: addr, Count: uint16(n)}), linkproto.StatusBadAddress, tag)
	case 6:
		n, addr := s.across()
		if s.Rand.IntN(4) == 0 {
			addr = 1<<(12+s.Rand.IntN(20)) | uint32(s.Rand.IntN(2))
		}
		return done(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeBufWrite, Tag: tag, Addr: addr, Data: make([]byte, n)}), linkproto.StatusBadAddress, tag)
	case 7:
		return done(stimulus.Encode(linkproto.Packet{Type: aboutTrap, Via: 0, Tag: tag}), linkproto.StatusBadLink, tag)
	default:
		return done(stimulus.Encode(linkproto.Packet{Type: aboutTrap, Via: 1, Tag: tag}), linkproto.StatusNotTrapped, tag)
	}
}

// across is an access across a page's end, or the buffer's.
func (s *Harness) across() (n int, addr uint32) {
	page := s.Params.PageBytes
	n = 2 + s.Rand.IntN(page-1)
	return n, uint32((1+s.Rand.IntN(s.Params.Frames))*page - 1 - s.Rand.IntN(n-1))
}
