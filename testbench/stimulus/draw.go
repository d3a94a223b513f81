package stimulus

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// span is a place of n bytes within a frame, often at its end.
func (d *drawer) span(frame int) (addr uint32, n int) {
	n = d.Size(d.p.PageBytes, d.p.PageBytes)
	offset := d.IntN(d.p.PageBytes - max(n, 1) + 1)
	if d.Chance(0.25) {
		offset = d.p.PageBytes - max(n, 1)
	}
	if d.aim && d.Chance(0.1) {
		n, offset = 1, testbench.Pick(d.Rand, 0, d.p.PageBytes-1)
	}
	return uint32(frame*d.p.PageBytes + offset), n
}

// astray is a place that is not within one page that exists.
func (d *drawer) astray() (addr uint32, n int) {
	page := d.p.PageBytes
	switch d.IntN(4) {
	case 0: // across a page's end, or the buffer's
		n = d.Between(2, page)
		return uint32(d.Between(1, d.p.Frames)*page - d.Between(1, n-1)), n
	case 1: // longer than a page
		return uint32(d.IntN(d.p.Frames) * page), page + 1
	case 2: // close by the end
		return uint32(d.p.BufferBytes() + max(0, d.IntN(2*page)-page)), d.Between(0, 4)
	default: // far away, its low bits looking good
		addr, n = d.span(d.IntN(d.p.Frames))
		return addr | 1<<d.Between(bits.Len(uint(d.p.BufferBytes()-1)), 31), n
	}
}

// longest is the most bytes after the header.
func (d *drawer) longest() int { return d.p.MaxPacket() - linkproto.HeaderBytes }

func (d *drawer) arrival(link int) Arrival {
	a := Arrival{}
	traps := 1
	switch {
	case d.calm[link-1]:
		traps = 0
	case d.aim:
		traps = 3
	}
	switch d.Weighted(50, 12, 4, 10*traps, 4*traps, 4*traps, 8, 4, 4) {
	case 0:
		a.Raw = d.ownWrite(link)
	case 1:
		a.Raw = d.deniedWrite(link)
	case 2: // too short to be a WRITE
		a.Raw = RawPacket(linkproto.TypeWrite, 0, d.Bytes(d.IntN(4)))
	case 3:
		a = d.trap(link)
	case 4: // a frame that does not exist
		frame := testbench.Pick(d.Rand, d.p.Frames, d.Between(d.p.Frames, 0xFFFF))
		a.Raw = Encode(linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(frame), Port: d.Uint32()})
	case 5: // a PAGE or CONNECT of a wrong length
		n := testbench.Pick(d.Rand, 0, 1, 3, 5, 7, d.Between(8, d.longest()))
		kind := linkproto.TypePage
		if d.Bool() {
			kind, n = linkproto.TypeConnect, testbench.Pick(d.Rand, 0, 1, 2, 3, min(linkproto.MaxParams+5, d.longest()), d.longest())
			if most := d.p.MaxPacket() - 2*linkproto.HeaderBytes; most < linkproto.MaxParams+4 && d.Bool() {
				n = d.Between(most+1, min(linkproto.MaxParams+4, d.longest())) // right, but for its TRAP
			}
		}
		a.Raw = RawPacket(kind, 0, d.Bytes(n))
	case 6: // a type that no link has
		kinds := []linkproto.Type{0, linkproto.TypeMessage, linkproto.TypeBarrier, linkproto.TypeRoute, linkproto.TypeBufWrite,
			linkproto.TypeResume, linkproto.TypeRetrap, linkproto.TypeTrap, linkproto.Type(d.Between(7, 31))}
		a.Raw = RawPacket(testbench.Pick(d.Rand, kinds...), 0, d.Bytes(d.Size(d.longest(), 0)))
	case 7: // what would be right but for its via
		a.Raw = d.ownWrite(link)
		if traps > 0 && d.Bool() {
			a.Raw = d.trap(link).Raw
		}
		a.Raw[0] |= byte(d.Between(1, linkproto.MaxVia)) << linkproto.TypeBits
	case 8: // whose length field does not fit
		a.Raw = d.ownWrite(link)
		a.Forged = testbench.Pick(d.Rand, -1, 1, 256)
	}
	a.Raw = a.Raw[:min(len(a.Raw), d.p.MaxPacket())]
	binary.LittleEndian.PutUint16(a.Raw[1:], uint16(len(a.Raw)-linkproto.HeaderBytes))
	if a.Serve == nil { // should it trap against expectation, the round goes on
		a.Serve = []Packet{d.resume(link)}
	}
	return a
}

func (d *drawer) ownWrite(link int) []byte {
	frame := d.mine(link)
	if frame < 0 {
		return d.deniedWrite(link)
	}
	return Encode(d.again(frame))
}

// again is a write to a frame, every now and then of a range that has to do with the one before: the same, or one that touches it.
func (d *drawer) again(frame int) linkproto.Packet {
	addr, n := d.span(frame)
	page := uint32(d.p.PageBytes)
	switch last := d.last; d.IntN(7) {
	case 0:
		if last.n > 0 {
			addr, n = last.addr, last.n
		}
	case 1:
		if end := last.addr + uint32(last.n); last.n > 0 && end%page != 0 {
			addr, n = end, d.Between(1, int(page-end%page))
		}
	case 2:
		addr, n = uint32(frame)*page, int(page)
	}
	if int(addr/page) != frame && d.owner[addr/page] != d.owner[frame] {
		addr, n = d.span(frame)
	}
	d.last.addr, d.last.n = addr, n
	return linkproto.Packet{Type: linkproto.TypeWrite, Addr: addr, Data: d.Bytes(n)}
}

// deniedWrite is a WRITE that no correct interface carries out, whatever other lanes do.
func (d *drawer) deniedWrite(link int) []byte {
	addr, n := d.astray()
	if frame := d.IntN(d.p.Frames); d.Bool() && d.owner[frame] != link {
		addr, n = d.span(frame)
	}
	return Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: addr, Data: d.Bytes(n)})
}

func (d *drawer) resume(link int) []byte {
	return Encode(linkproto.Packet{Type: linkproto.TypeResume, Via: uint8(link), Tag: uint8(d.Uint32())})
}

// trap is a PAGE or CONNECT, and how the host serves it.
func (d *drawer) trap(link int) Arrival {
	most := min(linkproto.MaxParams, d.p.MaxPacket()-2*linkproto.HeaderBytes-4)
	a := Arrival{Traps: true, Raw: Encode(linkproto.Packet{Type: linkproto.TypeConnect, Port: d.Uint32(), Data: d.Bytes(d.Size(most, 0))})}
	if d.Chance(0.7) {
		a.Raw = Encode(linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(d.IntN(d.p.Frames)), Port: d.Uint32()})
	}
	if frame := d.mine(link); frame >= 0 {
		page := uint32(frame * d.p.PageBytes)
		if d.Bool() {
			a.Serve = append(a.Serve, Encode(linkproto.Packet{Type: linkproto.TypeBufRead, Tag: uint8(d.Uint32()), Addr: page, Count: uint16(d.p.PageBytes)}))
		}
		if d.Bool() {
			addr, n := page, d.p.PageBytes
			if d.Bool() {
				addr, n = d.span(frame)
			}
			a.Serve = append(a.Serve, Encode(linkproto.Packet{Type: linkproto.TypeBufWrite, Tag: uint8(d.Uint32()), Addr: addr, Data: d.Bytes(n)}))
		}
		if d.Bool() {
			a.Serve = append(a.Serve, Encode(linkproto.Packet{Type: linkproto.TypeRegWrite, Tag: uint8(d.Uint32()), Reg: linkproto.FrameReg(frame), Value: d.entry(frame)}))
		}
	}
	if d.Chance(0.3) {
		retrap := Encode(linkproto.Packet{Type: linkproto.TypeRetrap, Via: uint8(link), Tag: uint8(d.Uint32())})
		for range d.Between(1, 2) {
			a.Serve = slices.Insert(a.Serve, d.IntN(len(a.Serve)+1), retrap)
		}
	}
	a.Serve = append(a.Serve, d.resume(link))
	if d.Chance(0.2) {
		a.Serve, a.Alone = append(a.Serve, d.resume(link)), true
	}
	return a
}

// forwarded is a packet that the host sends by a link.
func (d *drawer) forwarded(link int) []byte {
	kind := linkproto.Type(d.Between(1, 15))
	if d.Chance(0.7) {
		kind = linkproto.Type(d.Between(1, 3))
	}
	return RawPacket(kind, link, d.Bytes(d.Size(d.longest(), 0)))
}

// request is one of the host's own packets, which no lane of a link disturbs.
func (d *drawer) request(r Round) []byte {
	p := linkproto.Packet{Tag: uint8(d.Uint32())}
	frame := d.mine(0)
	writes := 6
	if d.aim {
		writes = 20
	}
	switch d.Weighted(10, writes, 10, 10, 6, 6, 30) {
	case 0:
		p.Type = linkproto.TypeRegRead
		p.Reg = testbench.Pick(d.Rand, linkproto.RegScratch, linkproto.RegControl, linkproto.Reg(d.Between(0, 10)))
		if d.Bool() && frame >= 0 {
			p.Reg = linkproto.FrameReg(frame)
		}
		if d.kind == Mute && p.Reg == linkproto.RegControl {
			p.Reg = linkproto.RegMagic
		}
	case 1:
		p.Type, p.Reg, p.Value = linkproto.TypeRegWrite, linkproto.RegScratch, d.Uint32()
		if d.Bool() && frame >= 0 {
			p.Reg, p.Value = linkproto.FrameReg(frame), d.entry(frame)
		}
		if d.Chance(0.1) { // no packets are lost while the host does as it likes
			p.Reg, p.Value = linkproto.LinkStatusReg(d.Between(0, d.p.Links)), d.Uint32()
		}
	case 2:
		if p.Type = linkproto.TypeBufRead; frame >= 0 {
			addr, n := d.span(frame)
			p.Addr, p.Count = addr, uint16(n)
		} else {
			p.Addr, p.Count = uint32(d.IntN(d.p.BufferBytes())), 0
		}
	case 3:
		if p.Type = linkproto.TypeBufWrite; frame >= 0 {
			addr, n := d.span(frame)
			p.Addr, p.Data = addr, d.Bytes(n)
		} else {
			p.Addr = uint32(d.IntN(d.p.BufferBytes()))
		}
	case 4:
		p.Type = linkproto.Type(testbench.Pick(d.Rand, linkproto.TypeBufRead, linkproto.TypeBufWrite))
		addr, n := d.astray()
		if p.Addr = addr; p.Type == linkproto.TypeBufWrite {
			p.Data = d.Bytes(min(n, d.longest()-5))
			if len(p.Data) < n {
				p.Addr |= 1 << 31 // cut short it would be right
			}
		} else if p.Count = uint16(n); d.Chance(0.2) {
			p.Count = uint16(d.Between(d.p.PageBytes+1, 0xFFFF))
		}
	case 5: // RESUME or RETRAP of what is not trapped
		p.Type = testbench.Pick(d.Rand, linkproto.TypeResume, linkproto.TypeRetrap)
		p.Via = uint8(testbench.Pick(d.Rand, 0, d.Between(0, linkproto.MaxVia)))
		if via := int(p.Via); via > 0 && via <= d.p.Links && slices.ContainsFunc(r.Links[via-1].In, mayTrap) {
			p.Via = 0
		}
	default:
		return d.malformed()
	}
	return Encode(p)
}

func mayTrap(a Arrival) bool {
	kind := linkproto.Type(a.Raw[0])
	return kind == linkproto.TypePage || kind == linkproto.TypeConnect
}

// malformed is a packet of the host that must be refused.
func (d *drawer) malformed() []byte {
	via := d.IntN(linkproto.MaxVia + 1)
	size := d.Size(d.longest(), 0)
	switch d.Weighted(3, 2, 2, 4, 3) {
	case 0: // a type that is none, or goes only the other way
		kind := testbench.Pick(d.Rand, 0, linkproto.Type(d.Between(0x16, 0x17)), linkproto.Type(d.Between(0x18, 0x1D)), 0x1E, 0x1F)
		return RawPacket(kind, via, d.Bytes(size))
	case 1: // a link's packet for no link
		return RawPacket(linkproto.Type(d.Between(1, 15)), 0, d.Bytes(size))
	case 2:
		if d.p.Links < linkproto.MaxVia {
			return RawPacket(linkproto.Type(d.Between(1, 15)), d.Between(d.p.Links+1, linkproto.MaxVia), d.Bytes(size))
		}
		fallthrough
	case 3: // any other length than the type's
		kind := linkproto.Type(d.Between(int(linkproto.TypeRegRead), int(linkproto.TypeRetrap)))
		least := kind.Info().MinLength()
		n := d.IntN(least)
		if _, bounded := kind.Info().MaxLength(); bounded && d.Bool() {
			n = testbench.Pick(d.Rand, least+1, d.Between(least+1, d.longest()))
		}
		return RawPacket(kind, via, d.Bytes(n))
	default: // registers that do not exist or cannot be written
		p := linkproto.Packet{Type: linkproto.TypeRegRead, Tag: uint8(d.Uint32())}
		p.Reg = testbench.Pick(d.Rand, linkproto.FrameReg(d.p.Frames), linkproto.LinkStatusReg(d.p.Links+1), linkproto.CounterReg(d.p.Links+1, 0), 0xFFFF)
		if d.Bool() {
			p.Type, p.Value = linkproto.TypeRegWrite, d.Uint32()
			p.Reg = testbench.Pick(d.Rand, p.Reg, linkproto.RegMagic, linkproto.RegFeatures, linkproto.CounterReg(1, 0))
		}
		return Encode(p)
	}
}
