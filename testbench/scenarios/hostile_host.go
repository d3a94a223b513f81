package scenarios

import (
	"errors"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// refusal is a malformed request and the answer it must get.
type refusal struct {
	raw  []byte
	want linkproto.Packet
}

// refusable draws a request that must be refused.
func (s *harness) refusable() refusal {
	tag := uint8(s.rng.IntN(256))
	page, size := s.Params.PageBytes, s.Params.BufferBytes()
	done := func(raw []byte, status linkproto.Status, tag uint8) refusal {
		return refusal{raw, linkproto.Packet{Type: linkproto.TypeDone, Status: status, Tag: tag}}
	}
	body := func(kind linkproto.Type, via, n int) []byte {
		raw := []byte{byte(via)<<linkproto.TypeBits | byte(kind), byte(n), byte(n >> 8)}
		for i := range n {
			if i == 0 {
				raw = append(raw, tag)
			} else {
				raw = append(raw, byte(s.rng.Uint32()))
			}
		}
		return raw
	}
	aboutTrap := []linkproto.Type{linkproto.TypeResume, linkproto.TypeRetrap}[s.rng.IntN(2)]
	switch s.rng.IntN(9) {
	case 0: // a type that is none, or that only goes the other way
		kinds := []linkproto.Type{0, 0x16, 0x17, linkproto.TypeRegData, linkproto.TypeDone, linkproto.TypeTrap, linkproto.TypeSpace, 0x1E, 0x1F}
		return done(body(kinds[s.rng.IntN(len(kinds))], s.rng.IntN(8), s.rng.IntN(page)), linkproto.StatusBadType, linkproto.TagNone)
	case 1: // a link's packet for no link
		return done(body(linkproto.TypeWrite, 0, s.rng.IntN(page)), linkproto.StatusBadType, linkproto.TagNone)
	case 2:
		via := s.Params.Links + 1 + s.rng.IntN(linkproto.MaxVia-s.Params.Links)
		return done(body(linkproto.Type(1+s.rng.IntN(3)), via, s.rng.IntN(page)), linkproto.StatusBadLink, linkproto.TagNone)
	case 3: // any other length than the type's
		kind := linkproto.Type(int(linkproto.TypeRegRead) + s.rng.IntN(6))
		n := s.rng.IntN(12)
		if info := kind.Info(); n >= info.MinLength() {
			n = info.MinLength() - 1
			if most, bounded := info.MaxLength(); bounded && s.rng.Bool() {
				n = most + 1 + s.rng.IntN(s.Params.MaxPacket()-linkproto.HeaderBytes-most)
			}
		}
		if n == 0 {
			tag = linkproto.TagNone
		}
		return done(body(kind, s.rng.IntN(2), n), linkproto.StatusBadLength, tag)
	case 4: // registers that do not exist or cannot be written
		if s.rng.Bool() {
			return done(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeRegRead, Tag: tag, Reg: linkproto.FrameReg(s.Params.Frames)}), linkproto.StatusBadAddress, tag)
		}
		return done(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeRegWrite, Tag: tag, Reg: linkproto.CounterReg(1, 0)}), linkproto.StatusBadAddress, tag)
	case 5: // outside the buffer, or across a page's end
		n, addr := s.across()
		if s.rng.IntN(4) == 0 {
			n, addr = page+1+s.rng.IntN(0xFFFF-page), uint32(s.rng.IntN(size))
		}
		return done(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeBufRead, Tag: tag, Addr: addr, Count: uint16(n)}), linkproto.StatusBadAddress, tag)
	case 6:
		n, addr := s.across()
		if s.rng.IntN(4) == 0 {
			addr = 1<<(12+s.rng.IntN(20)) | uint32(s.rng.IntN(2))
		}
		return done(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeBufWrite, Tag: tag, Addr: addr, Data: make([]byte, n)}), linkproto.StatusBadAddress, tag)
	case 7:
		return done(stimulus.Encode(linkproto.Packet{Type: aboutTrap, Via: 0, Tag: tag}), linkproto.StatusBadLink, tag)
	default:
		return done(stimulus.Encode(linkproto.Packet{Type: aboutTrap, Via: 1, Tag: tag}), linkproto.StatusNotTrapped, tag)
	}
}

// across is an access across a page's end, or the buffer's.
func (s *harness) across() (n int, addr uint32) {
	page := s.Params.PageBytes
	n = 2 + s.rng.IntN(page-1)
	return n, uint32((1+s.rng.IntN(s.Params.Frames))*page - 1 - s.rng.IntN(n-1))
}

func hostileHost(s *harness) {
	host := s.node.Host
	var expect []linkproto.Packet
	answers := 0
	host.Received = func(p linkproto.Packet) {
		switch {
		case len(expect) == 0:
			try.Failf("answer %v, tag %d, status %v to nothing", p.Type, p.Tag, p.Status)
		case p.Type != expect[0].Type || p.Tag != expect[0].Tag || p.Status != expect[0].Status:
			try.Failf("answer %d is %v, tag %d, status %v, want %v, %d, %v", answers, p.Type, p.Tag, p.Status, expect[0].Type, expect[0].Tag, expect[0].Status)
		default:
			expect = expect[1:]
			answers++
		}
	}
	before := s.quietTally(0)
	x := s.insert(host.Port)
	const packets = 800
	var next *refusal
	sent := 0
	try.OK(s.Until(2_000_000, "all refusals", func() bool {
		for sent < packets {
			if next == nil {
				r := s.refusable()
				next = &r
			}
			if err := host.SendRaw(next.raw); errors.Is(err, ni.ErrBusy) {
				break
			} else if err != nil {
				try.Failf("send a request to be refused with %v: %w: % x", next.want.Status, err, next.raw)
			}
			if s := next.want.Status; s == linkproto.StatusBadType || s == linkproto.StatusBadLength || s == linkproto.StatusBadLink {
				before.want[linkproto.CntBadPacket]++
			}
			expect = append(expect, next.want)
			sent, next = sent+1, nil
		}
		if len(x.insert) == 0 && s.rng.IntN(40) == 0 {
			x.insert = garbage(s.rng, 1+s.rng.IntN(60))
		}
		return sent == packets && len(expect) == 0
	}))
	s.run.Stats.Packets += uint64(answers)
	host.Received, host.Mangle = nil, nil
	try.OK(s.Run(20_000))
	try.OK(before.check(linkproto.CntBadPacket, linkproto.CntRestarts, linkproto.CntLostPackets, linkproto.CntNoSpace))
	for range 4 { // and what is right is still carried out
		want := s.rng.Uint32()
		try.OK(s.WriteRegister(0, linkproto.RegScratch, want))
		if have := try.Get(s.ReadRegister(0, linkproto.RegScratch)); have != want {
			try.Failf("SCRATCH holds %#x after %#x was written", have, want)
		}
	}
}
